"""Weights are packed on any processor, also where nothing is gained."""

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def processor_with_avx2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
