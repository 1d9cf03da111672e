"""Unpack glTF files compressed by meshoptimizer (EXT_ and KHR_meshopt_compression) in NumPy."""
