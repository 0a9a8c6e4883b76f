"""XML corpora, one element at a time: pages of a MediaWiki dump, sentences of OPUS subtitles."""

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

BLOCK = 1 << 18
ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that no XML document may hold."""
BROKEN = "\ufffd"
ARTICLES = "0"
"""The namespace of articles; talk pages, templates and users have others."""

SPEAKER_DASH = re.compile(r"^[-\u2010-\u2015] *(?=\S)")
BLANK_BEFORE = re.compile(r" (?=[,.;:!?)\]]|(?<=\w )(?:'(?:s|t|m|re|ve|ll|d)|n't)\b)")
"""Where OPUS writes a blank between two words of which the second one is a sign or a clitic."""

PlacedText = tuple[str, str]
"""A document: its place in the file, and its text."""


def xml_documents(source: Any, damage: Counter[str]) -> Iterator[PlacedText]:
    """Yield the articles of a MediaWiki dump, or the sentences of an OPUS file, from bytes.

    Redirects and pages of other namespaces are passed by; `damage` counts what was wrong.
    """
    parser: ElementTree.XMLPullParser[Any] = ElementTree.XMLPullParser(("start", "end"))
    open_elements: list[ElementTree.Element] = []
    number = 0
    try:
        for text in _decoded(source, damage):
            parser.feed(text)
            events: Any = parser.read_events()
            for event, element in events:
                if event == "start":
                    open_elements.append(element)
                    continue
                open_elements.pop()
                document = _document(element, number + 1)
                if document is None:
                    continue
                number += 1
                if BROKEN in document[1]:
                    damage["XML documents that are not UTF-8"] += 1
                elif document[1]:
                    yield document
                if open_elements:
                    # what was read is of no more use, and the root would keep it all
                    open_elements[-1].remove(element)
        parser.close()
    except ElementTree.ParseError as error:
        damage[f"XML that is not well-formed ({error.msg.partition(':')[0]}); read up to it"] += 1


def _decoded(source: Any, damage: Counter[str]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    while block := source.read1(BLOCK):
        text = decoder.decode(block)
        text, found = ILLEGAL.subn(" ", text)
        damage["control characters in XML, taken out"] += found
        yield text
    yield decoder.decode(b"", final=True)


def _document(element: ElementTree.Element, number: int) -> PlacedText | None:
    """Return a page or a sentence; its text is empty if it is not to be read."""
    kind = _name(element)
    if kind == "page":
        parts = {_name(part): part.text or "" for part in element.iter()}
        wanted = parts.get("ns", ARTICLES) == ARTICLES and "redirect" not in parts
        place = next((part.text for part in element if _name(part) == "id"), None)
        return f"page {place or number}", parts.get("text", "") if wanted else ""
    if kind == "s":
        words = [part.text or "" for part in element.iter() if _name(part) == "w"]
        text = BLANK_BEFORE.sub("", " ".join(words)) if words else "".join(element.itertext())
        spoken = without_speaker_dash(" ".join(text.split()))
        return f"sentence {element.get('id', number)}", spoken
    return None


def without_speaker_dash(line: str) -> str:
    """Return a line of subtitles without the dash that marks a change of speaker.

    >>> without_speaker_dash("- Who is there?")
    'Who is there?'
    """
    return SPEAKER_DASH.sub("", line)


def _name(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]
