"""What only FCoref does; ``test_fastcoref_package.py`` has what LingMess does, too."""

from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("fastcoref") is None:
    pytest.skip("needs the extra lingmess", allow_module_level=True)

from pronominal.adapters.fastcoref.fcoref import FCoref
from pronominal.errors import InputError
from tests.adapters.fastcoref.checkpoints import reconfigured, tiny


def test_segments_let_a_text_have_any_length() -> None:
    text = "The clerk called the tailor because he had found her purse. " * 90
    found = tiny("fcoref").cluster([text, "a", text])
    assert found[0] == found[2]
    assert max(span.end for cluster in found[0] for span in cluster) > len(text) - 200


def test_segments_have_to_fit_the_position_table(tmp_path: Path) -> None:
    system = FCoref(reconfigured("fcoref", tmp_path, max_segment_len=600), device="cpu")
    with pytest.raises(InputError, match=r"texts\[0\]: 552 subtokens.* at most 512 \(its pos"):
        system.cluster(["a " * 550])
