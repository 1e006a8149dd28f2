"""The life of the sidecar's process: one at a time, found by its state file, ended without loss.

It binds before it loads, so that who waits for it is in line already.  It ends when it is told to,
when a newer version wants its place, or when nobody has asked for long; a job that runs then is
finished or put back, and the store is closed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codesynapse import __version__
from codesynapse.domain.scope import Principal
from codesynapse.environment import Environment
from codesynapse.errors import CodeSynapseError, Unavailable
from codesynapse.link.http import Deadline, LinkError
from codesynapse.link.start import Link, find_local
from codesynapse.link.state import Endpoint, clear_state, process_start, read_state, write_state
from codesynapse.link.token import ensure_token
from codesynapse.link.versions import is_newer
from codesynapse.paths import Paths, private_folder
from codesynapse.sidecar.binding import Lock, listen
from codesynapse.sidecar.live_settings import LiveSettings
from codesynapse.sidecar.log import start_log
from codesynapse.sidecar.running import Listening, Running

if TYPE_CHECKING:
    import uvicorn

    from codesynapse.compose import Engine

__all__ = ["login_name", "run"]

_REPLACE_SECONDS = 10.0
_ANSWER_SECONDS = 1.0
_GRACE_SECONDS = 3  # for answers that are under way at the end
_WARM_UP_SECONDS = 0.25
_LOOK_SECONDS = 2.0  # between two looks at whether its home is still there
_log = logging.getLogger("codesynapse.process")


@dataclass(frozen=True, slots=True)
class _Place:
    """What this process holds while it lives."""

    environment: Environment
    paths: Paths
    live: LiveSettings
    token: str
    socket: socket.socket
    listening: Listening
    lock: Lock

    def is_there(self) -> bool:
        """Whether what it was started on still stands where others look for it."""
        return self.lock.holds() and os.path.exists(self.live.read().database)


def run(environment: Environment, paths: Paths, given: Mapping[str, Any] | None = None) -> str:
    """Serve until the end; returns why it ended, or that another sidecar serves already.

    Raises Invalid for settings that cannot be used, TeamTokenMissing, StoreDamaged and StoreNewer,
    and Unavailable when an older sidecar does not make room.
    """
    if os.name == "posix":
        os.umask(0o077)
    lock = _prepare(paths)
    live = LiveSettings(environment, paths, given)
    if not lock.take() and not _taken_over(lock, environment, paths):
        return "another sidecar serves already"
    start_log(paths.log_file)
    try:
        return _serve_locked(environment, paths, live, lock)
    except CodeSynapseError as error:
        _log.error("not started: %s", error.code)
        raise
    finally:
        lock.release()


def _prepare(paths: Paths) -> Lock:
    """The folders, and the lock in them. Raises Unavailable where they cannot be written."""
    try:
        for folder in (paths.state, paths.config):
            private_folder(folder)
        lock = Lock(paths.lock_file)
        lock.touch()
    except OSError as error:
        raise Unavailable(
            f"{error.filename} cannot be used: {error.strerror}", "check the folder's owner"
        ) from error
    return lock


def _taken_over(lock: Lock, environment: Environment, paths: Paths) -> bool:
    """Wait for one that is about to end, and ask an older one, once, to do so.

    False when one serves that is as good as this. Raises Unavailable when the one there does
    neither serve nor end.
    """
    deadline = Deadline(_REPLACE_SECONDS)
    asked = False
    try:
        while not lock.take():
            link = find_local(environment, paths, deadline, _ANSWER_SECONDS)
            if link is not None and not is_newer(__version__, link.endpoint.version):
                link.connection.close()
                return False
            if link is not None:
                asked = _asked_to_stop(link) or asked
            time.sleep(min(0.05, deadline.left()))
    except LinkError as error:
        raise Unavailable(
            "another sidecar runs and does not " + ("make room" if asked else "answer"),
            "end it: codesynapse sidecar stop",
        ) from error
    return True


def _asked_to_stop(link: Link) -> bool:
    with closing(link.connection), suppress(LinkError):
        return link.connection.request("POST", "/v1/sidecar/stop", link.headers()).status == 202
    return False


def login_name(environment: Environment) -> str:
    """Who the owner's token stands for: this system's name of the person, as a scope spells it."""
    try:
        import pwd

        name = pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        name = environment.foreign("USERNAME") or ""
    return re.sub(r"[^A-Za-z0-9._~-]+", "-", name).strip("._~-")[:64] or "owner"


def _serve_locked(environment: Environment, paths: Paths, live: LiveSettings, lock: Lock) -> str:
    settings = live.read()
    token = ensure_token(environment, paths)
    server, listening = listen(settings.host, settings.port)
    place = _Place(environment, paths, live, token, server, listening, lock)
    _announce(place)
    try:
        return _serve(place)
    finally:
        clear_state(paths, os.getpid())
        server.close()


def _announce(place: _Place) -> None:
    """Say where it is. Who connects now waits in line until it has loaded."""
    pid = os.getpid()
    write_state(
        place.paths,
        Endpoint(
            host=place.listening.host,
            port=place.listening.port,
            pid=pid,
            version=__version__,
            started=time.time(),
            ticks=process_start(pid),
        ),
    )


def _serve(place: _Place) -> str:
    from codesynapse.compose import compose

    engine = compose(place.paths, place.live.read, owner=login_name(place.environment))
    try:
        return asyncio.run(_Life(place, engine).lead())
    finally:
        if not engine.close():
            _log.warning("a job was put back")
        _log.info("ended")


class _Life:
    """One run of the server and what goes on beside it."""

    def __init__(self, place: _Place, engine: Engine) -> None:
        self._place = place
        self._engine = engine
        self._reason = "it was told to end"
        self._server = self._make_server()

    def _make_server(self) -> uvicorn.Server:
        import uvicorn

        from codesynapse.sidecar.app import create_app

        self._running = Running(
            deps=self._engine.deps,
            owner=Principal(login_name(self._place.environment)),
            token=self._place.token,
            listening=self._place.listening,
            version=__version__,
            stop=self._stop,
            faults=lambda: self._engine.faults,
            config_error=lambda: self._place.live.error,
            model_calls=self._engine.model_calls,
        )
        return uvicorn.Server(
            uvicorn.Config(
                create_app(self._running),
                log_config=None,
                access_log=False,
                lifespan="off",
                ws="none",
                http="h11",
                loop="asyncio",
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )

    def _stop(self) -> None:
        self._server.should_exit = True

    async def lead(self) -> str:
        """Serve until the end."""
        # uvicorn raises the signal again once it has ended; ours makes that an ordinary end.
        for name in ("SIGTERM", "SIGINT"):
            signal.signal(getattr(signal, name), lambda *_: None)
        end = asyncio.Event()
        beside = [
            asyncio.create_task(self._warm_up()),
            asyncio.create_task(self._place.live.watch(end)),
            asyncio.create_task(self._end_when_idle()),
            asyncio.create_task(self._end_when_homeless()),
        ]
        _log.info(
            "version %s serves on %s as %d", __version__, self._place.listening.url, os.getpid()
        )
        await self._server.serve(sockets=[self._place.socket])
        end.set()
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        _log.info("ends: %s", self._reason)
        return self._reason

    async def _warm_up(self) -> None:
        """Let starters know, then load the extractors, behind the first answers."""
        while not self._server.started:
            await asyncio.sleep(0.005)
        _release_start_lock(self._place.environment)
        deps, end = self._engine.deps, time.monotonic() + _WARM_UP_SECONDS
        if not deps.store.jobs.unfinished():
            while not len(deps.queue) and time.monotonic() < end:
                await asyncio.sleep(0.02)
        threading.Thread(target=self._start_engine, name="warm-up", daemon=True).start()

    def _start_engine(self) -> None:
        try:
            self._engine.start()
        except CodeSynapseError as error:
            self._engine.faults.append(error.message)
            _log.error("the pipeline could not start: %s", error.code)

    async def _end_when_idle(self) -> None:
        counters, queue = self._running.counters, self._engine.deps.queue
        while True:
            limit = self._place.live.read().idle_end_seconds
            left = counters.last + limit - time.monotonic()
            if left <= 0 and not counters.open and not len(queue):
                self._reason = "nobody asked for long"
                self._stop()
                return
            await asyncio.sleep(min(max(left, 0.05), 30.0))

    async def _end_when_homeless(self) -> None:
        """Whoever looks for it finds nothing and starts another; what it takes would be lost."""
        while await asyncio.to_thread(self._is_found):
            await asyncio.sleep(_LOOK_SECONDS)
        self._reason = "its home is gone"
        self._stop()

    def _is_found(self) -> bool:
        """Whether its home is there; there, the state file speaks of this process again."""
        if not self._place.is_there():
            return False
        said = read_state(self._place.paths)
        if said is None or said.pid != os.getpid():
            with suppress(OSError):
                _announce(self._place)
        return True


def _release_start_lock(environment: Environment) -> None:
    """Close the starter's lock and sign, which this process was given to hold until it serves."""
    for name in ("START_LOCK", "START_SIGN"):
        handle = environment.get(name) or ""
        if sys.platform != "win32" and handle.isdigit() and int(handle) > 2:
            with suppress(OSError):
                os.close(int(handle))
