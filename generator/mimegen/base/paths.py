"""Where the data that comes with mimegen lies."""

from pathlib import Path


def data_folder() -> Path:
    """Return the folder that holds rigs/, mocap/, backgrounds/ and render_configs/.

    In a checkout that is the repository; in an installed package its own ``data`` folder.
    """
    package = Path(__file__).resolve().parents[1]
    checkout = package.parent.parent
    return checkout if (checkout / "render_configs").is_dir() else package / "data"
