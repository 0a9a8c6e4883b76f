"""Keys, tokens and passwords: used where the user gives them, and kept out of what is written."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

WITHHELD = "***"
"""What is written instead of a credential."""

SHORTEST = 8
"""Characters of a value in the environment that is looked for elsewhere: shorter ones are words."""

_NAME = r"(?:[\w-]*[_-])?(?:api[_-]?key|key|token|secret|password|passwd|credentials?)"
_NAMED = re.compile(_NAME, re.IGNORECASE)
_OPTION = re.compile(rf"(?P<option>(?<![\w-])--?{_NAME}(?:=|\s+))(?P<value>'[^']*'|\S+)", re.I)
_ISSUED = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{16,}|\bhf_\w{16,}|\bgh[opsur]_\w{16,}|\bgithub_pat_\w{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bxox[a-z]-[\w-]{10,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|(?<=Bearer )\S+"
)
"""How the keys of well-known services look."""


def without_credentials(value: Any) -> Any:
    """Return a setting as it may be written: credentials in it are `WITHHELD`.

    These are values of settings and of command-line options that are named after one (``api_key``,
    ``--token X``), what looks like the key of a well-known service, and the values of environment
    variables that are named after one. Strings, and what holds them, are looked into.

    >>> without_credentials({"api_key": "abc", "command": "ask --token=abc --max-tokens 5"})
    {'api_key': '***', 'command': 'ask --token=*** --max-tokens 5'}
    >>> without_credentials(["ask", "--api-key", "abc"])
    ['ask', '--api-key', '***']
    """
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {
            key: WITHHELD
            if isinstance(one, str) and _NAMED.fullmatch(str(key))
            else without_credentials(one)
            for key, one in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return _words(value)
    return value


def _words(words: Sequence[Any]) -> list[Any]:
    kept, follows = [], False
    for word in words:
        kept.append(WITHHELD if follows and isinstance(word, str) else without_credentials(word))
        option = word.lstrip("-") if isinstance(word, str) and word.startswith("-") else ""
        follows = _NAMED.fullmatch(option) is not None
    return kept


def _text(text: str) -> str:
    text = _OPTION.sub(rf"\g<option>{WITHHELD}", text)
    for name, value in os.environ.items():
        if len(value) >= SHORTEST and _NAMED.fullmatch(name):
            text = text.replace(value, WITHHELD)
    return _ISSUED.sub(WITHHELD, text)
