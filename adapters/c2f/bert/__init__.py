"""BERT or SpanBERT below the coarse-to-fine head (Joshi et al., 2019; 2020)."""
