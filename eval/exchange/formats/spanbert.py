"""SpanBERT and BERT-coref (``predict.py`` of mandarjoshi90/coref): JSON lines of word pieces.

It adds ``predicted_clusters`` of word pieces, the last one included.
"""

from functools import partial

from pronominal.eval.exchange.word_pieces import read_pieces, write_pieces

SEGMENT_LENGTH = 384
"""Of SpanBERT-base and -large, [CLS] and [SEP] included (``experiments.conf``)."""

write = partial(write_pieces, segment_length=SEGMENT_LENGTH)
read = read_pieces
