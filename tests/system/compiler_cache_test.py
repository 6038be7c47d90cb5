"""A site's compiler cache: what one attempt has compiled, the next finds; a reproduction compiles all."""

import os
import shutil
import subprocess
import unittest

from support.case import FarmCase, main
from support.package_index import FAST_C, PackageIndex, write_sdist
from support.site import Site

# Fails in the first attempt, after the wheel is built; with another message than the second would.
FAILS_ONCE = "[test]\ncommand = 'test -e {mark} || {{ touch {mark}; echo no mark yet; exit 1; }}'\n"


@unittest.skipUnless(shutil.which("ccache"), "no ccache")
class CompilerCacheTest(FarmCase):
    def statistics(self, site: Site) -> tuple[int, int]:
        """(hits, misses) of the site's cache, as ccache counts them."""
        cache = site.folder / "work" / "ccache"
        done = subprocess.run(["ccache", "--print-stats"], env=site.environment | {"CCACHE_DIR": str(cache)},
                              capture_output=True, text=True, check=True)
        counts = {name: int(count) for name, _, count in (line.partition("\t") for line in done.stdout.splitlines())}
        return counts["direct_cache_hit"] + counts["preprocessed_cache_hit"], counts["cache_miss"]

    def test_a_second_attempt_finds_the_compiles_of_the_first_and_a_reproduction_none(self):
        with PackageIndex(self.folder / "sources") as sources:
            write_sdist(sources.folder, "yard-fast", "1.0", c_source=FAST_C)
            site = Site(self.farm, sources, self.token, {"yard-fast": "1.0"},
                        recipes={"yard-fast": FAILS_ONCE.format(mark=self.folder / "mark")})
            text = site.file.read_text()
            site.file.write_text(text.replace('directory = "work"\n', 'directory = "work"\ncompiler_cache_gib = 1\n'))
            self.assert_ran(site.builder("run"))
            first, second = sorted(site.attempts(), key=lambda attempt: attempt["number"])
            self.assertEqual((first["state"], second["state"]), ("failed", "done"))
            self.assertEqual(second["job"]["builds_in"], "")  # from the beginning, at the same path
            self.assertEqual(first["job"]["tree"], second["job"]["tree"])
            self.assertEqual(self.statistics(site), (1, 1))
            site.builder("reproduce", "yard-fast")
            again, = (attempt for attempt in site.attempts() if attempt["purpose"] == "reproduction")
            self.assertEqual(again["state"], "done")
            self.assertEqual(self.statistics(site), (1, 1))
            self.assertIn("ccache", site.builder("site", "check").stdout)


if __name__ == "__main__":
    os.umask(0o022)
    main()
