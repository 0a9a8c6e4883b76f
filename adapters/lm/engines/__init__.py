"""Language models that other programs compute: vLLM in this process, and servers."""
