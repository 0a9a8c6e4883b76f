"""Which of the possible answers a model's words name."""

# No imports but the standard library's: 'pronominal export lm-eval' copies this file.

import re

_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Kana, Chinese characters and Hangul, which stand at a word of another script without a blank."""

# "s/he" and "(s)he" are no "he"
WORD = re.compile(rf"(?<!\w)\(?s[/)]he\b|[^\W_{_UNSPACED}]+", re.IGNORECASE)
UPSTREAM_DELETES = str.maketrans("", "", '".')


def named_by_words(generation: str, options: list[str]) -> list[int]:
    """Return the indices of the options that occur in a generation, as whole words.

    Words are runs of letters and digits, compared without case, so that punctuation, quotation
    marks and a clitic at an answer do not hide it ("The baker's.", "**She**"); an option of several
    words is a run of words. Only the given form counts: "hers" does not name "her". A place that
    names two options, one inside the other, names the longer one.

    >>> named_by_words("The pilot's, not the cook's.", ["pilot", "cook"])
    [0, 1]
    >>> named_by_words("Their", ["his", "her", "their", "xyr"])
    [2]
    """
    words = [word.casefold() for word in WORD.findall(generation)]
    sought = [[word.casefold() for word in WORD.findall(option)] for option in options]
    by_length = sorted(range(len(options)), key=lambda index: -len(sought[index]))
    named: set[int] = set()
    place = 0
    while place < len(words):
        step = 1
        for index in by_length:
            wanted = sought[index]
            if wanted and words[place : place + len(wanted)] == wanted:
                named.add(index)
                step = len(wanted)
                break
        place += step
    return sorted(named)


def named_by_upstream(generation: str, options: list[str]) -> list[int]:
    """Return the indices of the options that upstream finds in a generation.

    Of the generation only quotation marks and full stops are taken out before it is cut at blanks
    (WinoPron, compute_performance.py): a comma or a clitic at an answer hides it.

    >>> named_by_upstream("The pilot's, or the cook.", ["pilot", "cook"])
    [1]
    """
    words = generation.lower().translate(UPSTREAM_DELETES).split()
    return [index for index, option in enumerate(options) if option.lower() in words]
