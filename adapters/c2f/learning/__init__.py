"""What trains a coarse-to-fine model: documents, windows, loss, optimisers."""
