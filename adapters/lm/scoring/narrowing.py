"""From where on an encoder computes only the tokens whose logits are asked for.

Behind its last attention no token sees another, so that the rest of the last layer can leave out
all tokens but the masked ones: with twelve layers a sixteenth of the products.
"""

from typing import Any

from torch.nn import Module

_LIKE_BERT = ("bert", "camembert", "electra", "roberta", "xlm_roberta", "xlm_roberta_xl")
"""The folders of `transformers.models` whose layers are BERT's: a module adds what was attended to
to the states before it, and what follows treats each token alone. Others have the same names and
look at the number of tokens again (LUKE), and so does code that a checkpoint brings."""

_SUM = "attention.output"


def narrowest(model: Any) -> Module | None:
    """Return the first module at which `logits_at` may choose states.

    Args:
        model: one of transformers' masked models.

    Returns:
        A module of the last layer; None, which stands for the output layer, where the model is not
        known to be built like BERT or cuts its texts into chunks.
    """
    known = {f"transformers.models.{name}.modeling_{name}" for name in _LIKE_BERT}
    chunked = getattr(model.config, "chunk_size_feed_forward", 0)
    if type(model).__module__ not in known or chunked:
        return None
    sums = [module for name, module in model.named_modules() if name.endswith(_SUM)]
    return sums[-1] if sums else None
