"""Statements, duties and bans in German, French, Spanish, Portuguese, Dutch, Chinese and Japanese.

One row is one family of phrasings: the predicate, whether the object must name something, and the
pattern with its subject ``s`` and object ``o``.  Without ``s`` the subject is the project.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import PROJECT, USER, Clause, Draft, Talk, resolve
from codesynapse.extraction.builtin.phrases import DATE, is_pronoun, specific, trim
from codesynapse.extraction.builtin.statements import version_of

__all__ = ["foreign"]

_S = r"(?P<s>(?:[^\s,;]+ ){0,5}?[^\s,;]+?)"
_O = r"(?P<o>\S.*)"
_ADV = (
    r"(?: (?:immer|nur|jetzt|ab jetzt|bei uns|grundsätzlich|noch|toujours|maintenant"
    r"|siempre|ahora|sempre|agora|solo|sólo|só|altijd|nu|alleen|alleen maar|erst"
    r"|lokal|lokaal))*"
)


@dataclass(frozen=True, slots=True)
class _Row:
    predicate: str
    must_name: bool
    pattern: re.Pattern[str]
    subject: str = PROJECT


def _row(predicate: str, pattern: str, must_name: bool = True, subject: str = PROJECT) -> _Row:
    return _Row(predicate, must_name, re.compile(f"^{pattern}$", re.I), subject)


_ROWS = (
    # German
    _row(
        "LOCATED_IN",
        rf"{_S} (?:liegt|liegen|steht|stehen|wohnt|befindet sich|befinden sich"
        rf"|findest du"
        rf"|gehört in|gehören in|kommt in|kommen in){_ADV} (?:in|unter|im|auf)? ?{_O}",
    ),
    _row(
        "RUNS_ON",
        rf"{_S} (?:läuft|laufen|hört|lauscht){_ADV} (?:auf|in|unter|mit)(?: "
        rf"port)? {_O}",
    ),
    _row(
        "STORED_AS",
        rf"{_S} (?:speichern|schreiben|legen|halten|führen) wir{_ADV} (?:als|in) "
        rf"{_O}",
        must_name=False,
    ),
    _row(
        "RUNS_WITH",
        rf"{_S} (?:startest|machst|baust|führst|lässt|startet|macht|baut|starten"
        rf"|bauen"
        rf"|machen|deployen|deployt|testen|testet)(?: du| man| wir| ihr)?{_ADV} (?:mit"
        rf"|über|via) {_O}",
    ),
    _row(
        "GOES_THROUGH",
        rf"{_S} (?:geht|gehen|muss|müssen|deployen wir){_ADV} (?:über|durch|via"
        rf"|per) {_O}",
        must_name=False,
    ),
    _row(
        "COMES_FROM",
        rf"{_S} (?:kommt|kommen|stammt|stammen){_ADV} (?:aus|von|vom) {_O}",
        must_name=False,
    ),
    _row("USES", rf"{_S} (?:nutzt|verwendet|benutzt|nutzen|verwenden){_ADV} {_O}"),
    _row("IS", rf"{_S} (?:ist|sind){_ADV} (?:in |auf )?{_O}"),
    _row("STAYS_ON", rf"{_S} (?:bleibt|bleiben|hängt|hängen){_ADV} (?:auf |bei |an )?{_O}"),
    _row("STAYS_ON", r"bleibt(?: bei| auf)? (?P<o>v?\d\S*)"),
    _row(
        "OWNED_BY",
        rf"{_S} (?:macht|machen|betreut|übernimmt|pflegt|verantwortet|prüft|reviewt"
        rf"|approved|freigibt)(?: bei uns| immer| nur| jetzt)* (?P<o>[A-ZÄÖÜ]\w+(?: "
        rf"[A-ZÄÖÜ]\w+)?)",
        must_name=False,
    ),
    _row(
        "OWNED_BY",
        rf"(?:für )?{_S} (?:ist|sind|gehört|gehören)(?: jetzt| bei uns)* (?:dem "
        rf"|zum |zu "
        rf"|vom |von )?(?P<o>(?:das |dem |der )?(?:Team )?[A-ZÄÖÜ]\w+(?:-Team| "
        rf"Team)?)(?: zuständig| verantwortlich)?",
        must_name=False,
    ),
    _row(
        "CONVENTION",
        r"wir (?P<o>(?:mergen|deployen|releasen|schreiben|nutzen|verwenden|testen"
        r"|committen|branchen|versionieren|benennen)\b.*\b(?:immer|nur|nie|nach|in|auf"
        r"|mit|als|gegen|aus)\b.*)",
        must_name=False,
    ),
    _row(
        "MUST",
        rf"{_S} (?:muss|müssen|sollen immer|soll immer|darf nur|dürfen "
        rf"nur){_ADV} {_O}",
        must_name=False,
    ),
    _row(
        "MUST_NOT",
        rf"{_S} (?:darf|dürfen) (?:nie|niemals|nicht|keine?n?|kein) {_O}",
        must_name=False,
    ),
    _row(
        "AVOIDS",
        r"(?:und |bitte )*(?:keine?n?|niemals|nie|auf keinen fall) (?!ahnung|problem"
        r"|sorge|eile|zeit|plan|idee)(?P<o>\S.*\b(?:in|im|auf|nach|vor|ohne|gegen|direkt"
        r"|für|am|bei|mit)\b.*)",
        must_name=False,
    ),
    _row("PREFERS", r"(?P<o>du) bitte", must_name=False, subject=USER),
    _row(
        "PREFERS",
        r"(?:bitte |kannst du |können wir uns )*(?P<o>(?:duzen|siezen|per du)"
        r"|(?:antworte |schreib |sprich )?(?:mir |mit mir )?(?:immer |bitte )*auf "
        r"(?:deutsch|englisch|französisch))\b.*",
        must_name=False,
        subject=USER,
    ),
    # French
    _row(
        "LOCATED_IN",
        rf"{_S} (?:est|sont|se trouve|se trouvent|vit|vivent|va|vont) (?:toujours "
        rf"|maintenant )?(?:dans|sous|en|sur) {_O}",
        must_name=False,
    ),
    _row(
        "RUNS_ON",
        rf"{_S} (?:tourne|tournent|écoute|écoutent) (?:sur|sous|en|avec)(?: le port)? "
        rf"{_O}",
    ),
    _row(
        "VERSION_IS",
        rf"(?P<s>on|nous) (?:est|sommes|reste|restons) (?:bloqués? |encore "
        rf"|toujours "
        rf")?(?:en|sur|à) {_O}",
    ),
    _row("USES", rf"(?P<s>on|nous) (?:utilise|utilisons|se sert de|passe par) {_O}"),
    _row(
        "GOES_THROUGH",
        rf"{_S} (?:passe|passent) (?:toujours |uniquement )?(?:par|via) {_O}",
        must_name=False,
    ),
    _row("COMES_FROM", rf"{_S} (?:vient|viennent|provient) (?:de |du |des ){_O}", must_name=False),
    _row("MUST", rf"{_S} (?:doit|doivent)(?: toujours)? {_O}", must_name=False),
    _row(
        "MUST_NOT", rf"{_S} ne (?:doit|doivent|peut|peuvent) (?:jamais|pas) {_O}", must_name=False
    ),
    _row(
        "MUST_NOT",
        r"(?:on |il |et |donc )*(?:ne |n')(?:faut |touche |pousse |merge |commit "
        r"|déploie |modifie |lance )*(?:jamais|surtout pas|pas) (?P<o>\S.*)",
    ),
    _row(
        "AVOIDS",
        r"(?:et |surtout )*(?:pas de |jamais de |aucune? )(?!souci|problème"
        r"|soucis)(?P<o>\S.*\b(?:dans|en|sur|après|avant|sans|le|pour)\b.*)",
        must_name=False,
    ),
    _row(
        "OWNED_BY",
        r"c'est (?P<o>\S+(?: \S+){0,3}?) qui (?:gère|s'occupe d[eu]s?"
        r"|maintient|valide"
        r"|relit|approuve|a repris)(?: la| les| le)? (?P<s>\S.*)",
        must_name=False,
    ),
    _row(
        "OWNED_BY",
        r"(?P<o>[A-ZÉ]\S+(?: \S+)?) (?:gère|s'occupe d[eu]s?|maintient|valide|relit"
        r"|approuve)(?: la| les| le)? (?P<s>\S.*)",
        must_name=False,
    ),
    # Spanish
    _row(
        "RUNS_ON",
        rf"{_S} (?:corre|corren|se ejecuta|escucha|está desplegado) (?:en|sobre|con) "
        rf"(?:el )?(?:puerto )?{_O}",
    ),
    _row(
        "LOCATED_IN",
        rf"{_S} (?:está|están|vive|viven|va|van|se guarda|se guardan) (?:en|bajo"
        rf"|dentro "
        rf"de) {_O}",
    ),
    _row("COMES_FROM", rf"{_S} (?:sale|salen|viene|vienen) (?:de|del) {_O}", must_name=False),
    _row("USES", rf"{_S} (?:es|son|usa|usan|utiliza) {_O}"),
    _row(
        "OWNED_BY",
        r"(?:ahora |y |ya )*(?:lo|la|los|las) (?:lleva|llevan|mantiene|revisa|aprueba"
        r"|gestiona)(?: siempre)? (?P<o>[A-ZÁÉÍÓÚÑ]\S+)(?P<s>).*",
        must_name=False,
    ),
    _row(
        "OWNED_BY",
        rf"(?:de )?{_S} (?:lo|la|los|las|se) (?:lleva|llevan|mantiene|revisa|aprueba"
        rf"|aprueban|gestiona|encarga|ocupa)(?: siempre| ahora)* (?P<o>[A-ZÁÉÍÓÚÑ]\S+|el "
        rf"equipo de \S+).*",
        must_name=False,
    ),
    _row(
        "MUST_NOT",
        r"(?:y |pero |por favor )*(?:nunca|jamás|no) (?P<o>(?:hay que |se debe "
        r")?(?:toques|uses|borres|subas|hagas|edites|cambies|pongas|mezcles|despliegues"
        r"|tocar|usar|borrar|subir|editar|desplegar|hacer)\b.*)",
    ),
    _row(
        "AVOIDS",
        r"(?:y |pero )*(?:nada de|sin|ningún|ninguna) (?P<o>\S.*\b(?:en|de|con|sin|para"
        r"|por)\b.*)",
        must_name=False,
    ),
    _row("REQUIRES", r"(?:y |pero )*(?:siempre) (?P<o>\S+ \S.*)", must_name=False),
    # Portuguese
    _row(
        "RUNS_ON",
        rf"{_S} (?:roda|rodam|escuta|executa) (?:em|na|no|sobre|com) (?:a )?(?:porta "
        rf")?{_O}",
    ),
    _row(
        "LOCATED_IN",
        rf"{_S} (?:fica|ficam|está|estão|mora|vive) (?:em|na|no|nas|nos|dentro "
        rf"d[eoa]) "
        rf"{_O}",
    ),
    _row(
        "ENDS_ON",
        rf"{_S} (?:acaba|acabam|termina|terminam|expira|vence|encerra) (?:no |em "
        rf")?(?:dia )?(?P<o>\d\S*(?: de \w+)?)",
        must_name=False,
    ),
    _row("USES", rf"{_S} (?:usa|usam|utiliza|é|são) {_O}"),
    _row("COMES_FROM", rf"{_S} (?:vem|vêm|sai|saem) (?:de|do|da) {_O}", must_name=False),
    _row(
        "OWNED_BY",
        rf"quem (?:cuida|cuidou|aprova|revisa|mantém|toca)(?: d[eoa]s?)? {_S} é "
        rf"(?:o |a "
        rf")?(?P<o>\S+(?: \S+)?)",
        must_name=False,
    ),
    _row(
        "OWNED_BY",
        r"(?:o |a )?(?P<o>[A-Z]\S+) (?:cuida|aprova|revisa|mantém)(?: d[eoa]s?| "
        r"o| a)? "
        r"(?P<s>\S.*)",
        must_name=False,
    ),
    _row(
        "MUST_NOT",
        r"(?:e |mas |por favor )*(?:nunca|jamais|não) (?P<o>(?:pode |deve "
        r")?(?:mexe|mexa"
        r"|usa|use|apaga|apague|faz|faça|edita|edite|sobe|suba|commita|mexer|usar|apagar"
        r"|editar|fazer|rodar|rode|roda)\b.*)",
    ),
    # Dutch
    _row("RUNS_ON", rf"{_S} (?:draait|draaien|luistert){_ADV} (?:op|in|onder)(?: poort)? {_O}"),
    _row("LOCATED_IN", rf"{_S} (?:staat|staan|zit|zitten|woont){_ADV} (?:in|onder|op) {_O}"),
    _row(
        "RUNS_WITH",
        rf"(?:{_S} )?(?:je |we |en )?(?:start|starten|bouw|bouwt|draai|test|deploy) "
        rf"(?:je |hem |het |ze |we |die )*(?:nu |altijd )?(?:met|via) {_O}",
    ),
    _row(
        "MUST_NOT",
        rf"{_S} (?P<o>(?:praat|praten|gaat|mag|mogen|schrijft|leest|komt) nooit "
        rf"\S.*)",
        must_name=False,
    ),
    _row(
        "GOES_THROUGH",
        rf"(?:{_S} (?:gaat|gaan|loopt|lopen) )?altijd (?:via|door) {_O}",
        must_name=False,
    ),
    _row("USES", rf"{_S} (?:gebruikt|gebruiken|is|zijn){_ADV} {_O}"),
    _row(
        "OWNED_BY",
        r"(?P<o>[A-Z]\S+) (?:beheert|gaat over|doet|keurt|reviewt"
        r"|onderhoudt)(?: de| het"
        r"| alle)? (?P<s>\S.*)",
        must_name=False,
    ),
    _row(
        "OWNED_BY",
        rf"{_S} (?:is|zijn|ligt|hoort)(?: nu)? (?:van|bij) (?P<o>(?:het |team |de "
        rf")*[A-Za-z]\S+(?: team)?)",
        must_name=False,
    ),
    _row(
        "AVOIDS",
        r"(?:en |maar )*(?:geen|nooit) (?!probleem|idee|zorgen|haast)(?P<o>\S.*\b(?:in"
        r"|op|na|voor|zonder|met|naar|via)\b.*)",
        must_name=False,
    ),
    # What we still run, what ends or starts when, what will be
    _row(
        "VERSION_IS",
        r"(?P<s>seguimos|estamos|continuamos|nosotros|wir|we)(?: sind| zijn| zitten| hängen)?"
        r"(?: todavía| aún| ainda| noch| nog| immer)* (?:en|no|na|em|com|auf|bei|op) (?P<o>\S.*)",
    ),
    _row("VERSION_IS", r"(?P<s>我们|我們)(?:还|還)?(?:在用|用的是|是) ?(?P<o>[\w.+# -]+)"),
    _row(
        "STARTS_ON",
        rf"{_S} (?:démarre|démarrent|commence|beginnt|beginnen|startet|starten|empieza|empiezan"
        rf"|comienza|começa|começam|begint|beginnen) (?:le |am |el |dia |op |no "
        rf"|em |den )*(?P<o>{DATE}.*)",
        must_name=False,
    ),
    _row(
        "ENDS_ON",
        rf"{_S} (?:finit|se termine|expire|s'arrête|endet|enden|läuft ab|läuft "
        rf"aus|wird abgeschaltet"
        rf"|termina|terminan|acaba|acaban|vence|se apaga|eindigt|loopt af|stopt) "
        rf"(?:le |am |el |dia |op |no |em |den )*(?P<o>{DATE}.*)",
        must_name=False,
    ),
    _row(
        "USES",
        rf"{_S} (?:vai ser|será|sera|va a ser|va être|wird|wordt|vão ser) (?:o "
        rf"|a |el |la |le )?{_O}",
    ),
    # Chinese
    _row(
        "VERSION_IS",
        r"(?:这个)?(?:仓库|项目)? ?(?P<s>[\w.+#/-]+?) ?(?:先)?(?:锁"
        r"|固定|停留|卡|限|保持|用的?是?)(?:定"
        r"|死)?(?:在|到|于)? ?(?P<o>v?\d[\w.]*).*",
    ),
    _row(
        "MUST_NOT",
        r"(?P<s>[\w./ -]{1,20}?) ?(?:里|内|中)?(?:不许|不要"
        r"|不能|不可以|禁止|不准|不得|绝对不能|千万别|别) "
        r"?(?P<o>\S.*)",
        must_name=False,
    ),
    _row(
        "GOES_THROUGH",
        r"(?P<s>[\w./ -]{0,20}?) ?(?:一律|都|必须|统一|只能"
        r"|全部)(?:要)?(?:走|通过|经过) ?(?P<o>\S.*)",
        must_name=False,
    ),
    _row("MUST_NOT", r"(?:千万|绝对)?(?:不要|别|禁止|不许) ?(?P<o>\S.*)"),
    _row(
        "OWNED_BY",
        r"(?P<s>[\w./ -]{1,20}?) ?(?:现在)?(?:由|归|是) ?(?P<o>[\w -]{1,12}?) "
        r"?(?:负责|管|维护|审核"
        r"|审批|在管)的?",
    ),
    _row(
        "LOCATED_IN",
        r"(?P<s>[\w./ -]{1,20}?) ?(?:现在)?(?:都)?(?:在|放在|位于|存在|部署在) "
        r"?(?P<o>\S.*?)(?:里|下|中"
        r"|下面|里面|上)?",
    ),
    _row("LISTENS_ON", r"(?P<s>[\w./ -]{1,20}?) ?(?:的)?(?:端口)(?:是|为|用) ?(?P<o>\d+).*"),
    _row(
        "USES",
        r"(?P<s>[\w./ -]{1,20}?) ?(?:现在|已经|都|一律|统一"
        r"|改)?(?:用|使用|采用|改用|改成|换成)(?:的是)? "
        r"?(?P<o>[\w.+#@/\ue000-\uf8ff -]+).*",
    ),
    _row(
        "RUNS_WITH",
        r"(?P<s>[\w./ -]{1,20}?) ?(?:要)?(?:用|跑|执行|运行) "
        r"?(?P<o>[\ue000-\uebff]).*",
    ),
    # Japanese
    _row(
        "OWNED_BY",
        r"(?P<s>\S{1,30}?)は ?(?P<o>\S{1,20}?)(?:さん"
        r"|チーム)?(?:が担当|が管理|が見て|の担当|に聞いて).*",
        must_name=False,
    ),
    _row(
        "LOCATED_IN",
        r"(?P<s>\S{1,30}?)は ?(?P<o>\S{1,60}?)(?:に(?:ある|あり|置い|入って"
        r"|配置)|の下).*",
    ),
    _row("RUNS_WITH", r"(?P<s>\S{1,30}?)は ?(?P<o>[\ue000-\uebff])(?: ?で| ?を| ?だ| ?です).*"),
    _row(
        "USES",
        r"(?P<s>\S{1,30}?)は ?(?P<o>[^はがを]{1,60}?) ?(?:を使|で統一|を利用"
        r"|に移行|に変え|に統一).*",
    ),
    _row(
        "RUNS_ON",
        r"(?:今は|いまは)?(?:(?P<s>\S{1,30}?)は "
        r"?)?(?P<o>[^\sは]{1,40}?)(?:だけ)?で(?:動かして|動いて|稼働"
        r"|走って).*",
        must_name=False,
    ),
    _row("STAYS_ON", r"(?P<s>\S{1,30}?)は ?(?P<o>v?\d[\w.]*) ?(?:に固定|のまま|固定|を使).*"),
    _row(
        "MUST_NOT",
        r"(?P<s>\S{1,30}?)(?:は|を) ?(?P<o>\S{0,40}?)(?:禁止"
        r"|しないで|使わないで|触らないで|ダメ|だめ|使うな"
        r"|するな).*",
        must_name=False,
    ),
)
_FOREIGN = re.compile(
    r"[äöüßéèêàâçñáíóúãõìò¿¡]|[\u3040-\u30ff\u4e00-\u9fff]|\b(?:der|die|das|ein|eine"
    r"|ist|sind|wir|nicht|und|für|mit|auf|nie|kein|keine|bitte|bleibt|"
    r"le|la|les|un|une|est|sont|nous|pas|dans|sur|pour|avec|el|los|las|es|está|con"
    r"|para|nunca|siempre|o|os|na|em|não|nao|uma|"
    r"het|een|de|niet|nooit|geen|voor|met|wij|altijd|zijn|draait|du|nada"
    r"|roda|corre|que|en|seguimos|estamos|continuamos|por)\b",
    re.I,
)
_MORE_NO = re.compile(
    r"^(?:nicht|kein|keine|pas|no|não|niet|geen|noch|auch|sehr|so|très|trop"
    r"|muy|tan"
    r"|muito|ya no|plus|nur für|kaputt|weg|vom tisch|quatsch|egal|super|gut|schon)\b",
    re.I,
)


def foreign(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """What the families above say, for a clause that does not look English."""
    text = clause.text.rstrip("。.! ~")
    if not _FOREIGN.search(clause.sentence.text) or gates.unreal(text):
        return ()
    for row in _ROWS:
        found = row.pattern.match(text)
        if found and (draft := _draft(row, found, talk)):
            return [draft]
    return ()


def _draft(row: _Row, found: re.Match[str], talk: Talk) -> Draft | None:
    tail = found.group("o")
    what = trim(
        re.sub(
            r"^(?:dem|der|die|das|den|het|de|le|la|les|el|los|las|o|a) (?=\S)", "", tail, flags=re.I
        )
    )
    if what is None or _MORE_NO.match(tail) or is_pronoun(what) or gates.one_off(what):
        return None
    if (row.must_name and not specific(tail)) or (len(what) < 2 and row.subject != USER):
        return None
    who = _who(row, found, talk)
    if who in ("seguimos", "estamos", "continuamos"):
        who = PROJECT
    if who is None:
        return None
    if row.predicate in ("VERSION_IS", "STAYS_ON", "RUNS_ON", "USES"):
        return version_of(who, what, row.predicate)
    return Draft(who, row.predicate, what, 0.85)


def _who(row: _Row, found: re.Match[str], talk: Talk) -> str | None:
    if "s" not in found.groupdict():
        return talk.topic or PROJECT if row.predicate == "STAYS_ON" else row.subject
    said = (found.group("s") or "").strip()
    if not said:
        return talk.topic or (talk.asked.topic if talk.asked else None) or PROJECT
    return resolve(said, talk)
