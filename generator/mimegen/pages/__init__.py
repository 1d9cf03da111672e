"""Pages and pictures for people to look at: galleries, contact sheets, previews."""
