from __future__ import annotations

import socket

from codesynapse.sidecar.binding import listen


def test_connections_do_not_wait_for_delayed_acknowledgements() -> None:
    listener, where = listen("127.0.0.1", 0)
    with listener, socket.create_connection(("127.0.0.1", where.port)), listener.accept()[0] as end:
        # What asyncio looks at before it sets TCP_NODELAY on a connection.
        assert end.proto == socket.IPPROTO_TCP
