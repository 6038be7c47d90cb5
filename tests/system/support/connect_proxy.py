"""An HTTP proxy on loopback that only opens tunnels (CONNECT), each to the address that the test gave for the host's name."""

import socket
import threading
from http.server import BaseHTTPRequestHandler

from support.loopback_server import LoopbackServer

BLOCK_BYTES = 1 << 16


def copy(source: socket.socket, target: socket.socket) -> None:
    while block := source.recv(BLOCK_BYTES):
        target.sendall(block)
    target.shutdown(socket.SHUT_WR)


class ConnectProxy(LoopbackServer):
    def __init__(self, hosts: dict[str, str]):
        self.opened: list[str] = []  # HOST:PORT of each tunnel
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def do_CONNECT(self):
                host, _, port = self.path.rpartition(":")
                if host not in hosts:
                    return self.send_error(502)
                proxy.opened.append(self.path)
                with socket.create_connection((hosts[host], int(port))) as server:
                    self.send_response(200)
                    self.end_headers()
                    back = threading.Thread(target=copy, args=(server, self.connection))
                    back.start()
                    copy(self.connection, server)
                    back.join()
                self.close_connection = True

            def log_message(self, *_):
                pass

        super().__init__(Handler)
