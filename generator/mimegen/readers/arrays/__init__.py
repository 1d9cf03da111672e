"""Read files of arrays from any tool as plain data; nothing in them is executed."""

from mimegen.readers.arrays.files import is_arrays, tree_of

__all__ = ["is_arrays", "tree_of"]
