"""Keys, tokens and passwords are not written."""

import pytest

from pronominal.credentials import WITHHELD, without_credentials


@pytest.mark.parametrize(
    "value",
    [
        "ask --api-key hunter2",
        "ask --api_key=hunter2",
        "ask --hf-token 'hunter2'",
        ["ask", "--password", "hunter2"],
        ["ask", "--secret=hunter2"],
        {"key": "hunter2"},
        {"headers": {"api_key": "hunter2"}},
        "ask sk-hunter2hunter2hunter2",
        "ask --header 'Authorization: Bearer hunter2'",
        ["ask", "hf_hunter2hunter2hunter2"],
    ],
)
def test_what_looks_like_a_credential_is_withheld(value: object) -> None:
    told = str(without_credentials(value))
    assert "hunter2" not in told
    assert WITHHELD in told


def test_the_values_of_the_environment_are_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVER_TOKEN", "correct-horse")
    monkeypatch.setenv("MY_SERVER_NAME", "battery-staple")
    assert without_credentials("ask correct-horse battery-staple") == "ask *** battery-staple"


@pytest.mark.parametrize(
    "value",
    [
        "python predict.py --max-tokens 5 --tokenizer here --keyboard x",
        {"max_new_tokens": 5, "batch_tokens": 512, "token": None, "seed": 3, "prompts": ["a", "b"]},
        ["lingmess", 3, True, None, 0.5],
    ],
)
def test_other_settings_stay_as_they_are(value: object) -> None:
    assert without_credentials(value) == value
