"""Whether a query is worth a search. Pure.

Small talk, a query without words and the tail of an endless one are never searched.  A query is
small talk only when nothing is left beside known phrases, so a doubtful one is searched.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["MAX_QUERY", "Gated", "Judged", "judge"]

MAX_QUERY = 10_000


class Gated(StrEnum):
    """Why nothing was searched."""

    NO_WORDS = "the query has no words"
    SMALL_TALK = "the query is small talk"


@dataclass(frozen=True, slots=True)
class Judged:
    """``query`` as it is searched, cut to ``MAX_QUERY``; ``reason`` is None when it passes."""

    query: str
    reason: Gated | None = None
    cut: bool = False


def judge(query: str) -> Judged:
    """Cut, then decide. Any text is safe."""
    kept, cut = query[:MAX_QUERY], len(query) > MAX_QUERY
    if cut and not query[MAX_QUERY].isspace():
        kept = (kept.rsplit(None, 1) or [""])[0]  # not half a word
    words = _words(kept)
    if not words:
        return Judged(kept, Gated.NO_WORDS, cut)
    return Judged(kept, Gated.SMALL_TALK if _is_small_talk(words) else None, cut)


# One sign is one word where a script writes without spaces.
_SIGNS = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_SIGNS}]|[^\W_{_SIGNS}]+")


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    # "don't", "d’accord" and "let's" are one word each.
    return _WORD.findall(re.sub(r"(?<=\w)['’ʼ](?=\w)", "", folded))


def _is_small_talk(words: list[str]) -> bool:
    """Whether the words are phrases of the list end to end, in any order and number."""
    reached, furthest = {0}, 0
    for start in range(len(words)):
        if furthest < start:
            return False
        if start not in reached:
            continue
        for length in range(1, _LONGEST + 1):
            if tuple(words[start : start + length]) in _PHRASES:
                reached.add(start + length)
                furthest = max(furthest, start + length)
    return len(words) in reached


_ENGLISH = """
    ok|okay|k|kk|yes|yeah|yep|yup|ya|no|nope|nah|sure|right|correct|exactly|agreed
    fine|alright|all right|please|pls|plz|thanks|thank you|thank you very much
    thanks a lot|many thanks|thx|ty|tysm|cheers|much appreciated|appreciated|great
    good|good job|good work|well done|nice|nice one|nice work|cool|awesome|perfect
    excellent|amazing|brilliant|wonderful|lovely|super|wow|lol|haha|hehe|hmm|hm|ah
    oh|aha|i see|got it|gotcha|understood|makes sense|fair enough|sounds good
    looks good|looks good to me|lgtm|that works|works for me|works|it works|do it
    do that|do this|do it again|just do it|go on|go ahead|go for it|lets go
    lets do it|lets do that|lets continue|continue|please continue|carry on
    keep going|keep at it|proceed|resume|next|next one|next step|again|try again
    try it again|try it|retry|once more|one more time|same again|same|ship it|run it
    run it again|fix it|fix this|fix that|change it|undo|undo it|undo that|stop|wait
    wait a moment|hold on|cancel|never mind|nevermind|nvm|forget it|no problem|np
    no worries|youre welcome|welcome|hi|hello|hey|hey there|hi there|hello there|yo
    good morning|morning|good afternoon|good evening|good night|bye|goodbye|see you
    see you later|later|cya|how are you|how are you doing|whats up|sup|done|ready
    are you ready|are you there|are you done|hooray|yay|sorry|my bad|oops|very good
    very nice|so good|really|really good|of course|absolutely|definitely|certainly
    indeed|true|and|but|so|then|now|it|that|this|one|both|all|thanks claude
    hi claude|hello claude|hey claude|ok claude|for now|as you like|up to you
    your choice|you choose|you decide|either|either one|whatever|approved|accept
    accepted|confirm|confirmed|i agree|i like it|love it|i love it|very much
    thats it|thats all|thats right|thats fine|thats great|thats good|thats perfect
    that is all|thanks for the help|thanks for your help|for your help|for the help
    yes do it|more|a bit more
"""
_OTHERS = """
    ja|jo|nein|danke|vielen dank|danke schön|danke dir|dankeschön|bitte|bitte weiter
    weiter|mach weiter|mach das|mach es|mach mal|machs|los|los gehts|genau|gut
    sehr gut|super|prima|passt|alles klar|klar|in ordnung|verstanden|stimmt|richtig
    nochmal|noch einmal|hallo|moin|servus|guten morgen|guten tag|guten abend|tschüss
    wie gehts|okay danke|einverstanden|gerne|gern|oui|non|merci|merci beaucoup
    merci bien|daccord|sil te plaît|sil vous plaît|sil te plait|svp|stp|continue
    continuez|vas y|allez y|allez|parfait|très bien|génial|bien|bon|cest bon
    ça marche|ça va|encore|encore une fois|salut|bonjour|bonsoir|au revoir|fais le
    bien sûr|compris|sí|si|gracias|muchas gracias|mil gracias|por favor|vale|bueno
    muy bien|perfecto|genial|adelante|sigue|continúa|continua|hazlo|dale|claro
    de acuerdo|entendido|otra vez|hola|buenos días|buenas|buenas tardes
    buenas noches|adiós|hasta luego|qué tal|listo|exacto|venga|sim|não|obrigado
    obrigada|muito obrigado|muito obrigada|pode continuar|perfeito|ótimo|muito bem
    beleza|certo|tá bom|está bem|faz isso|vamos|olá|oi|bom dia|boa tarde|boa noite
    tchau|de novo|entendi|valeu|isso|sì|grazie|grazie mille|prego|per favore|va bene
    perfetto|ottimo|bene|molto bene|vai|vai avanti|avanti|fallo|ancora|daccordo
    capito|ciao|buongiorno|buonasera|arrivederci|nee|dank je|dankjewel|bedankt
    dank u|alsjeblieft|ga door|ga verder|doe het|goed|perfect|oké|begrepen
    nog een keer|hoi|goedemorgen|doei|klopt|mooi|tak|nie|dzięki|dziękuję
    dziękuję bardzo|proszę|dalej|kontynuuj|zrób to|dobrze|dobra|świetnie|jasne|zgoda
    rozumiem|jeszcze raz|cześć|dzień dobry|do widzenia|idealnie|да|нет|спасибо
    большое спасибо|спасибо большое|пожалуйста|продолжай|продолжайте|дальше|давай
    давай дальше|хорошо|отлично|супер|ок|окей|ладно|понятно|понял|поняла|ясно
    сделай это|еще раз|ещё раз|привет|здравствуйте|доброе утро|добрый день|пока
    верно|точно|согласен|согласна|класс|так|ні|дякую|будь ласка|добре|чудово|привіт
    evet|hayır|teşekkürler|teşekkür ederim|sağ ol|lütfen|devam|devam et|tamam
    tamamdır|güzel|harika|mükemmel|tekrar|merhaba|selam|günaydın|anladım|yap|děkuji
    díky|prosím|ano|dobře|pokračuj|tack|tack så mycket|fortsätt|bra|hej|takk
    fortsett|kiitos|jatka|hyvä|terima kasih|lanjut|lanjutkan|baik|oke|cảm ơn
    tiếp tục|tiếp đi|được|vâng|ευχαριστώ|συνέχισε|ναι|όχι|εντάξει|شكرا|شكرا جزيلا
    نعم|لا|تمام|حسنا|استمر|اكمل|مرحبا|من فضلك|תודה|תודה רבה|כן|לא|בסדר|תמשיך|המשך
    שלום|धन्यवाद|शुक्रिया|हाँ|हां|ठीक है|नहीं|जारी रखें|नमस्ते|감사합니다|고마워|고마워요|고맙습니다
    네|예|응|아니|아니요|계속|계속해|계속해줘|계속해주세요|좋아|좋아요|알겠어|알겠습니다|해줘|안녕|안녕하세요|谢谢|谢谢你|多谢|感谢|非常感谢
    辛苦了|好|好的|好吧|行|可以|可以的|没问题|对|对的|是|是的|不|不是|不用|不用了|继续|请继续|继续吧|接着来|接着|下一步|再来|再来一次
    再试一次|重试|做吧|开始吧|开始|执行|就这样|明白|明白了|知道了|了解|你好|您好|嗨|早上好|晚安|再见|很好|非常好|太好了|太棒了|完美|不错|嗯
    哈哈|哦|吧|了|请|謝謝|繼續|好嗎|沒問題|再試一次|ありがとう|ありがとうございます|どうも|はい|いいえ|うん|お願い|お願いします|続けて
    続けてください|続き|了解です|わかりました|分かりました|わかった|いいね|いいです|大丈夫|オッケー|もう一度|次|こんにちは|おはよう|おはようございます
    こんばんは|さようなら|完璧|素晴らしい|やって|やってください|進めて|進めてください|です|ね|よ|ขอบคุณ|ขอบคุณครับ|ขอบคุณค่ะ
    ครับ|ค่ะ|ใช่|โอเค|ทำต่อ|ต่อ|สวัสดี
"""


def _phrases(*tables: str) -> frozenset[tuple[str, ...]]:
    entries = (
        entry for table in tables for line in table.splitlines() for entry in line.split("|")
    )
    return frozenset(words for entry in entries if (words := tuple(_words(entry))))


_PHRASES = _phrases(_ENGLISH, _OTHERS)
_LONGEST = max(map(len, _PHRASES))
