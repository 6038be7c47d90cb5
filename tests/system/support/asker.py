"""A client that asks the registry for wheels: `wheelyard-registry task …` over HTTP, with its own token."""

import json

from support.farm import INDEX, Farm
from support.site import PYTHON_VERSION


class Asker:
    def __init__(self, farm: Farm, name: str = "anna", actions: tuple[str, ...] = ("task",)):
        """Before or after the farm has started."""
        self.farm = farm
        self.token = farm.create_token(INDEX, name=name, actions=actions)
        self.token_file = farm.folder / f"{name}.token"
        self.token_file.write_text(self.token)

    def run(self, verb: str, *arguments: str):
        return self.farm.run("wheelyard-registry", "task", verb, *arguments, "--url", self.farm.url, "--token-file", self.token_file)

    def say(self, verb: str, *arguments: str) -> str:
        """What the command prints; it must succeed."""
        done = self.run(verb, *arguments)
        if done.returncode != 0:
            raise AssertionError(f"task {verb}: {done.stdout}{done.stderr}")
        return done.stdout

    def ask_for(self, package: str) -> str:
        """The task's id."""
        return json.loads(self.say("add", INDEX, package, "1.0", "--python", PYTHON_VERSION, "--json"))["id"]

    def show(self, task: str) -> dict:
        return json.loads(self.say("show", task, "--json"))
