"""What people look at: galleries, contact sheets, previews."""
