"""Pieces of patterns that several families share."""

from __future__ import annotations

import re

__all__ = ["PLACED", "STANDING", "SUBJECT", "VERBS"]

SUBJECT = r"^(?P<s>(?:[^\s,;]+ ){0,7}?[^\s,;:]+?)"

PLACED = re.compile(
    r"\b(?:in|into|on|after|before|for|without|over|during|above|below|outside|until"
    r"|from|to|at|as|under|inside|with|"
    r"against|between)\s+\S",
    re.I,
)

VERBS = (
    r"(?:touch|delete|remove|rename|edit|commit|push|run|use|call|import|reset|drop"
    r"|merge|deploy|force|bypass|upgrade|"
    r"bump|change|mock|log|hardcode|hard-code|hand ?edit|modify|add|mix|put|store"
    r"|write|squash|rebase|skip|disable|"
    r"enable|expose|open|close|restart|install|downgrade|reformat|regenerate|set"
    r"|rely|trust|assume|hit|"
    r"inline|catch|swallow|raise|return|paste|explain|apologi[sz]e|summari[sz]e|send"
    r"|rip|update|share|cache|wrap|create|"
    r"name|introduce|copy|print|reorder|sort|move|replace|convert|query|block|await"
    r"|retry|start|stop|kill|pin|"
    r"format|translate|do|make|ask|show|repeat|include|give|write|ship|release|tag"
    r"|branch|fork|vendor|nest|build|test)"
)

STANDING = re.compile(
    r"\b(?:from now on|from here on|going forward|in (?:the )?future|every ?time"
    r"|each time|everywhere|across the (?:repo|board|codebase)|"
    r"in this (?:repo|codebase|project|code base)|as a rule|by convention|for every"
    r"|in general here|always|for all|ab jetzt|ab sofort|künftig|"
    r"grundsätzlich|immer|désormais|dorénavant|toujours|à partir de maintenant"
    r"|siempre|a partir de ahora|de ahora en adelante|sempre|"
    r"a partir de agora|daqui pra frente|voortaan|vanaf nu|altijd)\b|以后"
    r"|今后|一律|总是|今後|これから|必ず|常に",
    re.I,
)
