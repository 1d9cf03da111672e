"""glTF files packed with meshoptimizer, unpacked in NumPy: EXT_ and KHR_meshopt_compression."""
