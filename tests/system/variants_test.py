"""Wheel variants (PEP 825): one index, several nodes. A real uv takes the wheel for its node, pips take the one without a
label or nothing; and what an index refuses."""

import csv
import hashlib
import io
import json
import subprocess
import unittest
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urljoin

from support.case import FarmCase, main
from support.clients import PIPS, RawUpload, installed_value, pip_install, twine_upload, uv_publish
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, Farm
from support.upstream import Offered, Upstream
from support.wheels import Wheel

VARIANTLIB = CLIENTS / "variantlib"  # the reference implementation
INDEX, PLAIN = "debian12", "plain"
SCHEMA = "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json"
# uv has NVIDIA's and that of x86-64 built in, by these names.
PROVIDERS = {"nvidia": {"requires": ["nvidia-variant-provider"], "plugin-api": "nvidia_variant_provider.plugin:NvidiaVariantPlugin"},
             "amd": {"requires": ["amd-variant-provider"]}, "x86_64": {"requires": ["x86-64-variant-provider"]}}
# What /proc/cpuinfo shows of the levels of the x86-64 psABI.
LEVELS = {"v2": {"ssse3", "sse4_1", "sse4_2", "popcnt", "cx16"},
          "v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"},
          "v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}}
# variantlib's order of the variants for a node with these properties, from the index's file.
CHOOSE = """import json, sys
from variantlib.models.variant import VariantProperty
from variantlib.resolver.lib import sort_and_filter_supported_variants
from variantlib.variants_json import VariantsJson
index, node = json.load(sys.stdin)
index = VariantsJson(index)
chosen = sort_and_filter_supported_variants(list(index.variants.values()), [VariantProperty.from_str(one) for one in node],
                                            namespace_priorities=index.namespace_priorities)
print(json.dumps([one.label for one in chosen]))
"""


def wheel_of_installed(project: str, folder: Path) -> Path:
    """The wheel that pip has installed for twine, as its RECORD tells it: compiled for this machine."""
    site = next((CLIENTS / "twine/lib").glob("python*/site-packages"))
    info = next(site.glob(f"{project}-*.dist-info"))
    tags = [line.removeprefix("Tag: ").split("-") for line in (info / "WHEEL").read_text().splitlines() if line.startswith("Tag: ")]
    assert len({(python, abi) for python, abi, _ in tags}) == 1, tags
    record = f"{info.name}/RECORD"
    rows = [row for row in csv.reader((info / "RECORD").read_text().splitlines())
            if row[0] != record and row[1] and not row[0].endswith(("/INSTALLER", "/REQUESTED"))]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([*rows, (record, "", "")])
    folder.mkdir()
    name = "-".join([info.name.removesuffix(".dist-info"), *tags[0][:2], ".".join(platform for _, _, platform in tags)])
    with zipfile.ZipFile(folder / f"{name}.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        for row in rows:
            archive.write(site / row[0], row[0])
        archive.writestr(record, text.getvalue())
    return folder / f"{name}.whl"


@dataclass
class Variant(Wheel):
    label: str = "null"
    properties: dict = field(default_factory=dict)
    namespaces: tuple[str, ...] = ("nvidia", "amd", "x86_64")

    def __post_init__(self):
        document = {"$schema": SCHEMA, "default-priorities": {"namespace": self.namespaces},
                    "providers": {name: PROVIDERS[name] for name in self.namespaces},
                    "variants": {self.label: self.properties}}
        self.extra_members = {f"{self.module}-{self.version}.dist-info/variant.json": json.dumps(document).encode()}

    @property
    def filename(self) -> str:
        return super().filename.removesuffix(".whl") + f"-{self.label}.whl"


def sm(*architectures: str) -> dict:
    return {"nvidia": {"sm_arch": [f"{one}_real" for one in architectures]}}


def level(one: str) -> dict:
    return {"x86_64": {"level": [one]}}


def level_of_this_machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    flags = next((set(line.split(":")[1].split()) for line in lines if line.startswith("flags")), set())
    found = "v1"
    for one, needed in LEVELS.items():
        if not needed <= flags:
            break
        found = one
    return found


class VariantsTest(FarmCase):
    indexes = (INDEX, PLAIN)
    index_settings = {INDEX: "variants = true"}

    def upload(self, *wheels: Wheel, index: str = INDEX):
        paths = [wheel.write(self.folder) for wheel in wheels]
        self.assert_ran(twine_upload(self.farm, self.token, *paths, index=index))

    def uv_installs(self, project: str, url: str = "", options: tuple[str, ...] = ("--no-deps",), **environment: str) -> Path:
        """Where uv has put the wheel that it takes on such a node."""
        target = self.folder / f"{project}-{len(list(self.folder.iterdir()))}"
        self.assert_ran(subprocess.run(
            [CLIENTS / "uv/bin/uv", "pip", "install", *options, "--python", CLIENTS / "pip-new/bin/python",
             "--preview-features", "wheel-variants", "--index-url", url or self.farm.simple_url(), "--target", target, project],
            env=self.farm.environment | {"UV_NO_CONFIG": "1", "UV_NO_CACHE": "1"} | environment,
            capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))
        return target

    def uv_takes(self, project: str, url: str = "", **environment: str) -> str:
        """The value of the wheel that uv installs on such a node."""
        return installed_value("pip-new", self.uv_installs(project, url, **environment), project)

    def variantlib(self, *arguments: str | Path, document: object = None) -> str:
        done = subprocess.run([CLIENTS / "pip-new/bin/python", *arguments], input=json.dumps(document), capture_output=True, text=True,
                              env=self.farm.environment | {"PYTHONPATH": str(VARIANTLIB)}, timeout=COMMAND_TIMEOUT_S)
        self.assert_ran(done)
        return done.stdout

    def node(self, architecture: str, driver: str = "12.8") -> dict[str, str]:
        return {"NV_VARIANT_PROVIDER_FORCE_SM_ARCH": architecture,
                "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": driver}

    def variants_of(self, project: str) -> dict[str, dict]:
        """The variants files that the project's page lists, by name."""
        return {name: entry for name, entry in self.farm.files(project).items() if name.endswith("-variants.json")}

    def test_uv_takes_the_wheel_for_its_node_and_pip_the_one_without_a_label(self):
        self.upload(Wheel("gpu", value=1), Variant("gpu", value=2),
                    Variant("gpu", value=90, label="sm_90", properties=sm("90")),
                    Variant("gpu", value=80, label="sm_80", properties=sm("80", "86")),
                    Variant("gpu", value=91, label="gfx90a", properties={"amd": {"gfx_arch": ["gfx90a"]}}))
        for architecture, value in (("9.0", "90"), ("8.0", "80"), ("8.6", "80"), ("10.0", "2")):
            with self.subTest(architecture):
                self.assertEqual(self.uv_takes("gpu", **self.node(architecture)), value)
        # No known provider answers for gfx90a, on any node; a node without an accelerator takes the null variant.
        self.assertEqual(self.uv_takes("gpu"), "2")
        for pip in PIPS:
            with self.subTest(pip):
                self.assert_ran(pip_install(self.farm, pip, self.folder / pip, "gpu"))
                self.assertEqual(installed_value(pip, self.folder / pip, "gpu"), "1")

    def test_uv_and_avail_wheels_hold_the_bounds_of_a_variant_against_the_driver(self):
        bounds = {"nvidia": {"cuda_version_lower_bound": ["12.4"], "cuda_version_upper_bound": ["13"]}}
        self.upload(Variant("bound", value=2), Variant("bound", value=124, label="cu124", properties=bounds))
        self.farm.wait_for_wheel_list("bound-1.0-py3-none-any-cu124.whl")
        # The CUDA of a driver, as its release notes have it.
        for driver, cuda, fits in (("545.23.06", "12.3", False), ("550.54.14", "12.4", True), ("570.26", "12.8", True), ("580.65.06", "13.0", False)):
            with self.subTest(driver):
                self.assertEqual(self.uv_takes("bound", **self.node("9.0", cuda)), "124" if fits else "2")
                shown = self.farm.run("avail_wheels", "--index-url", self.farm.simple_url(), "bound", "--refresh", "--why", "--json", "--all",
                                      "--assume", "gpu=sm_90", f"driver={driver}")
                self.assert_ran(shown)
                here = next(wheel["here"] for wheel in json.loads(shown.stdout)["wheels"] if "-cu124" in wheel["filename"])
                self.assertEqual(here["runs"], "unknown" if fits else "no", here)
                self.assertIn("uv takes it" if fits else f"(CUDA {cuda})", here["why"])

    def test_uv_takes_the_highest_level_of_the_processor(self):
        values = {"v1": 1, "v2": 2, "v3": 3, "v4": 4}
        self.upload(*(Variant("cpu", value=value, label=one, properties=level(one)) for one, value in values.items()))
        self.assertEqual(self.uv_takes("cpu"), str(values[level_of_this_machine()]))

    def test_markers_of_variants_are_taken_with_a_label_alone_and_uv_cannot_read_them_yet(self):
        lines = tuple(f"Requires-Dist: six; {marker}" for marker in (
            "variant_label == 'sm_90'", "'nvidia' in variant_namespaces", "'nvidia :: sm_arch' in variant_features",
            "'nvidia :: sm_arch :: 90_real' in variant_properties"))
        labelled = Variant("asks", label="sm_90", properties=sm("90"), metadata_lines=lines).write(self.folder)
        self.assert_ran(uv_publish(self.farm, self.token, labelled))  # twine 7 cannot read them either
        plain = Wheel("asks", metadata_lines=lines).write(self.folder)
        self.assert_refused(RawUpload(self.farm, self.token, plain), 400, "metadata.marker_undefined", "variant_label")
        self.upload(Wheel("asks", value=2))
        self.uv_installs("asks", options=(), **self.node("8.0"))
        with self.assertRaisesRegex(AssertionError, "asks.*invalid metadata"):
            self.uv_installs("asks", options=(), **self.node("9.0"))
        self.assertEqual(self.uv_takes("asks", **self.node("9.0")), "1")
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "pip", "asks"))
        self.assertEqual(installed_value("pip-new", self.folder / "pip", "asks"), "2")

    @unittest.skipUnless((VARIANTLIB / ".complete").is_file(), "variantlib could not be fetched: scripts/prepare-clients")
    def test_of_compiled_wheels_made_by_variantlib_it_and_uv_take_the_same_and_avail_wheels_says_which_run(self):
        wheel = wheel_of_installed("nh3", self.folder / "plain")
        settings, made = self.folder / "pyproject.toml", self.folder / "made"
        made.mkdir()
        settings.write_text('[variant.default-priorities]\nnamespace = ["nvidia", "x86_64"]\n' + "".join(
            f"[variant.providers.{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in PROVIDERS[name].items())
            for name in ("nvidia", "x86_64")))
        for label, properties in {"sm_90": ["nvidia :: sm_arch :: 90_real"], "v2": ["x86_64 :: level :: v2"], "": [],
                                  "sm_80": ["nvidia :: sm_arch :: 80_real", "nvidia :: sm_arch :: 86_real"]}.items():
            self.variantlib(VARIANTLIB / "bin/variantlib", "make-variant", "-f", wheel, "-o", made, "--pyproject-toml", settings,
                            *(["--skip-plugin-validation", "--variant-label", label, "-p", *properties] if label else ["--null-variant"]))
        self.variantlib(VARIANTLIB / "bin/variantlib", "generate-index-json", "-d", made)
        self.assert_ran(twine_upload(self.farm, self.token, wheel, *made.glob("*.whl")))
        self.farm.wait_for_wheel_list(*(one.name for one in made.glob("*.whl")))
        [entry] = self.variants_of("nh3").values()
        index = json.loads(self.farm.get(f"/{INDEX}/simple/nh3/{entry['url']}")[2])
        self.assertEqual(index, json.loads(next(made.glob("*-variants.json")).read_text()))
        # No file of it has code for a GPU: the registry takes the label, and says that nothing shows it.
        checked = self.farm.run("wheelyard-registry", "check", next(made.glob("*-sm_90.whl")))
        self.assertIn("variant.unproven", checked.stdout)

        levels = ["v1", "v2", "v3", "v4"]
        levels = levels[: levels.index(level_of_this_machine()) + 1]
        fallback = "v2" if "v2" in levels else "null"
        for capability, codes, first in (("9.0", ["90"], "sm_90"), ("8.6", ["86", "80"], "sm_80"), ("8.0", ["80"], "sm_80"),
                                         ("7.5", ["75"], fallback)):
            with self.subTest(capability):
                node = [f"nvidia :: sm_arch :: {code}_real" for code in codes] + [f"x86_64 :: level :: {one}" for one in levels[::-1]]
                chosen = json.loads(self.variantlib("-c", CHOOSE, document=[index, node]))
                self.assertEqual(chosen[0], first)
                target = self.uv_installs("nh3", **self.node(capability))
                [info] = target.glob("nh3-*.dist-info/variant.json")
                self.assertEqual(list(json.loads(info.read_text())["variants"]), [first])
                asked = self.farm.run("avail_wheels", "--index-url", self.farm.simple_url(), "--refresh", "--why", "--json", "nh3", "--assume",
                                      f"gpu=sm_{codes[0]}", f"cpu=x86-64-{levels[-1]}")
                self.assert_ran(asked)
                here = {one["filename"].removesuffix(".whl").split("-")[5]: one["here"] for one in json.loads(asked.stdout)["wheels"]
                        if one["filename"] != wheel.name}
                self.assertEqual({label for label, answer in here.items() if answer["runs"] != "no"}, set(chosen), asked.stdout)
        self.assertEqual(here["sm_90"]["why"], "is the variant for nvidia :: sm_arch :: 90_real, which this node does not have")
        imported = subprocess.run([CLIENTS / "pip-new/bin/python", "-I", "-c", f"import sys; sys.path.insert(0, {str(target)!r}); "
                                   "import nh3; print(nh3.clean('<b>a<script>b</script></b>'))"],
                                  capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        self.assertEqual(imported.stdout, "<b>a</b>\n", imported.stderr)

    def test_an_index_with_variants_passes_on_those_of_its_upstream(self):
        self.upload(Wheel("far", value=1), Variant("far", value=2), Variant("far", value=90, label="sm_90", properties=sm("90")))
        there = self.farm.files("far")
        upstream = f'[[index.upstream]]\nname = "far"\nurl = "{self.farm.simple_url()}"\nprivate_hosts = ["127.0.0.1"]\n'
        with Farm(("mirror", "plain"), index_settings={"mirror": "variants = true\n" + upstream, "plain": upstream}) as mirror:
            mirror.start()
            here = mirror.files("far", "mirror")
            self.assertEqual({name: entry["hashes"] for name, entry in here.items()}, {name: entry["hashes"] for name, entry in there.items()})
            _, headers, body = mirror.get("/mirror/simple/far/" + here["far-1.0-variants.json"]["url"])
            self.assertEqual((headers["Content-Type"], hashlib.sha256(body).hexdigest()),
                             ("application/json", there["far-1.0-variants.json"]["hashes"]["sha256"]))
            self.assertEqual(self.uv_takes("far", mirror.simple_url("mirror"), **self.node("9.0")), "90")
            self.assertEqual(self.uv_takes("far", mirror.simple_url("mirror"), **self.node("8.0")), "2")
            # A wheel more: the file has another address, and no hash of before is an alarm.
            self.upload(Variant("far", value=80, label="sm_80", properties=sm("80")))
            self.assertEqual(list(mirror.files("far", "plain")), ["far-1.0-py3-none-any.whl"])
            explained = mirror.run("wheelyard-registry", "explain", "-c", mirror.config, "plain", "far", "--json")
            self.assertRegex(explained.stdout, '"variant": ?4')

    def test_variants_that_change_behind_a_cached_page_are_right_after_the_next_look_at_the_page(self):
        with Upstream() as upstream:
            name = "moves-1.0-variants.json"
            upstream.offer(Variant("moves", label="v2", properties=level("v2")).write(self.folder))
            upstream.files[name] = Offered(b'{"variants": {}}')
            settings = f'variants = true\n[[index.upstream]]\nname = "far"\nurl = "{upstream.url}"\nprivate_hosts = ["127.0.0.1"]\n'
            with Farm(("mirror",), index_settings=settings) as mirror:
                mirror.start()
                before = mirror.files("moves", "mirror")[name]
                now = Offered(b'{"variants": {"v2": {}}}')
                upstream.files[name] = now
                self.assertEqual(mirror.get("/mirror/simple/moves/" + before["url"])[0], 503)
                after = mirror.files("moves", "mirror")[name]
                self.assertEqual(after["hashes"]["sha256"], now.sha256)
                status, _, body = mirror.get("/mirror/simple/moves/" + after["url"])
                self.assertEqual((status, body), (200, now.body))
                self.assert_ran(mirror.run("wheelyard-registry", "quarantine", "mirror.far", "moves==1.0", "--reason", "malware", "-c", mirror.config))
                status, _, problem = mirror.get("/mirror/simple/moves/" + after["url"])
                self.assertEqual((status, json.loads(problem)["code"]), (404, "upstream.quarantined"))

    def test_variants_that_are_gone_behind_a_cached_page_leave_it_at_the_next_look(self):
        with Upstream() as upstream:
            name = "leaves-1.0-variants.json"
            upstream.offer(Variant("leaves", label="v2", properties=level("v2")).write(self.folder))
            upstream.files[name] = Offered(b'{"variants": {}}')
            settings = f'variants = true\n[[index.upstream]]\nname = "far"\nurl = "{upstream.url}"\nprivate_hosts = ["127.0.0.1"]\n'
            with Farm(("mirror",), index_settings=settings) as mirror:
                mirror.start()
                before = mirror.files("leaves", "mirror")[name]
                del upstream.files[name]
                self.assertEqual(mirror.get("/mirror/simple/leaves/" + before["url"])[0], 404)
                self.assertNotIn(name, mirror.files("leaves", "mirror"))

    def test_uv_takes_a_prefetched_variant_without_the_upstream(self):
        with Upstream() as upstream:
            wheels = [Wheel("kept", value=1), Variant("kept", value=2),
                      Variant("kept", value=90, label="sm_90", properties=sm("90"))]
            self.upload(*wheels)  # the farm writes what the labels mean
            there = self.farm.files("kept")
            for name, entry in there.items():
                upstream.files[name] = Offered(self.farm.get(urljoin(f"/{INDEX}/simple/kept/", entry["url"]))[2])
            settings = f'variants = true\n[[index.upstream]]\nname = "far"\nurl = "{upstream.url}"\nprivate_hosts = ["127.0.0.1"]\n'
            with Farm(("mirror",), index_settings=settings) as mirror:
                mirror.start()

                def prefetch(*what) -> list[str]:
                    done = mirror.run("wheelyard-registry", "prefetch", "mirror", *what, "--python", "3.12", "--platform",
                                      "manylinux_2_28_x86_64", "--json", "-c", mirror.config)
                    self.assert_ran(done)
                    return [file["filename"] for file in json.loads(done.stdout)["files"]]

                def lock(*wheels: Wheel) -> Path:
                    listed = ", ".join(f'{{ url = "https://files.example.org/{wheel.filename}", hashes = '
                                       f'{{ sha256 = "{there[wheel.filename]["hashes"]["sha256"]}" }} }}' for wheel in wheels)
                    path = self.folder / "pylock.toml"
                    path.write_text(f'lock-version = "1.0"\ncreated-by = "tests"\n[[packages]]\nname = "kept"\nversion = "1.0"\nwheels = [{listed}]\n')
                    return path

                plain, _, sm_90 = wheels
                self.assertEqual(prefetch("--lock", lock(plain)), [plain.filename])
                self.assertEqual(prefetch("--lock", lock(plain, sm_90)), sorted([plain.filename, sm_90.filename, "kept-1.0-variants.json"]))
                self.assertEqual(prefetch("kept==1.0"), sorted(there))
                upstream.files.clear()
                asked = len(upstream.requests)
                self.assertEqual(self.uv_takes("kept", mirror.simple_url("mirror"), **self.node("9.0")), "90")
                self.assertEqual(upstream.requests[asked:], [])

    def test_pip_takes_nothing_where_there_are_only_variants(self):
        self.upload(Variant("only", label="sm_90", properties=sm("90")), Variant("only"))
        for pip in PIPS:
            with self.subTest(pip):
                self.assert_failed(pip_install(self.farm, pip, self.folder / pip, "only"), "No matching distribution")

    def test_the_variants_file_follows_the_wheels_of_its_version(self):
        self.upload(Variant("grows", label="v2", properties=level("v2")))
        self.upload(Variant("grows", "2.0", label="v2", properties=level("v3")))
        before = self.variants_of("grows")
        self.assertEqual(sorted(before), ["grows-1.0-variants.json", "grows-2.0-variants.json"])
        self.upload(Variant("grows", label="v3", properties=level("v3")))
        after = self.variants_of("grows")
        self.assertEqual(before["grows-2.0-variants.json"], after["grows-2.0-variants.json"])
        html = self.farm.get("/debian12/simple/grows/", accept="text/html")[2].decode()
        for entries, labels in ((before, {"v2": level("v2")}), (after, {"v2": level("v2"), "v3": level("v3")})):
            # A client that has read the page of before still gets the bytes that it named.
            entry = entries["grows-1.0-variants.json"]
            status, headers, body = self.farm.get(f"/debian12/simple/grows/{entry['url']}")
            self.assertEqual((status, headers["Content-Type"]), (200, "application/json"))
            self.assertEqual((hashlib.sha256(body).hexdigest(), len(body)), (entry["hashes"]["sha256"], entry["size"]))
            self.assertEqual(json.loads(body), {
                "$schema": SCHEMA, "default-priorities": {"namespace": ["nvidia", "amd", "x86_64"]}, "providers": PROVIDERS,
                "variants": labels})
            self.assertEqual(f"#sha256={entry['hashes']['sha256']}" in html, entries is after)
        self.assertEqual(self.farm.get(f"/debian12/simple/grows/{'0' * 64}/grows-1.0-variants.json")[0], 404)

    def test_what_is_refused(self):
        first = Variant("strict", label="sm_90", properties=sm("90"))
        self.upload(first)
        rows = [
            (Variant("strict", tags=("py31-none-any",), label="sm_90", properties=sm("80")), "upload.variants_differ", "sm_90"),
            (Variant("strict", label="v3", properties=level("v3"), namespaces=("x86_64", "nvidia")), "upload.variants_differ", "x86_64"),
            (Variant("strict", label="hopper", properties=sm("90")), "upload.variants_differ", "hopper"),
            (Variant("strict", "1.0.0", tags=("py31-none-any",), label="sm_80", properties=sm("80")), "upload.variants_differ", "another text"),
        ]
        for wheel, code, phrase in rows:
            with self.subTest(code):
                self.assert_refused(RawUpload(self.farm, self.token, wheel.write(self.folder)), 409, code, phrase, first.filename)
        wrong = Variant("strict", label="other", properties=sm("80"))
        path = wrong.write(self.folder)
        renamed = path.rename(path.with_name(wrong.filename.replace("other", "another")))
        self.assert_refused(RawUpload(self.farm, self.token, renamed), 400, "variant.invalid", "another")
        self.assert_refused(RawUpload(self.farm, self.token, Variant("strict", label="any").write(self.folder)), 400, "variant.invalid",
                            "without properties")
        self.assert_refused(RawUpload(self.farm, self.token, first.write(self.folder), index=PLAIN), 400, "filename.variant",
                            "variants = true")
        self.assertEqual(sorted(self.farm.files("strict")), ["strict-1.0-py3-none-any-sm_90.whl", "strict-1.0-variants.json"])


if __name__ == "__main__":
    main()
