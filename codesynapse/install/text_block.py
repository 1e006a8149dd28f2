"""One block of ours in a text file that is somebody else's, between two marker comments.

Works on bytes; what is outside the markers stays. The layout around the block tells how the text
was before, so that taking it out gives the first bytes back with nothing remembered: a blank line
before it and a line end after it where the text ended with a line end; two line ends before it and
none after it where the last one was missing; a file that was not there holds the block and a line
end, one that was empty the block alone. Markers that do not make exactly one pair are refused.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from codesynapse.errors import InstallRefused

__all__ = ["HASH", "HTML", "VERSION", "Comment", "find_block", "with_block", "without_block"]

VERSION = 1


@dataclass(frozen=True, slots=True)
class Comment:
    """How a kind of file writes a comment of one line: what stands before it, and after it."""

    before: bytes
    after: bytes = b""

    def line(self, text: str) -> bytes:
        """One comment."""
        return self.before + text.encode("ascii") + self.after

    @property
    def block(self) -> re.Pattern[bytes]:
        """A whole block, from its begin marker to its end marker."""
        before, after = re.escape(self.before), re.escape(self.after)
        return re.compile(
            rb"^" + before + rb"codesynapse:begin v(?P<version>[0-9]{1,6})" + after
            + rb"(?P<newline>\r?\n)(?P<body>.*?)^" + before + rb"codesynapse:end" + after,
            re.DOTALL | re.MULTILINE,
        )  # fmt: skip


HTML = Comment(b"<!-- ", b" -->")
HASH = Comment(b"# ")

_LINE_END = re.compile(rb"\r?\n")


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    version: int
    newline: bytes


def find_block(data: bytes, name: str, comment: Comment = HTML) -> bytes | None:
    """The block as it stands, markers included. Raises InstallRefused on broken markers."""
    block = _find(data, name, comment)
    return None if block is None else data[block.start : block.end]


def with_block(data: bytes | None, body: str, name: str, comment: Comment = HTML) -> bytes:
    """The text with the block in it, once, holding ``body``. Raises InstallRefused."""
    block = _find(data or b"", name, comment)
    if data is None:
        return _rendered(body, b"\n", comment) + b"\n"
    if block is not None:
        if block.version > VERSION:
            raise InstallRefused(
                f"the block in {name} was written by a newer codesynapse",
                "use that version, or remove the block first",
            )
        return data[: block.start] + _rendered(body, block.newline, comment) + data[block.end :]
    if b"\x00" in data or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InstallRefused(f"{name} is not a text file in UTF-8 or a like encoding")
    first = _LINE_END.search(data)
    newline = first.group() if first else b"\n"
    rendered = _rendered(body, newline, comment)
    if not data:
        return rendered
    if data.endswith(b"\n"):
        return data + newline + rendered + newline
    return data + newline + newline + rendered


def without_block(data: bytes, name: str, comment: Comment = HTML) -> bytes | None:
    """The text without the block; None where there was no file before. Raises InstallRefused."""
    block = _find(data, name, comment)
    if block is None:
        return data
    before, after, newline = data[: block.start], data[block.end :], block.newline
    if not before and after == newline:
        return None
    if not after:
        return _cut(_cut(before, newline), newline)
    after = after.removeprefix(newline)
    # Where a text follows directly, the blank line now parts it from what stands before.
    return (
        before + after if after and not after.startswith(newline) else _cut(before, newline) + after
    )


def _cut(data: bytes, newline: bytes) -> bytes:
    return data.removesuffix(newline)


def _rendered(body: str, newline: bytes, comment: Comment) -> bytes:
    inner = [line.encode("utf-8") for line in body.strip("\n").split("\n")]
    begin, end = comment.line(f"codesynapse:begin v{VERSION}"), comment.line("codesynapse:end")
    return newline.join((begin, *inner, end))


def _find(data: bytes, name: str, comment: Comment) -> _Block | None:
    marks = (comment.before + b"codesynapse:begin", comment.before + b"codesynapse:end")
    begins, ends = (data.count(mark) for mark in marks)
    if begins == ends == 0:
        return None
    match = comment.block.search(data)
    if begins != 1 or ends != 1 or match is None or not _ends_line(data, match.end()):
        raise InstallRefused(
            f"the codesynapse markers in {name} are not one pair: {begins} begin and {ends} end",
            "leave one block, from its begin marker to its end marker, or none",
        )
    return _Block(match.start(), match.end(), int(match["version"]), match["newline"])


def _ends_line(data: bytes, place: int) -> bool:
    return data[place : place + 2] == b"\r\n" or data[place : place + 1] in (b"", b"\n")
