"""A small HTTP/1.1 client with one deadline over everything. Standard library only.

It speaks what our sidecar speaks: requests with a body of known length, answers with a length or
in chunks, several on one connection. Anything else is refused with ``LinkError``. What arrived
before the deadline stays readable in ``received``.
"""

from __future__ import annotations

from time import monotonic

TYPE_CHECKING = False  # so that a hook need not import typing or collections
if TYPE_CHECKING:
    from collections.abc import Callable

try:  # the plain module costs 9 ms to import, its C part none
    from _socket import AF_INET, AF_INET6, IPPROTO_TCP, SOCK_STREAM, TCP_NODELAY, socket
except ImportError:  # pragma: no cover - another interpreter than CPython
    from socket import (  # type: ignore[assignment]
        AF_INET,
        AF_INET6,
        IPPROTO_TCP,
        SOCK_STREAM,
        TCP_NODELAY,
        socket,
    )

__all__ = ["Answer", "Connection", "Deadline", "LinkError"]

MAX_ANSWER = 8 * 1024 * 1024


class LinkError(Exception):
    """The other side is not there, not ours, too slow or does not speak HTTP."""


class Deadline:
    """A point in time that everything has to be over by."""

    __slots__ = ("_end",)

    def __init__(self, seconds: float) -> None:
        self._end = monotonic() + seconds

    def left(self) -> float:
        """Seconds until then; raises LinkError when there are none."""
        seconds = self._end - monotonic()
        if seconds <= 0:
            raise LinkError("the time is up")
        return seconds

    @property
    def milliseconds(self) -> int:
        """Whole milliseconds until then, never negative."""
        return max(0, int((self._end - monotonic()) * 1000))

    def part(self, seconds: float) -> Deadline:
        """One that is ``seconds`` away, or as far as this one. Raises LinkError when it is over."""
        return Deadline(min(seconds, self.left()))


class Answer:
    """A status, its header lines by lower-case name, and the body."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


class Connection:
    """One connection to a server."""

    def __init__(
        self, host: str, port: int, deadline: Deadline, *, prefix: str = "",
        opened: Callable[[float], socket] | None = None,
    ) -> None:  # fmt: skip
        """Connect; raises LinkError when nobody listens.

        ``prefix`` stands before every path. ``opened`` makes the socket where an address on this
        machine is not enough: it is given the seconds that it may take.
        """
        self._deadline = deadline
        self._prefix = prefix
        self._host = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._buffer = b""
        self.received = b""
        try:
            self._socket = opened(deadline.left()) if opened else _opened(host, port, deadline)
        except (OSError, ValueError) as error:
            raise LinkError(f"nobody answers on {self._host}") from error

    def renew(self, deadline: Deadline) -> None:
        """Give the next requests another deadline."""
        self._deadline = deadline

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def request(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        """Send one request and read its answer. Raises LinkError; ``received`` keeps the body."""
        self.received = b""
        lines = [f"{method} {self._prefix}{path} HTTP/1.1", f"Host: {self._host}"]
        lines.append(f"Content-Length: {len(body)}")
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        head = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n"
        try:
            self._socket.settimeout(self._deadline.left())
            self._socket.sendall(head + body)
        except OSError as error:
            raise LinkError("the connection broke") from error
        status, found = self._read_head()
        if found.get("transfer-encoding", "").lower() == "chunked":
            self._read_chunks()
        else:
            self._read_length(found.get("content-length", "0"))
        return Answer(status, found, self.received)

    def _read_head(self) -> tuple[int, dict[str, str]]:
        while b"\r\n\r\n" not in self._buffer:
            if len(self._buffer) > 65_536:
                raise LinkError("the answer has no end to its head")
            self._more()
        head, self._buffer = self._buffer.split(b"\r\n\r\n", 1)
        first, *lines = head.decode("latin-1").split("\r\n")
        parts = first.split(" ", 2)
        if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or not parts[1].isdigit():
            raise LinkError("the answer is not HTTP")
        pairs = (line.partition(":") for line in lines)
        return int(parts[1]), {name.strip().lower(): value.strip() for name, _, value in pairs}

    def _read_length(self, text: str) -> None:
        if not text.isdigit() or int(text) > MAX_ANSWER:
            raise LinkError("the answer has no usable length")
        self._take(int(text))

    def _read_chunks(self) -> None:
        while True:
            size = self._line()
            try:
                length = int(size.split(b";")[0], 16)
            except ValueError:
                raise LinkError("the answer's chunks have no usable length") from None
            if len(self.received) + length > MAX_ANSWER:
                raise LinkError("the answer is too long")
            self._take(length)
            self._line()
            if length == 0:
                return

    def _line(self) -> bytes:
        while b"\r\n" not in self._buffer:
            if len(self._buffer) > 65_536:
                raise LinkError("the answer has a line without end")
            self._more()
        line, self._buffer = self._buffer.split(b"\r\n", 1)
        return line

    def _take(self, length: int) -> None:
        """Move ``length`` bytes of the body to ``received``, as they come in."""
        while length:
            if not self._buffer:
                self._more()
            part, self._buffer = self._buffer[:length], self._buffer[length:]
            self.received += part
            length -= len(part)

    def _more(self) -> None:
        try:
            self._socket.settimeout(self._deadline.left())
            data = self._socket.recv(65_536)
        except OSError as error:
            raise LinkError("the answer did not come in time") from error
        if not data:
            raise LinkError("the answer broke off")
        self._buffer += data


def _opened(host: str, port: int, deadline: Deadline) -> socket:
    found = socket(AF_INET6 if ":" in host else AF_INET, SOCK_STREAM)
    try:
        found.settimeout(deadline.left())
        found.connect((host, port))
        found.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    except (OSError, LinkError):
        found.close()
        raise
    return found
