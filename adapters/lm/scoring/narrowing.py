"""From where on an encoder computes only the tokens whose logits are asked for.

Behind its last attention no token sees another, so that the rest of the last layer can leave out
all tokens but the masked ones: with twelve layers a sixteenth of the products.
"""

from typing import Any

from torch.nn import Module

_LIKE_BERT = {
    f"transformers.models.{name}.modeling_{name}"
    for name in ("bert", "camembert", "electra", "roberta", "xlm_roberta", "xlm_roberta_xl")
}
"""Where transformers has models with BERT's layers: the module `attention.output` adds what was
attended to to the states before it, and what follows treats each token alone. Others have such a
module and look at the number of tokens behind it (LUKE), or are code that a checkpoint brings."""


def narrowest(model: Any) -> Module | None:
    """Return the first module at which `logits_at` may choose states.

    Args:
        model: one of transformers' masked models.

    Returns:
        A module of the last layer; None, which stands for the output layer, where the model is not
        known to be built like BERT or cuts its texts into chunks.
    """
    chunked = getattr(model.config, "chunk_size_feed_forward", 0)
    if type(model).__module__ not in _LIKE_BERT or chunked:
        return None
    sums = [module for name, module in model.named_modules() if name.endswith("attention.output")]
    return sums[-1] if sums else None
