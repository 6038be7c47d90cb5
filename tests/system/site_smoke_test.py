#!/usr/bin/env python3
"""Each wheel that a known site wants has a smoke test in its own recipe: modules to import, or a command. A recipe without one would leave
it to whatever modules the wheel has."""

import tomllib
import unittest

from support.case import main
from support.farm import ROOT

CONFIGS = ROOT / "site-configs"
SITES = sorted(path.parent.name for path in CONFIGS.glob("*/site.toml"))


def recipes_of(site: str, config: dict) -> dict[str, dict]:
    """Package → its [test]; a later folder replaces an earlier one, or extends it."""
    tests = {}
    for folder in config.get("recipes", []):
        for path in sorted((CONFIGS / site / folder).resolve().glob("*.toml")):
            recipe = tomllib.loads(path.read_text())
            before = tests.get(recipe["package"], {}) if recipe.get("extends") else {}
            tests[recipe["package"]] = before | recipe.get("test", {})
    return tests


def untested(site: str, config: dict) -> list[str]:
    tests = recipes_of(site, config)
    wanted = [name for want in config.get("want", []) for name in (want["package"], *want.get("follow_ups", []))]
    return [name for name in dict.fromkeys(wanted) if not (tests.get(name, {}).get("import") or tests.get(name, {}).get("command"))]


class SiteSmokeTest(unittest.TestCase):
    def test_every_wanted_wheel_of_every_site_has_a_smoke_test_in_its_recipe(self):
        self.assertGreater(len(SITES), 5)
        for site in SITES:
            with self.subTest(site):
                self.assertEqual(untested(site, tomllib.loads((CONFIGS / site / "site.toml").read_text())), [])

    def test_a_want_without_one_is_refused(self):
        config = tomllib.loads((CONFIGS / "archer2" / "site.toml").read_text())
        config["want"] += [{"package": "nosuch"}, {"package": "torch", "follow_ups": ["nor-this"]}]
        self.assertEqual(untested("archer2", config), ["nosuch", "nor-this"])


if __name__ == "__main__":
    main()
