"""What a paper has to state besides its methods: attribution, doubts, faults and left-out cells."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from mimegen.base.counted import counted, listed
from mimegen.evaluation.exports.licences import UNKNOWN, licences
from mimegen.evaluation.exports.rights import Condition, known_licence
from mimegen.manifest.left_out import LeftOutCell, variants_by_reason
from mimegen.manifest.row import Row

# What licences ask for besides attribution, by condition.
ASKS: dict[Condition, str] = {
    "non_commercial": "no commercial use",
    "no_derivatives": "no changed versions; ask whether rendered clips are changed versions",
    "share_alike": "the same licence for what is made from it"}
OWN = "mimegen"


def attributions(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the licences that ask for attribution or are not known, with the sources."""
    files = _motion_files(rows)
    for (part, licence, source), count in sorted(licences(rows).items()):
        known = known_licence(licence)
        if (known and not known.conditions) or (licence == UNKNOWN and source == OWN):
            continue
        of = f" ({listed(files[licence, source])})" if part == "motion" else ""
        asks = [text for name, text in ASKS.items() if known and name in known.conditions]
        also = f"; asks for {' and '.join(asks)}" if asks else ""
        state = "licence not stated: find out under which terms you may show it" \
            if licence == UNKNOWN else f"{licence}: name the author and the licence{also}"
        yield f"{part}{of} of {counted(count, 'clip')}, source {source}: {state}"


# Most files that an attribution names.
_MOST_FILES = 6


def _motion_files(rows: Iterable[Row]) -> dict[tuple[str, str], list[str]]:
    """Return the motion files by licence and source; of many, only the first."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        own = OWN if row.actor == "choreography" else None
        key = row.licence or UNKNOWN, row.motion_source or own or UNKNOWN
        found[key].add(row.motion_original_name or row.motion_file or "unknown file")
    return {key: [*sorted(names)[:_MOST_FILES], *(
        [f"{len(names) - _MOST_FILES} more"] if len(names) > _MOST_FILES else [])]
            for key, names in found.items()}


def doubts(rows: Sequence[Row]) -> Iterator[str]:
    """Yield every assumption and doubt that rows record, with the number of clips."""
    notes: Counter[str] = Counter()
    for row in rows:
        notes.update({f"motion {row.motion_original_name or row.motion_file}: {note}"
                      for note in row.motion_notes or ()})
        notes.update({f"character {name}: {note}" for name, said in (
            (row.avatar, row.character_notes), (row.partner_avatar, row.partner_character_notes))
            for note in said or ()})
        if row.set_changes is not None and row.set_changes.doubts:
            notes[f"background {row.background_name}: the performers do not fit"
                  f" ({' and '.join(row.set_changes.doubts)})"] += 1
        if row.hides_its_action:
            notes["the face that shows the action is hidden"] += 1
    yield from (f"{note} ({counted(count, 'clip')})" for note, count in sorted(notes.items()))


def changes(rows: Sequence[Row]) -> Iterator[str]:
    """Yield what was changed on purpose or for the performers, with the number of clips."""
    found: Counter[str] = Counter()
    for row in rows:
        found.update({f"deliberate fault {fault.get('fault', fault.get('name'))} of amount"
                      f" {fault.get('amount')}" for fault in row.faults or ()})
        if row.set_changes is not None and row.set_changes.names:
            found[f"background {row.background_name}: left out for the performers or the camera:"
                  f" {', '.join(sorted(set(row.set_changes.names)))}"] += 1
        elif row.set_changes is not None:
            found[f"background {row.background_name}: performers moved to a free place"] += 1
    yield from (f"{what} ({counted(count, 'clip')})" for what, count in sorted(found.items()))


def absent(left_out: Iterable[LeftOutCell], failed: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the cells of the design that have no clip: left out, or not made."""
    for (action, take, config, why), variants in variants_by_reason(left_out).items():
        yield f"{action}, {take}, config {config}: {', '.join(variants)} left out: {why}"
    for name, why in failed:
        yield f"{name} was not made: {' '.join(why.split())}"
