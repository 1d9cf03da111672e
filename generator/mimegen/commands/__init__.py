"""The commands, one file each: parse arguments, call the library, print results."""
