"""Calls each operation with an answer in JSON by the generated package `wheels_api` of the current folder, in the environment of the
generator: typed_calls.py OPENAPI URL ARGUMENTS TOKEN BUILD_TOKEN. One line for each: its ID and the type of its answer; with `!` what the
schema does not say of the answer."""

import importlib
import inspect
import io
import json
import re
import sys
from pathlib import Path

import attrs


NEEDED = ("torch", "component", "offset")  # in a query, where nothing is required


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def unknown_members(value, path: str = "") -> list[str]:
    """Members that no table has, of a model and the models in it."""
    if isinstance(value, (list, tuple)):
        return [found for number, item in enumerate(value) for found in unknown_members(item, f"{path}[{number}]")]
    if not attrs.has(type(value)):
        return []
    more = getattr(value, "additional_properties", {})
    fields = [one.name for one in attrs.fields(type(value)) if one.name != "additional_properties"]
    found = [f"{path}.{name}" for name in more] if fields else []  # an object without a table may have any
    return found + [one for name in fields for one in unknown_members(getattr(value, name), f"{path}.{name}")]


def same(sent, written) -> bool:
    """As JSON; times may be written in another form of RFC 3339."""
    if isinstance(sent, dict) and isinstance(written, dict):
        return sent.keys() == written.keys() and all(same(sent[name], written[name]) for name in sent)
    if isinstance(sent, list) and isinstance(written, list):
        return len(sent) == len(written) and all(map(same, sent, written))
    if isinstance(sent, str) and isinstance(written, str):
        return re.sub(r"(\.0+)?Z$", "+00:00", sent) == written or sent.replace("Z", "+00:00") == written or sent == written
    return sent == written


def value_of(name: str, schema: dict, known: dict):
    return schema["const"] if "const" in schema else known[name]


def body_of(operation: dict, known: dict) -> dict | None:
    """Only what the document calls required."""
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if schema is None:
        return None
    return {name: value_of(name, schema["properties"][name], known) for name in schema.get("required", [])}


def call(operation: dict, known: dict, client) -> str:
    module = importlib.import_module(f"wheels_api.api.default.{snake(operation['operationId'])}")
    given = {"client": client}
    for name, parameter in inspect.signature(module.sync_detailed).parameters.items():
        if name == "body":
            kind = parameter.annotation
            body = body_of(operation, known)
            given["body"] = kind(payload=io.BytesIO(b"more")) if body is None else kind.from_dict(body)
        elif name != "client" and (parameter.default is inspect.Parameter.empty or name in NEEDED):
            given[name] = known[name]
    answer = module.sync_detailed(**given)
    if answer.parsed is None:
        return f"! {answer.status_code} has no type: {answer.content[:200]!r}"
    sent = json.loads(answer.content)
    faults = unknown_members(answer.parsed)
    if not same(sent, answer.parsed.to_dict()):
        faults.append(f"is written as {json.dumps(answer.parsed.to_dict())} and was sent as {json.dumps(sent)}")
    kind = type(answer.parsed).__name__
    if answer.status_code >= 400 and kind != "Problem":
        faults.append(f"is {answer.status_code}")
    detail = f": {sent.get('code')} {sent.get('detail')} {sent.get('value', '')}" if kind == "Problem" and "--why" in sys.argv else ""
    return kind + detail + "".join(f" ! {fault}" for fault in faults)


def main() -> None:
    document, url, arguments, token, build_token = sys.argv[1:6]
    sys.path.insert(0, str(Path.cwd()))
    from wheels_api import AuthenticatedClient

    known = json.loads(Path(arguments).read_text())
    admin, builder = (AuthenticatedClient(url, one, raise_on_unexpected_status=False) for one in (token, build_token))
    for methods in json.loads(Path(document).read_text())["paths"].values():
        for operation in methods.values():
            name = operation["operationId"]
            success = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
            if "application/json" not in success["content"]:
                continue
            if "multipart/form-data" in operation.get("requestBody", {}).get("content", {}):
                print(name, "not called")
                continue
            values = known["*"] | known.get(name, {})
            try:
                print(name, call(operation, values, builder if name in ("endTask", "claimTask", "reportSite") else admin))
            except Exception as error:  # noqa: BLE001 the line says which operation it is
                print(name, f"! {type(error).__name__}: {error}")


main()
