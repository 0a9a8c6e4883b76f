"""Systems that read no meaning: fixed positions, surface roles, word counts, one pronoun set."""
