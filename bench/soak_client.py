"""A client that retries, shared by uploaders, requesters and agents (soak.py, soak_tasks.py)."""

import http.client
import json
import random
import threading
import time
from collections import Counter

PATIENCE_S = 120
LOST = (ConnectionError, http.client.HTTPException, TimeoutError, OSError)


class Fault(Exception):
    pass


class SoakClient(threading.Thread):
    """Calls act() until `end`, then finish(). A fault ends it and fails the run."""

    def __init__(self, name, seed, farm, token, end):
        super().__init__(name=name)
        self.farm, self.token, self.end = farm, token, end
        self.random = random.Random(f"{seed}/{name}")
        self.done, self.fault = Counter(), None

    def run(self):
        try:
            while time.monotonic() < self.end:
                self.act()
            self.finish()
        except Exception as fault:
            self.fault = f"{self.name}: {type(fault).__name__}: {fault}"

    def act(self):
        raise NotImplementedError

    def finish(self):
        pass

    @staticmethod
    def must(holds, what):
        if not holds:
            raise Fault(what)

    def until_answered(self, ask):
        last = time.monotonic() + PATIENCE_S
        while time.monotonic() < last:
            try:
                answer = ask()
                if answer[0] < 500:
                    return answer
            except LOST:
                pass
            self.done["sent again"] += 1
            time.sleep(0.05)
        raise Fault("no answer")

    def ask(self, method, path, body=None, headers=None, token=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=30)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {token or self.token}", **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            connection.close()

    def post(self, path, document, token=None):
        """(status, document) of the API."""
        body = document if isinstance(document, bytes) else json.dumps(document)
        status, text, _ = self.until_answered(lambda: self.ask("POST", "/api/v1" + path, body, {"Content-Type": "application/json"}, token))
        return status, json.loads(text)

    def get(self, path):
        status, text, _ = self.until_answered(lambda: self.ask("GET", "/api/v1" + path))
        self.must(status == 200, f"{path}: {status} {text!r}")
        return text
