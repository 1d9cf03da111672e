"""Who sees what: balanced lists of trials, in which nobody sees an action twice.

Each person gets one list. Actions and variants form a Latin square: from list to list every action
moves on by one variant. If people see only some of the actions, those that share options go to
different people, because anyone who sees the same options again can answer by elimination.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import ceil

from mimegen.base.errors import RequestError
from mimegen.base.seeds import generator
from mimegen.evaluation.question import Question
from mimegen.study.settings import Settings

Pair = tuple[Question, Question]
Takes = list[list[Question]]


def by_action(questions: Sequence[Question]) -> dict[str, Takes]:
    """Return each action's questions: one list for each performance, in the order of variants."""
    found: dict[str, dict[str, list[Question]]] = defaultdict(lambda: defaultdict(list))
    for one in sorted(questions, key=lambda one: (str(one.variant), one.sample_id)):
        found[one.action][one.performance_id].append(one)
    return {action: [takes[name] for name in sorted(takes)]
            for action, takes in sorted(found.items())}


def single_lists(actions: Mapping[str, Takes], chooses: bool, settings: Settings, seed: int
                 ) -> list[list[Question]]:
    """Return lists of questions about one clip each; the first lists cover every action once.

    ``chooses`` means that people see the questions' options.
    """
    most_takes = max(len(takes) for takes in actions.values())
    variants = max(len(take) for takes in actions.values() for take in takes)
    rows = [_in_line({action: takes[turn % len(takes)] for action, takes in actions.items()}, seed)
            for turn in range(most_takes)]
    apart = chooses and not settings.repeat_options
    parts = max(_parts(row, apart, settings.trials) for row in rows)

    def one_list(row: Sequence[list[Question]], part: int, turn: int) -> list[Question]:
        """Return every ``parts``-th take; each shows the next of its variants."""
        return [take[(place + turn) % len(take)] for place, take in enumerate(row[part::parts])]

    return [one_list(row, part, turn)
            for turn in range(variants) for row in rows for part in range(parts)]


def experiment_lists(questions: Sequence[Question], settings: Settings, seed: int
                     ) -> list[list[Question]]:
    """Return lists for an experiment in which each person sees all conditions, even similar ones.

    If the settings allow fewer trials than there are questions, the questions are divided among
    several people. Both halves of a minimal pair go to the same person.
    """
    units: dict[str, list[Question]] = defaultdict(list)
    for one in sorted(questions, key=lambda one: one.question_id):
        units[one.pair or one.question_id].append(one)
    ordered = [*units.values()]
    drawn = [ordered[place]
             for place in generator(seed, "study", "experiment").permutation(len(ordered))]
    parts = min(ceil(len(questions) / (settings.trials or len(questions))), len(drawn))
    return [[one for unit in drawn[part::parts] for one in unit] for part in range(parts)]


def _in_line(takes: Mapping[str, list[Question]], seed: int) -> list[list[Question]]:
    """Return the takes in random order, with those that share options next to each other."""
    shared: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for action in _shuffled(sorted(takes), seed, "actions"):
        first = takes[action][0]
        shared[tuple(sorted(first.options)) or (action,)].append(action)
    return [takes[action] for group in shared.values() for action in group]


def _parts(row: Sequence[list[Question]], apart: bool, trials: int | None) -> int:
    """Return the number of people among whom the actions are divided.

    With ``apart``, at least as many as actions share the same options, so that nobody sees these
    options twice.
    """
    options = Counter(tuple(sorted(take[0].options)) for take in row)
    return max(max(options.values()) if apart else 1, ceil(len(row) / (trials or len(row))))


def pair_lists(actions: Mapping[str, Takes], settings: Settings, seed: int) -> list[list[Pair]]:
    """Return lists of clip pairs in different variants; half of the pairs show the same action.

    Every three actions make one pair of the same action and one pair of the other two. From list to
    list they change roles and move on by one variant. Raises RequestError if there are too few
    clips or actions.
    """
    clips = {action: [one for take in takes for one in take] for action, takes in actions.items()}
    triples = _triples(clips, seed)
    variants = min(len(clips[action]) for triple in triples for action in triple)
    if variants < 2:
        raise RequestError("--tasks same requires two clips of every action; render another"
                           " variant")
    at_once = max((settings.trials or 2 * len(triples)) // 2, 1)
    parts = ceil(len(triples) / at_once)

    def one_list(part: int, role: int, turn: int) -> list[Pair]:
        return [pair for place in range(part, len(triples), parts)
                for pair in _pairs([clips[action] for action in triples[place]], turn, role, place)]

    return [one_list(part, role, turn)
            for turn in range(variants) for role in range(3) for part in range(parts)]


def _pairs(triple: Sequence[list[Question]], turn: int, role: int, place: int) -> list[Pair]:
    """Return a pair of clips of the action in ``role``, and a pair of the other two actions."""
    same = triple[role]
    others = [triple[other] for other in range(3) if other != role]
    step = 1 + place % max(len(same) - 1, 1)

    def pair(first: list[Question], second: list[Question]) -> Pair:
        """Return a clip, and the next one of another variant, if there is any, for both kinds of
        pairs: otherwise, a variant shown twice would say that the actions differ.
        """
        one = first[(place + turn) % len(first)]
        ahead = [second[(place + turn + step + more) % len(second)] for more in range(len(second))]
        return one, next((other for other in ahead if other.variant != one.variant), ahead[0])

    return [pair(same, same), pair(*others)]


def _triples(clips: Mapping[str, list[Question]], seed: int) -> list[tuple[str, ...]]:
    """Return actions in threes from different groups; leftover actions are dropped."""
    left = _shuffled(sorted(clips), seed, "triples")
    triples: list[tuple[str, ...]] = []
    while found := next((three for three in combinations(left, 3) if _differ(three, clips)), None):
        triples.append(found)
        left = [action for action in left if action not in found]
    if not triples:
        raise RequestError("--tasks same requires three actions of different semantic groups beyond"
                           " those of practice and attention checks; render more, or set golden and"
                           " practice to 0 in --settings")
    return triples


def _differ(three: tuple[str, ...], clips: Mapping[str, list[Question]]) -> bool:
    groups = [clips[action][0].semantic_group for action in three]
    return all(one is None or one != other for one, other in combinations(groups, 2))


def _shuffled(names: Sequence[str], seed: int, why: str) -> list[str]:
    return [names[place] for place in generator(seed, "study", why).permutation(len(names))]
