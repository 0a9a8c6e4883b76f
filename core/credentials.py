"""Keys, tokens and passwords: used where the user gives them, and kept out of what is written."""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

WITHHELD = "***"
"""What is written instead of a credential."""

SHORTEST = 8
"""Characters of a value in the environment that is looked for elsewhere: shorter ones are words."""

ROUNDS = 200_000
"""Of PBKDF2, so that a password is not guessed by its digest."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_CREDENTIAL = re.compile(
    r"(?:api|access|secret)?key|(?:access|auth)?token|secret|password|passwd|pwd|credentials?"
    r"|auth|authorization"
)
"""What names of credentials end in."""
_ORDINARY = re.compile(
    r"pad|mask|eos|bos|unk|sep|cls|stop|begin|start|end|special|fill|image|audio|newline|blank"
    r"|sort|max|min|foreign|group|cache|index|text|label|column|field|row|join"
)
"""Words before *token* and *key* with which these are no credentials."""

_NAME = r"[\w-]*(?:key|token|secret|password|passwd|pwd|credentials?|auth)"
_VALUE = r"'[^']*'|\"[^\"]*\"|\S+"
_GIVEN = re.compile(
    rf"(?P<lead>(?<![\w-])--?(?P<option>{_NAME})(?:=|\s+(?!--)))(?P<value>{_VALUE})"
    rf"|(?P<query>[?&](?P<parameter>{_NAME})=)(?P<asked>[^\s&#'\"]+)"
    rf"|(?P<set>(?<![\w-])(?P<variable>{_NAME})(?:=|['\"]\s*:\s*))(?P<to>{_VALUE})",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"(?P<lead>authorization['\"]?\s*[:=]\s*['\"]?(?:(?:basic|bearer|digest|token)\s+)?"
    r"|(?<![\w-])[\w-]*api-key:\s*)(?P<value>[^\s'\"]+)",
    re.IGNORECASE,
)
_USER = re.compile(r"(?<=://)[^/\s@?#]+(?=@)")
_ISSUED = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{16,}|\bhf_\w{16,}|\bgh[opsur]_\w{16,}|\bgithub_pat_\w{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bxox[a-z]-[\w-]{10,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|(?<=Bearer )\S+"
)
"""How the keys of well-known services look."""


def without_credentials(value: Any) -> Any:
    """Return a setting as it may be written: credentials in it are `WITHHELD`.

    These are values of settings, options, variables (``NAME=value``) and parts of an address that
    are named after one (``api_key``, ``--accessToken X``), the user in an address, what an
    ``Authorization`` header says, what looks like the key of a well-known service, and the values
    of environment variables that are named after one. Paths to files that exist are none. Strings,
    and what holds them, are looked into.

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
            if isinstance(one, str) and _names_one(str(key)) and not _is_path(one)
            else without_credentials(one)
            for key, one in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return _words(value)
    return value


def withheld_digest(value: Any) -> str | None:
    """Return what tells a setting from others that are written alike, or None if it holds nothing.

    It is a slow digest, of which too little is kept to find a credential by it.
    """
    whole = json.dumps(value, sort_keys=True, default=str)
    if json.dumps(without_credentials(value), sort_keys=True, default=str) == whole:
        return None
    return hashlib.pbkdf2_hmac("sha256", whole.encode(), b"pronominal", ROUNDS).hex()[:16]


def _names_one(name: str) -> bool:
    before, last = ["", "", *(word.lower() for word in _WORD.findall(name))][-2:]
    return _CREDENTIAL.fullmatch(last) is not None and not _ORDINARY.fullmatch(before)


def _is_path(value: str) -> bool:
    with suppress(OSError, ValueError):
        return value.startswith(("./", "../", "~/")) or ("/" in value and Path(value).exists())
    return False


def _words(words: Sequence[Any]) -> list[Any]:
    kept, follows = [], False
    for word in words:
        hidden = follows and isinstance(word, str) and not _is_path(word)
        kept.append(WITHHELD if hidden else without_credentials(word))
        follows = isinstance(word, str) and word.startswith("-") and _names_one(word)
    return kept


def _text(text: str) -> str:
    text = _GIVEN.sub(_without_value, _HEADER.sub(rf"\g<lead>{WITHHELD}", text))
    text = _USER.sub(WITHHELD, text)
    for name, value in os.environ.items():
        if len(value) >= SHORTEST and _names_one(name) and not _is_path(value):
            text = text.replace(value, WITHHELD)
    return _ISSUED.sub(WITHHELD, text)


def _without_value(found: re.Match[str]) -> str:
    lead = found["lead"] or found["query"] or found["set"]
    name = found["option"] or found["parameter"] or found["variable"]
    value = found["value"] or found["asked"] or found["to"]
    return f"{lead}{WITHHELD}" if _names_one(name) and not _is_path(value) else found[0]
