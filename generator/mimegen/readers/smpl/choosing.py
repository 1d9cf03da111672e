"""Choose one of the people in a file and return the recording."""

from dataclasses import replace
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.similar_names import nearest
from mimegen.readers.options import ReadOptions
from mimegen.readers.recording import Recording
from mimegen.readers.smpl.layouts import People
from mimegen.readers.smpl.parameters import Parameters, UnreadableError
from mimegen.readers.smpl.reading import recording_of

# A person seen in fewer than this fraction of the frames of the most seen one is ignored unless
# --subject names them.
PASSING = 0.1


def recording_of_people(path: Path, people: People, options: ReadOptions) -> Recording:
    """Return the recording of the only person, or of the one that ``--subject`` names.

    Raises RequestError, one line, if there are several and none is chosen, or if arrays do not fit.
    """
    try:
        chosen = _chosen(path, people, options)
        noted = replace(chosen, notes=(*people.notes, *chosen.notes))
        return recording_of(path, noted, people.world, options)
    except UnreadableError as problem:
        raise RequestError(f"{path}: {problem}") from None


def _chosen(path: Path, people: People, options: ReadOptions) -> Parameters:
    """Return the parameters of the only person, or of the one that ``--subject`` names."""
    frames = people.frames
    if options.subject is not None:
        if options.subject not in people.by_id:
            near = nearest(options.subject, people.by_id) or list(people.by_id)
            raise RequestError(f"{path}: no subject {options.subject!r}; expected one of:"
                               f" {', '.join(near[:8])}")
        return people.by_id[options.subject]()
    most = max(frames.values())
    seen = [one for one, count in frames.items() if count >= PASSING * most]
    if len(seen) > 1:
        said = ", ".join(f"{one} ({frames[one]} frames)" for one in
                         sorted(seen, key=lambda one: -frames[one])[:8])
        raise RequestError(f"{path}: contains {len(seen)} people: {said}; choose one with"
                           " --subject ID")
    return people.by_id[seen[0]]()
