"""Documents without markup, non-ASCII characters, parentheses, headings and lists (3.1.1)."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from pronominal.dataset_scripts.construction.stage import DOCUMENTS, Kept, by_reason, strings


@dataclass(frozen=True, slots=True)
class CleanRules:
    """How a document is cleaned.

    Attributes:
        transliterate: write typographic quotes, dashes and accented letters in ASCII before what
            is left of non-ASCII characters is deleted; the released code only deletes, which
            makes *Jos* of *José*.
        discard_quoting: discard a document that holds a double quote, as the released code does;
            otherwise only the sentences that hold one are dropped, by the filters.
        discard_articles: discard a document with *art. 5* and the like (released code only).
        paragraphs: let a blank line end a sentence; the released code joins all lines.
        link_targets: write *a* for ``[[a|b]]``, as the released code does; otherwise *b*, what a
            reader sees.
        mark_links: leave `LINK_TAKEN_OUT` where an address of the web was taken out of a sentence,
            which the filters drop; the released code leaves a sentence with a hole.
        mask_users: write ``EMAIL`` for an e-mail address, also a spelt one (``a (at) b.org``), and
            ``USER`` for ``@name`` or ``u/name``.
    """

    transliterate: bool = True
    discard_quoting: bool = False
    discard_articles: bool = False
    paragraphs: bool = True
    link_targets: bool = False
    mark_links: bool = True
    mask_users: bool = True


RELEASED = CleanRules(
    transliterate=False,
    discard_quoting=True,
    discard_articles=True,
    paragraphs=False,
    link_targets=True,
    mark_links=False,
    mask_users=False,
)

TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
        **dict.fromkeys("\u2014\u2015", " - "),
        **dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f", " "),
        **dict(zip("ØøŁłĐđÞþ", ("O", "o", "L", "l", "D", "d", "Th", "th"), strict=True)),
        "\u2026": "...",
        "ß": "ss",
        "Æ": "Ae",
        "æ": "ae",
        "Œ": "Oe",
        "œ": "oe",
        "\u00ad": "",
        "\u200b": "",
    }
)
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+")
REFERENCE = re.compile(r"<ref\b[^<>]*(?:/>|>[^<]*</ref>)")
BREAK = re.compile(r"<(?:br|p|/p|div|/div|li|tr|td)\b[^<>]*>", re.IGNORECASE)
TAG = re.compile(r"</?[A-Za-z][^<>]*>")
TEMPLATE = re.compile(r"\{\{\{?[^{}]*\}?\}\}")
BRACED = re.compile(r"\{([^{}]*)\}")
MEDIA = re.compile(r"\[\[(?:File|Image|Category):[^\[\]]*\]\]", re.IGNORECASE)
LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
LINK_TARGET = re.compile(r"\[\[([^\[\]|]*)(?:\|[^\[\]|]*)?\]\]")
MARKDOWN_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)")
NAMED_WEB_LINK = re.compile(r"\[(?:https?|ftp)://[^\s\]]*\s*([^\]\n]*)\]")
WEB_LINK = re.compile(r"(?:https?|ftp)://\S+")
_ADDRESS = (
    r"""(?:(?:https?|ftp)://|(?<![\w@.-])(?:www\.(?=[\w-])|[\w-]++(?:\.[\w-]++)++(?<=[a-z]{2})/))"""
)
LINK_BETWEEN_SENTENCES = re.compile(
    rf"(?:^|(?<=[.!?:\n]))[ \t]*{_ADDRESS}\S++(?=[ \t]*(?:$|\n|[A-Z]))"
)
LINK_INSIDE = re.compile(rf"{_ADDRESS}\S*[^\s.,;:!?)\]'\"]")
LINK_TAKEN_OUT = "\ufffc"
"""Marks a sentence that is broken without its link; no other sign outside ASCII is left."""
# from the beginning of a word only, else every letter of a long one would be tried
EMAIL = re.compile(r"(?<![\w.+-])([.+-]*+)\w[\w.+-]*+@[\w-]+(?:\.[\w-]+)+\b")
SPELT_AT = re.compile(r"[(\[{<] ?at ?[)\]}>]| dot ", re.IGNORECASE)
"""Few documents hold one, so that the next expression need not try every word."""
SPELT_EMAIL = re.compile(
    r"(?<![\w.+-])\w[\w.+-]*+ ?[(\[{<] ?at ?[)\]}>] ?[\w-]+"
    r"(?:(?:\.| ?[(\[{<] ?dot ?[)\]}>] ?)[\w-]+)*"
    r"|(?<![\w.+-])\w[\w.+-]*+ at [\w-]+ dot (?:com|org|net|edu|gov|co)\b",
    re.IGNORECASE,
)
USER = re.compile(r"(?<![\w/@])(?:@\w[\w.-]*\w|/?u/[\w-]{2,})")
MASKED = "documents with e-mail addresses or user names, which were masked"
EMPHASIS = re.compile(r"'{2,}")
MARKDOWN_EMPHASIS = re.compile(
    r"(?<![\w*~])(\*{1,3}|_{1,3}|~~)(?=[^\s*_~])([^*_~\n]+)(?<!\s)\1(?![\w*~])"
)
MARKDOWN_QUOTE = re.compile(r"^[ \t]*>[> \t]*", re.MULTILINE)
REFERENCES = re.compile(r"\n=+ *References[^\n]*")
HEADING_OR_ITEM = re.compile(r"^[ \t]*(?:[\d=*~#:;|!]|-[ \t])[^\n]*", re.MULTILINE)
PAGE = re.compile(r":\d+")
ARTICLE = re.compile(r"\bart\. ?\d")
PARAGRAPH_END = re.compile(r"\n\s*\n")
INNERMOST_FIRST = 8
"""Templates are removed from the inside out, so many deep."""


def clean(documents: pa.RecordBatch, rules: CleanRules = CleanRules()) -> Kept:
    """Clean the body of each document; an empty one is dropped."""
    reasons: list[str | None] = []
    noted: Counter[str] = Counter()
    rows = []
    for source, document, body in zip(*(c.to_pylist() for c in documents.columns), strict=True):
        noted.update(_notes(body))
        fault = _fault(body, rules)
        text, masked = ("", 0) if fault else _cleaned(body, rules)
        noted[MASKED] += masked > 0
        if text:
            rows.append((source, document, text))
        reasons.append(None if text else fault or "nothing is left of the document")
    return Kept(strings(DOCUMENTS, rows), by_reason(reasons), +noted)


def _notes(body: str) -> Iterator[str]:
    if CONTROLS.search(body):
        yield "documents with control characters, which were taken out"
    if "<" in body and TAG.search(body):
        yield "documents with HTML, which was taken out"


def _fault(body: str, rules: CleanRules) -> str | None:
    if rules.discard_quoting and ('"' in body or "&quot;" in body):
        return "the document holds a double quote"
    if rules.discard_articles and ARTICLE.search(body):
        return "the document cites an article of law"
    return None


def clean_text(body: str, rules: CleanRules = CleanRules()) -> str:
    """Return a document's text; paragraphs are divided by a blank line, all else by one blank."""
    return _cleaned(body, rules)[0]


def _cleaned(body: str, rules: CleanRules) -> tuple[str, int]:
    """Return a document's text, and how many addresses and user names were masked in it."""
    masked = 0
    text = html.unescape(body).replace("\r\n", "\n").replace("\r", "\n")
    text = CONTROLS.sub(" ", text)
    text = transliterated(text) if rules.transliterate else _only_ascii(text)
    if rules.mask_users and SPELT_AT.search(text):
        # before markup: its braces and parentheses would go
        text, masked = SPELT_EMAIL.subn("EMAIL", text)
    text = _without_markup(text, rules)
    if rules.mask_users and ("@" in text or "u/" in text):
        text, addresses = EMAIL.subn(r"\1EMAIL", text)
        text, users = USER.subn("USER", text)
        masked += addresses + users
    text = _without(text, "(", ")")
    text = REFERENCES.sub("", "\n" + text)
    text = text.replace(" M.A. ", " MA ")
    text = HEADING_OR_ITEM.sub("", text)
    text = PAGE.sub("", text)
    parts = PARAGRAPH_END.split(text) if rules.paragraphs else [text]
    parts = [" ".join(part.split()) for part in parts]
    return "\n\n".join(part for part in parts if part), masked


def transliterated(text: str) -> str:
    """Return a text in ASCII: typographic signs and accented letters as the nearest ones of it.

    >>> transliterated("José’s")
    "Jose's"
    """
    return _only_ascii(unicodedata.normalize("NFKD", text.translate(TYPOGRAPHY)))


def _only_ascii(text: str) -> str:
    return text.encode("ascii", "ignore").decode("ascii")


def _without_markup(text: str, rules: CleanRules) -> str:
    if "<" in text:
        text = _without(text, "<!--", "-->")
        text = REFERENCE.sub("", text)
        text = TAG.sub("", BREAK.sub(" ", text))
    if "{" in text:
        text = _without(text, "{|", "\n|}")
        for _ in range(INNERMOST_FIRST):
            text, found = TEMPLATE.subn("", text)
            if not found:
                break
        text = BRACED.sub(r"\1", text)
    if "[" in text:
        link = LINK_TARGET if rules.link_targets else LINK
        text = MARKDOWN_LINK.sub(r"\1", link.sub(r"\1", MEDIA.sub("", text)))
    if "/" in text or "www." in text:
        text = _without_links(text, rules)
    if ">" in text:
        text = MARKDOWN_QUOTE.sub("", text)
    if "*" in text or "_" in text or "~" in text:
        text = MARKDOWN_EMPHASIS.sub(r"\2", text)
    return EMPHASIS.sub("", text)


def _without_links(text: str, rules: CleanRules) -> str:
    text = NAMED_WEB_LINK.sub(r"\1", text)
    if not rules.mark_links:
        return WEB_LINK.sub("", text)
    return LINK_INSIDE.sub(LINK_TAKEN_OUT, LINK_BETWEEN_SENTENCES.sub("", text))


def _without(text: str, opening: str, closing: str) -> str:
    """Delete from each opening sign to the next closing one, across lines."""
    pieces = []
    done = 0
    # an expression would try every opening sign anew when the last one is never closed
    while (start := text.find(opening, done)) >= 0 and (end := text.find(closing, start)) >= 0:
        pieces.append(text[done:start])
        done = end + len(closing)
    return "".join((*pieces, text[done:]))
