import functools
import itertools
import json
import random
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("pronominal.adapters.c2f.e2e.system", exc_type=ImportError)

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pronominal import Document, InputError, Span
from pronominal.adapters import SYSTEMS, kind_of, load
from pronominal.adapters.c2f.e2e import characters
from pronominal.adapters.c2f.e2e.coupled_lstm import CoupledLSTM, HighwayLSTM
from pronominal.adapters.c2f.e2e.encoder import LstmEncoder, WordInputs, word_units
from pronominal.adapters.c2f.e2e.system import E2E
from pronominal.adapters.c2f.elmo.time_major import TimeMajor
from pronominal.adapters.c2f.elmo.vectors import MissingElmoWarning
from pronominal.adapters.words.ontonotes import GENRES
from pronominal.spans import Cluster

OWN = ROOT / "tests" / "goldens" / "e2e"
SHARED = ROOT.parent / "shared" / "goldens" / "e2e"
FILES = {"clean": OWN / "clean.jsonl", "public": SHARED / "goldens-public.jsonl"}
CHECKPOINTS = {"clean": OWN / "checkpoint", "public": SHARED}
VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    "_depth1": {"coref_depth": 1},
    "_distance_pruning": {"coref_depth": 1, "coarse_to_fine": False},
    "_no_lm": {"lm_size": 0},
}


@functools.cache
def goldens(file: str) -> dict[str, dict[str, Any]]:
    """Rows by golden id; tests take ids so that no report shows a text."""
    if not FILES[file].exists():
        return {}
    rows = [json.loads(line) for line in FILES[file].read_text(encoding="utf-8").splitlines()]
    return {row["id"]: row for row in rows}


def document(row: dict[str, Any]) -> Document:
    """Say in our form what a line of upstream's input says."""
    given_ = row["input"]
    key = given_["doc_key"]
    return Document(given_["sentences"], given_["speakers"], key[:2], key)


def spans(clusters: Sequence[Sequence[Sequence[int]]]) -> list[Cluster]:
    return [[Span(start, end + 1) for start, end in cluster] for cluster in clusters]


def changed(folder: Path, source: Path, **keys: Any) -> Path:
    """Lay out a checkpoint again with some keys of its config changed."""
    folder.mkdir()
    for file in source.iterdir():
        if file.name != "config.json":
            (folder / file.name).symlink_to(file)
    config = json.loads((source / "config.json").read_text()) | keys
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], E2E]:
    """Each variant with the embeddings and cached vectors of each file of goldens."""
    folder = tmp_path_factory.mktemp("e2e")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return {
            (file, name): E2E(
                str(changed(folder / f"{file}{name}", CHECKPOINTS[file], **keys)), device="cpu"
            )
            for file in FILES
            for name, keys in VARIANTS.items()
            if goldens(file)
        }


def or_skipped(file: str) -> list[Any]:
    absent = pytest.mark.skip(reason=f"{FILES[file].name} is not beside the repository")
    return [*goldens(file)] or [pytest.param("none", marks=absent)]


EVERY = [
    pytest.param(file, i if isinstance(i, str) else i.values[0], marks=getattr(i, "marks", ()))
    for file in FILES
    for i in or_skipped(file)
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("file", "golden_id"), EVERY)
def test_a_golden_alone(
    systems: dict[tuple[str, str], E2E], file: str, golden_id: str, variant: str
) -> None:
    row = goldens(file)[golden_id]
    found = systems[file, variant].cluster_documents([document(row)])
    assert found == [spans(row["expected"][f"predicted_clusters{variant}"])]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("size", [2, 7, 64])
@pytest.mark.parametrize("file", FILES)
def test_goldens_in_shuffled_batches(
    systems: dict[tuple[str, str], E2E], file: str, size: int, variant: str
) -> None:
    ids = [*goldens(file)]
    if not ids:
        pytest.skip(f"{FILES[file].name} is not beside the repository")
    random.Random(size).shuffle(ids)
    for first in range(0, len(ids), size):
        rows = [goldens(file)[golden_id] for golden_id in ids[first : first + size]]
        found = systems[file, variant].cluster_documents([document(row) for row in rows])
        wanted = [spans(row["expected"][f"predicted_clusters{variant}"]) for row in rows]
        assert [row["id"] for row, a, b in zip(rows, found, wanted, strict=True) if a != b] == []


TRACES = {
    "clean": (OWN / "trace-clean.jsonl", OWN / "trace-clean.npz"),
    "public": (SHARED / "debug-inputs.jsonl", SHARED / "debug-tensors.npz"),
}


@pytest.mark.parametrize("file", TRACES)
def test_what_lies_between_words_and_clusters(
    systems: dict[tuple[str, str], E2E], file: str
) -> None:
    if not goldens(file):
        pytest.skip(f"{FILES[file].name} is not beside the repository")
    inputs, tensors = TRACES[file]
    system = systems[file, ""]
    trace = np.load(tensors)
    for line in inputs.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        wanted = {n: trace[f"{row['id']}.{n}"] for n in TRACED}
        for name, (found, array) in intermediate(system, row, wanted).items():
            assert found.shape == array.shape, name
            assert np.allclose(found, array, rtol=1e-5, atol=1e-5), name


TRACED = (
    "context_emb",
    "context_outputs",
    "head_scores",
    "top_span_starts",
    "top_span_ends",
    "top_antecedents",
    "top_antecedent_scores",
)


def intermediate(
    system: E2E, row: dict[str, Any], wanted: dict[str, np.ndarray]
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return what we have and what upstream has at each stage."""
    read, model = document(row), system._model
    units = word_units(read, GENRES, "documents[0]")
    inputs = system._reader.read(units, system._elmo.layers([read])[0])
    padded = [model.encoder.characters.padded_length(inputs.longest)] * len(units)
    spelt = model.encoder.characters(inputs.characters, padded)
    (encoded,) = model.encoder([inputs])
    (scores,) = model.head([encoded], [units])
    rows = zip(wanted["context_emb"], inputs.lengths, strict=True)
    return {
        "context_emb": (
            model.encoder.context_vectors(inputs.context, spelt, [inputs]).numpy(),
            np.concatenate([sentence[:length] for sentence, length in rows]),
        ),
        "context_outputs": (encoded.boundary.numpy(), wanted["context_outputs"]),
        "head_scores": (
            model.head.mention_token_attn(encoded.boundary).numpy(),
            wanted["head_scores"],
        ),
        "starts": (scores.starts.numpy(), wanted["top_span_starts"]),
        "ends": (scores.ends.numpy() - 1, wanted["top_span_ends"]),
        "scores": (
            dense(scores.antecedents.numpy(), scores.scores.numpy()[:, 1:]),
            dense(wanted["top_antecedents"], wanted["top_antecedent_scores"][:, 1:]),
        ),
    }


def dense(antecedents: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Put scores where their antecedents are; their order among the kept ones is free."""
    table = np.full((len(scores), len(scores)), -1e9)
    for row, (columns, values) in enumerate(zip(antecedents, scores, strict=True)):
        legal = np.isfinite(values)
        table[row, columns[legal]] = values[legal]
    return table


# documents and texts


@pytest.fixture(scope="module")
def e2e(systems: dict[tuple[str, str], E2E]) -> E2E:
    return systems["clean", ""]


def test_it_is_a_clustering_system() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system = load("e2e", checkpoint=str(CHECKPOINTS["clean"]), device="cpu")
    assert kind_of(system) == SYSTEMS["e2e"].kind == "clustering"
    with pytest.raises(InputError, match="weights are not on the Hub; download them"):
        load("e2e")


TEXTS = [
    "  The courier lent the neighbour her umbrella,\nfor it was raining .",
    "",
    "The poet met the referee at the harbour; xe waved. The referee left xem there.",
    "Go",
]


def test_texts_have_clusters_of_characters(e2e: E2E) -> None:
    with pytest.warns(MissingElmoWarning, match="answered without ELMo"):
        found = e2e.cluster(TEXTS)
    assert [len(clusters) > 0 for clusters in found] == [True, False, True, False]
    for text, clusters in zip(TEXTS, found, strict=True):
        for start, end in itertools.chain.from_iterable(clusters):
            assert 0 <= start < end <= len(text)
            assert not text[start:end][0].isalnum() or not text[:start][-1:].isalnum()


@pytest.mark.filterwarnings("ignore::pronominal.adapters.c2f.elmo.vectors.MissingElmoWarning")
def test_a_text_is_newswire_with_one_speaker_and_no_elmo(
    systems: dict[tuple[str, str], E2E],
) -> None:
    words, genre = ["The", "courier", "lent", "her", "umbrella", "."], "nw"
    text = "The courier lent her umbrella."
    (by_text,) = systems["clean", ""].cluster([text])
    (by_words,) = systems["clean", "_no_lm"].cluster_documents(
        [Document([words], [[""] * len(words)], genre)]
    )
    ends = list(itertools.accumulate([3, 8, 5, 4, 9, 1]))
    starts = [0, 4, 12, 17, 21, 29]
    assert ends[-1] == len(text)
    assert by_text == [
        [Span(starts[s], starts[e - 1] + len(words[e - 1])) for s, e in c] for c in by_words
    ]


@pytest.mark.filterwarnings("ignore::pronominal.adapters.c2f.elmo.vectors.MissingElmoWarning")
def test_genre_and_speakers_have_defaults_and_a_form(e2e: E2E) -> None:
    plain = [["She", "thanked", "her", "for", "the", "ladder", "."], [], ["She", "left", "."]]
    silent = [[""] * len(sentence) for sentence in plain]
    bare, whole = e2e.cluster_documents([Document(plain), Document(plain, silent, "nw")])
    assert bare == whole
    with pytest.raises(
        InputError, match=r"documents\[1\]: there is no genre 'xx'; write one of bc,"
    ):
        e2e.cluster_documents([Document(plain), Document(plain, None, "xx")])
    with pytest.raises(InputError, match=r"documents\[0\]: the speakers are not one for each word"):
        e2e.cluster_documents([Document(plain, [["a"]], "nw")])
    assert (
        e2e.cluster_documents([Document([]), Document([[], []]), Document([["One"]])]) == [[]] * 3
    )


def test_punctuation_of_conll_loses_its_slash() -> None:
    def units(end: str) -> Sequence[str]:
        return word_units(Document([["Why", end]]), GENRES, "documents[0]").strings

    assert units("/?") == ["Why", "?"]
    assert units("/.") == ["Why", "."]
    assert units("/-") == ["Why", "/-"]


# the encoder


@given(st.lists(st.integers(1, 6), max_size=7))
def test_time_major_order_reads_every_word_once_in_each_direction(lengths: list[int]) -> None:
    order = TimeMajor.of(lengths, torch.device("cpu"))
    borders = [*itertools.pairwise(itertools.accumulate(lengths, initial=0))]
    longest_first = sorted(borders, key=lambda border: border[0] - border[1])
    steps = range(max(lengths, default=0))
    forward = [s + t for t in steps for s, e in longest_first if s + t < e]
    backward = [e - 1 - t for t in steps for s, e in longest_first if s + t < e]
    assert order.rows.tolist() == [forward, backward]
    assert order.active == [sum(n > t for n in lengths) for t in steps]


def sigmoid(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def by_steps(layer: CoupledLSTM, sentence: np.ndarray, direction: int) -> np.ndarray:
    """The cell as Lee et al.'s code defines it, one word after the other."""
    parameters = {n: p.detach().numpy()[direction] for n, p in layer.named_parameters()}
    c, h, states = parameters["initial_cell"], parameters["initial_hidden"], []
    for x in sentence[:: -1 if direction else 1]:
        gates = np.concatenate([x, h]) @ parameters["weights"] + parameters["bias"]
        i, j, o = np.split(gates, 3)
        c = (1 - sigmoid(i)) * c + sigmoid(i) * np.tanh(j)
        h = np.tanh(c) * sigmoid(o)
        states.append(h)
    return np.stack(states)[:: -1 if direction else 1]


def random_lstm(layers: int, dropout: float = 0.0, seed: int = 0) -> HighwayLSTM:
    torch.manual_seed(seed)
    lstm = HighwayLSTM(5, 3, layers, dropout).double()
    for parameter in lstm.parameters():
        torch.nn.init.normal_(parameter)
    return lstm


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(1, 3))
@settings(max_examples=30)
def test_layers_equal_their_definition(lengths: list[int], layers: int) -> None:
    with torch.random.fork_rng():
        lstm = random_lstm(layers)
        words = torch.randn(sum(lengths), 5, dtype=torch.float64)
    found = lstm(words, lengths).detach().numpy()
    for sentence, states in zip(
        words.split(lengths), np.split(found, np.cumsum(lengths)[:-1]), strict=True
    ):
        inputs = sentence.numpy()
        for number, layer in enumerate(lstm.layers):
            out = np.concatenate([by_steps(layer, inputs, d) for d in (0, 1)], axis=1)
            if number:
                weight, bias = lstm.highways[number - 1].parameters()
                gate = sigmoid(out @ weight.detach().numpy().T + bias.detach().numpy())
                out = gate * out + (1 - gate) * inputs
            inputs = out
        assert np.allclose(states, inputs, atol=1e-12)


def test_dropout_hides_the_same_entries_of_the_state_at_every_step() -> None:
    """With identity-like weights, what reaches the next step shows what was hidden."""
    layer = CoupledLSTM(1, 400, dropout=0.5)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
        layer.initial_hidden.fill_(1)
        # the candidate is the state before, the gates are almost open
        layer.weights[:, 1:, 400:800] = torch.eye(400)
        layer.bias[:, :400] = 20
        layer.bias[:, 800:] = 20
    order = TimeMajor.of([4], torch.device("cpu"))
    with torch.random.fork_rng():
        torch.manual_seed(5)
        states = layer.train()(torch.zeros(4, 1), order).detach()
    hidden = states == 0
    assert torch.equal(hidden[0, :400], hidden[3, :400])
    assert 0.4 < hidden[0, :400].float().mean() < 0.6
    assert (layer.eval()(torch.zeros(4, 1), order) != 0).all()


def spelling_by_definition(
    module: characters.CharacterConvolution, word: list[int], padded: int
) -> np.ndarray:
    vectors = module.embeddings.weight.detach().numpy()[word + [0] * (padded - len(word))]
    found = []
    for convolution in module.convolutions:
        kernel, bias = (p.detach().numpy() for p in convolution.parameters())
        width = kernel.shape[2]
        windows = [vectors[at : at + width] for at in range(padded - width + 1)]
        values = [np.einsum("wc,fcw->f", window, kernel) + bias for window in windows]
        found.append(np.maximum(np.max(values, axis=0), 0))
    return np.concatenate(found)


WORDS = st.lists(st.tuples(st.lists(st.integers(0, 8), max_size=9), st.integers(0, 30)), max_size=8)


@given(WORDS, st.sampled_from([1, 40, 1 << 18]))
@settings(max_examples=40)
def test_spellings_equal_their_definition(words: list[tuple[list[int], int]], cells: int) -> None:
    with torch.random.fork_rng(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(characters, "CELLS_AT_ONCE", cells)
        torch.manual_seed(2)
        module = characters.CharacterConvolution(9, 4, (2, 3, 5), 6)
        padded = [module.padded_length(max(len(word), more)) for word, more in words]
        found = module([word for word, _ in words], padded).detach().numpy()
    assert found.shape == (len(words), 18)
    for (word, _), length, vector in zip(words, padded, found, strict=True):
        assert np.allclose(vector, spelling_by_definition(module, word, length), atol=1e-5)


def test_a_longer_word_elsewhere_changes_a_words_vector(e2e: E2E) -> None:
    """Upstream's padding takes part in the maximum; it must, for the same answers."""
    module = e2e._model.encoder.characters
    ann = e2e._reader.vocabulary.numbers("Ann")
    short, long, longer = module([ann] * 3, [5, 8, 30])
    assert not torch.equal(short, long)
    assert torch.equal(long, longer)


def inputs_of(system: E2E, golden_id: str) -> WordInputs:
    read = document(goldens("clean")[golden_id])
    units = word_units(read, GENRES, "documents[0]")
    return system._reader.read(units, system._elmo.layers([read])[0])


def test_training_reaches_every_parameter_and_hides_at_random(e2e: E2E) -> None:
    encoder = LstmEncoder(e2e._model.encoder.config)
    encoder.load_state_dict(e2e._model.encoder.state_dict())
    inputs = [inputs_of(e2e, "e2ec-060"), inputs_of(e2e, "e2ec-086")]
    first, second = (encoder.eval()(inputs)[0].boundary for _ in range(2))
    assert torch.equal(first, second)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        one, other = (encoder.train()(inputs) for _ in range(2))
    assert not torch.allclose(one[0].boundary, other[0].boundary)
    hidden = one[0].head_values == 0
    assert 0.3 < hidden.float().mean() < 0.9
    sum(e.boundary.square().sum() + e.head_values.sum() for e in one).backward()
    lost = [name for name, p in encoder.named_parameters() if p.grad is None or not p.grad.any()]
    assert lost == []
