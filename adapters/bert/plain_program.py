"""A trained classifier in plain transformers, as its model card shows it."""

import math

from pronominal.adapters.bert.mentions import PLACEHOLDERS
from pronominal.adapters.bert.settings import Classifier


def plain_program(classifier: Classifier) -> str:
    """Return the lines that print the probabilities of a text's two candidates.

    They need ``text``, ``candidates`` (two names), the pronoun's ``start`` and ``end``, and, where
    names are replaced or the prior is taken out, ``first``: the index of the candidate that is
    mentioned first. ``FOLDER`` stands for the classifier's folder.
    """
    spans = classifier.scorer == "span"
    renamed, corrected = classifier.placeholder_names, classifier.prior_correction
    prior = classifier.first_prior
    return "".join(
        [
            *(["import re\n"] if spans or renamed else []),
            _OPEN,
            _ASKED_FIRST if renamed or corrected else _ASKED,
            *([_MENTIONS] if spans or renamed else []),
            *([_RENAMED] if renamed else []),
            _SPAN if spans else _SUBSTITUTION.replace("POOLED", _POOLED[classifier.pooling]),
            *([_CORRECTED.format(math.log(prior / (1 - prior)))] if corrected else []),
            "print(logits.softmax(0))\n",
        ]
    )


_OPEN = """
import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer

encoder = AutoModel.from_pretrained("FOLDER").eval()
tokenizer = AutoTokenizer.from_pretrained("FOLDER")
head = load_file("FOLDER/model.safetensors")
"""

_ASKED = """
# text, candidates (two names) and the pronoun's start and end are yours
"""

_ASKED_FIRST = """
# text, candidates (two names), the pronoun's start and end, and first (the index of the candidate
# that is mentioned first) are yours
"""

_MENTIONS = """

def mentions(text, names):
    longest = sorted(names, key=len, reverse=True)
    return re.finditer(r"(?<!\\w)(" + "|".join(map(re.escape, longest)) + r")(?!\\w)", text)

"""

_RENAMED = f"""
# it was trained on fixed names: the first two of these that nobody else in the text has, one for
# the first and one for the second that is mentioned
fixed = {list(PLACEHOLDERS)}
others = text
for one in reversed(list(mentions(text, candidates))):
    others = others[: one.start()] + " " + others[one.end() :]
taken = {{one[0] for one in mentions(others, fixed)}}
free, also_free = sorted(fixed, key=taken.__contains__)[:2]
called = {{candidates[first]: free, candidates[1 - first]: also_free}}
parts = []
for part in (text[:start], text[end:]):
    for one in reversed(list(mentions(part, candidates))):
        part = part[: one.start()] + called[one[0]] + part[one.end() :]
    parts.append(part)
pronoun = text[start:end]
start, end = len(parts[0]), len(parts[0]) + len(pronoun)
text, candidates = pronoun.join(parts), [called[name] for name in candidates]
"""

_SUBSTITUTION = """
pooled = []
for name in candidates:
    copy = text[:start] + name + text[end:]
    read = tokenizer(copy, return_offsets_mapping=True, return_tensors="pt")
    offsets = read.pop("offset_mapping")[0]
    with torch.inference_mode():
        states = encoder(**read).last_hidden_state[0]
    pooled.append(POOLED)
logits = torch.stack(pooled) @ head["antecedent_head.vector"]
"""

_POOLED = {
    "cls": "states[0]",
    "mean": "states.mean(0)",
    "substituted": (
        "states[(offsets[:, 0] < start + len(name)) & (offsets[:, 1] > start)].mean(0)"
    ),
}

_SPAN = """

def nearest(name):
    # the last mention before the pronoun, else the first one after it
    places = [one.span() for one in mentions(text, candidates) if one[0] == name]
    before = [place for place in places if place[1] <= start]
    return before[-1] if before else next(place for place in places if place[0] >= end)


read = tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
offsets = read.pop("offset_mapping")[0]
with torch.inference_mode():
    states = encoder(**read).last_hidden_state[0]
*scored, pronoun = (
    states[(offsets[:, 0] < place[1]) & (offsets[:, 1] > place[0])].mean(0)
    for place in (*map(nearest, candidates), (start, end))
)
pairs = torch.stack([torch.cat((c, pronoun, c * pronoun)) for c in scored])
hidden = torch.nn.functional.gelu(
    pairs @ head["antecedent_head.hidden.weight"].T + head["antecedent_head.hidden.bias"]
)
logits = hidden @ head["antecedent_head.score.weight"][0]
"""

_CORRECTED = """
# the log odds with which the first mention was right in training
logits[first] -= {}
"""
