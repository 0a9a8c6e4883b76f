"""LingMess (Otmazgin et al., 2023, "LingMess: Linguistically Informed Multi Expert Scorers")."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, cast

import torch
from torch import Tensor, nn

from pronominal.adapters.fastcoref.categories import (
    GROUPS,
    SubtokenWords,
    expert_pairs,
    pair_categories,
    pronoun_groups,
)
from pronominal.adapters.fastcoref.dense_longformer import dense_limit, encode_densely
from pronominal.adapters.fastcoref.package import FastcorefSystem, LingMessModel, PadCollator
from pronominal.adapters.layers.encoders import EncoderDtype, compute_head_in
from pronominal.adapters.words.pronoun_forms import cut_by, warn_of_split_forms
from pronominal.pronouns import asked_pronoun_sets

WAYS = ("s2s", "s2e", "e2s", "e2e")
"""From the start or the end of a mention to those of an antecedent, in the names of weights."""


class FasterLingMess(LingMessModel):  # type: ignore[misc]  # the package is untyped
    """fastcoref's model with the same weights and answers, for inference on texts of equal length.

    Short texts are encoded densely, and an expert reads only the mentions that have antecedents of
    its category. Scores differ from the package's by rounding.
    """

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.experts = nn.ModuleList()
        """One layer for each expert, once `join_matrices` has made them."""

    def forward(
        self, batch: Any, gold_clusters: None = None, return_all_outputs: bool = True
    ) -> Any:
        """Return starts and ends of mentions, scores of all spans, and scores of antecedents.

        Shapes are [texts, mentions], again, [texts, tokens, tokens] and [texts, mentions,
        mentions + 1], where the last antecedent is none.
        """
        states, attention = self.forward_transformer(batch)
        spans = self._calc_mention_logits(
            self.start_mention_mlp(states), self.end_mention_mlp(states)
        )
        starts, ends, present, mentions, _ = self._prune_topk_mentions(spans, attention)
        groups = self.config.coref_head.get(GROUPS) or pronoun_groups()
        words = map(SubtokenWords.read, batch["tokens"], batch["subtoken_map"])
        texts = zip(starts, ends, words, strict=True)
        categories = torch.stack([pair_categories(*text, groups) for text in texts])
        rows = torch.arange(len(states), device=states.device)[:, None]
        first, last = states[rows, starts], states[rows, ends]
        pairs = self._pair_scores(first, last, expert_pairs(categories))
        scores = self._mask_antecedent_logits(pairs + mentions, present)
        none = scores.new_zeros(*scores.shape[:-1], 1)
        return starts, ends, spans, torch.cat((scores, none), dim=-1)

    def forward_transformer(self, batch: Any) -> tuple[Tensor, Tensor]:
        """Return the last hidden states as [texts, tokens, hidden], and which tokens are there."""
        ids, attention = batch["input_ids"], batch["attention_mask"]
        if ids.shape[1] <= dense_limit(self.base_model):
            return encode_densely(self.base_model, ids), attention
        encoded: tuple[Tensor, Tensor] = super().forward_transformer(batch)
        return encoded

    def _pair_scores(self, first: Tensor, last: Tensor, categories: Tensor) -> Tensor:
        """Sum what the experts say of each pair, as [texts, mentions, antecedents].

        `first` and `last` are states of the mentions' outer tokens, as [texts, mentions, hidden];
        `categories` the pairs that an expert is for, as [texts, experts, mentions, antecedents].
        """
        scores = first.new_zeros(categories[:, 0].shape)
        every = self.expert_scores(first, last, categories)
        for pairs, of_expert in zip(categories.unbind(1), every, strict=True):
            scores += pairs * of_expert
        return scores

    def expert_scores(self, first: Tensor, last: Tensor, categories: Tensor) -> Iterator[Tensor]:
        """Yield each expert's scores of its pairs, [texts, mentions, antecedents].

        Its scores of other pairs mean nothing; the arguments are those of `_pair_scores`.
        """
        starts = self.coref_start_all_mlps(first).unflatten(-1, (self.num_cats, -1))
        ends = self.coref_end_all_mlps(last).unflatten(-1, (self.num_cats, -1))
        borders = torch.cat((starts, ends), dim=-1)
        for expert, pairs in enumerate(categories.unbind(1)):
            own, asked = borders[..., expert, :], pairs.any(dim=2)
            towards = torch.zeros_like(own)
            if asked.any():
                towards[asked] = self._towards_antecedents(expert, own[asked])
            yield towards @ own.mT

    def _towards_antecedents(self, expert: int, borders: Tensor) -> Tensor:
        """Return what an expert multiplies each antecedent with, [mentions, start and end]."""
        if self.experts:
            return cast(Tensor, self.experts[expert](borders))
        (s2s, s2e), (e2s, e2e) = self._matrices(expert)
        start, end = borders.chunk(2, dim=-1)
        towards = torch.cat((start @ s2s + end @ e2s, start @ s2e + end @ e2e), dim=-1)
        return towards + self._bias(expert)

    @torch.no_grad()
    def join_matrices(self, dtype: EncoderDtype = "float32") -> None:
        """Make a layer of each expert's matrices and biases, to be asked and trained no more.

        `dtype` is that of the encoder.
        """
        for expert in range(self.num_cats):
            bias = self._bias(expert)
            with torch.device("meta"):
                layer = nn.Linear(len(bias), len(bias))
            matrix = torch.cat([torch.cat(row, dim=1) for row in self._matrices(expert)])
            layer.weight = nn.Parameter(matrix.T, requires_grad=False)
            layer.bias = nn.Parameter(bias, requires_grad=False)
            self.experts.append(layer)
            compute_head_in(dtype, self.experts)
        for way, kind in product(WAYS, ("weights", "biases")):
            delattr(self, f"antecedent_{way}_all_{kind}")

    def _matrices(self, expert: int) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        s2s, s2e, e2s, e2e = (
            getattr(self, f"antecedent_{way}_all_weights")[expert] for way in WAYS
        )
        return (s2s, s2e), (e2s, e2e)

    def _bias(self, expert: int) -> Tensor:
        s2s, s2e, e2s, e2e = (getattr(self, f"antecedent_{way}_all_biases")[expert] for way in WAYS)
        return torch.cat((s2s + e2s, e2e + s2e))


class LingMess(FastcorefSystem):
    """Scores a pair of mentions with the expert for its category, such as pronoun and entity.

    A text has to fit into the encoder's position table.

    Args:
        checkpoint: see `FastcorefSystem`, as for the others.
        device: where to compute.
        batch_size: texts of equal length that go through the model at once.
        dtype: see `compute_in`.
        pronoun_sets: names of sets, such as ``xe``, or TOML files, whose forms are pronouns to the
            categories, too; those that the checkpoint was trained with are anyway.
    """

    name = "lingmess"
    model_class = FasterLingMess
    collator_class = PadCollator
    architecture = "LingMessModel"
    package_class = "LingMessCoref"

    def __init__(
        self,
        checkpoint: str,
        *,
        device: str | None = None,
        batch_size: int = 128,
        dtype: EncoderDtype = "float32",
        pronoun_sets: Sequence[str] = (),
    ) -> None:
        further = asked_pronoun_sets(pronoun_sets)
        super().__init__(checkpoint, device=device, batch_size=batch_size, dtype=dtype)
        self._package.model.join_matrices(dtype)
        if further:
            head, tokenizer = self._package.model.config.coref_head, self._package.tokenizer
            warn_of_split_forms(further, self.name, cut_by(tokenizer), head["max_span_length"])
            head[GROUPS] = pronoun_groups(head.get(GROUPS), further)
