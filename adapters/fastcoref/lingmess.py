"""LingMess (Otmazgin et al., 2023, "LingMess: Linguistically Informed Multi Expert Scorers")."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from pronominal.adapters.fastcoref.categories import (
    GROUPS,
    SubtokenWords,
    expert_pairs,
    pair_categories,
    pronoun_groups,
)
from pronominal.adapters.fastcoref.dense_longformer import dense_limit, encode_densely
from pronominal.adapters.fastcoref.package import FastcorefSystem, LingMessModel, PadCollator
from pronominal.adapters.layers.encoders import EncoderDtype
from pronominal.adapters.words.pronoun_forms import warn_of_split_forms
from pronominal.pronouns import asked_pronoun_sets


class FasterLingMess(LingMessModel):  # type: ignore[misc]  # the package is untyped
    """fastcoref's model with the same weights and answers, for inference on texts of equal length.

    Short texts are encoded densely, and an expert reads only the mentions that have pairs of its
    category. Scores differ from the package's by rounding.
    """

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
        for expert, pairs in enumerate(categories.unbind(1)):
            own = starts[..., expert, :], ends[..., expert, :]
            yield self._expert_scores(expert, *own, pairs)

    def _expert_scores(self, expert: int, starts: Tensor, ends: Tensor, pairs: Tensor) -> Tensor:
        """Score one expert's pairs; the scores of all others mean nothing.

        An expert's score is a bilinear form of a mention and an antecedent, so its matrices are
        applied to one of the two, whichever has fewer members.
        """
        s2s, e2e, s2e, e2s = (
            getattr(self, f"antecedent_{way}_all_weights")[expert]
            for way in ("s2s", "e2e", "s2e", "e2s")
        )
        mentions, antecedents = pairs.any(dim=2), pairs.any(dim=1)
        forward = bool(mentions.sum() <= antecedents.sum())
        if not forward:
            s2s, e2e, s2e, e2s = s2s.T, e2e.T, e2s.T, s2e.T
        chosen = mentions if forward else antecedents
        start, end = starts[chosen], ends[chosen]
        to_start, to_end = torch.zeros_like(starts), torch.zeros_like(ends)
        to_start[chosen] = start @ s2s + end @ e2s
        to_end[chosen] = start @ s2e + end @ e2e
        scores = to_start @ starts.mT + to_end @ ends.mT
        return (scores if forward else scores.mT) + self._biases(expert, starts, ends)

    def _biases(self, expert: int, starts: Tensor, ends: Tensor) -> Tensor:
        """Return what an expert gives each antecedent, as [texts, 1, antecedents]."""
        of_start = self.antecedent_s2s_all_biases[expert] + self.antecedent_e2s_all_biases[expert]
        of_end = self.antecedent_e2e_all_biases[expert] + self.antecedent_s2e_all_biases[expert]
        biases: Tensor = starts @ of_start + ends @ of_end
        return biases.unsqueeze(1)


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
        if further:
            head, tokenizer = self._package.model.config.coref_head, self._package.tokenizer
            warn_of_split_forms(further, self.name, tokenizer, head["max_span_length"])
            head[GROUPS] = pronoun_groups(head.get(GROUPS), further)
