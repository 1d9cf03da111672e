"""Write the fields of a manifest row into docs/reference/manifest.md, from the model itself."""

from pathlib import Path

from mimegen.manifest.schema import field_table

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "manifest.md"
START = "## Fields\n"


def page_with_fields(text: str) -> str:
    """Return the page with the fields as they are now, below its heading for them."""
    head, _, _ = text.partition(START)
    return (f"{head}{START}\n<!-- Tables by tools/manifest_fields.py: run it after a change. -->\n"
            f"\nEvery row has those in **bold**.\n\n{field_table()}")


if __name__ == "__main__":
    PAGE.write_text(page_with_fields(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
