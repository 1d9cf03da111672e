"""Questions about what happens when, as in MimeQA, from the timelines of rows."""
