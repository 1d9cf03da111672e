"""The texts and options of a study: ``study.yaml``, overridden by a researcher's own file."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from mimegen.base.yaml_file import Finite, Strict, YamlFile

Task = Literal["free", "choice", "same", "ratings"]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)]
Word = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Rating = Annotated[Finite, Field(ge=0, le=100)]
DEFAULTS = Path(__file__).with_name("study.yaml")


class QuestionWording(Strict):
    """A question's wording, by what the questions ask for."""

    label: Text
    intention: Text


class SameWords(Strict):
    """Wording of the question whether two clips show the same; the first option means yes."""

    ask: Text
    options: tuple[Text, Text]


class Slider(Strict):
    """A rating from 0 to 100."""

    name: Word
    ask: Text
    low: Text
    high: Text


class RatingWords(Strict):
    """Wording for raters, in which ``{action}`` is replaced by the action, and the sliders."""

    ask: Text
    hint: Text
    sliders: Annotated[tuple[Slider, ...], Field(min_length=1, max_length=8)]

    @field_validator("sliders")
    @classmethod
    def _differ(cls, sliders: tuple[Slider, ...]) -> tuple[Slider, ...]:
        names = [slider.name for slider in sliders]
        if len({*names}) < len(names):
            raise ValueError("two sliders have the same name")
        return sliders


class Golden(Strict):
    """A clip whose answer is known; ``expected`` holds experts' ratings by slider."""

    sample_id: str
    expected: dict[str, Rating] = Field(default_factory=dict)


class PageWording(Strict):
    """Texts of buttons and notices."""

    next: Text
    back: Text
    continue_: Annotated[Text, Field(alias="continue")]
    replay: Text
    play: Text
    loading: Text
    first: Text
    second: Text
    clip: Text
    offline: Text
    broken: Text
    skip: Text
    save: Text
    finish: Text
    progress: Text
    time_left: Text
    begun: Text
    wrong_id: Text
    lost: Text


class Settings(Strict):
    """Everything about a study except its questions; ``study.yaml`` explains each key."""

    title: Text
    language: Annotated[str, StringConstraints(pattern=r"^[A-Za-z-]{2,20}$")]
    consent: Text
    agree: Text
    instructions: tuple[Text, ...]
    speeded_instructions: tuple[Text, ...] = ()
    attention_note: Text
    practice_note: Text
    practice_over: Text
    welcome_back: Text
    end: Text
    end_saved: Text
    full: Text
    free: QuestionWording
    choice: QuestionWording
    same: SameWords
    ratings: RatingWords
    practice: Annotated[int, Field(ge=0, le=20)] | None
    golden: Annotated[int, Field(ge=0, le=50)] | tuple[Golden, ...] | None
    tolerance: Annotated[Finite, Field(ge=0, le=100)]
    trials: Annotated[int, Field(ge=1)] | None
    repeat_options: bool
    replays: Annotated[int, Field(ge=0)] | None
    speeded: bool = False
    time_limit_s: dict[Task, Annotated[Finite, Field(gt=0, le=3600)] | None]
    participants: Annotated[int, Field(ge=1)] | None
    completion_address: Annotated[str, StringConstraints(pattern=r"^https://\S+$")] | None
    completion_code: Annotated[str, StringConstraints(max_length=200)] | None
    words: PageWording

    @model_validator(mode="after")
    def _expected_is_rated(self) -> "Settings":
        """Refuse expected ratings for sliders that do not exist."""
        names = {slider.name for slider in self.ratings.sliders}
        for golden in self.golden if isinstance(self.golden, tuple) else ():
            for name in golden.expected:
                if name not in names:
                    raise ValueError(f"golden {golden.sample_id}: unknown slider {name}; expected"
                                     f" one of {', '.join(sorted(names))}")
        return self


def read_settings(file: Path | None) -> Settings:
    """Return mimegen's settings, overridden by those of ``file``.

    Raises RequestError naming the file, line and key of the first error.
    """
    own = YamlFile(DEFAULTS)
    if file is None:
        return own.parsed(Settings)
    given = YamlFile(file)
    return given.parsed(Settings, _merged(own.content, given.content))


def _merged(below: Any, above: Any) -> Any:
    """Return nested mappings merged; any other value of ``above`` replaces that of ``below``."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return below | {key: _merged(below.get(key), value) for key, value in above.items()}
