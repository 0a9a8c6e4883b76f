"""What is said of a system that cannot answer one of the texts that it was given."""

from pronominal.errors import InputError


class FailedCallError(InputError):
    """The answers to one call are missing or not what they should be, perhaps for one input's sake.

    Other inputs, or each of them alone, may be answered; an `InputError` that is neither this nor
    names a row says that the system can answer nothing.
    """


class RefusedTextError(InputError):
    """One of several texts or documents is at fault.

    Args:
        cause: what is wrong, without evaluation text.
        cure: what the user can do about it, as an imperative.
        index: which one it is, from 0, among those that the system was given.
        among: what the system's method calls them.
        checkpoint: what the system was loaded from, where that has to do with it.
    """

    def __init__(
        self,
        cause: str,
        *,
        cure: str,
        index: int,
        among: str = "texts",
        checkpoint: str | None = None,
    ) -> None:
        super().__init__(cause, cure=cure, file=checkpoint, row=f"{among}[{index}]")
        self.index = index

    def at(self, row: str) -> InputError:
        """Return this error for a user who knows the text by another name, such as ``"id x"``."""
        return InputError(self.cause, cure=self.cure, file=self.file, row=row)


class NoAnswerError(RefusedTextError):
    """No answer came to one of the texts, though the system did not say that it has none."""


class NonFiniteScoresError(FloatingPointError):
    """Scores are infinite or not a number, so that no comparison of them means anything."""

    def __init__(self, document: int) -> None:
        super().__init__(f"document {document} of the batch has scores that are not finite")
        self.document = document


def scores_not_finite(index: int, checkpoint: str, among: str = "texts") -> RefusedTextError:
    """Return the error for scores that no comparison means anything with."""
    return RefusedTextError(
        "the scores are not finite",
        cure="give an undamaged checkpoint, or compute on another device",
        index=index,
        among=among,
        checkpoint=checkpoint,
    )
