"""The calls of every operation of the registry, a family for each golden: good, refused and forbidden. The calls of a family run in
this order on one copy of the store at each door; calls that change something are made at every door that has them."""

import json
import re

from support.doors import Case
from support.prepared_store import BUILD, SITE, report

ACT = "uploader elsewhere limited gone nobody admin"  # no right, another index, another project, revoked, no token; last who may
ALL = "uploader elsewhere gone nobody admin"
API = "/api/v1"
FOREVER = 10 ** 19  # no int64
LONG = "x" * 600


def wheel(name: str, version: str = "1.0") -> str:
    return f"{name}-{version}-py3-none-any.whl"


SIX, OTHER, ODD = wheel("six"), wheel("other"), wheel("odd")


def call(says: str, request: str = "", command: str = "", by: str = "admin", body=None, has_url: bool = True) -> Case:
    method, _, path = request.partition(" ")
    if request and not path.startswith("/"):
        path = f"{API}/{path}"
    text = "" if body is None else body if isinstance(body, str) else json.dumps(body, separators=(",", ":"))
    return Case(says, f"{method} {path}" if request else "", command, by, has_url, text)


def here(says: str, command: str, request: str = "", by: str = "admin", body=None) -> Case:
    """Of a command without --url."""
    return call(says, request, command, by, body, has_url=False)


def change(says: str, request: str, command: str = "", by: str = "admin", **members) -> Case:
    return call(says, "POST " + request, command, by, {"format": "wheelyard.change/1"} | members)


def of_file(verb: str, name: str, says: str, more: str = "", by: str = "admin", index: str = "main", **members) -> Case:
    return change(f"{verb}: {says}", f"indexes/{index}/files/{name}/{verb}", f"{verb} {index} {name} {more}".strip(), by, **members)


def verb_cases(verb: str, name: str, needs_reason: bool) -> list[Case]:
    """What all changes of a file have in common; its good answer is the last."""
    reason, words = ({"reason": "why not"}, "--reason 'why not'") if needs_reason else ({}, "")
    path = f"indexes/main/files/{name}/{verb}"
    cases = [of_file(verb, name, "who may", words, "uploader elsewhere limited gone nobody", **reason),
             of_file(verb, name, "no such index", words, index="nowhere", **reason),
             of_file(verb, wheel("secret"), "a private index", words, "elsewhere", index="hidden", **reason),
             of_file(verb, wheel("nothing"), "no such file", words, **reason),
             of_file(verb, wheel("gone"), "a deleted file", words, **reason),
             of_file(verb, name, "a reason of two lines", "--reason 'one\ntwo'", reason="one\ntwo"),
             of_file(verb, name, "a reason that is too long", f"--reason {LONG}", reason=LONG),
             call(f"{verb}: no JSON", f"POST {path}", body="{"),
             call(f"{verb}: another format", f"POST {path}", body={"format": "wheelyard.change/2"}),
             change(f"{verb}: a member of another type", path, reason=1),
             change(f"{verb}: a dry run", path, dry_run=True, **reason),
             call(f"{verb}: another method", f"GET {path}")]
    if needs_reason:
        cases.append(of_file(verb, name, "no reason"))
        cases.append(of_file(verb, name, "an empty reason", "--reason ''", reason=""))
    return [*cases, of_file(verb, name, "good", words, **reason), of_file(verb, name, "again, as JSON", words + " --json", **reason)]


def status(says: str, word, more: str = "", by: str = "admin", index: str = "main", project: str = "Settled", **members) -> Case:
    return change(f"status: {says}", f"indexes/{index}/projects/{project}/status", f"status {index} {project} {word} {more}".strip(), by, status=word,
                  **members)


def retain(says: str, more: str, by: str = "admin", index: str = "main", **members) -> Case:
    return change(f"retain: {says}", f"indexes/{index}/retain", f"retain {index} {more}".strip(), by, **members)


def gc(says: str, more: str = "", by: str = "admin", **members) -> Case:
    return change(f"gc: {says}", "gc", f"gc {more}".strip(), by, **members)


FILES = [
    *verb_cases("yank", SIX, True), *verb_cases("unyank", SIX, False), *verb_cases("quarantine", SIX, True),
    of_file("release", wheel("settled"), "an active file", "--reason fine", reason="fine"), *verb_cases("release", ODD, True),
    *verb_cases("pin", OTHER, False),
    of_file("delete", OTHER, "a pinned file", "--reason x", reason="x"), *verb_cases("unpin", OTHER, False),
    of_file("yank", wheel("elder"), "in an archived index", "--reason x", index="old", reason="x"),
    of_file("yank", wheel("owned"), "in an upstream's cache", "--reason x", index="mirror.public", reason="x"),
    of_file("yank", wheel("secret"), "in a private index", "--reason x", index="hidden", reason="x"),
    *verb_cases("delete", OTHER, True),
]

PROJECTS = [
    status("who may", "archived", "--reason over", "uploader elsewhere limited gone nobody", reason="over"),
    status("no such index", "archived", "--reason over", index="nowhere", reason="over"),
    status("a private index", "archived", "--reason over", "elsewhere", index="hidden", project="secret", reason="over"),
    status("no such project", "archived", "--reason over", project="nothing", reason="over"),
    status("no such status", "asleep", "--reason over", reason="over"),
    status("no reason", "archived"),
    status("a reason of two lines", "archived", "--reason 'one\ntwo'", reason="one\ntwo"),
    change("status: no status", "indexes/main/projects/settled/status", reason="over"),
    change("status: of another type", "indexes/main/projects/settled/status", status=1, reason="over"),
    status("archived", "archived", "--reason over", reason="over"),
    status("the same again", "archived", "--reason over --json", reason="over"),
    status("active needs no reason", "active"),
    status("in an archived index", "deprecated", "--reason over", index="old", project="elder", reason="over"),
    retain("who may", "--keep 1", "uploader elsewhere limited gone nobody", keep=1),
    retain("no such index", "--keep 1", index="nowhere", keep=1),
    retain("a private index", "--keep 1", "elsewhere", index="hidden", keep=1),
    retain("nothing to keep", "--keep 0", keep=0),
    retain("too many to keep", "--keep 1000000", keep=1000000),
    retain("no number", "--keep one", keep="one"),
    retain("too large a number", f"--keep {FOREVER}", keep=FOREVER),
    retain("no number at all", ""),
    retain("an unknown project", "--keep 1 --project nothing", keep=1, project="nothing"),
    retain("a dry run", "--keep 1 --project Six --dry-run", keep=1, project="Six", dry_run=True),
    change("retain: a dry run of another type", "indexes/main/retain", keep=1, dry_run="yes"),
    retain("a dry run, as JSON", "--keep 1 --project six --dry-run --json", keep=1, project="six", dry_run=True),
    retain("good", "--keep 1 --project six", keep=1, project="six"),
    retain("again", "--keep 1 --project six", keep=1, project="six"),
    retain("in an archived index", "--keep 1", index="old", keep=1),
    gc("who may", "--dry-run", "uploader elsewhere limited gone nobody", dry_run=True),
    gc("too short a grace", "--grace 1h", grace_ms=3600000),
    gc("too long a grace", "--grace 9000w", grace_ms=9000 * 7 * 86400000),
    gc("no duration", "--grace soon", grace_ms="soon"),
    gc("too large a number", f"--grace {FOREVER}d", grace_ms=FOREVER),
    gc("a dry run", "--dry-run", dry_run=True), gc("a dry run, as JSON", "--dry-run --json", dry_run=True), gc("good"),
]


def promote(says: str, name: str, to: str, index: str = "main", by: str = "admin", more: str = "", **members) -> Case:
    words = f"promote {index} {name} {' '.join(members.get('with', []))}".strip() + f" --to {to} {more}".rstrip()
    return change(f"promote: {says}", f"indexes/{index}/files/{name}/promote", words, by, to=to, **members)


VISION, TORCH = "torchvision-0.21.0-cp311-cp311-linux_x86_64.whl", "torch-2.6.0-cp311-cp311-linux_x86_64.whl"
PROMOTIONS = [
    promote("who may", SIX, "staging", by="uploader elsewhere limited gone nobody"),
    promote("the uploader of the file", wheel("own"), "staging", by="author"),
    promote("the uploader of one of the set", SIX, "staging", by="author", **{"with": [wheel("own")]}),
    promote("to an index that the token may not know", SIX, "hidden", by="author"),
    promote("from an index that the token may not know", wheel("secret"), "staging", index="hidden", by="author"),
    promote("to no such index", SIX, "nowhere"),
    promote("from no such index", SIX, "staging", index="nowhere"),
    promote("to the same index", SIX, "main"),
    promote("to an upstream's cache", SIX, "mirror.public"),
    change("promote: to nothing", f"indexes/main/files/{SIX}/promote", f"promote main {SIX}"),
    change("promote: to a number", f"indexes/main/files/{SIX}/promote", to=1),
    change("promote: with a text", f"indexes/main/files/{SIX}/promote", to="staging", **{"with": wheel("own")}),
    change("promote: with a number", f"indexes/main/files/{SIX}/promote", to="staging", **{"with": [1]}),
    change("promote: from_upstream of another type", f"indexes/main/files/{SIX}/promote", to="staging", from_upstream="yes"),
    promote("no such file", wheel("nothing"), "staging"),
    promote("one of the set is not there", SIX, "staging", **{"with": [wheel("nothing")]}),
    promote("too many", SIX, "staging", **{"with": [wheel("p", str(at)) for at in range(120)]}),
    promote("a file in quarantine", ODD, "staging"),
    promote("to an archived index", SIX, "old"),
    promote("no such file, to an archived index", wheel("nothing"), "old"),
    promote("a source distribution to an index of wheels", "solver-1.0.tar.gz", "staging", index="sources"),
    promote("a source distribution, to an archived index", "solver-1.0.tar.gz", "old", index="sources"),
    promote("a variant wheel to an index without", "six-1.0-py3-none-any-x8664v3.whl", "staging"),
    promote("to an index of attested files", SIX, "strict"),
    promote("to an index whose torch cannot load it", VISION, "torches", index="companions"),
    promote("a set of which one cannot be loaded", wheel("first"), "torches", index="companions", **{"with": [VISION]}),
    promote("other bytes of the name are there", wheel("taken"), "main", index="staging"),
    promote("to a project that is archived there", wheel("closed"), "main", index="staging"),
    promote("a private file to a public index", wheel("secret"), "staging", index="hidden"),
    promote("a name that was deleted there", wheel("gone"), "main", index="staging"),
    promote("an owned name from an upstream", wheel("owned"), "main", index="mirror.public"),
    promote("an owned name from an upstream, said so", wheel("owned"), "main", index="mirror.public", more="--from-upstream", from_upstream=True),
    promote("from an archived index", wheel("elder"), "staging", index="old"),
    promote("out of a private index to a private one", SIX, "hidden"),
    promote("good", wheel("yanked"), "staging"),
    promote("again, as JSON", wheel("yanked"), "staging", more="--json"),
    promote("a set", wheel("first"), "staging", index="companions", **{"with": [wheel("second"), wheel("third")]}),
    promote("a set of which one is there", wheel("parts"), "staging", **{"with": [wheel("yanked")]}),
]


INDEXES = [
    call("index list: who may", "GET indexes", "index list", ALL),
    call("index list: as JSON", "GET indexes", "index list --json"),
    call("index show: one", "GET indexes/main", "index show main", ALL),
    call("index show: as JSON", "GET indexes/main", "index show main --json"),
    call("index show: none", "GET indexes/nowhere", "index show nowhere"),
    call("index show: a private one", "GET indexes/hidden", "index show hidden", "elsewhere admin"),
    call("access: who may", "GET indexes/main/access", by=ACT),
    call("access: a private index", "GET indexes/hidden/access", by="auditor"),
    here("apply: only shown", "apply --check"),
    here("apply: only shown, as JSON", "apply --check --json"),
    here("apply: good", "apply"),
]


def about(word: str, name: str, query: str = "", more: str = "") -> list[Case]:
    """files and storage, which ask the same of the caller."""
    return [call(f"{word}: who may", f"GET indexes/main/{name}{query}", f"{word} main {more}".strip(), ACT + " auditor"),
            call(f"{word}: as JSON", f"GET indexes/main/{name}{query}", f"{word} main --json {more}".strip()),
            call(f"{word}: no such index", f"GET indexes/nowhere/{name}{query}", f"{word} nowhere {more}".strip()),
            call(f"{word}: a private index", f"GET indexes/hidden/{name}{query}", f"{word} hidden {more}".strip(), "elsewhere limited admin"),
            call(f"{word}: an upstream's cache", f"GET indexes/mirror.public/{name}{query}", f"{word} mirror.public {more}".strip()),
            call(f"{word}: an archived index", f"GET indexes/old/{name}{query}", f"{word} old {more}".strip())]


def audit(says: str, query: str = "", words: str = "", by: str = "admin") -> Case:
    return call(f"audit: {says}", f"GET audit{query}", f"audit {words}".strip(), by)


READING = [
    *about("files", "files"), call("files: in quarantine", "GET indexes/main/files?state=quarantined", "files main --quarantined"),
    call("files: no such state", "GET indexes/main/files?state=odd"), call("files: after one", f"GET indexes/main/files?after={SIX}"),
    call("files: with a part in their names", "GET indexes/main/files?name=SIX-1.0-py3", "files main --name SIX-1.0-py3"),
    *about("storage", "storage"), call("storage: what an upstream brought", "GET indexes/mirror/storage", "storage mirror"),
    call("upstreams: who may", "GET indexes/mirror/upstreams", by=ACT),
    call("explain: who may", "GET indexes/main/projects/six/explain", "explain main six", ALL),
    call("explain: as JSON", "GET indexes/main/projects/six/explain", "explain main six --json"),
    call("explain: an index that is not there", "GET indexes/nowhere/projects/six/explain", "explain nowhere six"),
    call("explain: a project that is not there", "GET indexes/main/projects/nothing/explain", "explain main nothing"),
    call("explain: no name of a project", "GET indexes/main/projects/_six/explain", "explain main _six"),
    call("explain: a name that is too long", f"GET indexes/main/projects/{LONG}/explain", f"explain main {LONG}"),
    call("explain: a private index", "GET indexes/hidden/projects/secret/explain", "explain hidden secret", "elsewhere limited admin"),
    call("explain: of an upstream", "GET indexes/mirror/projects/owned/explain", "explain mirror owned"),
    call("explain: an upstream's cache", "GET indexes/mirror.public/projects/owned/explain", "explain mirror.public owned"),
    call("provenance: who may", f"GET indexes/main/files/{wheel('parts')}/provenance", f"provenance main {wheel('parts')}", ACT),
    call("provenance: as JSON", f"GET indexes/main/files/{wheel('parts')}/provenance", f"provenance main {wheel('parts')} --json"),
    call("provenance: it has none", f"GET indexes/main/files/{SIX}/provenance", f"provenance main {SIX}"),
    call("provenance: no such file", f"GET indexes/main/files/{wheel('nothing')}/provenance", f"provenance main {wheel('nothing')}"),
    call("provenance: no name of a file", "GET indexes/main/files/x/provenance", "provenance main x"),
    call("provenance: no such index", f"GET indexes/nowhere/files/{SIX}/provenance", f"provenance nowhere {SIX}"),
    call("provenance: a private index", f"GET indexes/hidden/files/{wheel('secret')}/provenance", f"provenance hidden {wheel('secret')}", "elsewhere admin"),
    call("sbom: who may", f"GET indexes/main/files/{wheel('parts')}/sbom", f"sbom main {wheel('parts')}", ALL),
    call("sbom: no such file", f"GET indexes/main/files/{wheel('nothing')}/sbom", f"sbom main {wheel('nothing')}"),
    call("sbom: in quarantine", f"GET indexes/main/files/{ODD}/sbom", f"sbom main {ODD}"),
    call("sbom: no such index", f"GET indexes/nowhere/files/{SIX}/sbom", f"sbom nowhere {SIX}"),
    call("sbom: a private index", f"GET indexes/hidden/files/{wheel('secret')}/sbom", f"sbom hidden {wheel('secret')}", "elsewhere nobody admin"),
    call("contains: who may", "GET indexes/main/contains?component=zlib", "contains zlib --index main", ALL),
    call("contains: as JSON", "GET indexes/main/contains?component=zlib&version=1.2.11", "contains zlib 1.2.11 --index main --json"),
    call("contains: nothing", "GET indexes/main/contains?component=nothing", "contains nothing --index main"),
    call("contains: no component", "GET indexes/main/contains", "contains '' --index main"),
    call("contains: too long a name", f"GET indexes/main/contains?component={LONG}", f"contains {LONG} --index main"),
    call("contains: no such index", "GET indexes/nowhere/contains?component=zlib", "contains zlib --index nowhere"),
    call("contains: a private index", "GET indexes/hidden/contains?component=zlib", "contains zlib --index hidden", "elsewhere nobody admin"),
    here("contains: all indexes", "contains 'z*' --license 'Z*'"),
    call("with-torch: good", f"GET indexes/torches/files/{TORCH}/with-torch?torch={TORCH}", by="nobody gone admin"),
    call("with-torch: no torch", f"GET indexes/torches/files/{TORCH}/with-torch?torch={SIX}"),
    call("with-torch: no such file", f"GET indexes/torches/files/{SIX}/with-torch?torch={TORCH}"),
    audit("who may", "?newest=2", "--after 0 --index strict", "uploader elsewhere limited gone nobody auditor"),
    audit("of a project", "?project=Yanked", "--project Yanked"), audit("as JSON", "?project=yanked", "--project yanked --json"),
    audit("of an action", "?action=file+yanked", "--action 'file yanked'"), audit("by somebody", "?who=author", "--who author"),
    audit("of a file", f"?filename={ODD}", f"--filename {ODD}"), audit("of a part of a name", "?what=secr", "--what secr"),
    audit("of an index", "?index=hidden", "--index hidden"), audit("from a day on", "?from=2100-01-01", "--from 2100-01-01"),
    audit("of no index", "?index=nowhere", "--index nowhere"), audit("until no time", "?until=tomorrow", "--until tomorrow"),
    audit("from no time", "?from=2026-99-99", "--from 2026-99-99"), audit("after no number", "?after=one", "--after one"),
    audit("after too large a number", f"?after={FOREVER}", f"--after {FOREVER}"), audit("too long a filter", f"?who={LONG}", f"--who {LONG}"),
    call("audit: too many", "GET audit?newest=1001"), call("audit: before no number", "GET audit?before=one"),
    call("people: who may", "GET people", by="uploader elsewhere gone nobody auditor"),
    call("private indexes: who may", "GET private-indexes", by="gone nobody uploader limited admin"),
    call("private indexes: end", "GET private-indexes/end?indexes=hidden,nowhere", by="gone nobody"),
    call("nodes: who may", "GET nodes", by="gone nobody uploader"),
    call("sites: who may", "GET sites", by="gone nobody uploader"),
    call("site: who may", f"GET indexes/main/sites/{SITE}", by="gone nobody uploader"),
    call("site: none", "GET indexes/main/sites/nobody"),
    call("builds: who may", "GET indexes/main/builds", by="gone nobody uploader"),
    call("builds: of a package", "GET indexes/main/builds?package=nothing"),
    call("build: who may", f"GET indexes/main/builds/{SITE}/{BUILD}", by="gone nobody uploader"),
    call("build: none", f"GET indexes/main/builds/{SITE}/w0"),
    call("build log: who may", f"GET indexes/main/builds/{SITE}/{BUILD}/log", by="gone nobody uploader"),
    call("build log: from no number", f"GET indexes/main/builds/{SITE}/{BUILD}/log?offset=x"),
    call("build log: after its end", f"GET indexes/main/builds/{SITE}/{BUILD}/log?offset=1000"),
    call("build log: none", f"GET indexes/main/builds/{SITE}/w0/log"),
    call("openapi: another method", "POST openapi.json", body={}), call("no such operation", "GET nothing"),
    here("release-project: no such upstream", "release-project main.public owned --reason moved"),
    here("release-project: no such index", "release-project nowhere owned --reason moved"),
    here("release-project: no name of a project", "release-project mirror.public _ --reason moved"),
    here("release-project: no reason", "release-project mirror.public owned"),
    here("release-project: a reason of two lines", "release-project mirror.public owned --reason 'one\ntwo'"),
    here("release-project: good", "release-project mirror.public Owned --reason moved"),
    here("release-project: again, as JSON", "release-project mirror.public owned --reason moved --json"),
]


def token(says: str, words: str, by: str = "admin", **members) -> Case:
    return call(f"token create: {says}", "POST tokens", f"token create {words}", by, {"format": "wheelyard.token_request/1"} | members)


def renewal(says: str, **members) -> Case:
    good = {"format": "wheelyard.agent_renewal/1", "site": SITE, "credential": "<code>", "next": NEXT}
    return call(f"agent renew: {says}", "POST agents/renew", by="nobody", body=good | members)


NEXT = "wy_000000000001_" + "1" * 43
TOKENS = [
    call("token list: who may", "GET tokens", "token list", ALL + " limited"), call("token list: as JSON", command="token list --json"),
    token("who may", "--name new --index main", "uploader auditor gone nobody", name="new", indexes=["main"]),
    token("more than the caller's", "--name new --index main", "elsewhere limited", name="new", indexes=["main"]),
    token("a name of another scope", "--name admin --index staging", "elsewhere", name="admin", indexes=["staging"]),
    token("no such index", "--name new --index nowhere", name="new", indexes=["nowhere"]),
    token("a private index that the caller may not know", "--name new --index hidden", "elsewhere", name="new", indexes=["hidden"]),
    token("no such action", "--name new --index main --action fly", name="new", indexes=["main"], actions=["fly"]),
    token("no name", "--name '' --index main", name="", indexes=["main"]),
    token("a name beyond ASCII", "--name Müller --index main", name="Müller", indexes=["main"]),
    token("too long a name", f"--name {LONG} --index main", name=LONG, indexes=["main"]),
    token("a reserved name", "--name login:campus:0 --index main", name="login:campus:0", indexes=["main"]),
    token("an agent's name", "--name agent:alpha --index main", name="agent:alpha", indexes=["main"]),
    token("no project", "--name new --index main --project '-'", name="new", indexes=["main"], projects=["-"]),
    token("no indexes", "--name new", name="new"),
    token("no lifetime", "--name new --index main --expires soon", name="new", indexes=["main"], expires="soon"),
    token("too long a lifetime", f"--name new --index main --expires {FOREVER}d", name="new", indexes=["main"], expires=f"{FOREVER}d"),
    call("token create: another format", "POST tokens", body={"format": "x"}), call("token create: no JSON", "POST tokens", body="{"),
    call("token create: a name of another type", "POST tokens", body={"format": "wheelyard.token_request/1", "name": 1, "indexes": ["main"]}),
    call("token create: indexes of another type", "POST tokens", body={"format": "wheelyard.token_request/1", "name": "new", "indexes": "main"}),
    token("good", "--name new --index main", name="new", indexes=["main"]),
    token("as JSON", "--name newer --index '*' --action '*' --project Six --expires 90d --json", name="newer", indexes=["*"], actions=["*"],
          projects=["Six"], expires="90d"),
    here("token create: to a file that is there", "token create --name new --index main --to /dev/null"),
    change("token revoke: who may", "tokens/<id of builder>/revoke", by="uploader elsewhere gone nobody"),
    call("token revoke: none", "POST tokens/wy_000000000000/revoke", "token revoke wy_000000000000", body={"format": "wheelyard.change/1"}),
    call("token revoke: no ID", "POST tokens/x/revoke", "token revoke x", body={"format": "wheelyard.change/1"}),
    call("token revoke: good", "POST tokens/<id of builder>/revoke", "token revoke <id of builder>",
         body={"format": "wheelyard.change/1", "reason": "leaked"}),
    call("token revoke: again", "POST tokens/<id of builder>/revoke", "token revoke <id of builder>", body={"format": "wheelyard.change/1"}),
    change("token revoke: the caller's own", "tokens/<id of limited>/revoke", by="limited"),
    here("token forget: nobody's name", "token forget anna"), here("token forget: an unknown person", "token forget login:campus:0000000000000000"),
    renewal("another site", site="beta"), renewal("no code", credential="x"), renewal("an unknown code", credential=NEXT.replace("1", "2")),
    renewal("no next", next="x"), renewal("another format", format="x"), renewal("good"), renewal("the same again"),
    renewal("the code was used", next=NEXT.replace("1", "3")),
    here("agent enrol: no such index", "agent enrol gamma --index nowhere"), here("agent enrol: no site", "agent enrol 'g g' --index main"),
    here("agent enrol: an action that it may not have", "agent enrol gamma --index main --action token"),
    here("agent enrol: good", "agent enrol gamma --index main --action build"), here("agent enrol: as JSON", "agent enrol delta --index main --json"),
    here("agent revoke: nobody", "agent revoke nobody"), here("agent revoke: no site", "agent revoke 'g g'"),
    here("agent revoke: good", "agent revoke gamma"), here("agent revoke: again", "agent revoke gamma"),
]


def add(says: str, words: str = "", by: str = "admin", index: str = "main", package: str = "fresh", version: str = "1.0", python="3.11",
        **members) -> Case:
    wish = {"format": "wheelyard.task/1", "index": index, "package": package, "version": version, "python": python} | members
    return call(f"task add: {says}", "POST tasks", f"task add {index} '{package}' '{version}' --python '{python}' {words}".strip(), by, wish)


def act(verb: str, says: str, task: str, words: str = "", by: str = "admin", **members) -> Case:
    return change(f"task {verb}: {says}", f"tasks/{task}/{verb}", f"task {verb} {task} {words}".strip(), by, **members)


def of_agent(says: str, path: str, body, by: str = "builder") -> Case:
    return call(says, f"POST tasks/{path}", by=by, body=body)


def claim(says: str, by: str = "builder", **members) -> Case:
    good = {"format": "wheelyard.claim/2", "index": "main", "agent": f"{SITE}.login1", "pythons": ["3.11"], "accelerators": []}
    return of_agent(f"task claim: {says}", "claim", good | members, by)


def ask(says: str, index: str = "asked", by: str = "nobody", **members) -> Case:
    wish = {"format": "wheelyard.task/1", "index": index, "package": "wanted", "version": "1.0", "python": "3.11"}
    return call(f"request: {says}", f"POST indexes/{index}/requests", by=by, body=wish | members)


FAILED = {"format": "wheelyard.outcome/1", "attempt": BUILD, "cell": "held-1.0-cp311", "site": SITE, "result": "failed", "phases": [],
          "diagnosis": {"phase": "build", "code": "x", "sentence": "It failed"}}
TASKS = [
    call("task list: who may", "GET tasks", "task list", ALL + " auditor author"), call("task list: as JSON", "GET tasks", "task list --json"),
    call("task list: of an index", "GET tasks?index=sources", "task list sources"),
    call("task list: of no index", "GET tasks?index=nowhere", "task list nowhere"),
    call("task list: of a state", "GET tasks?state=claimed", "task list --state claimed"),
    call("task list: of no state", "GET tasks?state=asleep", "task list --state asleep"),
    call("task list: too large a limit", f"GET tasks?limit={FOREVER}"), call("task list: after none", "GET tasks?after=t000000000000"),
    call("task show: who may", "GET tasks/<task queued>", "task show <task queued>", ALL),
    call("task show: as JSON", "GET tasks/<task queued>", "task show <task queued> --json"),
    call("task show: none", "GET tasks/t000000000000", "task show t000000000000"), call("task show: no ID", "GET tasks/x", "task show x"),
    call("task show: of a private index", "GET tasks/<task hidden>", "task show <task hidden>", "elsewhere admin"),
    call("task log: who may", "GET tasks/<task held>/log", "task log <task held>", ALL),
    call("task log: none", "GET tasks/<task queued>/log", "task log <task queued>"),
    call("task log: no task", "GET tasks/t000000000000/log", "task log t000000000000"),
    call("task log: from no number", "GET tasks/<task held>/log?offset=x"),
    add("who may", by="uploader elsewhere limited gone nobody"), add("no such index", index="nowhere"), add("an archived index", index="old"),
    add("a private index", by="elsewhere author", index="hidden"), add("no package", package="-"), add("no version", version="newest"),
    add("a Python that is none", python="three"), add("a Python that is a number", python=3), add("an accelerator that is none", "--accelerator 'a b'", accelerator="a b"),
    add("a source that is not there", "--source main", source={"index": "main"}), add("a source of no index", "--source nowhere", source={"index": "nowhere"}),
    add("a private source for a public wheel", "--source hidden", source={"index": "hidden"}),
    add("good"), add("again, as JSON", "--json"), add("a wheel with a source", "--source sources", index="sources", package="solver", python="3.12", source={"index": "sources"}),
    call("task add: another format", "POST tasks", body={"format": "x"}), call("task add: no JSON", "POST tasks", body="{"),
    call("task add: several", "POST tasks/add", "task add main several 1.0 --python 3.11 --python three", body={"format": "wheelyard.task_list/1", "tasks": [
        {"format": "wheelyard.task/1", "index": "main", "package": "several", "version": "1.0", "python": python} for python in ("3.11", "three")]}),
    call("task add: none", "POST tasks/add", body={"format": "wheelyard.task_list/1", "tasks": []}),
    call("task add: a list of another format", "POST tasks/add", body={"format": "x"}),
    act("approve", "who may", "<task waiting>", by="uploader elsewhere gone nobody"), act("approve", "none", "t000000000000"),
    act("approve", "one that does not wait", "<task queued>"), act("approve", "one's own", "<task waiting>", by="feeder"),
    act("approve", "one that is over", "<task ended>"),
    act("approve", "good", "<task waiting>"), act("approve", "again, as JSON", "<task waiting>", "--json"),
    act("reject", "one's own", "<task unwanted>", by="feeder", reason="no"),
    act("reject", "who may", "<task unwanted>", by="uploader elsewhere gone nobody"), act("reject", "none", "t000000000000"),
    act("reject", "one that does not wait", "<task queued>", "--reason no", reason="no"),
    act("reject", "a reason of two lines", "<task queued>", "--reason 'one\ntwo'", reason="one\ntwo"),
    act("reject", "good", "<task unwanted>", "--reason no", reason="no"), act("reject", "again, as JSON", "<task unwanted>", "--reason no --json", reason="no"),
    act("cancel", "who may", "<task queued>", by="uploader elsewhere limited gone nobody"), act("cancel", "none", "t000000000000"),
    act("cancel", "a reason of two lines", "<task queued>", "--reason 'one\ntwo'", reason="one\ntwo"),
    act("cancel", "too long a reason", "<task queued>", f"--reason {LONG}", reason=LONG),
    change("task cancel: a reason of another type", "tasks/<task queued>/cancel", reason=1),
    of_agent("task cancel: another format", "<task queued>/cancel", {"format": "x"}, "admin"),
    act("cancel", "good", "<task queued>", "--reason 'no need'", reason="no need"), act("cancel", "again, as JSON", "<task queued>", "--json"),
    act("cancel", "one that is over", "<task ended>", "--reason late", reason="late"),
    claim("who may", "uploader auditor elsewhere gone nobody"), claim("no such index", "admin", index="nowhere"), claim("an archived index", "admin", index="old"),
    claim("too much room", room=1001), claim("no Pythons", pythons="3.11"), claim("another format", format="x"),
    claim("a task that is over", tasks=["<task ended>"]), claim("of another site", agent="beta.login1", tasks=["<task held>"]),
    of_agent("outcome: who may", "<task held>/outcome", FAILED, "uploader elsewhere gone nobody"),
    of_agent("outcome: none", "<task held>/outcome", {}), of_agent("outcome: of another site", "<task held>/outcome", FAILED | {"site": "beta"}),
    of_agent("outcome: of a cancelled task", "<task queued>/outcome", FAILED),
    of_agent("outcome: a wheel that is not there", "<task held>/outcome", FAILED | {
        "result": "done", "wheel": {"filename": wheel("held"), "sha256": "0" * 64, "size": 1}}),
    of_agent("outcome: good", "<task held>/outcome", FAILED), of_agent("outcome: again", "<task held>/outcome", FAILED),
    of_agent("outcome: another one", "<task held>/outcome", FAILED | {"site": "beta"}),
    claim("good", room=1), claim("nothing matches", pythons=["3.9"], room=1),
    call("report: who may", f"PUT indexes/main/sites/{SITE}", by="auditor elsewhere gone nobody builder", body=report()),
    call("report: another site", "PUT indexes/main/sites/beta", by="builder", body=report()),
    call("report: no such index", f"PUT indexes/nowhere/sites/{SITE}", by="admin", body=report()),
    call("report: no report", f"PUT indexes/main/sites/{SITE}", by="builder", body="{"),
    call("report: a package of another spelling", f"PUT indexes/main/sites/{SITE}", by="builder", body=report(
        cells=[{"package": "Six", "version": "1.0", "python": "3.11", "accelerator": "cpu", "state": "have"}])),
    call("build log: who may append", f"POST indexes/main/builds/{SITE}/{BUILD}/log?offset=9", by="auditor elsewhere gone nobody builder", body="more\n"),
    call("build log: a gap", f"POST indexes/main/builds/{SITE}/{BUILD}/log?offset=99", by="builder", body="more\n"),
    call("build log: from no number", f"POST indexes/main/builds/{SITE}/{BUILD}/log?offset=x", by="builder", body="more\n"),
    call("build log: no such build", f"POST indexes/main/builds/{SITE}/w0/log?offset=0", by="builder", body="more\n"),
    ask("good", by="nobody"), ask("again", by="gone nobody"), ask("an index that takes none", "main", "nobody uploader"),
    ask("a private index", "hidden", "nobody elsewhere"), ask("no such index", "nowhere"), ask("another index than its address", index="asked", **{"package": "-"}),
    ask("with a source", source={"index": "sources"}), ask("no version", version="newest"), ask("another format", format="x"),
    call("request: show", "GET indexes/main/requests/<task ended>", by="nobody gone admin"), call("request: show none", "GET indexes/main/requests/t000000000000"),
    call("request: show of another index", "GET indexes/staging/requests/<task ended>"),
    call("request: show of a private index", "GET indexes/hidden/requests/<task hidden>"),
]

SECRET = "s" * 40


def login(says: str, path: str, **members) -> Case:
    return call(f"log-in: {says}", f"POST login/{path}", by="nobody", body={"format": "wheelyard.login/1"} | members)


IDENTITIES = [
    call("log-in: list", "GET login", by="nobody gone"), login("no such provider", "nobody/begin", secret=SECRET),
    login("begin, while the provider is away", "campus/begin", secret=SECRET), login("no secret", "campus/begin"), login("too short a secret", "campus/begin", secret="x"),
    login("no purpose", "campus/begin", secret=SECRET, purpose="fly"), login("another format", "campus/begin", format="x"),
    login("a member that is no text", "campus/begin", secret=1), call("log-in: no JSON", "POST login/campus/begin", by="nobody", body="{"),
    login("finish what nobody began", "campus/finish", state="x", secret=SECRET, code="x"), login("finish with another format", "campus/finish", format="x"),
    login("a device, while the provider is away", "campus/device", secret=SECRET), login("a device without a secret", "campus/device"),
    login("poll what nobody began", "campus/device/poll", state="x", secret=SECRET), login("poll another format", "campus/device/poll", format="x"),
    call("mint: the audience", "GET /_/oidc/audience", by="nobody gone"),
    *(call(f"{name}: {says}", f"POST /_/oidc/{path}", by="nobody", body=body)
      for name, path in (("mint", "mint-token"), ("mint of GitHub", "github/mint-token"), ("burn", "burn-token"))
      for says, body in (("no token", {}), ("a token that is none", {"token": "x"}), ("no JSON", "{"), ("a token of another type", {"token": 1}),
                         ("too large a body", "x" * 30_000))),
    call("burn: a token of another kind", "POST /_/oidc/burn-token", by="nobody", body={"token": "<token of uploader>"}),
    call("burn: it is as good as before", "GET indexes/main/access", by="uploader"),
    call("mint: another method", "GET /_/oidc/mint-token", by="nobody"),
]

# What the arguments of a reading operation of an index name, so that it has an answer; and what is in the private index.
VALUES = {"index": "main", "project": "six", "filename": wheel("parts"), "site": SITE, "build": BUILD, "task": "<task ended>", "component": "zlib"}
OTHER_VALUES = {"judgeWithTorch": {"index": "torches", "filename": TORCH, "torch": TORCH}}  # by operation
PRIVATE = {"index": "hidden", "project": "secret", "filename": wheel("secret"), "task": "<task hidden>"}
ABSENT = "nowhere"


def values_of(operation: dict) -> dict[str, str]:
    return VALUES | OTHER_VALUES.get(operation["operationId"], {})


def reading(path: str, operation: dict, values: dict[str, str], by: str) -> Case:
    """The call of an operation of openapi.json with these values."""
    for name in re.findall(r"{(\w+)}", path):
        path = path.replace("{" + name + "}", values[name])  # a new argument needs a value in VALUES
    query = [f"{one['name']}={values[one['name']]}" for one in operation["parameters"] if one["in"] == "query" and one["name"] in values]
    return Case(operation["operationId"], f"GET {path}" + ("?" + "&".join(query) if query else ""), by=by)


FAMILIES = {"files": FILES, "projects": PROJECTS, "promotions": PROMOTIONS, "indexes": INDEXES, "reading": READING, "tokens": TOKENS, "tasks": TASKS,
            "identities": IDENTITIES}
