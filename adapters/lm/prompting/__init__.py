"""Language models that are asked with prompts and write an answer."""
