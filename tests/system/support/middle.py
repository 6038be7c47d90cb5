"""Something between a client and a server that passes bytes on, or does not: a way that refuses, hangs, lies, or cuts the
bodies that clients GET.

    with Middle("127.0.0.1", server.port) as way:
        …                        # clients use way.port
        way.mode = "hang"

A new mode ends the connections that are open, but "hang": their bytes arrive no more, as behind a cut cable."""

from __future__ import annotations  # for Python 3.9

import contextlib
import select
import socket
import threading

PIECE = 65536
TURN_S = 0.1
MODES = ("pass", "refuse", "hang", "missing", "cut")
# Of any object, as S3 says it; HEAD has no body.
MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/xml\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
NO_SUCH_KEY = b"<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code></Error>"


class Middle:
    def __init__(self, host: str, port: int, listen: str = "127.0.0.1"):
        self.to = (host, port)
        self.listener = socket.create_server((listen, 0))
        self.port = self.listener.getsockname()[1]
        self._mode = "pass"
        self._epoch = 0  # one more with each mode that ends what is open
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self._accept, daemon=True)]

    def __enter__(self) -> Middle:
        self.threads[0].start()
        return self

    def __exit__(self, *_) -> None:
        self.stopping.set()
        for thread in self.threads:  # the first one adds the others, and ends first
            thread.join()
        self.listener.close()

    @property
    def mode(self) -> str:
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        assert mode in MODES
        self._mode = mode
        if mode != "hang":
            self._epoch += 1

    def _accept(self) -> None:
        while not self.stopping.is_set():
            if not select.select([self.listener], [], [], TURN_S)[0]:
                continue
            client, _ = self.listener.accept()
            thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def _serve(self, client: socket.socket) -> None:
        epoch = self._epoch
        with client, contextlib.suppress(OSError):
            if self._mode == "refuse":
                return
            if self._mode == "missing":
                request = client.recv(PIECE)
                body = b"" if request.startswith(b"HEAD") else NO_SUCH_KEY
                client.sendall(MISSING % len(NO_SUCH_KEY) + body)
                return
            with socket.create_connection(self.to, timeout=10) as server:
                self._pass(client, server, epoch)

    def _pass(self, client: socket.socket, server: socket.socket, epoch: int) -> None:
        other, is_get = {client: server, server: client}, False
        while not self.stopping.is_set() and self._epoch == epoch:
            if self._mode == "hang":
                self.stopping.wait(TURN_S)
                continue
            for ready in select.select([client, server], [], [], TURN_S)[0]:
                data = ready.recv(PIECE)
                if not data:
                    return
                if ready is client:
                    is_get = data.startswith(b"GET ")
                elif self._mode == "cut" and is_get:
                    client.sendall(data[:data.find(b"\r\n\r\n") + 5])  # the head, and a byte of the body
                    return
                other[ready].sendall(data)
