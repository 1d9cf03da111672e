"""Explanations of the tables of ``questions --audit`` and ``evaluate``, for --explain."""

from collections.abc import Mapping

import click

from mimegen.evaluation.audit import LEVEL

HINT = "--explain says in a sentence each what the columns and rows mean"
# Rows and columns of the audit, by name. A rule sees only a question's options.
AUDIT = {
    "position": "always answers with the same place in the list: the place that is right most"
                " often.",
    "rarity": "picks the option that other questions use least often as a wrong answer.",
    "rare option": "picks the option that occurs least often in the file.",
    "frequent option": "picks the option that occurs most often in the file.",
    "label prior": "picks the option that is most often the answer to questions about other"
                   " actions.",
    "longest": "picks the option with the most letters.",
    "shortest": "picks the option with the fewest letters.",
    "most central": "picks the option whose meaning is closest to the other options.",
    "least central": "picks the option whose meaning is farthest from the other options.",
    "file name": "picks the option whose words occur in the clip's neutral name, the field clip."
                 " Give models the clip under that name: file_name tells the action, unless clips"
                 " have opaque names.",
    "classifier": "combines length, rarity, position and meaning, with weights learned from"
                  " questions about other actions.",
    "background": "picks the option whose meaning is closest to the background's name. It should"
                  " succeed on aligned backgrounds, and is not tested.",
    "right": "share of the questions that the rule answers correctly; a tie counts in part.",
    "95 %": "interval of that share. It allows for questions about one action being alike. It is"
            " not corrected for the number of rules; 'p after Holm' is.",
    "chance": "share that guessing gets right.",
    "p after Holm": "probability of such a share if the rule were no better than guessing,"
                    f" corrected for the number of rules. Below {LEVEL:g}, the file gives answers"
                    " away.",
}
# Rows and columns of an evaluation, by name.
EVALUATION = {
    "right": "number of correct answers.",
    "of": "number of answers.",
    "accuracy": "share of the answers that are correct.",
    "95 %": "interval of the accuracy, or of a difference. It allows for answers about one action"
            " (and of people, by one person) being alike: quote this one. It is not corrected for"
            " the number of comparisons; 'p after Holm' is.",
    "if independent": "the interval that would hold if all answers were independent. It is too"
                      " narrow where they are not.",
    "unparsed": "share of the answers in which no choice was found. They count as wrong.",
    "read by": "how many answers each rule read: marked (a JSON field or a tag), statement ('the"
               " answer is C', or a line of C alone), letter (one within a sentence), words (an"
               " option's own words).",
    "comparison": "one variant compared with another that differs in this alone, on the same"
                  " performances.",
    "models": "one model compared with another, on the questions that both answered.",
    "from": "accuracy in the first variant (of the model named last), on these performances"
            " (questions).",
    "to": "accuracy in the second variant (of the model named first), on the same performances"
          " (questions).",
    "pairs": "number of performances with an answer in both variants, or of questions that both"
             " models answered.",
    "difference": "'to' minus 'from', in percentage points.",
    "lost": "pairs that are right in 'from' only.",
    "gained": "pairs that are right in 'to' only.",
    "test": "McNemar's exact test, if each pair is simply right or wrong and actions rarely have"
            " several; else the t test over actions.",
    "p after Holm": "probability of such a difference if the variants were equally hard (the models"
                    " equally good), corrected for the number of comparisons.",
    "chance": "accuracy of guessing; none if there are no options.",
    "the answer needs": "whether a single frame can tell the two clips of a pair (or the answers to"
                        " a probe) apart, or only several frames can.",
    "pairs right": "number of pairs with both halves right, out of 'of pairs'.",
    "flagged": "people who gave nearly the same rating every time or failed an attention check.",
    "alpha": "Krippendorff's alpha, the agreement of raters: 1 is perfect, 0 is what chance gives.",
}


def explain(terms: Mapping[str, str]) -> None:
    """Print each term with its explanation."""
    width = max(map(len, terms))
    click.echo("")
    for name, sentence in terms.items():
        click.echo(f"{name:<{width}}  {sentence}")
