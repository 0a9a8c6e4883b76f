"""coref-hoi (``predict.py --jsonlines_path`` of lxucs/coref-hoi): JSON lines of word pieces.

Its form is SpanBERT's with three more fields, which its ``preprocess.py`` writes and its prediction
does not look at. It adds ``predicted_clusters``, and writes no line ends between documents.
"""

from functools import partial

from pronominal.eval.exchange.word_pieces import read_pieces, write_pieces

SEGMENT_LENGTH = 512
"""What ``predict.py`` takes by default, [CLS] and [SEP] included."""

UNUSED = ("constituents", "ner", "pronouns")

write = partial(write_pieces, segment_length=SEGMENT_LENGTH, empty_fields=UNUSED)
read = read_pieces
