"""Tiny language models with random weights, of every family, and the plain way to score them."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.instances import FillingInstance
from pronominal.spans import Mention

Tiny = Callable[[int], Any]
FORMS = ("he", "she", "they", "xe")

PEOPLE = ("gardener", "pilot", "baker", "singer")
TASKS = (
    "The {} whistled because ___ had slept well.",
    "The {} said that ___ would come by train.",
    "Nobody knew whether the {} was ill or ___ had only forgotten the key.",
)
CONTEXTS = (
    "The {} was tired since {} had worked all night.",
    "The {} was happy because {} had found an old coin.",
    "The {} was late, for {} had missed the bus!",
)


def own_instances(forms: Sequence[str] = FORMS) -> list[FillingInstance]:
    """Sentences of our own, shaped like RUFF's."""
    instances = []
    for number, person in enumerate(PEOPLE):
        other = PEOPLE[number - 1]
        for task in TASKS:
            for index, form in enumerate(forms):
                first, second = CONTEXTS[number % 3], CONTEXTS[(number + index) % 3]
                about = first.format(person, form), second.format(other, forms[index - 1])
                text = " ".join([*about, task.format(person)])
                blank = Mention("___", text.index("___"), text.index("___") + 3)
                name = f"own-{len(instances)}"
                instances.append(FillingInstance(name, text, blank, tuple(forms), index))
    return instances


def _bytes(texts: Sequence[str], special: Sequence[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    _train(tokenizer, texts, trainers.BpeTrainer, special, initial_alphabet=alphabet)
    return tokenizer


def _train(
    tokenizer: Tokenizer, texts: Sequence[str], trainer: Any, special: Sequence[str], **more: Any
) -> None:
    settings = {"special_tokens": list(special), "vocab_size": 1000, "show_progress": False}
    tokenizer.train_from_iterator(texts, trainer(**settings, **more))


def _framed(tokenizer: Tokenizer, template: str) -> Tokenizer:
    special = [(part, tokenizer.token_to_id(part)) for part in template.split() if part != "$A"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=special
    )
    return tokenizer


def _fast(tokenizer: Tokenizer, **special: str) -> Any:
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def gpt2_tokenizer(texts: Sequence[str]) -> Any:
    end = "<|endoftext|>"
    return _fast(_bytes(texts, [end]), bos_token=end, eos_token=end, unk_token=end)


def opt_tokenizer(texts: Sequence[str]) -> Any:
    tokenizer = _framed(_bytes(texts, ["<s>", "<pad>", "</s>"]), "</s> $A")
    return _fast(tokenizer, bos_token="</s>", eos_token="</s>", pad_token="<pad>")


def llama_tokenizer(texts: Sequence[str]) -> Any:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    _train(tokenizer, texts, trainers.BpeTrainer, ["<unk>", "<s>", "</s>"])
    return _fast(_framed(tokenizer, "<s> $A"), bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def bert_tokenizer(texts: Sequence[str]) -> Any:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    _train(tokenizer, texts, trainers.WordPieceTrainer, [*names.values()])
    special = {f"{name}_token": token for name, token in names.items()}
    return _fast(_framed(tokenizer, "[CLS] $A [SEP]"), **special)


def roberta_tokenizer(texts: Sequence[str]) -> Any:
    names = {"cls": "<s>", "pad": "<pad>", "sep": "</s>", "unk": "<unk>", "mask": "<mask>"}
    tokenizer = _framed(_bytes(texts, [*names.values()]), "<s> $A </s>")
    return _fast(tokenizer, **{f"{name}_token": token for name, token in names.items()})


def _unigram(texts: Sequence[str], special: Sequence[str]) -> Tokenizer:
    """All words of the texts that are frequent, and all characters for the others."""
    words = Counter(f"▁{word}" for text in texts for word in text.split())
    characters = {character for word in words for character in word}
    pieces = [(piece, -20.0) for piece in sorted(characters)]
    pieces += [(word, -8.0) for word, count in sorted(words.items()) if count > 2]
    vocabulary = [(piece, 0.0) for piece in special] + pieces
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=list(special).index("<unk>")))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.add_special_tokens(list(special))
    return tokenizer


def albert_tokenizer(texts: Sequence[str]) -> Any:
    names = {"pad": "<pad>", "unk": "<unk>", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    tokenizer = _framed(_unigram(texts, [*names.values()]), "[CLS] $A [SEP]")
    return _fast(tokenizer, **{f"{name}_token": token for name, token in names.items()})


def t5_tokenizer(texts: Sequence[str]) -> Any:
    names = {"pad": "<pad>", "eos": "</s>", "unk": "<unk>"}
    tokenizer = _unigram(texts, [*names.values(), "<extra_id_0>", "<extra_id_1>"])
    special = {f"{name}_token": token for name, token in names.items()}
    return _fast(_framed(tokenizer, "$A </s>"), **special)


_SIZES = {
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 256,
}
_SHALLOW = _SIZES | {"num_hidden_layers": 1}
_ENDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}


def _model(name: str, **settings: Any) -> Tiny:
    """Return what makes a model of a class of transformers for a vocabulary of some size."""

    def make(vocabulary: int) -> Any:
        model_class: Any = getattr(transformers, name)
        sizes = {"vocab_size": vocabulary} | _ENDS | settings
        config = model_class.config_class(**sizes)
        torch.manual_seed(0)
        model = model_class(config).eval()
        with torch.no_grad():
            for tensor in model.parameters():
                if tensor.ndim > 1:
                    tensor.normal_(0, 0.3)  # else all options are nearly as likely
        return model

    return make


CAUSAL: dict[str, tuple[Callable[[Sequence[str]], Any], Tiny]] = {
    "gpt2": (
        gpt2_tokenizer,
        _model("GPT2LMHeadModel", n_embd=16, n_layer=2, n_head=2, n_positions=256),
    ),
    "gpt-neox": (gpt2_tokenizer, _model("GPTNeoXForCausalLM", **_SHALLOW)),
    "opt": (
        opt_tokenizer,
        _model("OPTForCausalLM", **_SHALLOW, ffn_dim=32, word_embed_proj_dim=8, dropout=0.0),
    ),
    "llama": (llama_tokenizer, _model("LlamaForCausalLM", **_SIZES, num_key_value_heads=1)),
    "qwen2": (gpt2_tokenizer, _model("Qwen2ForCausalLM", **_SHALLOW, num_key_value_heads=1)),
}

WITHOUT_TREES: dict[str, tuple[Callable[[Sequence[str]], Any], Tiny]] = {
    "alibi": (gpt2_tokenizer, _model("BloomForCausalLM", hidden_size=16, n_layer=2, n_head=2)),
    "alibi that takes any mask": (
        gpt2_tokenizer,
        _model("MptForCausalLM", d_model=8, n_layers=1, n_heads=2, expansion_ratio=2),
    ),
    "attention and state space": (
        llama_tokenizer,
        _model(
            "JambaForCausalLM",
            **_SIZES,
            num_key_value_heads=1,
            attn_layer_period=2,
            attn_layer_offset=1,
            num_experts=2,
            mamba_d_state=4,
            use_mamba_kernels=False,
        ),
    ),
    "sliding window": (
        llama_tokenizer,
        _model("MistralForCausalLM", **_SIZES, num_key_value_heads=1, sliding_window=8),
    ),
    "state space": (
        gpt2_tokenizer,
        _model("MambaForCausalLM", hidden_size=16, num_hidden_layers=1, state_size=4),
    ),
}

MASKED: dict[str, tuple[Callable[[Sequence[str]], Any], Tiny]] = {
    "bert": (bert_tokenizer, _model("BertForMaskedLM", **_SHALLOW)),
    "roberta": (roberta_tokenizer, _model("RobertaForMaskedLM", **_SHALLOW | {"pad_token_id": 1})),
    "albert": (albert_tokenizer, _model("AlbertForMaskedLM", **_SHALLOW, embedding_size=8)),
    "modernbert": (
        bert_tokenizer,
        _model("ModernBertForMaskedLM", **_SHALLOW),
    ),
}

T5 = (
    t5_tokenizer,
    _model(
        "T5ForConditionalGeneration",
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    ),
)


def save(
    folder: Path, family: tuple[Callable[[Sequence[str]], Any], Tiny], texts: Sequence[str]
) -> Path:
    """Write a checkpoint with a tokenizer that was made from these texts."""
    make_tokenizer, make_model = family
    with quiet():
        tokenizer = make_tokenizer(texts)
        make_model(len(tokenizer)).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder


@contextmanager
def quiet() -> Iterator[None]:
    with silent_transformers():
        yield


def filled(instances: Sequence[FillingInstance]) -> list[str]:
    return [text for instance in instances for text in instance.filled()]


def plain_log_likelihoods(model: Any, tokenizer: Any, texts: Sequence[str]) -> list[float]:
    """Every token but the first, given those before it."""
    found = torch.empty(len(texts), dtype=torch.double)
    for numbers, ids, _ in _equally_long(tokenizer, texts, most=32):
        with torch.inference_mode():
            logits = model(ids).logits.log_softmax(dim=-1)
        chosen = logits[:, :-1].gather(2, ids[:, 1:, None])[..., 0]
        found[numbers] = chosen.double().sum(dim=1)
    return found.tolist()


def plain_pseudo_log_likelihoods(model: Any, tokenizer: Any, texts: Sequence[str]) -> list[float]:
    """Each text in as many copies as it has tokens, of which one each is predicted."""
    found = torch.zeros(len(texts), dtype=torch.double)
    for numbers, ids, words in _equally_long(tokenizer, texts, most=16):
        copied, places = (words >= 0).nonzero(as_tuple=True)
        behind = torch.arange(ids.shape[1]) >= places[:, None]
        masked = (words[copied] == words[copied, places, None]) & behind
        there = range(len(places)), places
        hook = model.get_output_embeddings().register_forward_pre_hook(
            lambda _, given, there=there: (given[0][there],)
        )
        with torch.inference_mode():
            logits = model(torch.where(masked, tokenizer.mask_token_id, ids[copied])).logits
        hook.remove()
        chosen = logits.log_softmax(dim=-1)
        scores = chosen.gather(1, ids[copied, places, None])[:, 0].double()
        found.index_add_(0, torch.tensor(numbers)[copied], scores)
    return found.tolist()


def _equally_long(
    tokenizer: Any, texts: Sequence[str], most: int
) -> Iterator[tuple[list[int], torch.Tensor, torch.Tensor]]:
    """Yield texts that need no padding together: numbers, tokens, and words (-1 where none is)."""
    encoded = tokenizer([*texts])
    lengths = [len(ids) for ids in encoded.input_ids]
    for _, alike in groupby(
        sorted(range(len(texts)), key=lengths.__getitem__), lengths.__getitem__
    ):
        while numbers := [*islice(alike, most)]:
            ids = torch.tensor([encoded.input_ids[number] for number in numbers])
            words = [[-1 if w is None else w for w in encoded.word_ids(n)] for n in numbers]
            yield numbers, ids, torch.tensor(words)
