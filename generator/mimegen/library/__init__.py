"""Look things up by name: actions, takes, the characters who perform them, and users' own files."""
