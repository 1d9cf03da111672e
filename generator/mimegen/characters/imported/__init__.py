"""Import rigged FBX and glTF files as characters."""
