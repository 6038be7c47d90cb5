"""A line to a server that cuts, delays and repeats, by a plan: connection by connection, byte by byte, so that every run is the same.

    with BadLine(farm) as line:
        line.plan([Fault(cut_up=6 << 20), Fault(swallow_from=1), FAITHFUL])
        twine_upload(line.farm, ...)          # the farm as seen through the line

Connections beyond the plan are faithful. `then` runs when the fault strikes, before its connection is closed.
"""

import contextlib
import copy
import socket
import threading
import time
from dataclasses import dataclass
from typing import Callable

from support.farm import Farm

PIECE = 64 << 10
ENDLESS = 1 << 62
CONNECT_TIMEOUT_S = 240


@dataclass
class Fault:
    cut_up: int = ENDLESS        # after so many bytes of the client's
    answer: bytes = b""          # to the client before that cut, in the server's place
    cut_down: int = ENDLESS      # after so many bytes of the server's
    swallow_from: int = ENDLESS  # what the server says once the client has sent so many bytes is lost
    delay_s: float = 0           # before each 64 KiB, either way
    twice: bool = False          # the same bytes over a second connection too, as of a proxy that tries again by itself
    repeat_down: int = ENDLESS   # from there on 1,000 bytes of the server's come twice
    then: Callable[[], None] | None = None


FAITHFUL = Fault()


class BadLine:
    def __init__(self, farm: Farm):
        self.real = farm
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.farm = copy.copy(farm)
        self.farm.port = self._listener.getsockname()[1]
        self.bytes_up = 0  # that went on to the server
        self.bytes_down = 0
        self.struck = 0    # faults that came to strike
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def __enter__(self) -> "BadLine":
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._listener.close()

    def plan(self, faults: list[Fault]) -> None:
        with self._lock:
            self._faults = list(faults)

    @property
    def left(self) -> int:
        """Faults of the plan that no connection has taken yet."""
        with self._lock:
            return len(self._faults)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _connect(self) -> socket.socket:
        server = socket.create_connection(("127.0.0.1", self.real.port), CONNECT_TIMEOUT_S)
        server.settimeout(None)
        return server

    def _carry(self, client: socket.socket) -> None:
        try:
            server = self._connect()
        except OSError:  # it is being started again: so does the client see it
            client.close()
            return
        with self._lock:  # no fault is spent on a connection that came to nothing
            fault = self._faults.pop(0) if self._faults else FAITHFUL
        second = self._connect() if fault.twice else None
        if second is not None:
            threading.Thread(target=self._drain, args=(second,), daemon=True).start()
        ended = threading.Lock()  # one of the two directions ends it

        def strike() -> None:
            with ended:
                if client.fileno() < 0:
                    return
                self.struck += 1
                if fault.then is not None:
                    fault.then()
                self._close(client)
                self._shut(server)  # what went over the line before it was cut arrives

        sent = 0

        def up() -> None:
            nonlocal sent
            while data := self._receive(client, fault):
                data = data[:fault.cut_up - sent]
                sent += len(data)  # before it goes: the answer may be here first
                if not self._send(server, data) or (second is not None and not self._send(second, data)):
                    break
                with self._lock:
                    self.bytes_up += len(data)
                if sent >= fault.cut_up:
                    if self._send(client, fault.answer) and fault.answer:
                        self._shut(client)
                        self._drain(client)  # a reset would take the answer away
                    return strike()
            self._shut(server)
            if second is not None:
                self._shut(second)

        def down() -> None:
            came = 0
            while data := self._receive(server, fault):
                if sent >= fault.swallow_from:
                    strike()
                    break
                if came < fault.repeat_down < came + len(data):
                    at = fault.repeat_down - came
                    data = data[:at] + data[max(0, at - 1000):]
                    self.struck += 1
                room = fault.cut_down - came
                if not self._send(client, data[:room]):
                    break
                came += len(data)
                with self._lock:
                    self.bytes_down += len(data)
                if came >= fault.cut_down:
                    strike()
                    break
            self._close(client)
            self._drain(server)
            self._close(server)

        sender = threading.Thread(target=up, daemon=True)
        sender.start()
        down()
        sender.join()
        if second is not None:
            self._close(second)

    @staticmethod
    def _receive(source: socket.socket, fault: Fault) -> bytes:
        try:
            data = source.recv(PIECE)
        except OSError:
            return b""
        time.sleep(fault.delay_s)  # what the line does, no wait for anything
        return data

    @staticmethod
    def _send(to: socket.socket, data: bytes) -> bool:
        try:
            to.sendall(data)
            return True
        except OSError:
            return False

    @staticmethod
    def _drain(source: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while source.recv(PIECE):
                pass

    @staticmethod
    def _shut(one: socket.socket) -> None:
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_WR)

    @staticmethod
    def _close(*ends: socket.socket) -> None:
        for end in ends:
            with contextlib.suppress(OSError):  # wakes its reader
                end.shutdown(socket.SHUT_RDWR)
            end.close()
