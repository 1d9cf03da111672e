"""Questions about what happens when: MimeQA's, from what rows know for certain."""
