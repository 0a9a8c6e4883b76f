"""A BERT classifier of antecedents (KnowRef, section 3.3): any encoder of transformers."""
