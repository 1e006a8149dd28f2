"""What a session is given at which moment: named recipes, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["RECIPES", "Moment", "Part", "Recipe"]


class Moment(StrEnum):
    """When a block is asked for. All but the last are sources of a client's session start."""

    STARTUP = "startup"
    CLEAR = "clear"
    FORK = "fork"
    RESUME = "resume"
    COMPACT = "compact"
    PROMPT = "prompt"


class Part(StrEnum):
    """One kind of content of a block; the value is its heading."""

    DIGEST = "In short"  # nothing fills it before there are typed memories
    SESSION = "From this session, before its older turns were removed"
    CARRIED = "Said by this person in earlier sessions here"
    PERSONAL = "Said by this person, true everywhere"
    REPOSITORY = "Kept for this repository"
    FOUND = "Stored earlier about this"


@dataclass(frozen=True, slots=True)
class Recipe:
    """``parts`` in order of importance; ``per_part`` bounds the items of each.

    ``hides_shown`` leaves out what the transcript still shows; ``only_new`` what this session was
    given before.
    """

    parts: tuple[Part, ...]
    per_part: int = 60
    hides_shown: bool = False
    only_new: bool = False


_FROM_ELSEWHERE = (Part.DIGEST, Part.CARRIED, Part.PERSONAL, Part.REPOSITORY)
_NEW_SESSION = Recipe(parts=_FROM_ELSEWHERE)
_GOES_ON = (Part.SESSION, *_FROM_ELSEWHERE)

RECIPES: dict[Moment, Recipe] = {
    Moment.STARTUP: _NEW_SESSION,
    Moment.CLEAR: _NEW_SESSION,
    Moment.FORK: _NEW_SESSION,
    Moment.COMPACT: Recipe(parts=_GOES_ON),
    Moment.RESUME: Recipe(parts=_GOES_ON, hides_shown=True),
    Moment.PROMPT: Recipe(parts=(Part.FOUND,), per_part=12, hides_shown=True, only_new=True),
}
