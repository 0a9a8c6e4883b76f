"""The coarse-to-fine head: from vectors of tokens to clusters (Lee et al., 2018)."""
