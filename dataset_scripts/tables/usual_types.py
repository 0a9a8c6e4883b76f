"""Arrow has many types for the same values; here each becomes the one that is usual."""

import pyarrow as pa

OTHER_LISTS = (pa.types.is_fixed_size_list, pa.types.is_list_view, pa.types.is_large_list_view)


def in_usual_type(values: pa.Array) -> pa.Array:
    """Return the values of an extension or a dictionary, and a map or another list as a list.

    >>> in_usual_type(pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8()))).to_pylist()
    [[{'key': 'a', 'value': 1}]]
    """
    if isinstance(values, pa.ExtensionArray):
        return in_usual_type(values.storage)
    kind = values.type
    if pa.types.is_dictionary(kind):
        return in_usual_type(values.dictionary_decode())
    if pa.types.is_map(kind):
        entry = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
        return values.cast(pa.list_(entry))
    if any(is_one(kind) for is_one in OTHER_LISTS):
        return values.cast(pa.large_list(kind.value_type))
    return values
