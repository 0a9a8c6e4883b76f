import functools
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytest.importorskip("crc32c")

import numpy as np
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from pronominal import InputError
from pronominal.adapters.c2f.tensorflow.bundle import (
    MalformedError,
    parse_message,
    read_bundle,
    read_varint,
    unmasked,
)
from pronominal.adapters.c2f.tensorflow.variables import is_training_state

OWN = ROOT / "tests" / "goldens" / "e2e" / "checkpoint" / "tf_checkpoint"
PREFIX = OWN / "model.max.ckpt"
INDEX, DATA = "model.max.ckpt.index", "model.max.ckpt.data-00000-of-00001"


@pytest.mark.parametrize("system", ["c2f", "e2e"])
def test_variables_are_those_that_tensorflow_saved(goldens: Path, system: str) -> None:
    found = read_bundle(goldens / system / "tf_checkpoint" / "model.max.ckpt")
    with np.load(goldens / system / "tf_variables.npz") as saved:
        assert found.keys() == set(saved.files)
        for name in saved.files:
            assert found[name].dtype == saved[name].dtype
            assert found[name].shape == saved[name].shape
            assert (found[name] == saved[name]).all()


def test_variables_are_mapped_from_the_file() -> None:
    assert not any(array.flags.owndata or array.flags.writeable for array in values().values())


@functools.cache
def values() -> dict[str, np.ndarray]:
    return read_bundle(PREFIX)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return shutil.copytree(OWN, tmp_path / "tf_checkpoint")


@pytest.mark.parametrize("part", range(4))
def test_any_flipped_byte_of_the_index_is_found(copied: Path, part: int) -> None:
    whole = (copied / INDEX).read_bytes()
    for place in range(part, len(whole), 4):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        (copied / INDEX).write_bytes(flipped)
        with pytest.raises(InputError, match=r"model\.max\.ckpt\.(index|data)"):
            read_bundle(copied / "model.max.ckpt")


def test_a_flipped_byte_of_the_data_is_found_in_its_variable(copied: Path) -> None:
    whole = (copied / DATA).read_bytes()
    for place in [*range(0, len(whole), 501), len(whole) - 1]:
        flipped = bytearray(whole)
        flipped[place] ^= 0x10
        (copied / DATA).write_bytes(flipped)
        with pytest.raises(InputError, match=r"variable \S+: its checksum is wrong"):
            read_bundle(copied / "model.max.ckpt")


@pytest.mark.parametrize("kept", [0, 7, 47, 48, 1000, 2611])
def test_an_index_that_is_cut_off(copied: Path, kept: int) -> None:
    (copied / INDEX).write_bytes((copied / INDEX).read_bytes()[:kept])
    with pytest.raises(InputError, match="the index is cut off, or is no index"):
        read_bundle(copied / "model.max.ckpt")


@pytest.mark.parametrize("kept", [0, 10, 151_915])
def test_data_that_is_cut_off(copied: Path, kept: int) -> None:
    (copied / DATA).write_bytes((copied / DATA).read_bytes()[:kept])
    with pytest.raises(InputError, match="the file is cut off; download or copy"):
        read_bundle(copied / "model.max.ckpt")


@pytest.mark.parametrize(
    ("file", "message"), [(INDEX, "there is no such index"), (DATA, "the data file is missing")]
)
def test_a_missing_file(copied: Path, file: str, message: str) -> None:
    (copied / file).unlink()
    with pytest.raises(InputError, match=message):
        read_bundle(copied / "model.max.ckpt")


# a writer of our own, for what the two checkpoints do not have


def varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def masked(content: bytes) -> bytes:
    checksum = crc32c(content)
    rotated = (checksum >> 15 | checksum << 17) & 0xFFFFFFFF
    return ((rotated + 0xA282EAD8) & 0xFFFFFFFF).to_bytes(4, "little")


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value) if value else b""


def message(field: int, content: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(content)) + content


def block(rows: Mapping[bytes, bytes]) -> bytes:
    """Keys share what they can with the one before."""
    content, last = b"", b""
    for key, value in rows.items():
        shared = next(
            (i for i, (a, b) in enumerate(zip(key, last, strict=False)) if a != b),
            min(len(key), len(last)),
        )
        content += varint(shared) + varint(len(key) - shared) + varint(len(value))
        content += key[shared:] + value
        last = key
    return content + bytes(4) + (1).to_bytes(4, "little")


DTYPES = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int64": 9, "bool": 10}
Change = Callable[[bytes], bytes]


def write_bundle(
    prefix: Path,
    variables: Mapping[str, np.ndarray],
    *,
    shards: int = 1,
    header: bytes = b"",
    change: Change = bytes,
    compression: int = 0,
) -> None:
    """Write variables in turn to so many data files, two rows to a block of the index."""
    data = [b""] * shards
    rows = {b"": number(1, shards) + header}
    for i, name in enumerate(sorted(variables, key=str.encode)):
        array, shard = variables[name], i % shards
        shape = b"".join(message(2, number(1, size)) for size in array.shape)
        content = array.tobytes()
        entry = number(1, DTYPES[array.dtype.name]) + message(2, shape) + number(3, shard)
        entry += number(4, len(data[shard])) + number(5, len(content))
        rows[name.encode()] = change(entry + varint(6 << 3 | 5) + masked(content))
        data[shard] += content
    file, handles = b"", {}
    keys = list(rows)
    for first in range(0, len(keys), 2):
        part = {key: rows[key] for key in keys[first : first + 2]}
        content = block(part)
        handles[keys[first : first + 2][-1]] = varint(len(file)) + varint(len(content))
        file += sealed(content, compression)
    footer = b""
    for content in (block({}), block(handles)):
        footer += varint(len(file)) + varint(len(content))
        file += sealed(content)
    magic = 0xDB4775248B80FB57.to_bytes(8, "little")
    prefix.with_name(f"{prefix.name}.index").write_bytes(file + footer.ljust(40, b"\0") + magic)
    for shard, content in enumerate(data):
        prefix.with_name(f"{prefix.name}.data-{shard:05}-of-{shards:05}").write_bytes(content)


def sealed(content: bytes, compression: int = 0) -> bytes:
    content += bytes([compression])
    return content + masked(content)


@given(
    st.dictionaries(
        st.text("ab/_é", min_size=1, max_size=6),
        st.sampled_from(list(DTYPES)).flatmap(
            lambda dtype: arrays(dtype, array_shapes(min_dims=0, max_dims=3, min_side=0))
        ),
        max_size=7,
    ),
    st.integers(1, 3),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, variables: dict[str, np.ndarray], shards: int
) -> None:
    prefix = tmp_path_factory.mktemp("bundle") / "model.ckpt"
    write_bundle(prefix, variables, shards=shards)
    found = read_bundle(prefix)
    assert found.keys() == variables.keys()
    for name, array in variables.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()


ONE = {"w": np.arange(6, dtype=np.float32)}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda entry: entry + number(1, 7), "w has TensorFlow's type 7, which no weights have"),
        (lambda entry: entry + message(7, b""), "w is a partitioned variable"),
        (lambda entry: entry + number(5, 20), "w has another size than its shape says"),
        (lambda entry: entry + number(3, 5), "it names a shard that does not exist"),
        (lambda entry: entry + number(4, 9), "variable w: the file is cut off"),
        (lambda entry: entry + b"\x0b", "a message has a field of wire type 3"),
        (lambda entry: entry + b"\x2a\x09", "a message is cut off"),
        (lambda entry: entry + b"\x80", "a number is cut off"),
        (lambda entry: entry + message(5, b""), "field 5 of a message is no number"),
        (lambda entry: entry + number(2, 1), "field 2 of a message is no message"),
    ],
)
def test_entries_that_are_refused(tmp_path: Path, change: Change, said: str) -> None:
    write_bundle(tmp_path / "model.ckpt", ONE, change=change)
    with pytest.raises(InputError, match=said):
        read_bundle(tmp_path / "model.ckpt")


def test_forms_that_are_refused(tmp_path: Path) -> None:
    write_bundle(tmp_path / "big", ONE, header=number(2, 1))
    with pytest.raises(InputError, match="written on a big-endian machine"):
        read_bundle(tmp_path / "big")
    write_bundle(tmp_path / "snappy", ONE, compression=1)
    with pytest.raises(InputError, match="the index is compressed"):
        read_bundle(tmp_path / "snappy")


def test_training_state() -> None:
    names = ["global_step", "beta1_power", "a/Adam", "a/Adam_1", "a/adam_m", "a/Adams", "a/w"]
    assert [is_training_state(name) for name in names] == [True] * 5 + [False] * 2


@given(st.integers(0, 2**64 - 1), st.binary(max_size=3))
def test_varints(value: int, rest: bytes) -> None:
    assert read_varint(varint(value) + rest, 0) == (value, len(varint(value)))


@given(st.binary(max_size=40))
def test_any_bytes_are_a_message_or_malformed(content: bytes) -> None:
    try:
        fields = parse_message(content)
    except MalformedError:
        return
    assert all(isinstance(value, int | bytes) for _, value in fields.pairs)


def test_the_checksum_of_the_standard() -> None:
    assert crc32c(b"123456789") == 0xE3069283  # RFC 3720, appendix B.4, has others of its kind
    assert unmasked(int.from_bytes(masked(b"123456789"), "little")) == 0xE3069283
