"""The script that resolves a closure, over releases that a table has: cycles, back ends that build themselves, what may not be asked,
and the limits. pip's own answers are in closure_test."""

import importlib.util
import sys
import tempfile
import types
import unittest
from pathlib import Path

from support.case import main
from support.farm import CLIENTS, ROOT

SCRIPT = ROOT / "builder" / "closure" / "templates" / "closure.py"


def load_script():
    """With the pip of the clients: the script is run by the interpreter of an environment."""
    sys.path.insert(0, str(next((CLIENTS / "pip-new").glob("lib/*/site-packages"))))
    spec = importlib.util.spec_from_file_location("closure", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


closure = load_script()


class Release:
    """What the index has of a name, always as version 1. `asked`: by the back end; None: it must not be asked."""

    def __init__(self, *build: str, run: tuple[str, ...] = (), asked: tuple[str, ...] = (), wheel: bool = False, sdist: bool = True,
                 native: bool = False):
        self.build, self.run, self.asked, self.wheel, self.sdist, self.native = build, run, asked, wheel, sdist, native


class TableIndex:
    constraints = ()

    def __init__(self, table: dict[str, Release]):
        self.table, self.fetched = table, []

    def versions(self, name, specifiers):
        return ["1"] if name in self.table and specifiers.contains("1") else []

    def links(self, name, version):
        names = [f"{name}-1-py3-none-any.whl"] * self.table[name].wheel + [f"{name}-1.tar.gz"] * self.table[name].sdist
        return [types.SimpleNamespace(filename=one, is_wheel=one.endswith(".whl"), hash_name="sha256", hash="aa",
                                      url_without_fragment=f"https://h/{one}") for one in names]

    def has_platform_wheels(self, name, version):
        return self.table[name].native

    def fetch(self, link, folder):
        self.fetched.append(link.filename)
        path = folder / link.filename
        path.write_bytes(b"")
        return path, "aa"


class TableTree(closure.Tree):
    """pip, the unpacking and the back ends are the table's."""

    def resolve(self, requirements, constrained=False):
        found, queue = {}, [one.name for one in requirements]
        while queue:
            name = queue.pop(0)
            if name not in found:
                run = self.index.table[name].run
                found[name] = {"metadata": {"name": name, "version": "1", "requires_dist": list(run)},
                               "download_info": {"url": f"https://h/{name}-1{'-py3-none-any.whl' if self.index.table[name].wheel else '.tar.gz'}"}}
                queue += run
        return list(found.values())

    def ask(self, source, system, items):
        return list(self.index.table[source.name].asked)


class ClosureTreeTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name, stand_in in (("unpack", lambda archive, folder: Path(archive.name.removesuffix("-1.tar.gz"))),
                               ("build_system_of", lambda source: {"requires": list(self.table[source.name].build)})):
            self.addCleanup(setattr, closure, name, getattr(closure, name))
            setattr(closure, name, stand_in)

    def make(self, wanted: str, mode: str = "source", **table: Release):
        """name → its release, in the order of the graph."""
        self.table, self.index = table, TableIndex(table)
        tree = TableTree({"requirement": wanted, "mode": mode, "constraints": [], "recipes": {}, "known_bad": []}, self.folder, self.index)
        _, releases = tree.make()
        order = [one.id for one in releases]
        for one in releases:
            self.assertTrue(all(order.index(needed) > order.index(one.id) for needed in one.after), "each comes before what it needs")
        return {one.name: one for one in releases}

    def test_a_back_end_that_builds_itself_needs_nothing_and_comes_first(self):
        made = self.make("top", top=Release("flit-core", run=("low",)), low=Release("flit-core"), **{"flit-core": Release()})
        self.assertEqual({name: one.how for name, one in made.items()}, dict.fromkeys(made, "sdist"))
        self.assertEqual(made["flit-core"].after, {})
        self.assertEqual(list(made)[-1], "flit-core")
        self.assertEqual([one.note for one in made.values()], ["", "", ""])

    def test_a_cycle_of_build_tools_is_broken_by_one_wheel_of_an_upstream_which_is_named(self):
        made = self.make("top", top=Release("tool", "scm"), tool=Release("scm", wheel=True), scm=Release("tool", wheel=True))
        [wheel] = [one for one in made.values() if one.how == "wheel"]
        self.assertRegex(wheel.note, "^a cycle: (tool==1 needs scm==1 needs tool==1|scm==1 needs tool==1 needs scm==1)$")
        self.assertTrue(wheel.file["filename"].endswith(".whl"))
        self.assertNotIn("build", wheel.after.values())
        self.assertEqual(sorted(one.how for one in made.values()), ["sdist", "sdist", "wheel"])

    def test_what_the_back_end_asks_for_closes_a_cycle_like_what_its_file_requires(self):
        made = self.make("top", top=Release("tool", "scm"), tool=Release("scm", wheel=True), scm=Release(asked=("tool",), wheel=True))
        self.assertEqual({name: one.how for name, one in made.items()}, {"top": "sdist", "scm": "sdist", "tool": "wheel"})
        self.assertIn(("scm==1", "asked", "tool"), made["tool"].why)

    def test_a_tool_that_needs_its_own_release_to_be_built_is_taken(self):
        made = self.make("top", top=Release("tool"), tool=Release("tool", wheel=True))
        self.assertEqual((made["tool"].how, made["tool"].note), ("wheel", "a cycle: tool==1 needs tool==1"))

    def test_a_cycle_without_a_wheel_cannot_be_had_and_says_so(self):
        made = self.make("top", top=Release("tool"), tool=Release("scm"), scm=Release("tool"))
        [lost] = [one for one in made.values() if one.how == "none"]
        self.assertTrue(lost.note.startswith("a cycle: "), lost.note)

    def test_of_releases_that_need_each_other_to_run_one_has_a_loose_test(self):
        made = self.make("top", top=Release(run=("low",)), low=Release(run=("top",)))
        self.assertEqual([one.loose for one in made.values()].count(True), 1)
        self.assertEqual({one.how for one in made.values()}, {"sdist"})

    def test_a_pure_wheel_is_taken_where_only_compiled_ones_are_built_and_its_back_end_is_not_asked(self):
        made = self.make("top", "compiled", top=Release("tool"), tool=Release("scm", wheel=True), scm=Release(wheel=True))
        self.assertEqual({name: one.how for name, one in made.items()}, {"top": "sdist", "tool": "wheel"})
        self.assertEqual(self.index.fetched, ["top-1.tar.gz"])
        self.assertEqual(made["tool"].note, "")

    def test_what_is_wanted_and_what_has_platform_wheels_is_built_though_it_has_a_pure_wheel(self):
        made = self.make("top", "compiled", top=Release("tool", run=("fast", "plain"), wheel=True), fast=Release("tool", wheel=True, native=True),
                         plain=Release("tool", wheel=True), tool=Release(wheel=True))
        self.assertEqual({name: one.how for name, one in made.items()}, {"top": "sdist", "fast": "sdist", "plain": "wheel", "tool": "wheel"})

    def test_without_an_sdist_a_wheel_is_taken_and_the_reason_is_given(self):
        made = self.make("top", top=Release(run=("low",)), low=Release(wheel=True, sdist=False))
        self.assertEqual((made["low"].how, made["low"].note), ("wheel", "the release has no sdist"))

    def limit(self, name: str, value: int):
        self.addCleanup(setattr, closure, name, getattr(closure, name))
        setattr(closure, name, value)

    def test_too_many_releases_end_it(self):
        self.limit("MAX_RELEASES", 2)
        with self.assertRaises(SystemExit) as ended:
            self.make("top", top=Release("a"), a=Release("b"), b=Release())
        self.assertEqual(str(ended.exception), "closure: more than 2 releases")

    def test_build_environments_of_build_environments_end_at_a_depth(self):
        self.limit("MAX_RANK", 2)
        made = self.make("top", top=Release("a"), a=Release("b"), b=Release("c"), c=Release())
        self.assertEqual((made["b"].how, made["b"].note), ("none", "build environments of build environments, 2 deep"))
        self.assertNotIn("c", made)

    def test_an_address_among_the_requirements_is_refused_before_anything_is_fetched_from_there(self):
        made = self.make("top", top=Release("tool @ https://h/tool.tar.gz"))
        self.assertEqual(made["top"].how, "none")
        self.assertIn("not an address", made["top"].note)

    def test_two_environments_have_two_versions_of_one_tool(self):
        class TwoVersions(TableTree):
            def resolve(self, requirements, constrained=False):
                items = super().resolve(requirements)
                for item in items:
                    if item["metadata"]["name"] == "tool":
                        item["metadata"]["version"] = "59" if any("<60" in str(one) for one in requirements) else "80"
                return items
        self.table = {"top": Release("tool>=77", run=("low",)), "low": Release("tool<60"), "tool": Release(wheel=True)}
        tree = TwoVersions({"requirement": "top", "mode": "compiled", "constraints": [], "recipes": {}, "known_bad": []}, self.folder,
                           TableIndex(self.table))
        after = {one.id: dict(one.after) for one in tree.make()[1]}
        self.assertEqual(after["top==1"], {"low==1": "run", "tool==80": "build"})
        self.assertEqual(after["low==1"], {"tool==59": "build"})


if __name__ == "__main__":
    main()
