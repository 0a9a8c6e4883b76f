"""The sentence filters before tagging, beside a straight port of KnowRef's released rule.

The port does for each sentence what the released code does: it looks at the sentence's form,
takes NLTK's words, compiles one regular expression from those that may be candidates, and
searches. Ours are the stages ``filters`` and ``connectives`` with the released code's rules, over
record batches; what they remember is forgotten before each round. Both must accept the same
sentences, which are our own: frames filled with names, with words that tokenisers treat in their
own ways and with 20,000 invented words (of rank r as often as 1/r), and three in ten of them
damaged with signs at which tokenisers differ. Two corpora are timed: ``mixed``, and ``in_form``,
those sentences of it whose form is right, so that the pattern has to be looked for in each.

Sentences a second of CPU time of the process, the median of three rounds that take turns.
``python benchmarks/construction_filters.py [--sentences 200000] [--rounds 3] [--seed 0]``
"""

import argparse
import json
import random
import re
import statistics
import time
from collections.abc import Callable, Sequence

import pyarrow as pa
from nltk.tokenize.destructive import NLTKWordTokenizer

from pronominal.dataset_scripts.construction import connectives, filters, treebank_words
from pronominal.dataset_scripts.construction.stage import SENTENCES
from pronominal.dataset_scripts.construction.words import PRONOUNS, STOPWORDS

CONNECTIVES = (
    *(",", ";", "or", "since", "but", "because", "although", "even though", "though", "after"),
    *("so", "if", "whether", "until", "where", "when"),
)
BATCH = 4096

NAMES = "Ann Bert Clara David Eve Frank Greta Hugo Ines Jack Lena O'Neil Mary-Lou Mr. Dr. Smith"
VERBS = "met saw helped warned thanked followed isn't couldn't trusted gonna cannot paid"
NOUNS = "doctor garden train answer door well-known city dogs time brother's Tom's word_count can"
OTHERS = "the a old and of in with to very near without not new every don't 'tis more'n d'ye"
ENDS = ". . . . . . ! ? ; ... .) ?! : , '"
SYLLABLES = "ba dor fen gil har jem kor lin mas nor pel ras sil tan vor wen"
INVENTED = 20_000
NOISE = " , ; : -- - ' '' ` `` * & % $ # @ [ ] { } ( ) < = + 7 / _ ... .. a.m. U.S. ,, ,x x,y ?,"


def varied_sentences(number: int, seed: int) -> list[str]:
    """Return distinct sentences of our own, some of which each part of the rule accepts."""
    source = random.Random(seed)
    words = [VERBS.split(), NOUNS.split(), OTHERS.split(), NAMES.split()]
    found: dict[str, None] = {}
    while len(found) < number:
        found[_sentence(source, words)] = None
    return list(found)


def _sentence(source: random.Random, words: Sequence[Sequence[str]]) -> str:
    def some(least: int, most: int) -> list[str]:
        number = source.randint(least, most)
        known = [source.choice(source.choice(words)) for _ in range(number)]
        return [word if source.random() < 0.5 else _invented(source) for word in known]

    name, other = source.choice(words[3]), source.choice(words[3])
    parts = [name, source.choice(words[0]), *some(0, 4), other, *some(0, 4)]
    if source.random() < 0.8:
        connective = source.choice(CONNECTIVES)
        if connective in ",;":
            parts[-1] += connective
        else:
            parts.append(connective)
    if source.random() < 0.85:
        parts.append(source.choice(PRONOUNS))
    parts += some(0, 12)
    if source.random() < 0.2:
        parts.insert(source.randrange(len(parts)), source.choice((*PRONOUNS, "He", "Her", "even")))
    if source.random() < 0.3:
        for _ in range(source.randint(1, 3)):
            place = source.randrange(len(parts))
            noise = source.choice(NOISE.split(" "))
            glued = source.choice((f"{parts[place]}{noise}", f"{noise}{parts[place]}"))
            parts[place] = source.choice((glued, noise, glued))
    text = " ".join(parts) + source.choice(ENDS.split())
    return text if source.random() < 0.05 else text[:1].upper() + text[1:]


def _invented(source: random.Random) -> str:
    rank = int(INVENTED ** source.random())
    syllables = SYLLABLES.split()
    word = ""
    while rank:
        rank, syllable = divmod(rank, len(syllables))
        word += syllables[syllable]
    return word


_TOKENIZE = NLTKWordTokenizer().tokenize
_ANY_CONNECTIVE = rf"\b({'|'.join(CONNECTIVES)})\b"
_ANY_PRONOUN = rf"\b({'|'.join(PRONOUNS)})\b"


def straight_port(text: str) -> bool:
    """Say whether the released code lets a sentence through to the tagger."""
    return in_form(text) and has_pattern(text)


def in_form(text: str) -> bool:
    return (
        re.search(_ANY_CONNECTIVE, text) is not None
        and text[-1] in ".!?;"
        and re.match("[A-Z]", text) is not None
        and 9 < text.count(" ") < 33
        and re.search(r"[+=<0-9]", text) is None
    )


def has_pattern(text: str) -> bool:
    words = _TOKENIZE(text)
    if len(words) > 30:
        return False
    nouns = [word for word in words if re.fullmatch(r"\w{3,}", word) and word not in STOPWORDS]
    if not nouns:
        return False
    candidate = rf"\b({'|'.join(nouns)})\b"
    found = re.search(rf"{candidate}.*{candidate}.*{_ANY_CONNECTIVE}.*{_ANY_PRONOUN}", text)
    if found is None or found[1] == found[2]:
        return False
    return re.search(_ANY_PRONOUN, text[: found.end(2)], re.IGNORECASE) is None


def by_port(texts: Sequence[str]) -> list[int]:
    return [number for number, text in enumerate(texts) if straight_port(text)]


def by_stages(texts: Sequence[str]) -> list[int]:
    accepted: list[int] = []
    for start in range(0, len(texts), BATCH):
        part = texts[start : start + BATCH]
        numbers = [str(number) for number in range(start, start + len(part))]
        columns = [pa.array([""] * len(part)), pa.array(numbers), pa.array(part, pa.string())]
        rows = pa.RecordBatch.from_arrays(columns, schema=SENTENCES)
        rows = filters.filters(rows, filters.RELEASED).rows
        rows = connectives.connectives(rows, connectives.RELEASED).rows
        accepted += map(int, rows["document"].to_pylist())
    return accepted


def timed(work: Callable[[Sequence[str]], list[int]], texts: Sequence[str]) -> tuple[float, object]:
    re.purge()
    treebank_words._inside.cache_clear()
    treebank_words._last.cache_clear()
    started = time.process_time()
    accepted = work(texts)
    return time.process_time() - started, accepted


def measure(texts: Sequence[str], rounds: int) -> dict[str, object]:
    ways = {"straight_port": by_port, "stages": by_stages}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        accepted = {}
        for name, work in ways.items():
            spent, accepted[name] = timed(work, texts)
            seconds[name].append(spent)
        assert accepted["straight_port"] == accepted["stages"], "the accept sets differ"
    medians = {name: statistics.median(spent) for name, spent in seconds.items()}
    return {
        "sentences": len(texts),
        "accepted": len(accepted["stages"]),
        "same_accept_set": True,
        "sentences_per_cpu_second": {n: round(len(texts) / spent) for n, spent in medians.items()},
        "ratio": round(medians["straight_port"] / medians["stages"], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentences", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    mixed = varied_sentences(arguments.sentences, arguments.seed)
    formed = [text for text in mixed if in_form(text)]
    report = {
        "benchmark": "construction_filters",
        "mixed": measure(mixed, arguments.rounds),
        "in_form": measure(formed, arguments.rounds),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
