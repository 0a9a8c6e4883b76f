"""ELMo's vectors, cached or computed (Peters et al., 2018)."""
