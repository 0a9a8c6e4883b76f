"""Members of zip archives that zipfile cannot unpack before Python 3.14."""

import zipfile
from copy import copy

ZSTANDARD = 93
"""Its number as a method of zip archives (APPNOTE.TXT 4.4.5); inspect's logs have it."""


def as_it_lies(member: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """Let a member that zipfile cannot unpack be read packed: pyarrow can."""
    if member.compress_type != ZSTANDARD:
        return member
    packed = copy(member)
    packed.compress_type, packed.file_size = zipfile.ZIP_STORED, member.compress_size
    # the checksum is that of the unpacked bytes
    del packed.CRC
    return packed
