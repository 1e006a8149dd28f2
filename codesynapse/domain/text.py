"""Text as it is compared and searched: normal forms, words and query terms."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Term"]


class Term(NamedTuple):
    """One word of a query, analysed as the index is. ``prefix`` also matches longer words."""

    text: str
    prefix: bool = False
