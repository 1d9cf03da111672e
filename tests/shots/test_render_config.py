from pathlib import Path

import pytest
import yaml

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.shots.config import read_config

CONFIGS = sorted((data_folder() / "render_configs").glob("*.yaml"))


def changed(tmp_path: Path, part: str | None, key: str, value: object) -> Path:
    content = yaml.safe_load((data_folder() / "render_configs" / "preview.yaml").read_text())
    (content if part is None else content[part])[key] = value
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_configs_are_read_and_carry_their_files_name(path: Path) -> None:
    assert read_config(path).name == path.stem


def test_the_mime_config_is_the_papers() -> None:
    config = read_config(data_folder() / "render_configs" / "mime.yaml")
    sampling = config.sampling
    assert (sampling.samples, sampling.max_bounces, sampling.adaptive_threshold) == (32, 1, 0.5)
    assert sampling.denoise and sampling.denoise_on_gpu and sampling.persistent_data
    assert not sampling.caustics and not sampling.light_tree
    assert (config.width, config.height, config.fps) == (1280, 720, 60)
    assert config.shadow.kind == "catcher" and config.shadow.plane_size_m == 50
    assert config.camera.kind == "fixed" and config.light.sun_strength == 5


@pytest.mark.parametrize(
    ("part", "key", "value", "words"),
    [
        (None, "widht", 640, ["widht: unknown key", "width"]),
        ("sampling", "sampels", 3, ["sampling sampels", "samples"]),
        ("camera", "lense_mm", 50, ["lense_mm", "lens_mm"]),
        ("light", "sun", 5, ["light sun", "sun_strength"]),
        (None, "width", 641, ["width: ", "multiple of 2"]),
        ("camera", "kind", "handheld", ["camera", "framed"]),
        ("sampling", "samples", 0, ["sampling samples: "]),
    ],
)
def test_a_wrong_key_or_value_is_named_with_its_file(
    tmp_path: Path, part: str | None, key: str, value: object, words: list[str]
) -> None:
    path = changed(tmp_path, part, key, value)
    with pytest.raises(RequestError) as error:
        read_config(path)
    message = str(error.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize("text", ["", "[1, 2", "just words", "\x00"])
def test_a_file_that_is_no_config_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(RequestError) as error:
        read_config(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="nowhere"):
        read_config(tmp_path / "nowhere.yaml")


def test_what_most_configs_lack_is_not_in_their_keys_and_rows(tmp_path: Path) -> None:
    folder = data_folder() / "render_configs"
    assert not {"photo", "camera_look"} & read_config(folder / "preview.yaml").model_dump().keys()
    photo = read_config(folder / "photo.yaml")
    content = photo.model_dump(mode="json")
    assert (content["photo"]["world"], content["camera_look"]) == ("courtyard", "dslr")
    assert type(photo).model_validate(content) == photo


def test_a_photo_is_cycles_alone(tmp_path: Path) -> None:
    content = yaml.safe_load((data_folder() / "render_configs" / "photo.yaml").read_text())
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(content | {"engine": "raster"}))
    with pytest.raises(RequestError, match="engine raster has no photo"):
        read_config(path)
    path.write_text(yaml.safe_dump(content | {"photo": {"world": "mars"}}))
    with pytest.raises(RequestError, match="courtyard"):
        read_config(path)
