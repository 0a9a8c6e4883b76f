"""Keys, tokens and passwords are not written."""

import pytest

from pronominal.credentials import WITHHELD, withheld_digest, without_credentials


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
        "MY_TOKEN=hunter2 ask",
        "ask --accessToken hunter2",
        ["ask", "--accessToken", "hunter2"],
        "ask --auth hunter2",
        {"id_token": "hunter2", "azure_primary_key": "hunter2"},
        'ask --api-key "hunter2 hunter2"',
        "ask https://ann:hunter2@example.org/x",
        "ask https://example.org/x?mode=a&api_key=hunter2&b=c",
        "ask --header 'Authorization: Basic hunter2'",
        "ask --header 'X-Api-Key: hunter2'",
        """ask '{"apiKey": "hunter2"}'""",
        {"apiKey": "hunter2", "openAIKey": "hunter2"},
        "ask --verbose --pad-token --api-key hunter2",
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
        {"pad_token": "<pad>", "mask_token": "x", "eos_token_id": "2", "max_key": "a"},
        "ask --sort-key name --eos-token '</s>' --pad_token=<pad>",
        ["ask", "--sort-key", "name", "--ssh-key", "./identity", f"--key={__file__}"],
        "ask http://localhost:8000/v1?monkey=a",
    ],
)
def test_other_settings_stay_as_they_are(value: object) -> None:
    assert without_credentials(value) == value


def test_a_digest_tells_credentials_apart_and_names_none() -> None:
    one, other = (withheld_digest({"api_key": key, "seed": 1}) for key in ("hunter2", "hunter3"))
    assert one is not None
    assert other is not None
    assert one != other
    assert len(one) == 16
    assert one == withheld_digest({"seed": 1, "api_key": "hunter2"})
    assert withheld_digest({"pad_token": "x", "words": ("a", "b")}) is None
