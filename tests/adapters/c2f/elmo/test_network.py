"""ELMo's published weights are not here: its definition, written out in numpy, is the reference."""

import json
import random
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("pronominal.adapters.c2f.elmo.vectors", exc_type=ImportError)

import h5py
import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pronominal import Document, InputError
from pronominal.adapters.c2f.e2e.system import E2E
from pronominal.adapters.c2f.elmo import network as implementation
from pronominal.adapters.c2f.elmo.network import ScalarMix, character_ids
from pronominal.adapters.c2f.elmo.vectors import ElmoVectors, MissingElmoWarning
from pronominal.adapters.c2f.elmo.weights import ElmoCache, read_elmo

Weights = dict[str, np.ndarray]
Options = dict[str, Any]

OWN = ROOT / "tests" / "goldens" / "e2e"

SENTENCES = [
    ["Anna", "lent", "xyr", "neighbour", "the", "ladder", "."],
    ["Go"],
    ["A", "x" * 60, "naïve", "café", "😀", "—", "Anna"],
    [],
]


def options(**lstm: Any) -> Options:
    """The published option file, with small numbers."""
    return {
        "lstm": {
            "use_skip_connections": True,
            "projection_dim": 5,
            "cell_clip": 0.9,
            "proj_clip": 0.8,
            "dim": 7,
            "n_layers": 2,
            **lstm,
        },
        "char_cnn": {
            "activation": "relu",
            "filters": [[1, 3], [2, 2], [5, 4]],
            "n_highway": 2,
            "embedding": {"dim": 4},
            "n_characters": 262,
            "max_characters_per_token": 50,
        },
    }


def random_weights(table: Options, seed: int = 0, scale: float = 0.7) -> Weights:
    """Draw weights in bilm-tf's layout; large enough for the clips to bite."""
    draw = np.random.default_rng(seed)
    cnn, lstm = table["char_cnn"], table["lstm"]
    size, filters = cnn["embedding"]["dim"], sum(count for _, count in cnn["filters"])
    projection, cells = lstm["projection_dim"], lstm["dim"]
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (261, size)}
    for i, (width, count) in enumerate(cnn["filters"]):
        shapes |= {f"CNN/W_cnn_{i}": (1, width, size, count), f"CNN/b_cnn_{i}": (count,)}
    for i in range(cnn["n_highway"]):
        for part in ("carry", "transform"):
            shapes[f"CNN_high_{i}/W_{part}"] = (filters, filters)
            shapes[f"CNN_high_{i}/b_{part}"] = (filters,)
    if filters != projection:
        shapes |= {"CNN_proj/W_proj": (filters, projection), "CNN_proj/b_proj": (projection,)}
    for direction in range(2):
        for layer in range(lstm["n_layers"]):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            shapes[f"{cell}/W_0"] = (2 * projection, 4 * cells)
            shapes[f"{cell}/B"] = (4 * cells,)
            shapes[f"{cell}/W_P_0"] = (cells, projection)
    return {name: draw.normal(0, scale, shape).astype(np.float32) for name, shape in shapes.items()}


def written(folder: Path, table: Options, weights: Weights) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "tiny_options.json").write_text(json.dumps(table))
    with h5py.File(folder / "tiny_weights.hdf5", "w") as file:
        for name, array in weights.items():
            file[name] = array
    return folder


# the definition


def sigmoid(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def token(byte_values: Sequence[int], table: Options, weights: Weights) -> np.ndarray:
    """A word's vector from its bytes (or the mark of a sentence's end)."""
    length = table["char_cnn"]["max_characters_per_token"]
    ids = [258, *byte_values, 259]
    vectors = weights["char_embed"][ids + [260] * (length - len(ids))].astype(np.float64)
    maxima = []
    for i, (width, _) in enumerate(table["char_cnn"]["filters"]):
        kernel, bias = weights[f"CNN/W_cnn_{i}"][0], weights[f"CNN/b_cnn_{i}"]
        windows = [vectors[at : at + width] for at in range(length - width + 1)]
        maxima.append(np.max([np.einsum("wc,wcf->f", w, kernel) + bias for w in windows], axis=0))
    activation = {"relu": lambda v: np.maximum(v, 0), "tanh": np.tanh}
    word = activation[table["char_cnn"]["activation"]](np.concatenate(maxima))
    for i in range(table["char_cnn"]["n_highway"]):
        carry, transform = (
            word @ weights[f"CNN_high_{i}/W_{part}"] + weights[f"CNN_high_{i}/b_{part}"]
            for part in ("carry", "transform")
        )
        gate = sigmoid(carry)
        word = gate * np.maximum(transform, 0) + (1 - gate) * word
    if "CNN_proj/W_proj" in weights:
        word = word @ weights["CNN_proj/W_proj"] + weights["CNN_proj/b_proj"]
    return word


def layer(inputs: Sequence[np.ndarray], cell: str, table: Options, weights: Weights) -> list[Any]:
    """One direction of one layer, from its first input to its last."""
    lstm = table["lstm"]
    limit, projected_limit = lstm.get("cell_clip"), lstm.get("proj_clip")
    c, h, states = np.zeros(lstm["dim"]), np.zeros(lstm["projection_dim"]), []
    for x in inputs:
        gates = np.concatenate([x, h]) @ weights[f"{cell}/W_0"] + weights[f"{cell}/B"]
        i, j, f, o = np.split(gates, 4)
        c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
        c = c if limit is None else np.clip(c, -limit, limit)
        h = (sigmoid(o) * np.tanh(c)) @ weights[f"{cell}/W_P_0"]
        h = h if projected_limit is None else np.clip(h, -projected_limit, projected_limit)
        states.append(h)
    return states


def definition(sentence: Sequence[str], table: Options, weights: Weights) -> np.ndarray:
    """The layers of a sentence's words, [words, size, layers]."""
    cut = table["char_cnn"]["max_characters_per_token"] - 2
    spelt = [[256], *([*word.encode()[:cut]] for word in sentence), [257]]
    tokens = [token(byte_values, table, weights) for byte_values in spelt]
    directions = []
    for direction in range(2):
        inputs = tokens[:: -1 if direction else 1]
        found = [inputs]
        for number in range(table["lstm"]["n_layers"]):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
            states = layer(inputs, cell, table, weights)
            if number and table["lstm"]["use_skip_connections"]:
                states = [state + x for state, x in zip(states, inputs, strict=True)]
            found.append(states)
            inputs = states
        directions.append([states[:: -1 if direction else 1] for states in found])
    both = [np.concatenate([fw, bw], axis=1) for fw, bw in zip(*directions, strict=True)]
    return np.stack(both, axis=2)[1:-1]


VARIANTS: dict[str, Callable[[], Options]] = {
    "as published": options,
    "no clips": lambda: options(cell_clip=None, proj_clip=None),
    "no skip connections": lambda: options(use_skip_connections=False),
    "three layers": lambda: options(n_layers=3),
    "no projection of the filters": lambda: options(projection_dim=9),
    "tanh, no highways": lambda: {
        **options(),
        "char_cnn": {**options()["char_cnn"], "activation": "tanh", "n_highway": 0},
    },
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_layers_equal_the_definition(tmp_path: Path, variant: str) -> None:
    table = VARIANTS[variant]()
    weights = random_weights(table)
    elmo = read_elmo(written(tmp_path / "elmo", table, weights))
    found = elmo(SENTENCES)
    assert elmo.shape == (2 * table["lstm"]["projection_dim"], 1 + table["lstm"]["n_layers"])
    for sentence, vectors in zip(SENTENCES, found, strict=True):
        assert vectors.shape == (len(sentence), *elmo.shape)
        assert np.allclose(vectors, definition(sentence, table, weights), atol=1e-5)


def test_the_clips_bite(tmp_path: Path) -> None:
    """Else the comparison above would not see them."""
    weights = random_weights(options())
    limited, free = (
        read_elmo(written(tmp_path / name, table, weights))(SENTENCES)[0]
        for name, table in (("a", options()), ("b", options(cell_clip=None, proj_clip=None)))
    )
    assert not torch.allclose(limited, free, atol=1e-2)


def test_the_order_and_company_of_sentences_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # in double precision, for nothing but rounding may differ
    elmo = read_elmo(written(tmp_path / "elmo", options(), random_weights(options()))).double()
    alone = [elmo([sentence])[0] for sentence in SENTENCES]
    for words_at_once in (1, 8, 512):
        monkeypatch.setattr(implementation, "WORDS_AT_ONCE", words_at_once)
        order = random.Random(words_at_once).sample(range(len(SENTENCES)), len(SENTENCES))
        found = elmo([SENTENCES[index] for index in order])
        for index, vectors in zip(order, found, strict=True):
            assert torch.allclose(vectors, alone[index], rtol=0, atol=1e-12)


@given(st.text(max_size=60))
@settings(max_examples=50)
def test_a_word_has_fifty_numbers_of_bytes_and_marks(word: str) -> None:
    ids = character_ids(word, 50)
    encoded = word.encode("utf-8", "ignore")[:48]
    assert len(ids) == 50
    assert ids[: len(encoded) + 2] == [258, *encoded, 259]
    assert set(ids[len(encoded) + 2 :]) <= {260}


def test_the_mix_of_layers() -> None:
    mix = ScalarMix(3)
    layers = torch.arange(12.0).reshape(2, 2, 3)
    assert torch.allclose(mix(layers), layers.mean(2))
    mix.load_state_dict({"scores": torch.tensor([0.0, np.log(3), -50]), "scale": torch.tensor(2.0)})
    wanted = 2 * (layers[..., 0] / 4 + layers[..., 1] * 3 / 4)
    assert torch.allclose(mix(layers), wanted)


# files


def test_the_weight_file_is_given_or_found(tmp_path: Path) -> None:
    folder = written(tmp_path / "elmo", options(), random_weights(options()))
    by_file = read_elmo(folder / "tiny_weights.hdf5")(SENTENCES)
    assert all(map(torch.equal, by_file, read_elmo(folder)(SENTENCES)))
    (folder / "other_weights.hdf5").touch()
    with pytest.raises(InputError, match=r"2 files are named \*weights\.hdf5"):
        read_elmo(folder)
    with pytest.raises(InputError, match="no weights of ELMo; give a file named"):
        read_elmo(folder / "tiny_options.json")


def without(table: Options, part: str, key: str) -> Options:
    return {**table, part: {k: v for k, v in table[part].items() if k != key}}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (without(options(), "lstm", "dim"), "the key 'dim' is missing"),
        ({"lstm": {}}, "the key 'char_cnn' is missing"),
        ({**options(), "char_cnn": 3}, "no options of ELMo could be read"),
        (options(dim=8), "the weights have other shapes than the options say"),
        (options(n_layers=3), "RNN_0/RNN/MultiRNNCell/Cell2/LSTMCell/W_0 is missing or damaged"),
        (
            {**options(), "char_cnn": {**options()["char_cnn"], "activation": "gelu"}},
            "the activation is gelu; write relu or tanh",
        ),
    ],
)
def test_options_that_are_refused(tmp_path: Path, table: Options, said: str) -> None:
    folder = written(tmp_path / "elmo", options(), random_weights(options()))
    (folder / "tiny_options.json").write_text(json.dumps(table))
    with pytest.raises(InputError, match=said):
        read_elmo(folder)


def test_weights_that_are_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "elmo", options(), random_weights(options()))
    whole = (folder / "tiny_weights.hdf5").read_bytes()
    (folder / "tiny_weights.hdf5").write_bytes(whole[:1000])
    with pytest.raises(InputError, match="no HDF5 file could be read; give the weights that"):
        read_elmo(folder)
    (folder / "tiny_options.json").unlink()
    with pytest.raises(InputError, match="no options of ELMo could be read"):
        read_elmo(folder)


# where vectors come from


WORDS = [["Anna", "left", "."], [], ["She", "sang"]]
SHAPE = (10, 3)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    draw = np.random.default_rng(3)
    with h5py.File(tmp_path / "cache.hdf5", "w") as file:
        for number, sentence in enumerate(WORDS):
            file[f"nw:a:b_0/{number}"] = draw.normal(size=(len(sentence), *SHAPE)).astype("f4")
    return tmp_path / "cache.hdf5"


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return written(tmp_path / "elmo", options(), random_weights(options()))


def vectors(
    cache: Path | None, weights: Path | None, shape: tuple[int, int] = SHAPE
) -> ElmoVectors:
    return ElmoVectors("e2e", shape, cache=cache, weights=weights, device=torch.device("cpu"))


def test_cached_vectors_stand_under_key_and_sentence(cache: Path) -> None:
    (found,) = vectors(cache, None).layers([Document(WORDS, key="nw/a/b_0")])
    assert found is not None
    with h5py.File(cache) as file:
        wanted = np.concatenate([file["nw:a:b_0/0"], file["nw:a:b_0/2"]])
    assert np.array_equal(found, wanted)


def test_keys_are_cached_or_computed(cache: Path, weights: Path) -> None:
    asked = [Document(WORDS, key="nw/a/b_0"), Document(WORDS), Document(WORDS, key="nw/other")]
    cached, computed, other = vectors(cache, weights).layers(asked)
    assert cached is not None
    assert computed is not None
    assert other is not None
    alone = torch.cat(read_elmo(weights)([WORDS[0], WORDS[2]]))
    # a batch of another size may be added up in another order; a sum is rounded by the size of its
    # terms; up to sixteen sums lie behind a value
    rounding = torch.finfo(torch.float32).eps * alone.abs().max()
    for one in (computed, other):
        assert torch.allclose(one, alone, rtol=0, atol=16 * float(rounding))
    assert not torch.allclose(cached, computed)


def test_without_weights_a_key_has_to_be_cached(cache: Path) -> None:
    with pytest.raises(InputError, match=r"nw/other is not in the cache; give ELMo's weights"):
        vectors(cache, None).layers([Document(WORDS, key="nw/other")])


@pytest.mark.parametrize("key", [None, "nw/a/b_0"])
def test_without_any_source_a_warning_names_the_keyword(cache: Path, key: str | None) -> None:
    given_ = cache if key is None else None
    with pytest.warns(MissingElmoWarning, match="without ELMo, .* published weights as elmo_weig"):
        assert vectors(given_, None).layers([Document(WORDS, key=key)]) == [None]


@pytest.mark.parametrize(
    ("words", "shape", "said"),
    [
        ([["Anna", "left"], [], ["She", "sang"]], SHAPE, r"sentence 0: .* \(3, 10, 3\), not \(2,"),
        ([*WORDS, ["More"]], SHAPE, r"nw/a/b_0, sentence 3: its vectors are missing"),
        (WORDS, (8, 3), r"sentence 0: its vectors are of shape \(3, 10, 3\), not \(3, 8, 3\)"),
    ],
)
def test_cached_vectors_of_something_else(
    cache: Path, words: list[list[str]], shape: tuple[int, int], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        ElmoCache(cache).vectors("nw/a/b_0", [len(sentence) for sentence in words], shape)


def test_a_system_computes_what_a_cache_would_hold(tmp_path: Path) -> None:
    checkpoint = str(OWN / "checkpoint")
    table = options(projection_dim=4)
    folder = written(tmp_path / "elmo", table, random_weights(table, scale=0.3))
    lines = (OWN / "clean.jsonl").read_text("utf-8").splitlines()
    sentences = max((json.loads(line)["input"]["sentences"] for line in lines), key=len)
    with h5py.File(tmp_path / "cache.hdf5", "w") as file:
        for number, found in enumerate(read_elmo(folder)(sentences)):
            file[f"own/{number}"] = found.numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("error", MissingElmoWarning)
        computing = E2E(checkpoint, elmo_weights=str(folder), device="cpu")
        computed = computing.cluster_documents([Document(sentences)])
        assert len(computing.cluster(["The poet met Anton."])) == 1
    looking_up = E2E(checkpoint, elmo_cache=str(tmp_path / "cache.hdf5"), device="cpu")
    assert looking_up.cluster_documents([Document(sentences, key="own")]) == computed != [[]]
    with pytest.warns(MissingElmoWarning):
        assert looking_up.cluster_documents([Document(sentences)]) != computed


def test_sizes_have_to_fit(weights: Path) -> None:
    with pytest.raises(InputError, match=r"size and layers \(10, 3\), and e2e needs \(1024, 3\)"):
        vectors(None, weights, (1024, 3))
    with pytest.raises(InputError, match="e2e was trained without ELMo; drop elmo_weights"):
        vectors(None, weights, (0, 3))
