"""Find credentials in text, and cut them out. Standard library only; hooks and sidecar share it.

Promises: a value that looks like a credential never comes out of ``redact``; cutting twice changes
nothing more; the time is linear in the length of the text.  Ordinary engineering text passes:
hashes of commits, UUIDs, names of variables, placeholders, sentences about tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Secret", "find_secrets", "redact"]


class Secret(NamedTuple):
    """Where a credential stands, and what kind it appears to be. Never the value."""

    kind: str
    start: int
    end: int


class _Shape(NamedTuple):
    """A form that says by itself what it is. ``needles``: one must occur, or it is not tried."""

    kind: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(kind: str, needles: str, pattern: str, flags: int = 0) -> _Shape:
    return _Shape(kind, tuple(needles.split()), re.compile(pattern, flags))


_W = r"(?<![A-Za-z0-9_])"  # the left edge of a key; \b would split at "-"
_SHAPES = (
    _shape("private-key", "PRIVATE", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
           r"(?:(?!-----END)[\s\S]){0,20000}(?:-----END [A-Z0-9 ]{0,40}-----)?"),
    _shape("age-secret-key", "AGE-SECRET", r"AGE-SECRET-KEY-1[0-9A-Z]{20,80}"),
    _shape("aws-access-key", "AKIA ASIA ABIA ACCA",
           _W + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _shape("sk-key", "sk-", _W + r"sk-(?=[A-Za-z0-9_-]{0,80}?\d)(?=[A-Za-z0-9_-]{0,80}?[A-Za-z])"
           r"(?:[a-z]{2,10}[0-9]{0,2}-){0,3}[A-Za-z0-9_]{16,300}[A-Za-z0-9_-]{0,200}"),
    _shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
           _W + r"(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255})"),
    _shape("gitlab-token", "gl", _W + r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-"
           r"[A-Za-z0-9_-]{16,255}"),
    _shape("slack-token", "xox xapp", _W + r"(?:xox[abceoprs]|xapp)-[A-Za-z0-9-]{10,255}"),
    _shape("slack-webhook", "hooks.slack.com",
           r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,255}"),
    _shape("discord-webhook", "/api/webhooks/",
           r"discord(?:app)?\.com/api/webhooks/\d{10,25}/[A-Za-z0-9_-]{30,120}"),
    _shape("google-key", "AIza GOCSPX- ya29.", _W + r"(?:AIza[A-Za-z0-9_-]{35}"
           r"|GOCSPX-[A-Za-z0-9_-]{20,60}|ya29\.[A-Za-z0-9_-]{20,500})"),
    _shape("npm-token", "npm_", _W + r"npm_[A-Za-z0-9]{30,60}"),
    _shape("pypi-token", "pypi-", _W + r"pypi-[A-Za-z0-9_-]{32,500}"),
    _shape("stripe-key", "_live_ _test_ whsec_",
           _W + r"(?:[srp]k_(?:live|test)_[A-Za-z0-9]{10,255}|whsec_[A-Za-z0-9+/=]{20,255})"),
    _shape("hugging-face-token", "hf_", _W + r"hf_[A-Za-z0-9]{25,60}"),
    _shape("sendgrid-key", "SG.", _W + r"SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,80}"),
    _shape("twilio-key", "SK", _W + r"SK[0-9a-f]{32}(?![0-9a-f])"),
    _shape("mailgun-key", "key-", _W + r"key-[0-9a-f]{32}(?![0-9a-f])"),
    _shape("digitalocean-token", "_v1_", _W + r"do[opr]_v1_[a-f0-9]{40,80}"),
    _shape("shopify-token", "shp", _W + r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _shape("linear-key", "lin_", _W + r"lin_(?:api|oauth)_[A-Za-z0-9]{30,80}"),
    _shape("notion-token", "ntn_ secret_", _W + r"(?:ntn_[A-Za-z0-9]{40,60}"
           r"|secret_[A-Za-z0-9]{43})(?![A-Za-z0-9])"),
    _shape("databricks-token", "dapi", _W + r"dapi[0-9a-f]{32}(?![0-9a-f])"),
    _shape("vault-token", "hvs. hvb. hvr.", _W + r"hv[sbr]\.[A-Za-z0-9_-]{20,300}"),
    _shape("doppler-token", "dp.", _W + r"dp\.(?:pt|st|ct|sa|scim)\.[A-Za-z0-9_.-]{30,120}"),
    _shape("figma-token", "figd_", _W + r"figd_[A-Za-z0-9_-]{30,80}"),
    _shape("postman-key", "PMAK-", _W + r"PMAK-[a-f0-9]{20,30}-[a-f0-9]{30,40}"),
    _shape("airtable-token", "pat", _W + r"pat[A-Za-z0-9]{14}\.[a-f0-9]{60,70}"),
    _shape("grafana-token", "glsa_ glc_", _W + r"(?:glsa|glc)_[A-Za-z0-9+/=_]{30,200}"),
    _shape("new-relic-key", "NRAK-", _W + r"NRAK-[A-Z0-9]{25,32}"),
    _shape("telegram-token", ":AA", _W + r"\d{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])"),
    _shape("azure-key", "Key= sig= SharedAccess",
           r"(?:AccountKey|SharedAccessKey|sig)=[A-Za-z0-9+/%=]{30,200}"),
    _shape("jwt", "eyJ", _W + r"eyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{5,8000}"
           r"(?:\.[A-Za-z0-9_-]{0,2000})?"),
    _shape("own-token", "cs_", _W + r"cs_[0-9a-f]{64}"),
)  # fmt: skip

# Forms whose value is a credential by what stands beside it. ``value`` is what is judged and cut.
_NAME = (
    r"(?:pass(?:word|wd|phrase|wort)|pwd|passwort|kennwort|mot de passe|contrase(?:ñ|n)a|wachtwoord"
    r"|senha|secret(?:[ _-]?(?:access[ _-]?)?key)?|(?:api|access|auth|private|signing|encryption"
    r"|service|account|master|deploy|license)[ _-]?key|api[ _-]?secret|client[ _-]?secret"
    r"|(?:access|auth|refresh|bearer|session|api|bot|deploy|personal)?[ _-]?token|credentials?)"
)
_CONTEXT = (
    ("connection-string", "://", re.compile(
        r"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/@\"'<>]{0,100}:(?P<value>[^\s/@\"'<>]{1,200})@")),
    ("authorization-header", "uthorization", re.compile(
        r"authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token|apikey|digest)\s{1,3}"
        r"(?P<value>[^\s\"',;]{6,4000})", re.I)),
    ("bearer-token", "earer", re.compile(
        r"\bbearer\s{1,3}(?P<value>(?=[^\s\"']{0,80}?\d)[A-Za-z0-9._~+/=-]{20,4000})", re.I)),
    ("password-option", " -", re.compile(
        r"(?<!\S)(?:--?(?:password|passwd|pass|token|api-key|secret)[ =]"
        r"|(?:mysql|mysqldump|mysqladmin|mariadb)(?:\s[^\s]{1,80}){0,8}?\s-p"
        r"|sshpass\s{1,3}-p\s{0,3}|curl(?:\s[^\s]{1,200}){0,12}?\s(?:-u|--user)\s{1,3}[^\s:]{1,80}:)"
        r"[\"']?(?P<value>[^\s\"']{4,200})")),
    ("password-assignment", "", re.compile(
        r"(?P<name>(?<![A-Za-z])" + _NAME + r"|[A-Za-z0-9_]{0,40}_(?:PASSWORD|PASS|PWD|SECRET|TOKEN"
        r"|KEY)(?![A-Za-z_]))[\"'`]?\s{0,3}(?:=>|:=|==?|:)\s{0,3}(?P<quote>[\"'`]?)"
        r"(?P<value>[^\s\"'`,;]{4,500})", re.I)),
    ("password-in-prose", "", re.compile(
        r"(?<![A-Za-z])" + _NAME + r"(?![A-Za-z])[^.\n=:\"'`]{0,40}?\s(?:is(?: now)?|was|ist"
        r"|lautet|est|es|to)\s{1,3}[\"'`]?"
        r"(?P<value>(?=[^\s\"'`]{0,60}?[\d!@#$%^&*])[^\s\"'`,;]{5,200})", re.I)),
)  # fmt: skip
_TRIGGER = re.compile(
    r"pass|pwd|kennwort|contrase|wachtwoord|senha|secret|key|token|credential", re.I
)

_HARMLESS = re.compile(
    r"(?:\[redacted:|\$|<|\{|%|\*{2,}|x{3,}|\.{2,}|-{2,}$|(?:process\.)?env\b|os\.|your[-_ ]"
    r"|(?:the|my|a|an|some|any|no|not|from|read|in|on|for|required|optional|missing|invalid|none"
    r"|null|nil|true|false|undefined|empty|string|str|int|bool|bytes|text|number|any|password|passwd"
    r"|pass|pwd|secret|token|key|example|changeme|change-me|placeholder|dummy|fake|sample|test|user"
    r"|username|default|value|hidden|masked|optional\[.{0,40}|sk-\.\.\.|todo|tbd)(?![A-Za-z0-9@!#$%&*]))",
    re.I,
)  # fmt: skip
_REFERENCE = re.compile(
    r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*[(\[]"  # a call or an index
    r"|[A-Za-z_]+(?:\.[A-Za-z_]+)+$"  # a dotted name
    r"|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$"  # a constant's or a variable's name
    r"|(?:\.{0,2}|~)/[^\s]*$|[A-Za-z]:\\"  # a path
    r"|https?://"
)
_PLAIN_WORD = re.compile(r"[A-Za-z][a-z]*(?:[-_/.][A-Za-z]?[a-z]*)*[.,;:!?)\]}]*$")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", re.I)
_SMALL_NUMBER = re.compile(
    r"[\d.,_]{1,9}(?:ms|s|m|h|d|kb|mb|gb|k|px|%|tokens?)?[.,;:!?)\]}]*$", re.I
)


def find_secrets(text: str) -> list[Secret]:
    """Every credential in ``text``, in order, without overlaps."""
    found = sorted(_all(text), key=lambda s: (s.start, -s.end))
    kept: list[Secret] = []
    for secret in found:
        if kept and secret.start < kept[-1].end:
            if secret.end > kept[-1].end:
                kept[-1] = kept[-1]._replace(end=secret.end)
        else:
            kept.append(secret)
    return kept


def redact(text: str) -> str:
    """``text`` with each credential replaced by ``[redacted:KIND]``."""
    secrets = find_secrets(text)
    if not secrets:
        return text
    parts: list[str] = []
    position = 0
    for secret in secrets:
        parts += [text[position : secret.start], f"[redacted:{secret.kind}]"]
        position = secret.end
    return "".join(parts) + text[position:]


def _all(text: str) -> Iterator[Secret]:
    for shape in _SHAPES:
        if any(needle in text for needle in shape.needles):
            for match in shape.pattern.finditer(text):
                yield Secret(shape.kind, match.start(), match.end())
    triggered = bool(_TRIGGER.search(text))
    for kind, needle, pattern in _CONTEXT:
        if needle in text and (triggered or needle):
            for match in pattern.finditer(text):
                if _is_value(kind, match):
                    yield Secret(kind, *match.span("value"))


def _is_value(kind: str, match: re.Match[str]) -> bool:
    """Whether what stands beside such a word is a credential, not a word about one."""
    value = match["value"]
    if _HARMLESS.match(value) or len(set(value)) < 3:
        return False
    if kind in ("connection-string", "authorization-header"):
        return True
    if _REFERENCE.match(value) or _UUID.match(value) or _SMALL_NUMBER.match(value):
        return False
    if kind in ("bearer-token", "password-option"):
        return True
    quoted = kind == "password-assignment" and bool(match["quote"])
    named = kind == "password-assignment" and "pass" in match["name"].lower()
    if _PLAIN_WORD.match(value):
        return named and quoted and len(value) >= 6
    return quoted or any(c.isdigit() or c in "!@#$%^&*+=" for c in value)
