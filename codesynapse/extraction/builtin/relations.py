"""Verbs that state a lasting relation between two things, and their predicates. Data only."""

from __future__ import annotations

from codesynapse.extraction.builtin.phrases import DATE

__all__ = ["RELATIONS"]

# Predicate, the verbs that state it, and whether the object must name something.
RELATIONS = (
    ("CONTAINS", r"(?:contains?|holds?|houses?|has|have)(?= (?:the|our|all) )", False),
    (
        "LOCATED_IN",
        r"(?:lives?|sits?|resides?|stays?|belongs?|lands?|ends? up|goes|go|(?:is"
        r"|are|gets?|got) (?:stored|kept|located|hosted"
        r"|saved|checked in))"
        r"(?= (?:in|under|at|on|inside|beside|next to|right|alongside|with|behind|below"
        r"|within|near|inside))",
        False,
    ),
    (
        "HAS_NO",
        r"(?:has|have)(?: got)? no|(?:doesn't|don't|does not|do not) have(?: an?"
        r"| any)?",
        False,
    ),
    (
        "HAS",
        r"(?:has|have)(?: got)?(?= (?:only |exactly |just )?(?:\d|two|three|four"
        r"|five|its own\b))",
        False,
    ),
    ("COMES_FROM", r"branch(?:es)? (?:off|from)", False),
    ("STORED_AS", r"(?:is|are|gets?) (?:stored|saved|kept|persisted)(?= as)", False),
    (
        "RUNS_WITH",
        r"(?:is|are) (?:run|started|executed|built|tested|launched|generated|redeployed"
        r"|deployed) (?:with|via|using|by)"
        r"|runs? (?:with|via|through)|builds? with|starts? with",
        True,
    ),
    (
        "RUNS_EVERY",
        r"(?:rotates?|expires?|refresh(?:es)?|resets?|polls?|runs?|rebuilds?|deploys?|restarts?"
        r"|happens?|(?:is|are|gets?) (?:wiped|rotated|refreshed|rebuilt|run|pruned|purged|deleted))"
        r"(?= (?:every|each|once|twice a|daily|weekly|nightly|hourly|monthly|at \d|on \w+days?\b"
        r"|overnight|after \d|(?:mon|tues|wednes|thurs|fri|satur|sun)day))",
        False,
    ),
    (
        "RUNS_EVERY",
        r"(?:runs?|happens?|executes?) (?=on (?:deploy|push|merge|every|startup"
        r"|boot|commit|save|release|tag))",
        False,
    ),
    (
        "RUNS_ON",
        r"(?:runs?|running|is running|are running|is hosted|is deployed|are deployed) "
        r"(?:on|in|under)(?= )",
        True,
    ),
    ("LISTENS_ON", r"(?:listens?|is listening|binds?) (?:on|to)(?: port)?", True),
    ("TALKS_TO", r"(?:talks?|speaks?|connects?) (?:only )?(?:directly )?(?:to|with)", False),
    ("CALLS", r"calls(?= )|call(?= [\ue000-\uebff]$)", True),
    (
        "DEPENDS_ON",
        r"(?:(?:still )?depends? on|import(?= .+ from )|relies on|rely on"
        r"|imports(?= \S+(?: \S+)?$| "
        r"[\ue000-\uebff])|pulls? in|consumes?|pulls?(?= \S+ in\b))",
        False,
    ),
    (
        "READS_FROM",
        r"reads?(?: directly)?(?: (?:from|off))?(?! (?:like|way|as|well|fine|right|wrong"
        r"|too))",
        False,
    ),
    ("WRITES_TO", r"writes?(?: directly)? to", True),
    (
        "GOES_THROUGH",
        r"(?:go(?:es)?|must go|has to go|have to go|is sent|are sent|gets? sent|is "
        r"shipped|are shipped|is routed|"
        r"are routed|gets? shipped|syncs?|sync|only happens?|happens?|is handled|are "
        r"handled) (?:only )?(?:out )?"
        r"(?:through|via|with|over|by|from)",
        False,
    ),
    (
        "GOES_TO",
        r"(?:go(?:es)?|must go|has to go|are sent|is sent|gets? sent|targets?|ships?"
        r"|report|reports) (?:straight |directly |only )?(?:to(?! (?:be|get)\b)|into)"
        r"|targets?",
        False,
    ),
    (
        "COMES_FROM",
        r"(?:comes?|is read|are read|is generated|are generated|is loaded|are loaded|is "
        r"taken|are taken) from",
        False,
    ),
    ("DEPLOYS_TO", r"(?:auto-?)?deploys?(?: automatically)?(?: straight)? to", False),
    (
        "DEPLOYED_FROM",
        r"(?:is|are) (?:cut|deployed|released|shipped|built|branched) from"
        r"|deploys?(?: "
        r"only)?(?: happen)? from|"
        r"syncs? from",
        False,
    ),
    (
        "OWNED_BY",
        r"(?:(?:is|are) (?:now )?(?:owned|maintained|run|managed|handled|reviewed"
        r"|looked after|approved) by|"
        r"belongs? to|(?:is|are) with(?= ))",
        False,
    ),
    ("TRIGGERS", r"triggers?|kicks? off", False),
    (
        "NAMED",
        r"(?:is|are) (?:called|named)(?! (?:once|twice|by|from|in|on|when|with|for|at"
        r"|after|before|every))",
        False,
    ),
    (
        "ENDS_ON",
        rf"(?:ends?|expires?|stops?|runs? out|(?:is|are|gets?) (?:switched off|shut down"
        rf"|turned off|retired|removed|"
        rf"sunset|decommissioned|frozen)|go(?:es)? away|shuts? down)(?= (?:on |at |by "
        rf"|in |from )?(?:the )?{DATE})",
        False,
    ),
    (
        "STARTS_ON",
        rf"(?:starts?|begins?|kicks? off|launches|goes live|opens?)(?= (?:on |at |in "
        rf")?(?:the )?{DATE})",
        False,
    ),
    (
        "DUE_ON",
        rf"(?:(?:is|are) due|has to be (?:done|ready|out|in)|must be (?:done|ready|out"
        rf"|in)|needs to be (?:done|ready|out|in)|ships?|lands?|goes out)"
        rf"(?= (?:on |by |at |before |until )?(?:the )?{DATE})",
        False,
    ),
    ("BYPASSES", r"(?:skips?|bypass(?:es)?)", False),
    ("EXPECTS", r"expects?", True),
    ("SERVES", r"(?:exposes|serves|emits|publishes|routes)", True),
    ("REQUIRES", r"(?:needs?|requires?)(?! to\b)", False),
    (
        "USES",
        r"(?:uses?|is using|are using|(?:is|are) (?:built|written|done|implemented"
        r"|made) (?:with|in|on top of))",
        True,
    ),
    (
        "KEPT_FOR",
        r"(?:is|are|gets?) (?:kept|retained)(?= (?:for )?\d)|stays? (?:in|on|around)(?= "
        r".*\d ?(?:h|d|days?|hours?|weeks?)\b)|"
        r"(?:go|goes) to(?= .* for \d)",
        False,
    ),
    (
        "STAYS_ON",
        r"(?:stays?|remains?|(?:is|are|we are)? ?(?:still )?(?:stuck|pinned|locked"
        r"|frozen)) (?:on|at|to)|stays?(?= \d)",
        True,
    ),
    (
        "MEANS",
        r"(?:stands for|is short for|is (?:our |team )?(?:slang|shorthand|nickname|code "
        r"?name) for)",
        False,
    ),
    (
        "IS",
        r"(?:is|are|gets?)(?= (?:wiped|overwritten|generated|protected|read[- ]only"
        r"|regenerated|frozen|locked|shared|reset|"
        r"deprecated|encrypted|immutable|append[- ]only|idempotent|signed|automatic"
        r"|rebuilt|rotated|offline-first)\b)",
        False,
    ),
    (
        "DOES",
        r"(?:leaks|mutates|duplicates|wipes|swallows|deletes|drops|overwrites"
        r"|invalidates|blocks|ignores|truncates|"
        r"breaks(?= (?:with|on|when|under|in|if)\b)|corrupts|throws|sends|rejects|strips"
        r"|skips|fails(?= (?:lint|ci|the build))|"
        r"doesn't (?:support|work|compile|like|handle)|don't (?:support|work|compile"
        r"|handle)|won't (?:compile|work|build|run))",
        False,
    ),
)
