"""What is printed of a training: every figure, and why one is not there."""

from pronominal.eval.training.summary import OVER_SEEDS, summary_notes


def test_a_figure_that_is_not_there_has_its_reason() -> None:
    told = [
        *summary_notes(
            [
                ("validation (3)", "balanced accuracy", "–", "–"),
                ("test original (9)", "balanced accuracy", "50.0", "1.0"),
                ("test original (9)", "accuracy", "50.0", "–"),
                ("test switching (9)", "consistency", "–", "–"),
            ]
        )
    ]
    assert told == [
        f"No interval for mean: {OVER_SEEDS}.",
        "No balanced accuracy on validation (3): it takes answered rows whose first mention is "
        "right, and others.",
        "No consistency on test switching (9): no row or pair there counts in it.",
        "No sd: it takes several seeds (--seeds).",
    ]
