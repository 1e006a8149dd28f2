"""What is never taken: questions, hypotheticals, jokes, hearsay, instructions of others, secrets.

Each gate is a family of phrasings; a sentence that one of them holds back gives nothing.
"""

from __future__ import annotations

import re

from codesynapse.extraction.builtin.segment import Sentence

__all__ = [
    "affirms",
    "hedged",
    "injected",
    "joking",
    "momentary",
    "one_off",
    "questioning",
    "refuses",
    "retracts",
    "secret_value",
    "secretive",
    "told",
    "unreal",
]

_QUESTION = re.compile(
    r"^(?:(?:yes|yeah|ok|and|but|so|hm+|btw|oh|also|wait|then|now|still|und|et|y|e|en)[ ,]+)*"
    r"(?:who(?:'s|s)?|whose|whom|what(?:'s|s)?|where(?:'s|s|'d)?|why(?:'s|'d)?"
    r"|how(?:'s|s|'d| come)?|which|"
    r"does|did|do(?= (?:we|you|i|they|people|the))|(?:is|are|was|were|has|have|had"
    r"|can|could|should|shall|"
    r"would|will|won't|isn't|aren't|doesn't|didn't|couldn't|shouldn't|may|might|any)(?= \S+ \S)|"
    r"wer|wie|warum|wieso|wo|woher|wann|welche[rsn]?|qui|pourquoi|comment|où|quel(?:le)?|est-ce|"
    r"¿.*|por qué|cómo|dónde|quién|cuál|por que|quem|onde|wie|waarom|hoe|waar"
    r"|welke)(?=[ ,\ue000-\uf8ff]|$)",
    re.I,
)
_EMBEDDED = re.compile(
    r"\b(?:any ideas?|any good|i wonder|wondering|no idea|not sure|idk|i dunno|dunno|don't know|"
    r"dont know|or just|or not$|or what$|right\?$|weiß nicht|keine ahnung|no sé|je "
    r"sais pas|não sei)\b"
    r"|[吗呢]$|(?:だっけ|ですか|かな|でしょうか|ますか)$|多少$|什么$|怎么样?$",
    re.I,
)
_UNREAL = re.compile(
    r"\b(?:would|wouldn't|i'd|we'd|could|couldn't|might|maybe|perhaps|possibly"
    r"|probably|prob|presumably|"
    r"i think|i guess|i suppose|guess(?:ing)?|i bet|suspect|hopefully|one day|some ?day|eventually|"
    r"in a world|fantasy|dream on|imagine|what if|if (?:we|i|they|you) (?:ever|had|could|were|got)|"
    r"if only|wish|let me (?:think|sleep)|not decided|undecided|tempted|considering"
    r"|thinking (?:about|of)|"
    r"toying|seems?|feels?|looks? like|sounds? like|i assume|supposedly|apparently|in theory|"
    r"vielleicht|wäre|würde|könnte|hätte|vermutlich|wahrscheinlich|peut-être|serait"
    r"|faudrait|pourrait|"
    r"quizás?|tal vez|podría|sería|talvez|poderia|seria|misschien|zou|zouden)\b"
    r"|也许|可能|大概|或许|如果|要是|かもしれ|たぶん|多分|もし|だろう",
    re.I,
)
_MOCKING = re.compile(
    r"\b(?:oh (?:great|fantastic|wonderful|joy|nice|lovely|perfect|good|yay)"
    r"|(?:great|fantastic|wonderful|"
    r"lovely|perfect), (?:now|another|yet)|exactly what (?:we|this|i|the)|who needs"
    r"|just what (?:we|i)|"
    r"hates? me|kidding|joking|jk|sarcas\w+|grumpy|rant(?:ing)?|dream on|yay"
    r"|because (?:of course|why not)|"
    r"as if|surely nothing|what could (?:possibly )?go wrong|love how|toll, |super, "
    r"(?:noch|jetzt))\b|/s$|🙄",
    re.I,
)
_HEARSAY = re.compile(
    r"\b(?:(?:some(?:body|one)|some guy|people|folks|they|he|she|everyone) (?:on|in"
    r"|at|from) \w+ ?\w* ?"
    r"(?:says?|said|swears?|claims?|recommends?|suggests?|thinks?)|swears? by|on "
    r"(?:a|the|some) forum|"
    r"(?:stack ?overflow|reddit|hacker news|hn|twitter|chatgpt|the internet|(?:a"
    r"|some|the) blog(?: post)?)|"
    r"i (?:read|heard) (?:that|somewhere)|rumou?r|angeblich|on dit que|dicen que|dizem que)\b",
    re.I,
)
_INJECTED = re.compile(
    r"\b(?:(?:ignore|disregard|forget|override)\b.{0,30}\b(?:instruction|prompt|rule"
    r"|guideline|message|"
    r"context)s?|system prompt|(?:remember|memori[sz]e|store|save"
    r"|note)\b.{0,20}\b(?:permanently|forever|"
    r"in (?:your )?memory)|(?:ai|coding|llm|language|automated) (?:assistants?"
    r"|agents?|tools?|models?)\b|"
    r"you are now|new instructions|jailbreak|developer mode|(?:to|for) (?:all )?(?:ai|llm)s?\b|"
    r"ignoriere\b.{0,30}\banweisung|ignore[zr]?\b.{0,30}\binstru[ck]|ignora\b.{0,30}\binstruc)"
    r"|忽略.{0,12}(?:指令|指示|提示)|(?:以前|前)の指示を?無視",
    re.I,
)
_ONE_OFF = re.compile(
    r"\b(?:today'?s?|tonight|tomorrow|yesterday|this (?:time|once|session|call|one"
    r"|turn|pr|branch|task|"
    r"afternoon|morning|evening|week|sprint|commit)|just (?:now|this|for now|once)"
    r"|for (?:now|today|"
    r"the moment|this (?:call|session|task|pr|one|time))|right now|rn|at the moment"
    r"|currently (?:looking|"
    r"working|trying)|in an? (?:hr|hour|min\w*|sec\w*|bit)|after lunch|later|brb|not yet|yet|atm|"
    r"heute|morgen|gerade|jetzt gleich|aujourd'hui|demain|hoy|mañana|ahora mismo|essa semana|hoje|"
    r"amanhã|vandaag|vanavond)\b|今天|明天|现在|あとで|今日|明日",
    re.I,
)
_MOMENTARY = re.compile(
    r"\b(?:again|since (?:today|yesterday|this)|sluggish|screaming|weird|is (?:red|down|"
    r"broken|failing|failed|dead|stuck|slow|crash\w*|hanging)|fails?|failed|passes"
    r"|passed|died|dies|broke|"
    r"crash\w*|hung|works? for me|on my machine|no clue)\b",
    re.I,
)
_HEDGED = re.compile(
    r"\b(?:may|might|could|would|should|maybe|perhaps|possibl[ey]|probabl[ey]|likely"
    r"|guess|suspect|seems?|"
    r"appears?|suggests?|looks? like|sounds|usually|typically|by default|in general"
    r"|generally|if|unless|"
    r"can't tell|i don't know|not sure|i think|another (?:idea|option|possibility)"
    r"|vermutlich|vielleicht|"
    r"könnte|peut-être|podría|quizás?|talvez|misschien)\b|可能|也许|かもしれ",
    re.I,
)
_AFFIRM = re.compile(
    r"^(?:(?:oh+|ah+|ok|hm+|lol|haha)[ ,!.]*)*(?:y(?:es+|ea+h?|ep|up|a)\b|right\b"
    r"|correct|exactly|confirmed|"
    r"convinced|agreed?|sounds good|perfect|nice (?:catch|find|one)|good (?:catch"
    r"|find)|makes sense|"
    r"of course|that'?s (?:it|the one|right)|thats? (?:it|the one|right)|bingo|ugh "
    r"right|omg\b|oh that was|ohh+\b|ah+ (?:genau|"
    r"that|ja|ok)|figures|do (?:it|that|both)|go(?: ahead| for it)?\b|ship it"
    r"|merg(?:e|ing)|works|fixed|"
    r"läuft|genau|stimmt|passt|ja\b|oui\b|exact|d'accord|sí\b|vale|claro|exacto"
    r"|sim\b|isso|certo|klopt|"
    r"👍|💯|🎉|✅|🚢|对|是的|好的?|没错|はい|そう|了解|その通り|love it"
    r"|great\b|cool\b|awesome|fair\b)",
    re.I,
)
_REFUSE = re.compile(
    r"^(?:(?:oh|ah|hm+|uh|eh|ok|hold on|wait|sorry)[ ,!.]*)*(?:no+\b|nope|nah|naw"
    r"|wrong|not? (?:quite|really|"
    r"exactly)|hard no|never\b|don'?t\b|stop\b|hold on|wait\b|nein|nee\b|non\b|não|nao\b|nan\b|"
    r"不对|不行|不是|不要|违う|違う|いや|いいえ)",
    re.I,
)
_RETRACT = re.compile(
    r"\b(?:nvm|never ?mind|forget (?:it|that|what i)|scratch (?:that|what)|ignore "
    r"(?:that|what i|me)|just (?:being )?"
    r"(?:grumpy|kidding|joking|ranting)|jk|my bad|i take that back|changed my mind"
    r"|egal|vergiss es|laisse tomber|"
    r"olvídalo|olvida|esquece|laat maar)\b|算了|なんでもない",
    re.I,
)
_SECRET_TALK = re.compile(
    r"\b(?:passwor[dt]s?|passwd|passphrase|pass ?code|pin|otp|tokens?|api ?keys?"
    r"|secrets?|credentials?|"
    r"bearer|private key|access key|break-glass|(?:recovery|backup|login|door|access"
    r"|one-time|2fa|mfa) codes?|"
    r"contraseña|clave|mot de passe|passwort|kennwort|senha|wachtwoord)\b"
    r"|密码|口令|令牌|パスワード|トークン|"
    r"(?:don'?t|do not|never) (?:keep|store|write|save|remember|log|record) (?:it|this|that|them)",
    re.I,
)
_SECRET_VALUE = re.compile(
    r"\b(?:sk|pk|rk|tok|ghp|gho|ghs|glpat|xox[abp]|key|pat|npm|hf)[_-][\w-]{6,}"
    r"|\bAKIA\w{8,}|\beyJ[\w-]{10,}|"
    r"-----BEGIN|\b[a-z][a-z+]{1,9}://[^\s/:@]{1,60}:[^\s/@]{1,60}@"
    r"|\b(?=\w*\d)(?=\w*[a-zA-Z])\w{24,}\b|"
    r"\[redacted",
    re.I,
)
_TOLD = re.compile(
    r"\b(?:passwor[dt]|passwd|passphrase|pass ?code|pin|otp|token|secret"
    r"|api ?key|code|contraseña|clave|"
    r"mot de passe|kennwort|senha|wachtwoord)s?\b(?: [\w'-]+){0,5}?(?: is| est| es| ist| é|:| =|=) "
    r"(?!(?:in|on|from|read|stored|kept|never|not|rotated|managed|the|a|an"
    r"|required|at|under|via|set|called|"
    r"always|only|now|generated|frozen|reviewed|owned|ours|snake_case|formatted|written)\b)\S{4,}|"
    r"(?:密码|口令|令牌|パスワード|トークン)(?:是|は|：|:) ?[\w-]{4,}",
    re.I,
)
_OPAQUE = re.compile(r"(?<![\w/.-])(?=[\w.-]*\d)(?=[\w.-]*[A-Za-z])[\w!$%^&*-]{6,}(?![\w/])")


def questioning(sentence: Sentence) -> bool:
    """Whether it asks. Terse writers leave the mark out, so the opening words count too."""
    text = sentence.text
    return sentence.question or bool(_QUESTION.match(text) or _EMBEDDED.search(text))


def unreal(text: str) -> bool:
    """Whether it is imagined, guessed, meant as a joke or told by a third party."""
    return any(p.search(text) for p in (_UNREAL, _MOCKING, _HEARSAY))


def hedged(text: str) -> bool:
    """Whether an agent's claim is a guess or speaks in general."""
    return bool(_HEDGED.search(text) or _HEARSAY.search(text))


def joking(text: str) -> bool:
    """Whether it is sarcasm or a joke."""
    return bool(_MOCKING.search(text))


def told(text: str) -> bool:
    """Whether it passes on what some third party says."""
    return bool(_HEARSAY.search(text))


def injected(text: str) -> bool:
    """Whether it gives orders to a program that reads it."""
    return bool(_INJECTED.search(text))


def one_off(text: str) -> bool:
    """Whether it is about this moment only."""
    return bool(_ONE_OFF.search(text))


def momentary(text: str) -> bool:
    """Whether it describes how something behaves at the moment: a complaint, not a fact."""
    return bool(_MOMENTARY.search(text))


def affirms(text: str) -> bool:
    """Whether an answer opens by agreeing."""
    return bool(_AFFIRM.match(text))


def refuses(text: str) -> bool:
    """Whether an answer opens by disagreeing."""
    return bool(_REFUSE.match(text))


def retracts(text: str) -> bool:
    """Whether somebody takes back what they said just before."""
    return bool(_RETRACT.search(text))


def secretive(text: str) -> bool:
    """Whether a sentence speaks about a credential and shows something that may be one."""
    if not _SECRET_TALK.search(text):
        return False
    return bool(_OPAQUE.search(text) or _TOLD.search(text))


def secret_value(text: str) -> bool:
    """Whether the text holds something shaped like a credential."""
    return bool(_SECRET_VALUE.search(text))
