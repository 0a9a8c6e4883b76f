"""Language models as coreference systems.

`marking` asks for a text back with its clusters marked and reads the marks, `copies` says where the
copy's characters are in the text, `asked_model` is whoever writes, local or on a server, `system`
is the coreference system, and `questions` asks about one pronoun in words instead.
"""
