"""Programs for environments of their own: each file runs alone, on older versions of Python too."""
