"""What each forked process has ready: spaCy's rules for English, which take long to read."""

from pronominal.adapters.words.english import english_pipeline

english_pipeline("sentencizer")
