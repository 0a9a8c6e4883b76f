"""Dataset scripts, a file or folder for each dataset: upstream files in, published tables out."""

DATASETS: dict[str, str] = {
    "gap": "GAP (Webster et al., 2018), Wikipedia passages with two names, and switched",
    "knowref": "KnowRef (Emami et al., 2019), sentences with two names, and switched",
    "ruff": "RUFF (Gautam et al., 2024), pronoun fidelity with zero to five distractors",
    "sample": "sentences of our own in WinoPron's form; needs no upstream files",
    "winogender": "Winogender schemas (Rudinger et al., 2018), with he, she, they and with xe",
    "winonb": "WinoNB (Baumler and Rudinger, 2022), a group or an individual behind they",
    "winopron": "WinoPron (Gautam et al., 2024), double- and single-entity sentences",
}
"""Name of each script here, and one sentence for ``pronominal datasets``."""
