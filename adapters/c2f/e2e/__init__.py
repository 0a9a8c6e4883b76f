"""E2E: LSTMs over word vectors below the coarse-to-fine head (Lee et al., 2018)."""
