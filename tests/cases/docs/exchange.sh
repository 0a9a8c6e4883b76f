mkdir bin
ln -s "$(command -v cp)" bin/old-system  # it finds no clusters
printf '%s\n' "[PAD]" "[UNK]" "[CLS]" "[SEP]" {a..z} "##"{a..z} > vocab.txt
for side in key response; do
    cat > $side.conll <<'END'
#begin document (own/0000); part 000
own/0000 0 0 Ann XX * - - - Speaker#1 * (0)
own/0000 0 1 slept XX * - - - Speaker#1 * -
own/0000 0 2 when XX * - - - Speaker#1 * -
own/0000 0 3 she XX * - - - Speaker#1 * (0)
own/0000 0 4 could XX * - - - Speaker#1 * -

#end document
END
done
pronominal build sample --out out
pronominal run --dataset out/sample --config double --system random --out elsewhere
cp elsewhere/*/predictions.jsonl mine.jsonl
rm -r out
