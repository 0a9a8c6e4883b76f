"""How the steps in ``recipes.tsv`` are written, from an original sentence and the published one."""

import re
from difflib import SequenceMatcher

from pronominal.dataset_scripts.knowref.recipes import LETTERS

# Penn Treebank escapes: letters that are not those of the original
ESCAPE = re.compile(r"-[LR][RS]B-")


def write_steps(original: str, marked: str, names: tuple[str, str]) -> str:
    """Return the steps from an original sentence to the published one.

    Args:
        original: the sentence of the post or comment, in Penn Treebank tokens.
        marked: the published sentence with its pronoun in brackets.
        names: the two candidates.
    """
    old, new = original.split(" "), marked.split(" ")
    bare = [token.strip("[]") for token in new]
    steps: list[str] = []
    left_out = 0
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, old, bare, autojunk=False).get_opcodes():
        if kind != "equal":
            left_out += len(letters_of(" ".join(old[i1:i2])))
        for token in new[j1:j2]:
            step = _copied(token) if kind == "equal" else _written(token, names)
            steps.append(f"{{-{left_out}}}{step}" if left_out else step)
            left_out = 0
    return " ".join(steps) + (f"{{-{left_out}}}" if left_out else "")


def letters_of(text: str) -> str:
    """Return the letters and digits of a text in Penn Treebank tokens."""
    return "".join(LETTERS.findall(ESCAPE.sub("", text)))


def _copied(token: str) -> str:
    if ESCAPE.fullmatch(token):
        return f"{{={token}}}"
    return LETTERS.sub(lambda run: str(len(run.group())), token)


def _written(token: str, names: tuple[str, str]) -> str:
    bare = token.strip("[]")
    step = f"{{{names.index(bare)}}}" if bare in names else f"{{={bare}}}"
    return f"[{step}]" if token != bare else step
