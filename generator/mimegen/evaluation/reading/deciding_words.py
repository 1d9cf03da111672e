"""Words of sixteen languages that deny, doubt or choose, and what may stand beside a letter."""

import re


def _words(*languages: str) -> str:
    """Return a pattern of words separated by blanks; ``_`` stands for a blank within one."""
    found = [word.replace("_", " ") for words in languages for word in words.split()]
    whole = [word for word in found if word[0].isascii() or word[0].islower()]
    rest = [word for word in found if word not in whole]
    return "|".join([rf"\b(?:{'|'.join(whole)})\b", *rest])


def any_case(text: str) -> re.Pattern[str]:
    """Return a pattern that ignores case."""
    return re.compile(text, re.IGNORECASE)


_DENIES = _words(
    r"not never neither nor nobody no_one none cannot can't can’t \w{2,6}n't \w{2,6}n’t",
    r"rul(?:e|es|ed|ing)_out eliminat\w* exclud\w* discard\w* reject\w* rather_than instead_of",
    r"unlike incorrect inaccurate wrong unlikely (?:less|least)_(?:likely|plausible|probable)",
    r"false inconsistent implausible except without (?:anything|everything|all)_but",
    r"nothing(?!_but) nicht kein\w* falsch\w* unzutreffend\w* scheidet_aus ausgeschlossen",
    r"pas fauss?e? incorrecte? exclure écart\w+ no_es no_era no_puede incorrect[ao] descart\w+",
    r"non escluder\w* não",
    r"incorret[ao] errad[ao] sbagliat[ao] niet fout nie błęd\w* не невер\w* неправ\w* değil yanlış",
    r"không sai tidak salah bukan",
    "不 非 排除 錯 错 ではな じゃな ではありません 違 間違 誤 아니 아닙 아닌 않 틀 될_수_없",
    "ليس غير خطأ خاط لا_أعتقد لا_أظن لا_يمكن नहीं गलत ❌ ✗ ✘")
_HEDGES = _words(
    r"could might may perhaps maybe possibly either unsure unclear if were whether thought",
    r"initially at_first at_first_glance suppose assume consider(?:ed|ing)? torn",
    r"hard_to_(?:say|tell) (?:next|second)[-_]best second_(?:most|choice|guess|option) runner-up",
    r"runner_up distractor only_other",
    r"könnte vielleicht wenn peut-être pourrait podría quizás tal_vez talvez poderia forse",
    r"potrebbe может возможно", "可能 也许 如果 かも ربما")
# What would be so if something else were: no choice if there is any other statement.
_HYPOTHETICAL = _words(
    r"(?<!\bi_)would (?:for|had)_(?:\S+_){1,5}(?:to_be|been) if_\S+ wäre\w* würde\w*",
    r"serait seraient sería seria sarebbe zou бы byłaby byłby olurdu", "则应")
# Words that, anywhere in a clause with one letter, mark it as the choice.
_CUES = _words(
    r"answer ans correct best choose chose chosen choice_is pick picked select selected",
    r"opt_for go_with going_with went_with described_(?:\w{1,12}_)?(?:by|as) match matches",
    r"correspond\w* accurate accurately appropriate suitable fits solution conclude conclusion",
    r"resembles suggest\w* indicat\w* points?_to is_right final correction",
    r"right_(?:answer|option|choice|one) seems_right represented_by makes_(?:the_most_)?sense",
    r"lean_towards? better more_likely most_likely",
    r"(?:more|most)_(?:plausible|probable) remains selection prediction",
    r"antwort lösung richtig\w* wähle\w* korrekt\w* stimmt passt",
    r"trifft_zu entscheide réponse reponse correcte? choisis bonne",
    r"respuesta correct[ao] elijo escojo resposta corret[ao] escolho alternativa letra",
    r"risposta corrett[ao] scelgo giusta antwoord juiste odpowiedź poprawna",
    r"ответ правильн\w* верн\w* выбираю cevap yanıt doğru jawaban(?:nya)? đáp_án chọn",
    "答案 正确 正確 选(?!项) 選(?!項|択肢) 贴切 恰当 合适 符合 相符 吻合 匹配",
    "答え 回答 正解 解答 だと思 です 정답 답 선택(?!지) 맞 입니다",
    "إجابة الجواب جواب الصحيح أختار اختار उत्तर जवाब सही")
# Words for an option, which say nothing of it by themselves.
NOUNS = _words(r"вариант opción opção opzione alternativa buchstabe letra lettre l'option",
                "选项 選項 選択肢の? 선택지 الخيار विकल्प")
# An answer that is stated outright, up to its letter.
_ANSWERS = _words(
    r"answer (?:correct|right|best)_(?:option|choice) antwort lösung réponse respuesta resposta",
    r"risposta antwoord odpowied[źz] ответ cevap yanıt jawaban(?:nya)? đáp_án",
    "答案 答え 回答 正解 정답 답 إجابة الجواب उत्तर")
OUTRIGHT = any_case(
    rf"(?:{_ANSWERS})[^.!?;]{{0,30}}?"
    r"(?:[:：=—]|\b(?:is|be|ist|lautet|est|es|to|adalah)\b|è|é|là|是|为|為|は|은|는|هي|هو)"
    r"[^.!?;]{0,20}$")
# Words that mark a choice directly before a letter.
_LINKS = _words(
    r"is be it's it’s that's that’s so thus hence therefore leaves leaving say guess with by",
    r"definitely probably likely certainly clearly surely obviously but ist est es è é",
                "это а но sondern sino mais ma pero mas", "是 为 は ではなく")
_FILLERS = _words("the option choice answer letter most la le die là opción opção opzione")
DENIAL = any_case(_DENIES)
# After what is denied, up to three words of its own clause lead to the denial.
# Scripts without blanks have up to sixteen letters there, unless another option follows.
DENIED_AFTER = any_case(
    r"(?:(?:, ?|、| and | or | nor |/|和|与)[A-Z](?![A-Za-z])){0,5}[\W_]{0,4}"
    rf"(?:(?:(?!(?:that|which|who|where|as)\b)\S{{1,20}} ){{0,3}}(?:{_DENIES})"
    rf"|[\u3040-\u9fff\uac00-\ud7af ]{{1,16}}?(?:{_DENIES})(?![^A-Z]{{0,40}}(?-i:[A-Z])))"
    r"|[\W_]{1,5}no\b(?! doubt)")
NO_DENIAL = any_case(r"\b(?:no|without(?: a| any)?|beyond(?: a| any)?) (?:doubt|question)\b"
                      r"|\bnot only\b|\bwhy not\b|非常|不过|不仅|没错|沒錯|没有错|不错|틀림없이?"
                      r"|に?間違い(?:ない|なく|ありません)")
AGAIN = any_case(r"\s*(?:and |or )?(?:so|neither|nor) (?:is|are|does|do)\b")
HEDGE = any_case(_HEDGES)
ALTERNATIVE = any_case(r"[\W_]{0,4}(?:or |but |and )?(?:or|maybe|perhaps|possibly|alternatively)"
                        r"\b")
STRONG = any_case(_CUES)
WEAK = any_case(rf"(?:{_LINKS})[\s:=,]{{0,3}}(?:(?:{_FILLERS})\s){{0,3}}(?:(?:{NOUNS})\s?)?"
                 r"[^\w\s]{0,4}$")
IF = any_case(_HYPOTHETICAL)
# A condition of what is shown, unlike "if I had to guess".
CONDITION = any_case(r"\b(?:if|wenn|falls|если) (?!(?:i|we|one|ich|wir|man|forced|pressed|so)\b)")
CONCLUDES = any_case(_words("so thus hence therefore overall conclusion conclude answer",
                             r"most_likely most_closely described_(?:as|by)"))
# What may precede the letter that begins a line: marks, and words that announce the answer.
NAMES = (r"(?:(?:my|the|final|correct|best|selected|right)\s){0,3}(?:answer|ans|option|choice"
          r"|letter|alternative|selection|response|output|prediction|result|verdict|conclusion|solution)")
# What may precede an option's words that are the whole answer: "The answer is: ".
ANNOUNCED = re.compile(rf"^[\W_]{{0,40}}{NAMES}\s{{0,9}}(?:is|:)(?:(?!-\d)[\W_]){{0,9}}",
                        re.IGNORECASE)
VERB = any_case(r"(?:because|since|as|it|given|based|due|is|was|seems|appears|would|fits|best"
                 r"|makes|or|nor|and|but|can|cannot|needs?|requires?)\b")
# What precedes a letter that is not the choice: "Least likely: C", "Second choice: C".
UNSURE = any_case(rf"{_DENIES}|{_HEDGES}")
