"""One index for everything: a farm before an upstream, with pip and uv as users. The upstream may be right, slow, dead or lying; the
farm serves what is right, keeps what it has, and never takes a name of its own from outside."""

import base64
import concurrent.futures
import hashlib
import http.client
import json
import re
import shutil
import subprocess
import time

from support.case import OwnFarmsCase, main
from support.clients import CLIENTS, RawUpload, installed_value, pip_install
from support.farm import COMMAND_TIMEOUT_S, Farm
from support.live_tree import staged_in
from support.sdists import Sdist
from support.upstream import JSON, Upstream
from support.wheels import Wheel, incompressible, sha256_of

BASE, SITE = "base", "gh200"
LARGE = 3 << 20       # such files are sent while they arrive
UNREAD = 32 << 20     # more than the sockets of a client that does not read take


def rules(upstream: Upstream, more: str = "", hosts: str = "") -> dict[str, str]:
    """`base` has the upstream; `gh200` inherits it and owns names."""
    return {BASE: f'[[index.upstream]]\nname = "public"\nurl = "{upstream.url}"\nprivate_hosts = ["127.0.0.1"]\n{hosts}\n{more}',
            SITE: 'inherits = ["base"]\nowns = ["yard-torch", "Only.Here"]'}


class UpstreamTest(OwnFarmsCase):
    def setUp(self):
        super().setUp()
        self.upstream = self.enterContext(Upstream())

    def open_farm(self, more: str = "", hosts: str = "") -> None:
        self.farm = self.enterContext(Farm((BASE, SITE), index_settings=rules(self.upstream, more, hosts)))
        self.token = self.farm.create_token()
        self.farm.start()

    def wheel(self, name: str, **more) -> Wheel:
        return Wheel(name, **more)

    def offer(self, wheel: Wheel, **more):
        return self.upstream.offer(wheel.write(self.folder / "upstream"), **more)

    def upload(self, wheel: Wheel, index: str) -> None:
        status, problem = RawUpload(self.farm, self.token, wheel.write(self.folder / "own"), index).send()
        self.assertEqual(status, 200, problem)

    def link_of(self, entry: dict, project: str, index: str = BASE) -> str:
        return f"/{index}/simple/{project}/" + entry["url"]

    def get_file(self, filename: str, project: str, index: str = BASE):
        [entry] = [entry for name, entry in self.farm.files(project, index).items() if name == filename]
        path = "/" + index + entry["url"].removeprefix("../..")
        return self.farm.get(path)

    def metric(self, name: str) -> float:
        for line in self.farm.get("/metrics")[2].decode().splitlines():
            if line.startswith(f"wheelyard_{name} "):
                return float(line.split()[-1])
        raise AssertionError(name)

    def change_upstream_age(self, hours: float = 24) -> None:
        """As if that time had passed since the cached pages were fresh; after a day they are past every freshness."""
        self.farm.stop()
        for path in (self.farm.data / "upstream").rglob("pages/*.json"):
            page = json.loads(path.read_text())
            past_us = int(hours * 3600 * 1_000_000)
            page["fresh_until"] = page["checked"] = page["checked"] - past_us
            for file in page["missing"]:
                file["since"] -= past_us
            path.write_text(json.dumps(page))
        self.farm.start()

    def test_a_lock_has_what_the_upstream_offers_and_only_the_rest_is_requested(self):
        six, native = self.wheel("yard-six"), self.wheel("yard-native", tags=("cp310-cp310-manylinux_2_17_x86_64",))
        hashes = {one.name: sha256_of(one.write(self.folder / "upstream")) for one in (six, native)}
        self.offer(six)
        self.offer(native)
        self.offer(self.wheel("yard-old"))
        self.open_farm()
        requests, site, lock = (self.folder / name for name in ("requests", "site.toml", "pylock.toml"))
        requests.mkdir()
        site.write_text(f'config_version = 1\nrequests = "{requests}"\n')
        text = 'lock-version = "1.0"\ncreated-by = "tests"\n' + "".join(
            f'[[packages]]\nname = "{one.name}"\nversion = "1.0"\nwheels = [{{ url = "https://files.example.org/{one.filename}", '
            f'hashes = {{ sha256 = "{hashes[one.name]}" }} }}]\n' for one in (six, native))
        for name in ("yard-old", "yard-nobody"):
            text += f'[[packages]]\nname = "{name}"\nversion = "1.1"\nsdist = {{ url = "https://files.example.org/{name}-1.1.tar.gz", hashes = {{ sha256 = "{"0" * 64}" }} }}\n'
        lock.write_text(text)

        def ask(*arguments: str) -> tuple[dict[str, str], subprocess.CompletedProcess]:
            done = self.farm.run("avail_wheels", "--index-url", self.farm.simple_url(SITE), "--lock", lock, "--site", site,
                                 "-p", "3.11", "--json", *arguments)
            return {one["name"]: one["state"] + ": " + one.get("why", "") for one in json.loads(done.stdout)["lock"]["packages"]}, done

        states, done = ask("--request-missing")
        self.assert_ran(done)
        self.assertEqual(states, {"yard-six": "here: ", "yard-native": "does_not_run: built for cp310, here is Python 3.11; use Python 3.10",
                                  "yard-old": "missing: the lock has only an sdist; here is 1.0",
                                  "yard-nobody": "missing: the lock has only an sdist"})
        asked = sorted(request.read_text().split('package = "')[1].split('"')[0] for request in requests.iterdir())
        self.assertEqual(asked, ["yard-native", "yard-nobody", "yard-old"])

        shutil.rmtree(requests)
        requests.mkdir()
        self.upstream.pages["yard-late"] = (503, {}, b"later")
        lock.write_text(text.replace("yard-nobody", "yard-late"))
        states, done = ask("--request-missing")
        self.assert_failed(done, "yard-late", "1 package is not known to be missing")
        self.assertEqual(states["yard-six"], "here: ")
        self.assertEqual(states["yard-late"], "missing: the lock has only an sdist; an upstream may have it")
        self.assertEqual(len(list(requests.iterdir())), 2)

    # --- users --------------------------------------------------------------------------------------------------------

    def test_pip_and_uv_install_from_upstream_through_an_index_that_inherits_it(self):
        wheel = self.wheel("yard-six", metadata_lines=("Requires-Dist: yard-five",))
        metadata = wheel.members()["yard_six-1.0.dist-info/METADATA"]
        self.offer(wheel, metadata=metadata)
        self.offer(self.wheel("yard-five"))
        self.open_farm()
        for number, client in enumerate(("pip-new", "pip-debian", "pip-old", "uv")):
            with self.subTest(client):
                target = self.folder / client
                if client == "uv":
                    self.assert_ran(subprocess.run(
                        [CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--python", CLIENTS / "pip-new/bin/python",
                         "--target", target, "--index-url", self.farm.simple_url(SITE), "yard-six"],
                        env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))
                else:
                    self.assert_ran(pip_install(self.farm, client, target, "yard-six", "yard-five", index=SITE))
                self.assertEqual(installed_value("pip-new", target, "yard_six"), "1")
        self.assertEqual(self.upstream.count("/files/yard_six-1.0-py3-none-any.whl"), 1)
        self.assertEqual(self.upstream.count("/simple/yard-six/"), 1)
        self.farm.check_tree()
        self.assertEqual(self.farm.get(f"/{BASE}.public/simple/")[0], 404)  # the cache is no index of its own

    def test_sdists_of_an_upstream_are_offered_where_the_index_takes_sdists_and_are_no_uploaded_source(self):
        folder = self.folder / "sdists"
        folder.mkdir()
        wheel, sdist = self.wheel("yard-six"), Sdist("yard_six")
        self.offer(wheel)
        self.upstream.offer(sdist.write(folder))
        self.open_farm()
        self.assertEqual(sorted(self.farm.files("yard-six", BASE)), [wheel.filename])
        self.farm.stop()
        settings = rules(self.upstream)
        with Farm((BASE, SITE), index_settings={BASE: "sdists = true\n" + settings[BASE], SITE: "sdists = true\n" + settings[SITE]}) as farm:
            farm.create_token(BASE, SITE)
            farm.start()
            self.assertEqual(sorted(farm.files("yard-six", SITE)), [wheel.filename, "yard_six-1.0.tar.gz"])
            target = self.folder / "from-sdist"
            self.assert_ran(pip_install(farm, "pip-new", target, "yard-six", index=SITE, options=("--no-binary", ":all:")))
            self.assertEqual(installed_value("pip-new", target, "yard_six"), "7")
            words = ("task", "add", SITE, "yard-six", "1.0", "--python", "3.11", "--config", farm.config, "--source")
            for index in (BASE, SITE):
                self.assert_failed(farm.run("wheelyard-registry", *words, index), "has no such source distribution")
            farm.check_tree()

    def test_a_page_lists_what_the_upstream_has_and_only_downloads_become_files_of_the_store(self):
        for version in ("1.0", "2.0"):
            self.offer(self.wheel("yard-six", version=version))
        self.open_farm()
        self.assertEqual(sorted(self.farm.files("yard-six", BASE)), ["yard_six-1.0-py3-none-any.whl", "yard_six-2.0-py3-none-any.whl"])
        self.assertNotIn("yard_six", self.farm.run("wheelyard-registry", "dump", "-c", self.farm.config).stdout)
        for page in (f"/{BASE}/simple/yard-six/", f"/{BASE}/simple/no-such-project/"):
            self.assertEqual(self.farm.get(page)[1].get_all("Access-Control-Allow-Origin"), ["*"], page)
        status, headers, page = self.farm.get(f"/{SITE}/project/yard-six/", accept="text/html")
        text = re.sub(r"<[^>]*>", "", page.decode())
        self.assertEqual(status, 200)
        self.assertIn("script-src", headers["Content-Security-Policy"])
        self.assertIn(f"pip gets this from public, an upstream of the index {SITE}", text)
        self.assertLess(text.index("2.01 wheel, py3"), text.index("1.01 wheel, py3"))
        self.assertNotIn("has no wheel of yard-six", text)
        status, _, page = self.farm.get(f"/{SITE}/project/no-such-project/", accept="text/html")
        self.assertEqual(status, 404)
        self.assertIn("has no wheel of", page.decode())
        status, headers, body = self.get_file("yard_six-1.0-py3-none-any.whl", "yard-six")
        self.assertEqual(headers.get_all("Access-Control-Allow-Origin"), ["*"])
        self.assertEqual((status, hashlib.sha256(body).hexdigest()), (200, self.upstream.files["yard_six-1.0-py3-none-any.whl"].sha256))
        dump = self.farm.run("wheelyard-registry", "dump", "-c", self.farm.config).stdout
        status, _, page = self.farm.get(f"/{SITE}/simple/yard-six/index.json")  # what followers and static trees have
        self.assertEqual([entry["filename"] for entry in json.loads(page)["files"]], ["yard_six-1.0-py3-none-any.whl"])
        self.assertEqual(len(self.farm.files("yard-six", SITE)), 2)
        self.assertIn("yard_six-1.0", dump)
        self.assertNotIn("yard_six-2.0", dump)

    def test_html_without_sizes_and_times_is_enough(self):
        self.upstream.html = True
        self.offer(self.wheel("yard-six"))
        self.open_farm()
        target = self.folder / "into"
        self.assert_ran(pip_install(self.farm, "pip-new", target, "yard-six", index=SITE))
        self.assertEqual(installed_value("pip-new", target, "yard_six"), "1")

    def test_times_of_html_count_for_the_cooldown_and_are_in_every_form(self):
        self.upstream.html = self.upstream.html_times = True
        self.offer(self.wheel("yard-six"), upload_time="2021-06-15T10:20:30Z")
        self.offer(self.wheel("yard-six", version="2.0"), upload_time=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        self.open_farm("cooldown_days = 30")
        [(name, entry)] = self.farm.files("yard-six", BASE).items()
        self.assertEqual((name, entry["upload-time"]), ("yard_six-1.0-py3-none-any.whl", "2021-06-15T10:20:30.000000Z"))
        page = self.farm.get(f"/{BASE}/simple/yard-six/", accept="text/html")[2].decode()
        self.assertEqual(re.findall(r'data-upload-time="([^"]*)"', page), ["2021-06-15T10:20:30.000000Z"])
        info = json.loads(self.farm.get(f"/{BASE}/pypi/yard-six/json")[2])
        self.assertEqual(info["urls"][0]["upload_time_iso_8601"], "2021-06-15T10:20:30.000000Z")

    def test_every_form_of_a_project_says_what_an_installer_gets(self):
        """Own, inherited, and an upstream's, before and after a download; a yank, a withheld file."""
        for version, more in (("1.0", {}), ("1.1", {}), ("2.0", {"more": {"yanked": "broken"}}), ("3.0", {"sha256": "-"})):
            wheel = self.wheel("yard-six", version=version, metadata_lines=(f"Keywords: the {version}",))
            self.offer(wheel, metadata=wheel.members()[f"yard_six-{version}.dist-info/METADATA"]
                       if version != "1.0" else None, **more)
        self.open_farm()
        self.upload(self.wheel("yard-torch", metadata_lines=("Keywords: ours",)), SITE)

        def forms(index: str, project: str) -> tuple:
            listed = {name: entry["hashes"]["sha256"] for name, entry in self.farm.files(project, index).items()}
            html = self.farm.get(f"/{index}/simple/{project}/", accept="text/html")[2].decode()
            status, _, body = self.farm.get(f"/{index}/pypi/{project}/json")
            self.assertEqual(status, 200, (index, project))
            document = json.loads(body)
            released = {file["filename"]: file["digests"]["sha256"] for files in document["releases"].values() for file in files}
            self.assertEqual(dict((name, sha256) for sha256, name in re.findall(r'#sha256=(\w+)"[^>]*>([^<]+)</a>', html)), listed)
            self.assertEqual(released, listed)
            return document, listed

        for index in (BASE, SITE):
            document, listed = forms(index, "yard-six")
            self.assertEqual(sorted(listed), [f"yard_six-{version}-py3-none-any.whl" for version in ("1.0", "1.1", "2.0")])
            self.assertEqual((document["info"]["version"], document["info"]["keywords"]), ("1.1", "the 1.1"))
            self.assertEqual([file["yanked_reason"] for file in document["releases"]["2.0"]], ["broken"])
        self.assertEqual(self.get_file("yard_six-1.0-py3-none-any.whl", "yard-six")[0], 200)
        document, listed = forms(SITE, "yard-six")
        self.assertEqual((len(listed), document["info"]["version"]), (3, "1.1"))
        one = json.loads(self.farm.get(f"/{SITE}/pypi/yard-six/1/json")[2])
        self.assertEqual((one["info"]["version"], [file["filename"] for file in one["urls"]]), ("1.0", ["yard_six-1.0-py3-none-any.whl"]))
        self.assertEqual(self.farm.get(f"/{SITE}/pypi/yard-six/3.0/json")[0], 404)
        self.assertEqual(forms(SITE, "yard-torch")[0]["info"]["keywords"], "ours")
        self.assertEqual(self.farm.get(f"/{SITE}/pypi/yard-nobody/json")[0], 404)

    def test_sixty_four_clients_cause_one_download(self):
        wheel = self.wheel("yard-big", extra_members={"yard_big/data": incompressible(2 << 20)})
        self.offer(wheel, wait_s=0.5)
        self.open_farm()
        self.farm.files("yard-big", BASE)
        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            answers = list(pool.map(lambda _: self.get_file(wheel.filename, "yard-big"), range(64)))
        wanted = self.upstream.files[wheel.filename].sha256
        self.assertEqual({(status, hashlib.sha256(body).hexdigest()) for status, _, body in answers}, {(200, wanted)})
        self.assertEqual(self.upstream.count(f"/files/{wheel.filename}"), 1)

    # --- files that are sent while they arrive ------------------------------------------------------------------------

    def large(self, name: str, size: int = LARGE, **more) -> tuple[Wheel, bytes]:
        """Offered, with its bytes: large enough to be sent while it arrives."""
        wheel = self.wheel(name, extra_members={f"{name.replace('-', '_')}/data": incompressible(size)})
        return wheel, self.offer(wheel, **more).body

    def open_file(self, wheel: Wheel, index: str = BASE, **headers: str) -> http.client.HTTPResponse:
        """The head of the answer; its body is not read yet."""
        entry = self.farm.files(wheel.name, index)[wheel.filename]
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=COMMAND_TIMEOUT_S)
        self.addCleanup(connection.close)
        connection.request("GET", "/" + index + entry["url"].removeprefix("../.."), headers=headers)
        return connection.getresponse()

    def test_a_file_is_sent_while_it_arrives_and_late_comers_share_the_download(self):
        for page in ("json", "html"):
            with self.subTest(page):
                self.upstream.html = page == "html"
                wheel, body = self.large(f"yard-{page}", hold_after=LARGE // 2)
                if page == "json":
                    self.open_farm()
                first = self.open_file(wheel)
                self.assertEqual((first.status, first.headers["Content-Length"]), (200, str(len(body))))
                got = first.read(LARGE // 4)
                late = self.open_file(wheel, SITE)
                self.assertEqual(late.read(LARGE // 4), got)
                with concurrent.futures.ThreadPoolExecutor(2) as pool:
                    part = pool.submit(lambda: self.open_file(wheel, Range="bytes=10-19"))  # waits for the stored file
                    self.upstream.files[wheel.filename].go.set()
                    self.assertEqual((part.result().status, part.result().read()), (206, body[10:20]))
                self.assertEqual(got + first.read(), body)
                self.assertEqual(got + late.read(), body)
                again = self.open_file(wheel)
                self.assertEqual((again.read(), again.headers["ETag"]), (body, first.headers["ETag"]))
                self.assertEqual(self.upstream.count(f"/files/{wheel.filename}"), 1)
        self.farm.check_tree()
        self.assertEqual(self.farm.staging_leftovers(), [])

    def test_a_slow_client_does_not_hold_the_download_back(self):
        wheel, body = self.large("yard-slow", UNREAD, hold_after=LARGE // 2)
        self.open_farm()
        slow = self.open_file(wheel)
        self.upstream.files[wheel.filename].go.set()
        self.assertEqual(self.open_file(wheel).read(), body)  # while the slow one has read nothing
        self.assertEqual(slow.read(), body)

    def test_a_download_that_breaks_once_goes_on_for_those_who_read_it(self):
        wheel, body = self.large("yard-broken", cut_after=LARGE // 2, cuts=1)
        self.open_farm()
        self.assertEqual(self.open_file(wheel).read(), body)
        self.assertEqual(self.upstream.count(f"/files/{wheel.filename}"), 2)

    def test_a_file_that_no_single_connection_carries_arrives_from_the_bytes_that_are_kept(self):
        for page in ("json", "html"):
            with self.subTest(page):
                self.upstream.html = page == "html"
                wheel, body = self.large(f"yard-{page}", cut_after=LARGE // 5, ranges=True)
                if page == "json":
                    self.open_farm()
                self.assertEqual(self.open_file(wheel).read(), body)
                begins = [begin for name, begin in self.upstream.ranges if name == wheel.filename]
                self.assertGreater(len(begins), 4)
                self.assertEqual(begins, sorted(set(begins)))  # each byte was asked for once
                self.assertEqual(self.open_file(wheel).read(), body)  # from the store: it is published
        self.farm.check_tree()
        self.assertEqual(self.farm.staging_leftovers(), [])

    def test_a_file_that_changes_between_two_answers_is_fetched_again_and_a_wrong_length_is_never_a_complete_file(self):
        self.open_farm()
        lies = {"other bytes first": dict(first_body=incompressible(2 * LARGE, 9)),
                "other bytes first, and a part of the right ones": dict(first_body=incompressible(2 * LARGE, 9), ranges=True),
                "fewer announced": dict(first_length=LARGE - (1 << 20)), "fewer announced, then a part": dict(first_length=LARGE - (1 << 20), ranges=True),
                "fewer announced, then no length": dict(first_length=LARGE - (1 << 20), chunked=True)}
        for number, (what, lie) in enumerate(lies.items()):
            with self.subTest(what):
                self.upstream.html = "announced" in what  # without a size
                wheel, body = self.large(f"yard-lie{number}", cut_after=LARGE // 5, cuts=1, **lie)
                answer = self.open_file(wheel)
                self.assertEqual(answer.status, 200)
                with self.assertRaises(http.client.IncompleteRead):
                    answer.read()
                again = self.open_file(wheel)
                self.assertEqual((again.status, again.read() == body), (200, True))
        self.assertEqual((self.metric("upstream_alarms_total"), self.metric("upstream_file_failures_total")), (0, 0))
        self.farm.check_tree()
        self.assertEqual(self.farm.staging_leftovers(), [])

    def test_a_cut_after_the_last_byte_is_none(self):
        self.open_farm()
        for page in ("json", "html"):  # the size is known, or the answer 416 says it
            with self.subTest(page):
                self.upstream.html = page == "html"
                wheel, body = self.large(f"yard-{page}", chunked=True, ranges=True, cuts=1)
                self.upstream.files[wheel.filename].cut_after = len(body)
                self.assertEqual(self.open_file(wheel).read(), body)

    def test_slow_downloads_hold_up_neither_each_other_nor_small_files(self):
        slow = [self.large(f"yard-slow{number}", 9 << 20, hold_after=LARGE // 2)[0] for number in range(12)]
        small, large = self.wheel("yard-small"), self.large("yard-large", 9 << 20)
        self.offer(small)
        self.open_farm()
        answers = [self.open_file(wheel) for wheel in slow]
        self.assertEqual({answer.status for answer in answers}, {200})
        self.assertEqual(self.get_file(small.filename, "yard-small")[0], 200)
        self.assertEqual(self.open_file(large[0]).read(), large[1])
        for wheel in slow:
            self.upstream.files[wheel.filename].go.set()
        for wheel, answer in zip(slow, answers):
            self.assertEqual(answer.read(), self.upstream.files[wheel.filename].body)

    def test_wrong_bytes_end_as_a_broken_transfer(self):
        self.open_farm()
        table = {"cut": dict(cut_after=LARGE // 2), "other bytes": dict(flip=True), "fewer bytes than the page says": dict(fewer=5000),
                 "more bytes than the page says": dict(suffix=b"more"), "more, without a length": dict(suffix=b"more", chunked=True),
                 "cut, without a length": dict(cut_after=LARGE // 2, chunked=True), "garbage": dict(garbage=True)}
        stalled, _ = self.large("yard-stalled", hold_after=LARGE // 2, is_silent=True)  # it is given up
        stalling = self.open_file(stalled)
        for number, (what, wrong) in enumerate(table.items()):
            with self.subTest(what):
                name = f"yard-bad{number}"
                wheel, body = self.large(name)
                offered = self.upstream.files[wheel.filename]
                if wrong.pop("garbage", False):  # as the page says, and no wheel
                    offered = self.upstream.files[wheel.filename] = type(offered)(incompressible(LARGE, 7))
                offered.body += wrong.pop("suffix", b"")
                if wrong.pop("flip", False):
                    offered.body = offered.body[:-1] + bytes([offered.body[-1] ^ 1])
                if fewer := wrong.pop("fewer", 0):
                    offered.body = offered.body[:-fewer]
                for key, value in wrong.items():
                    setattr(offered, key, value)
                answer = self.open_file(wheel)
                if answer.status == 200:
                    with self.assertRaises(http.client.IncompleteRead):
                        answer.read()
                else:  # its length was wrong from the beginning
                    self.assertIn(answer.status, (502, 503))
                again = self.open_file(wheel)
                self.assertIn(again.status, (502, 503), again.read())
                self.assertNotIn(name.replace("-", "_"), self.farm.run("wheelyard-registry", "dump", "-c", self.farm.config).stdout)
        with self.assertRaises(http.client.IncompleteRead):
            stalling.read()
        self.farm.check_tree()
        # What was cut, and nothing wrong, is kept for the next request while the server runs.
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while len(staged := staged_in(self.farm.data)) != 3:
            self.assertLess(time.monotonic(), deadline, staged)
            time.sleep(0.05)  # until the registry has removed the rest: nothing announces it
        self.farm.stop()
        self.farm.start()
        self.assertEqual(self.farm.staging_leftovers(), [])

    def test_a_stop_ends_the_transfers_of_arriving_files(self):
        wheel, _ = self.large("yard-stopped", hold_after=LARGE // 2)
        self.open_farm()
        answer = self.open_file(wheel)
        self.assertEqual(answer.status, 200)
        self.farm.stop()
        with self.assertRaises((http.client.IncompleteRead, ConnectionError)):
            answer.read()
        self.upstream.files[wheel.filename].go.set()

    def test_a_site_quarantines_fetched_wheels_by_code(self):
        for inspect_first in ("true", "false"):
            with self.subTest(inspect_first=inspect_first):
                wheel = self.wheel(f"yard-{inspect_first}", tags=("py3-none-linux_x86_64",),
                                   extra_members={f"yard_{inspect_first}/data": incompressible(LARGE)})
                good, body = self.large(f"yard-good-{inspect_first}")
                self.offer(wheel)
                self.open_farm(f'inspect_first = {inspect_first}\n[index.upstream.policy]\n"tag.platform_without_elf" = "quarantine"')
                self.assertEqual(self.open_file(good).read(), body)
                answer = self.open_file(wheel)
                if inspect_first == "true":
                    self.assertEqual((answer.status, json.loads(answer.read())["code"]), (404, "upstream.quarantined"))
                else:
                    self.assertEqual(answer.status, 200)
                    with self.assertRaises(http.client.IncompleteRead):
                        answer.read()
                self.assertEqual(self.farm.files(wheel.name, BASE), {})
                sha256 = self.upstream.files[wheel.filename].sha256
                status, _, problem = self.farm.get(f"/{BASE}/files/{sha256[:2]}/{sha256}/{wheel.filename}")
                self.assertEqual((status, json.loads(problem)["code"]), (404, "upstream.quarantined"))
                self.assert_ran(self.farm.run("wheelyard-registry", "release", f"{BASE}.public", wheel.filename, "-c", self.farm.config,
                                              "--reason", "checked"))
                self.assertEqual(self.open_file(wheel).read(), self.upstream.files[wheel.filename].body)
                self.farm.stop()

    # --- an upstream that misbehaves ----------------------------------------------------------------------------------

    def test_nothing_wrong_is_served(self):
        good = self.wheel("yard-good")
        secret = self.wheel("yard-secret").write(self.folder / "secret")
        self.open_farm(hosts=f'hosts = ["localhost:{self.upstream.port}"]')
        self.upstream.offer(secret)
        own = f"http://127.0.0.1:{self.upstream.port}"
        table = {
            "cut in the middle": dict(cut_after=100),
            "other bytes": dict(flipped=True),
            "fewer bytes than the page says": dict(size=100_000),
            "a wrong size": dict(size=10),
            "more bytes than the page says": dict(body_suffix=b"more"),
            "a redirect to another name of this machine": dict(redirect=f"http://localhost:{self.upstream.port}/files/{secret.name}"),
            "a redirect to a named host that has a loopback address": dict(redirect=f"https://localhost:{self.upstream.port}/files/{secret.name}"),
            "a redirect to another loopback address": dict(redirect=f"http://127.0.0.2:{self.upstream.port}/files/{secret.name}"),
            "a redirect to loopback by IPv6": dict(redirect=f"http://[::1]:{self.upstream.port}/files/{secret.name}"),
            "a redirect to loopback as a number": dict(redirect=f"http://2130706433:{self.upstream.port}/files/{secret.name}"),
            "a redirect to a private address": dict(redirect="http://10.0.0.1/x.whl"),
            "a redirect to the cloud's metadata": dict(redirect="http://169.254.169.254/latest/"),
            "a redirect to a file": dict(redirect="file:///etc/passwd"),
            "a redirect to another port": dict(redirect="http://127.0.0.1:1/x.whl"),
            "a circle of redirects": dict(redirect="circle"),
            "a redirect to another file": dict(redirect=f"{own}/files/{secret.name}"),
            "500": dict(status=500),
            "garbage": dict(garbage=True),
        }
        for number, (what, wrong) in enumerate(table.items()):
            with self.subTest(what):
                wheel = self.wheel(f"yard-bad{number}")
                path = wheel.write(self.folder / "bad")
                offered = self.upstream.offer(path)
                if "body_suffix" in wrong:
                    offered.body += wrong["body_suffix"]
                elif "flipped" in wrong:
                    offered.body = offered.body[:-1] + bytes([offered.body[-1] ^ 1])
                elif "garbage" in wrong:  # consistent with the page, and no wheel
                    self.upstream.files[path.name] = type(offered)(b"garbage" * 100)
                elif wrong.get("redirect") == "circle":
                    offered.redirect = f"{own}/files/{path.name}"
                else:
                    for name, value in wrong.items():
                        setattr(offered, name, value)
                status, _, body = self.get_file(path.name, f"yard-bad{number}")
                self.assertIn(status, (502, 503), body)
                self.assertNotIn(b"PK\x03\x04", body)
                dump = self.farm.run("wheelyard-registry", "dump", "-c", self.farm.config).stdout
                self.assertNotIn(f"yard_bad{number}", dump)
        self.assertEqual(self.upstream.count("/files/" + secret.name), 1)  # only the redirect on the same host was followed
        self.offer(good)
        self.assertEqual(self.get_file(good.filename, "yard-good")[0], 200)
        # Other, fewer and more bytes, a page with a wrong size, and the bytes of another file.
        self.assertEqual(self.metric("upstream_alarms_total"), 5)
        self.farm.check_tree()
        self.assertEqual(self.farm.staging_leftovers(), [])

    def test_a_changed_hash_is_an_alarm_and_the_first_bytes_stay(self):
        wheel = self.wheel("yard-six")
        first = self.offer(wheel).sha256
        self.open_farm()
        self.assertEqual(self.get_file(wheel.filename, "yard-six")[0], 200)
        late = self.wheel("yard-late")
        late_first = self.offer(late).sha256
        self.assertEqual(self.farm.files("yard-late", BASE)[late.filename]["hashes"]["sha256"], late_first)
        for name in ("yard-six", "yard-late"):  # the upstream now has other bytes under both names
            self.upstream.offer(Wheel(name, value=2).write(self.folder / "changed"))
        self.change_upstream_age()
        self.assertEqual(self.farm.files("yard-six", BASE)[wheel.filename]["hashes"]["sha256"], first)
        status, _, body = self.get_file(wheel.filename, "yard-six")
        self.assertEqual((status, hashlib.sha256(body).hexdigest()), (200, first))
        self.assertEqual(self.farm.files("yard-late", BASE)[late.filename]["hashes"]["sha256"], late_first)
        self.assertEqual(self.get_file(late.filename, "yard-late")[0], 502)  # never fetched: there are no first bytes
        self.assertIn("upstream.alarm", self.farm.log.read_text())
        self.assertGreaterEqual(self.metric("upstream_alarms_total"), 2)

    def test_what_the_upstream_denies_is_no_503(self):
        """503 says that asking again helps: pip and uv then ask for a minute."""
        table = {404: (404, "upstream.missing"), 410: (404, "upstream.missing"), 401: (502, "upstream.status"), 403: (502, "upstream.status"),
                 451: (502, "upstream.status"), 500: (503, "upstream.unavailable")}
        for status in table:
            wheel = self.wheel(f"yard-no{status}")
            self.offer(wheel, status=status)
            bare = self.wheel(f"yard-bare{status}")
            self.offer(bare)
            self.upstream.files[bare.filename].more["core-metadata"] = {"sha256": f"{status:064d}"}
            self.upstream.answers[f"/files/{bare.filename}.metadata"] = (status, {}, b"")
        self.open_farm()
        for status, (wanted, code) in table.items():
            with self.subTest(status):
                answer, _, body = self.get_file(self.wheel(f"yard-no{status}").filename, f"yard-no{status}")
                problem = json.loads(body)
                self.assertEqual((answer, problem["code"]), (wanted, code))
                self.assertIn(f"The upstream answered with status {status}", problem["title"])
                self.assertNotIn("127.0.0.1", body.decode())  # a private address is told to administrators alone
                self.assertEqual(self.upstream.count(f"/files/yard_no{status}-1.0-py3-none-any.whl"), 1)
                [(_, entry)] = self.farm.files(f"yard-bare{status}", BASE).items()
                answer, _, body = self.farm.get(f"/{BASE}/" + entry["url"].removeprefix("../../") + ".metadata")
                self.assertEqual((answer, json.loads(body)["code"]), (wanted, code))
        self.assertRegex(self.farm.log.read_text(), r"upstream.file_failed .*status 404.*/files/yard_no404-1.0-py3-none-any.whl")
        for status, (wanted, code) in {401: table[401], 400: table[403], 500: table[500]}.items():
            self.upstream.pages["yard-page"] = (status, {}, b"")
            self.change_upstream_age()
            answer, _, body = self.farm.get(f"/{BASE}/simple/yard-page/")
            self.assertEqual((answer, json.loads(body)["code"]), (wanted, code))

    def test_pages_that_cannot_be_read_leave_the_old_page(self):
        wheel = self.wheel("yard-six")
        self.offer(wheel)
        self.open_farm()
        self.assertIn(wheel.filename, self.farm.files("yard-six", BASE))
        huge = b'{"meta":{"api-version":"1.1"},"name":"x","files":[],"x":"' + b"x" * (70 << 20) + b'"}'
        json_type = {"Content-Type": "application/vnd.pypi.simple.v1+json"}
        for what, answer in {"maintenance": (200, {"Content-Type": "text/html"}, b"<html>back soon</html>"), "garbage": (200, json_type, b"\x00\xff{"), "another type": (200, {"Content-Type": "image/png"}, b"x"),
                             "500": (500, {}, b""), "429": (429, {"Retry-After": "1"}, b""), "too large": (200, json_type, huge),
                             "a redirect to another host": (302, {"Location": "http://localhost:1/simple/"}, b"")}.items():
            with self.subTest(what):
                self.upstream.pages["yard-six"] = answer
                self.change_upstream_age()
                self.assertIn(wheel.filename, self.farm.files("yard-six", BASE))
                if what == "maintenance":  # of a project that is not known, it may be true
                    continue
                self.upstream.pages["yard-new"] = answer
                self.assertEqual(self.farm.get(f"/{BASE}/simple/yard-new/")[0], 503)

    def test_a_page_of_ten_megabytes_is_served(self):
        for number in range(3):
            self.offer(self.wheel("yard-many", version=f"{number}.0"))
        template = self.upstream.files["yard_many-0.0-py3-none-any.whl"]
        for number in range(40_000):
            self.upstream.files[f"yard_many-9.{number}-py3-none-any.whl"] = template
        self.assertGreater(len(self.upstream.page("yard-many")[1]), 10 << 20)
        self.open_farm()
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        # A slow machine is told to ask again while the page is on its way.
        while (asked := self.farm.get(f"/{BASE}/simple/yard-many/"))[0] == 503 and json.loads(asked[2])["code"] == "upstream.late":
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual(len(self.farm.files("yard-many", BASE)), 40_003)

    def test_429_pauses_the_upstream(self):
        self.upstream.pages["yard-six"] = (429, {"Retry-After": "3600"}, b"")
        self.offer(self.wheel("yard-five"))
        self.open_farm()
        self.assertEqual(self.farm.get(f"/{BASE}/simple/yard-six/")[0], 503)
        self.assertEqual(self.farm.get(f"/{BASE}/simple/yard-five/")[0], 503)
        self.assertEqual(self.upstream.count("/simple/yard-five/"), 0)

    def test_429_for_a_file_pauses_the_upstream(self):
        wheel, other = self.wheel("yard-six"), self.wheel("yard-six", version="2.0")
        self.offer(wheel, status=429, headers={"Retry-After": "3600"})
        self.offer(other)
        self.open_farm()
        for one in (wheel, other):
            self.assertEqual(self.get_file(one.filename, "yard-six")[0], 503)
        self.assertEqual(self.upstream.count(f"/files/{other.filename}"), 0)
        self.assertEqual(self.farm.get(f"/{BASE}/simple/yard-new/")[0], 503)
        self.assertEqual(self.upstream.count("/simple/yard-new/"), 0)

    def test_a_slow_page_leaves_the_old_one(self):
        wheel = self.wheel("yard-six")
        self.offer(wheel)
        self.open_farm()
        self.assertIn(wheel.filename, self.farm.files("yard-six", BASE))
        self.upstream.page_wait_s["yard-six"] = 50
        self.change_upstream_age()
        self.assertIn(wheel.filename, self.farm.files("yard-six", BASE))

    def test_a_page_that_is_stale_for_less_than_an_hour_is_served_at_once_and_renewed_in_the_background(self):
        old, new = self.wheel("yard-six"), self.wheel("yard-six", version="2.0")
        self.offer(old)
        self.open_farm()
        self.assertEqual(list(self.farm.files("yard-six", BASE)), [old.filename])
        self.change_upstream_age(hours=0.5)
        self.offer(new)
        self.assertEqual(list(self.farm.files("yard-six", BASE)), [old.filename])  # this request waits for no upstream
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while len(self.farm.files("yard-six", BASE)) == 1:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)  # until the registry has asked the upstream: nothing announces it
        self.assertEqual(self.upstream.count("/simple/yard-six/"), 2)
        self.change_upstream_age()
        self.offer(self.wheel("yard-six", version="3.0"))
        self.assertEqual(len(self.farm.files("yard-six", BASE)), 3)  # after a day it is asked first

    def test_what_is_absent_is_not_asked_again_and_403_means_absent(self):
        self.upstream.pages["yard-forbidden"] = (403, {}, b"")
        self.open_farm()
        for project in ("yard-none", "yard-forbidden"):
            for _ in range(3):
                self.assertEqual(self.farm.get(f"/{SITE}/simple/{project}/")[0], 404)
            self.assertEqual(self.upstream.count(f"/simple/{project}/"), 1)
            self.assert_ran(self.farm.run("wheelyard-registry", "explain", BASE, project, "-c", self.farm.config),
                            f"it has no such project at {self.upstream.url}{project}/")

    def test_explain_says_what_is_most_often_wrong_with_an_address_that_lacks_a_project(self):
        """Only of one without /simple/, and only where the project is absent."""
        page = {"meta": {"api-version": "1.0"}, "name": "yard-here", "files": []}
        self.upstream.answers["/yard-here/"] = (200, {"Content-Type": JSON}, json.dumps(page).encode())
        self.offer(self.wheel("yard-there"))
        root = self.upstream.url.removesuffix("simple/")
        lines = '[[index.upstream]]\nname = "public"\nurl = "{}"\nprivate_hosts = ["127.0.0.1"]\n'
        self.farm = self.enterContext(Farm((BASE, SITE), index_settings={BASE: lines.format(root), SITE: lines.format(self.upstream.url)}))
        self.farm.start()
        for index, project, is_advised in ((BASE, "yard-there", True), (BASE, "yard-here", False), (SITE, "yard-here", False)):
            self.farm.files(project, index)
            done = self.farm.run("wheelyard-registry", "explain", index, project, "--json", "-c", self.farm.config)
            self.assert_ran(done)
            [step] = [step for step in json.loads(done.stdout)["steps"] if "asked" in step]
            self.assertEqual(step["asked"], (root if index == BASE else self.upstream.url) + project + "/")
            self.assertEqual("mostly ends in /simple/" in step.get("advice", ""), is_advised, (index, project))

    def test_403_for_a_project_that_was_there_is_no_absence(self):
        wheel = self.wheel("yard-six")
        self.offer(wheel)
        self.open_farm()
        self.assertEqual(list(self.farm.files("yard-six", BASE)), [wheel.filename])
        self.upstream.pages["yard-six"] = (403, {}, b"")
        self.change_upstream_age()
        self.assertEqual(list(self.farm.files("yard-six", BASE)), [wheel.filename])

    # --- who supplies a project ---------------------------------------------------------------------------------------

    def open_farm_with_two(self, first: str = "", second: str = "") -> Upstream:
        """`base` has two upstreams, `self.upstream` first; returns the second one."""
        other = self.enterContext(Upstream())
        table = '[[index.upstream]]\nname = "{}"\nurl = "{}"\nprivate_hosts = ["127.0.0.1"]\n{}\n'
        self.farm = self.enterContext(Farm((BASE, SITE), index_settings={BASE: table.format("first", self.upstream.url, first)
                                                                         + table.format("second", other.url, second), SITE: 'inherits = ["base"]'}))
        self.token = self.farm.create_token()
        self.farm.start()
        return other

    def listed(self, project: str, index: str = BASE) -> list[str]:
        status, _, body = self.farm.get(f"/{index}/simple/{project}/", headers={"Accept": JSON})
        return [entry["filename"].split("-")[1] for entry in json.loads(body)["files"]] if status == 200 else [str(status)]

    def test_whoever_supplied_a_project_keeps_it_until_it_is_released(self):
        nothing = json.dumps({"meta": {"api-version": "1.1"}, "name": "x", "versions": [], "files": []}).encode()
        lost = {"yard-gone": (404, {}, b""), "yard-deleted": (410, {}, b""), "yard-empty": (200, {"Content-Type": JSON}, nothing),
                "yard-portal": (200, {"Content-Type": "text/html"}, b"<html><a href='/login'>Log in</a></html>"),
                "yard-text": (200, {"Content-Type": "text/html"}, nothing), "yard-locked": (401, {}, b""), "yard-forbidden": (403, {}, b""),
                "yard-broken": (500, {}, b"")}
        for name in lost:
            self.offer(self.wheel(name, version="5.0"))
        self.offer(self.wheel("yard-late", version="1.0"))
        late = self.upstream.files.pop("yard_late-1.0-py3-none-any.whl")
        self.offer(self.wheel("yard-both", version="5.0"))
        other = self.open_farm_with_two()
        for name in (*lost, "yard-both"):
            other.offer(self.wheel(name, version="1.0", value=6).write(self.folder / "other"))
        other.offer(self.wheel("yard-late", version="2.0").write(self.folder / "other"))
        for name in lost:
            self.assertEqual(self.listed(name), ["5.0"])
        self.assertEqual(self.get_file("yard_gone-5.0-py3-none-any.whl", "yard-gone")[0], 200)
        self.assertEqual(self.get_file("yard_both-5.0-py3-none-any.whl", "yard-both")[0], 200)
        self.assertEqual(self.listed("yard-late"), ["2.0"])  # the first never had it
        self.upstream.pages.update(lost)
        self.upstream.files["yard_late-1.0-py3-none-any.whl"] = late  # somebody registers the name in the first one
        del self.upstream.files["yard_both-5.0-py3-none-any.whl"]
        for _ in range(2):
            self.change_upstream_age()
            for index in (BASE, SITE):
                for name in lost:
                    self.assertEqual(self.listed(name, index), ["5.0"], name)
            self.assertEqual(self.listed("yard-late"), ["2.0"])
        self.assertEqual([request for request in other.requests if "late" not in request], [])
        log = self.farm.log.read_text()
        self.assertEqual(log.count("no longer has this project"), 3)  # of 404, 410 and the empty page, once each
        explained = self.farm.run("wheelyard-registry", "explain", BASE, "yard-gone", "-c", self.farm.config)
        self.assert_ran(explained, "from base.first", "although it has it no more", "page kept")
        # Without the page, the files that were fetched show who supplied it.
        self.farm.stop()
        (self.farm.data / "upstream/base.first/pages/yard-both.json").unlink()
        self.farm.start()
        self.assertEqual(self.listed("yard-both"), ["5.0"])
        for name in ("yard-gone", "yard-both"):
            self.assert_ran(self.farm.run("wheelyard-registry", "release-project", "base.first", name.replace("-", "."), "--reason", "it moved",
                                          "-c", self.farm.config), "released " + name)
            self.assertEqual(self.listed(name), ["1.0"])  # at once, beside the running server
        self.assert_ran(self.farm.run("wheelyard-registry", "release-project", "base.second", "yard-late", "--reason", "it moved", "-c",
                                      self.farm.config))
        self.assertEqual((self.listed("yard-late"), self.listed("yard-late", SITE)), (["1.0"], ["1.0"]))
        self.assert_failed(self.farm.run("wheelyard-registry", "release-project", "base.third", "x", "--reason", "x", "-c", self.farm.config),
                           "base.first, base.second")
        audit = self.farm.run("wheelyard-registry", "audit", "--json", "-c", self.farm.config)
        self.assert_ran(audit)
        released = [event for event in map(json.loads, audit.stdout.splitlines()) if event["kind"] == "project_released"]
        self.assertEqual([(event["index"], event["project"], event["reason"]) for event in released],
                         [("base.first", "yard-gone", "it moved"), ("base.first", "yard-both", "it moved"), ("base.second", "yard-late", "it moved")])
        self.farm.check_tree()

    def test_a_name_stays_with_its_upstream_whatever_is_configured_restored_or_inherited(self):
        """Dependency confusion: `first` gets the name after `second` supplied it."""
        other = self.open_farm_with_two()
        names = ("yard-inherited", "yard-restored", "yard-added")
        for name in names:
            other.offer(self.wheel(name, version="1.0").write(self.folder / "other"))
        both = self.farm.index_settings
        self.farm.stop()  # at first `second` is alone
        self.farm.index_settings = {**both, BASE: both[BASE][both[BASE].rindex("[[index.upstream]]"):]}
        self.farm.write_config(self.farm.port)
        self.farm.start()
        self.assertEqual(self.listed("yard-added"), ["1.0"])
        self.farm.stop()
        self.farm.index_settings = both
        self.farm.write_config(self.farm.port)
        self.farm.start()
        self.assertEqual(self.listed("yard-inherited"), ["1.0"])
        self.assertEqual(self.listed("yard-restored"), ["1.0"])
        self.assertEqual(self.get_file("yard_restored-1.0-py3-none-any.whl", "yard-restored")[0], 200)
        for name in names:
            self.offer(self.wheel(name, version="99.0"))
        self.change_upstream_age()
        self.assertEqual((self.listed("yard-added"), self.listed("yard-added", SITE)), (["1.0"], ["1.0"]))
        self.assertEqual((self.listed("yard-inherited", SITE), self.listed("yard-inherited")), (["1.0"], ["1.0"]))
        # A backup has it, also of what nobody fetched.
        self.assert_ran(self.farm.run("wheelyard-registry", "backup", self.folder / "backup", "-q", "-c", self.farm.config))
        self.farm.stop()
        shutil.rmtree(self.farm.data)
        self.assert_ran(self.farm.run("wheelyard-registry", "restore", self.folder / "backup", self.farm.data, "-q"))
        self.farm.start()
        for name in names:
            self.assertEqual((self.listed(name, SITE), self.listed(name)), (["1.0"], ["1.0"]), name)
        self.farm.stop()
        shutil.rmtree(self.farm.data / "upstream")
        self.farm.start()
        self.assertEqual((self.listed("yard-restored", SITE), self.listed("yard-restored")), (["1.0"], ["1.0"]))

    def test_a_name_that_an_upstream_with_an_account_has_by_allow_never_falls_through(self):
        secret = 'username = "anna"\npassword_file = "secret"'
        other = self.open_farm_with_two(first='allow = ["yard-our-*", "yard-shared"]\n' + secret)
        (self.farm.folder / "secret").write_text("x")
        for name in ("yard-our-tool", "yard-other"):
            other.offer(self.wheel(name, value=666).write(self.folder / "other"))
        for spelling in ("yard-our-tool", "Yard.Our_Tool", "YARD--OUR-TOOL"):
            self.assertIn(self.farm.get(f"/{BASE}/simple/{spelling}/")[0], (301, 404))
        self.assertEqual(self.listed("yard-our-tool"), ["404"])
        self.assertEqual(self.listed("yard-other"), ["1.0"])
        for status in (401, 403, 404, 500):
            self.upstream.pages["yard-our-tool"] = (status, {}, b"")
            self.change_upstream_age()
            self.assertIn(self.listed("yard-our-tool"), (["404"], ["502"], ["503"]))
        self.assertEqual(other.count("/simple/yard-our-tool/"), 0)
        self.upstream.stop()
        self.assertEqual(self.listed("yard-our-new"), ["503"])
        self.assertEqual(other.count("/simple/yard-our-new/"), 0)

    def test_a_dead_upstream_loses_nothing(self):
        wheel, never = self.wheel("yard-six"), self.wheel("yard-six", version="2.0")
        self.offer(wheel)
        self.offer(never)
        self.open_farm()
        self.assertEqual(self.get_file(wheel.filename, "yard-six")[0], 200)
        self.upstream.stop()
        self.farm.kill()
        self.farm.start()
        self.change_upstream_age()
        target = self.folder / "into"
        self.assert_ran(pip_install(self.farm, "pip-new", target, "yard-six==1.0", index=SITE))
        self.assertEqual(self.get_file(never.filename, "yard-six")[0], 503)
        status, _, body = self.farm.get(f"/{BASE}/simple/yard-unknown/")
        problem = json.loads(body)
        self.assertEqual(status, 503)  # whether it exists is unknown
        self.assertRegex(problem["title"], "The server refuses connections; next try at 20")
        self.assertNotIn("127.0.0.1", body.decode())
        self.assert_ran(self.farm.run("wheelyard-registry", "explain", SITE, "yard-unknown", "-c", self.farm.config),
                        "last failure", "The server refuses connections", "127.0.0.1", "next try")
        uploader = self.farm.create_token(name="uploader", actions=("upload",))
        operator = self.farm.create_token(name="operator", actions=("quarantine",))
        for token, is_told in ((uploader, False), (operator, True)):
            _, _, body = self.farm.get(f"/api/v1/indexes/{BASE}/projects/yard-unknown/explain", headers={"Authorization": f"Bearer {token}"})
            failure = json.loads(body)["steps"][-1]["last_failure"]
            self.assertEqual(("127.0.0.1" in json.dumps(failure), "next_try" in failure), (is_told, True))

    # --- rules --------------------------------------------------------------------------------------------------------

    def test_a_name_that_an_index_owns_or_has_never_comes_from_upstream(self):
        for name in ("yard-torch", "only-here", "yard-mine"):
            self.offer(self.wheel(name, version="99.0", value=666))
        self.open_farm()
        self.upload(self.wheel("yard-mine"), SITE)
        spellings = ["yard-torch", "Yard-Torch", "YARD_TORCH", "yard.torch", "yard--torch", "yard-_.torch", "yard_torch", "yard-torch/index.json",
                     "yard%2Dtorch", "yard%2dtorch", "%79ard-torch", "yard-torch/?format=application/vnd.pypi.simple.v1%2Bjson",
                     "only-here", "Only.Here", "only_here", "ONLY--HERE", "only.-_here", "yard-mine", "Yard.Mine", "yard%5Fmine", "YARD-MINE"]
        evil = self.upstream.files["yard_torch-99.0-py3-none-any.whl"].sha256
        filenames = ("yard_torch-99.0-py3-none-any.whl", "Yard.Torch-99.0-py3-none-any.whl", "YARD_TORCH-99.0-py3-none-any.whl",
                     "yard_torch-99.0-py3-none-any.whl.metadata")

        def try_every_way() -> None:
            for spelling in spellings:
                with self.subTest(spelling):
                    path = f"/{SITE}/simple/{spelling}" + ("" if "/" in spelling else "/")
                    status, _, body = self.farm.get(path)
                    self.assertNotIn(b"99.0", body)
                    self.assertEqual(status, 200 if "mine" in spelling.lower() else 404, body)
            for filename in filenames:
                self.assertEqual(self.farm.get(f"/{SITE}/files/{evil[:2]}/{evil}/{filename}")[0], 404)
            self.assertGreaterEqual(len(spellings) + len(filenames), 20)

        try_every_way()
        self.assertEqual([request for request in self.upstream.requests if "torch" in request or "here" in request], [])
        # A page of another project that lists such a file, and one that leads to the page of such a name.
        file = {"filename": "yard_torch-99.0-py3-none-any.whl", "url": "/files/yard_torch-99.0-py3-none-any.whl", "hashes": {"sha256": evil}}
        page = json.dumps({"meta": {"api-version": "1.1"}, "name": "yard-guest", "versions": [], "files": [file]}).encode()
        self.upstream.pages["yard-guest"] = (200, {"Content-Type": JSON}, page)
        self.upstream.pages["yard-guide"] = (302, {"Location": "/simple/yard-torch/"}, b"")
        for guest in ("yard-guest", "yard-guide"):
            self.assertEqual(self.farm.files(guest, SITE), {})
        # The upstream does offer them: `base`, which does not own the names, shows and stores them. Nothing of that reaches the site's index.
        for name in ("yard-torch", "only-here", "yard-mine"):
            filename = f"{name.replace('-', '_')}-99.0-py3-none-any.whl"
            self.assertEqual((list(self.farm.files(name, BASE)), self.get_file(filename, name)[0]), ([filename], 200))
        try_every_way()
        for name in ("yard-torch", "Only.Here"):
            self.assert_failed(pip_install(self.farm, "pip-new", self.folder / "none", name, index=SITE), "No matching distribution found")
        target = self.folder / "into"
        self.assert_ran(pip_install(self.farm, "pip-new", target, "yard-mine", index=SITE))
        self.assertEqual(installed_value("pip-new", target, "yard_mine"), "1")
        # Once the site has the project, what was fetched of it before is hidden, too.
        self.offer(self.wheel("yard-late", version="99.0", value=666))
        self.assertEqual(self.get_file("yard_late-99.0-py3-none-any.whl", "yard-late", SITE)[0], 200)
        self.upload(self.wheel("yard-late"), SITE)
        self.assertEqual(list(self.farm.files("yard-late", SITE)), ["yard_late-1.0-py3-none-any.whl"])

    def test_deny_allow_cooldown_and_hosts_decide_what_is_offered(self):
        today = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.offer(self.wheel("yard-six"))
        self.offer(self.wheel("yard-six", version="2.0"), upload_time=today)
        self.offer(self.wheel("yard-six", version="3.0"), url="https://elsewhere.example.org/yard_six-3.0-py3-none-any.whl")
        self.offer(self.wheel("yard-six", version="4.0"), sha256="-")
        self.offer(self.wheel("yard-fast"), upload_time=today)
        self.offer(self.wheel("yard-our-tools"))
        self.offer(self.wheel("other-six"))
        self.open_farm('allow = ["yard-*"]\ndeny = ["Yard_Our*"]\ncooldown_days = 3\ncooldown_except = ["yard-f?st"]')
        self.assertEqual(list(self.farm.files("yard-six", BASE)), ["yard_six-1.0-py3-none-any.whl"])
        self.assertEqual(list(self.farm.files("yard-fast", BASE)), ["yard_fast-1.0-py3-none-any.whl"])
        young = self.upstream.files["yard_six-2.0-py3-none-any.whl"].sha256
        self.assertEqual(self.farm.get(f"/{BASE}/files/{young[:2]}/{young}/yard_six-2.0-py3-none-any.whl")[0], 404)
        for denied in ("yard-our-tools", "other-six"):
            self.assertEqual(self.farm.get(f"/{BASE}/simple/{denied}/")[0], 404)
            self.assertEqual(self.upstream.count(f"/simple/{denied}/"), 0)
        explained = self.farm.run("wheelyard-registry", "explain", SITE, "Yard.Six", "-c", self.farm.config)
        self.assert_ran(explained, "yard-six in gh200: from base.public", "1 files offered", "1 withheld (cooldown)", "1 withheld (no_hash)",
                        "hosts not permitted: elsewhere.example.org")
        self.assert_ran(self.farm.run("wheelyard-registry", "explain", SITE, "yard-torch", "-c", self.farm.config), "owns the name")
        self.assert_ran(self.farm.run("wheelyard-registry", "explain", BASE, "other-six", "-c", self.farm.config), "not permitted")
        status, _, body = self.farm.get(f"/api/v1/indexes/{SITE}/projects/yard-six/explain", headers={"Authorization": f"Bearer {self.token}"})
        self.assertEqual((status, json.loads(body)["supplied_by"]), (200, "base.public"))

    def test_the_generated_configuration_names_one_index_which_is_all_that_pip_and_uv_need(self):
        """A dozen packages, two of them our own; machine_index_test.py has a hundred, the machine's own index, poetry and pdm."""
        others = [f"yard-other-{number}" for number in range(10)]
        for number, name in enumerate(others):
            self.offer(self.wheel(name, metadata_lines=tuple(f"Requires-Dist: {needed}" for needed in others[number + 1:number + 2])))
        self.offer(self.wheel("yard-torch", version="9.0", value=9))
        self.open_farm()
        self.upload(self.wheel("yard-torch", metadata_lines=(f"Requires-Dist: {others[0]}",), value=7), SITE)
        self.upload(self.wheel("yard-vision", metadata_lines=("Requires-Dist: yard-torch==1.0",), value=7), SITE)
        made = self.folder / "made"
        self.assert_ran(self.farm.run("wheelyard-indexer", "client-config", "--node", f"farm={self.farm.simple_url(SITE)}", "--to", made))
        for kind in ("pip.conf", "uv.toml", "poetry.toml", "pdm.toml"):
            self.assertEqual((made / "farm" / kind).read_text().count("://"), 1)
        environment = self.farm.environment | {"PIP_CONFIG_FILE": str(made / "farm/pip.conf"), "UV_CONFIG_FILE": str(made / "farm/uv.toml")}
        for client in ("pip-old", "pip-debian", "pip-new", "uv"):
            target = self.folder / client
            python = CLIENTS / ("pip-new" if client == "uv" else client) / "bin/python"
            command = [CLIENTS / "uv/bin/uv", "pip", "install", "--no-cache", "--python", python] if client == "uv" else \
                [python, "-m", "pip", "install", "--no-cache-dir"]
            self.assert_ran(subprocess.run([*command, "--target", target, "yard-vision"], env=environment, capture_output=True, text=True,
                                           timeout=COMMAND_TIMEOUT_S))
            self.assertEqual(len(list(target.glob("*.dist-info"))), 12)
            self.assertEqual(installed_value("pip-new", target, "yard_torch"), "7")

    def open_farm_with(self, upstream_rules: str) -> None:
        self.farm = self.enterContext(Farm((BASE,), index_settings={BASE: f'[[index.upstream]]\nname = "public"\n{upstream_rules}'}))
        self.token = self.farm.create_token()

    def test_a_private_address_is_told_to_those_who_administer(self):
        self.open_farm_with(f'url = "https://localhost:{self.upstream.port}/simple/"')
        self.farm.start()
        status, _, body = self.farm.get(f"/{BASE}/simple/yard-six/")
        self.assertEqual((status, b"private" in body, b"127.0.0.1" in body), (503, False, False))
        self.assertIn(b"the configuration of this registry refuses its address", body)
        self.assert_ran(self.farm.run("wheelyard-registry", "explain", BASE, "yard-six", "-c", self.farm.config),
                        "The host has a private address", "next try", "name it in `private_hosts`")
        stranger = self.farm.create_token(name="stranger", actions=("upload",))
        for token, is_told in ((self.farm.create_token(name="operator", actions=("quarantine",)), True), (stranger, False)):
            _, _, body = self.farm.get(f"/api/v1/indexes/{BASE}/projects/yard-six/explain", headers={"Authorization": f"Bearer {token}"})
            self.assertEqual(b"private address" in body, is_told)

    def test_the_name_of_a_project_is_told_to_nobody_who_asks_for_another_one(self):
        self.farm = self.enterContext(Farm((BASE, "lab"), index_settings={**rules(self.upstream), "lab": 'inherits = ["base"]\nread = "token"'}))
        reader = self.farm.create_token("lab", name="reader", actions=("read",))
        operator, stranger = (self.farm.create_token(BASE, name=action, actions=(action,)) for action in ("quarantine", "upload"))
        self.farm.start()
        self.upstream.pages["yard-secret"] = (503, {}, b"")
        basic = base64.b64encode(f"__token__:{reader}".encode()).decode()
        status, _, body = self.farm.get("/lab/simple/yard-secret/", headers={"Authorization": f"Basic {basic}"})
        self.assertEqual((status, b"yard-secret" in body), (503, True))
        status, _, body = self.farm.get(f"/{BASE}/simple/yard-other/")  # it is not asked: it fails for any project
        self.assertEqual((status, b"yard-other" in body, b"secret" in body), (503, True, False), body)
        for token, is_told in ((operator, True), (stranger, False)):
            status, _, body = self.farm.get(f"/api/v1/indexes/{BASE}/projects/yard-else/explain", headers={"Authorization": f"Bearer {token}"})
            self.assertEqual((status, b"last_failure" in body, b"secret" in body), (200, True, is_told), body)

    def test_through_a_proxy_which_finds_the_hosts(self):
        wheel = self.wheel("yard-six")
        self.offer(wheel, url="http://files.invalid/files/yard_six-1.0-py3-none-any.whl")
        self.open_farm_with('url = "http://index.invalid/simple/"\nprivate_hosts = ["index.invalid", "files.invalid"]\n'
                            f'proxy = "http://127.0.0.1:{self.upstream.port}"')
        self.farm.start()
        self.assertEqual(self.get_file(wheel.filename, "yard-six")[0], 200)
        self.assertEqual(self.upstream.as_proxy, {"index.invalid", "files.invalid"})
        self.offer(self.wheel("yard-other"), url="http://elsewhere.invalid/files/yard_other-1.0-py3-none-any.whl")
        self.assertEqual(self.farm.files("yard-other", BASE), {})  # hosts are checked all the same

    def test_the_password_of_an_upstream_is_in_a_file_and_goes_to_its_host_alone(self):
        self.offer(self.wheel("yard-six"))
        self.offer(self.wheel("yard-far"), url=f"http://localhost:{self.upstream.port}/files/yard_far-1.0-py3-none-any.whl")
        self.open_farm_with(f'url = "{self.upstream.url}"\nprivate_hosts = ["127.0.0.1", "localhost:{self.upstream.port}"]\n'
                            'username = "anna"\npassword_file = "secret"')
        secret = self.farm.folder / "secret"
        own, other = f"127.0.0.1:{self.upstream.port}", f"localhost:{self.upstream.port}"

        def require(password: str) -> str:
            self.upstream.authorization = "Basic " + base64.b64encode(f"anna:{password}".encode()).decode()
            secret.write_text(password + "\n")
            return self.upstream.authorization
        first = require("open-sesame")
        self.farm.start()
        self.assertEqual(self.get_file("yard_six-1.0-py3-none-any.whl", "yard-six")[0], 200)
        [far] = self.farm.files("yard-far", BASE)
        second = require("changed-since")  # read at each request
        self.offer(self.wheel("yard-late"))
        self.assertEqual(self.get_file("yard_late-1.0-py3-none-any.whl", "yard-late")[0], 200)
        self.upstream.pages["yard-lost"] = (403, {}, b"")  # the account may have lost its right
        self.assertEqual(self.farm.get(f"/{BASE}/simple/yard-lost/")[0], 502)
        self.upstream.authorization = ""
        self.assertEqual(self.get_file(far, "yard-far")[0], 200)
        self.assertEqual(self.upstream.authorizations, {(own, first), (own, second), (other, "")})
        self.assertNotRegex(self.farm.log.read_text(), "open-sesame|changed-since")

    def test_a_stop_does_not_wait_for_a_slow_upstream(self):
        wheel = self.wheel("yard-six")
        self.offer(wheel, wait_s=50)
        self.open_farm()
        self.farm.files("yard-six", BASE)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(lambda: self.get_file(wheel.filename, "yard-six")[0])
            while self.upstream.count(f"/files/{wheel.filename}") == 0:
                time.sleep(0.01)
            self.farm.stop()
            self.assertEqual(waiting.result(), 503)
        self.assertNotIn("server.drain_timeout", self.farm.log.read_text())  # it waits for requests, but less long than this upstream takes

    def test_administrators_quarantine_and_promote_what_was_fetched(self):
        wheel = self.wheel("yard-six")
        self.offer(wheel)
        self.offer(self.wheel("yard-six", version="2.0"))
        self.open_farm()
        self.assertEqual(self.get_file(wheel.filename, "yard-six", SITE)[0], 200)
        path = self.farm.files("yard-six", SITE)[wheel.filename]["url"].removeprefix("../..")
        words = (f"{BASE}.public", wheel.filename, "-c", self.farm.config)
        self.assert_ran(self.farm.run("wheelyard-registry", "quarantine", *words, "--reason", "malware"))
        self.assertEqual(list(self.farm.files("yard-six", SITE)), ["yard_six-2.0-py3-none-any.whl"])
        self.assertEqual(self.farm.get(f"/{SITE}{path}")[0], 404)
        self.assert_ran(self.farm.run("wheelyard-registry", "release", *words, "--reason", "checked"))
        self.assertEqual(len(self.farm.files("yard-six", SITE)), 2)
        self.assert_failed(self.farm.run("wheelyard-registry", "import", f"{BASE}.public", wheel.filename, "-c", self.farm.config,
                                         "--from", self.upstream.url), "There is no index with this name")
        self.assert_ran(self.farm.run("wheelyard-registry", "promote", f"{BASE}.public", wheel.filename, "--to", BASE, "-c",
                                      self.farm.config))
        self.assertEqual(list(self.farm.files("yard-six", SITE)), [wheel.filename])  # now the index has the project
        self.farm.check_tree()

    def test_administrators_yank_and_quarantine_what_nobody_fetched(self):
        for version in ("1.0", "1.1", "1.2"):
            self.offer(self.wheel("yard-six", version=version))
        names = {version: self.wheel("yard-six", version=version).filename for version in ("1.0", "1.1", "1.2")}
        self.open_farm()
        cache, install = f"{BASE}.public", CLIENTS / "pip-new"
        link = f"/{BASE}" + self.farm.files("yard-six", BASE)[names["1.1"]]["url"].removeprefix("../..")

        def change(*words: str):
            reason = () if words[0].startswith("un") else ("--reason", "malware")
            return self.farm.run("wheelyard-registry", *words, *reason, "-c", self.farm.config)

        self.assert_ran(change("yank", cache, names["1.2"]))
        self.assert_ran(change("quarantine", cache, "Yard.Six==1.1"))
        for _ in range(2):
            for index in (BASE, SITE):
                files = self.farm.files("yard-six", index)
                self.assertEqual({name: entry["yanked"] for name, entry in files.items()}, {names["1.0"]: False, names["1.2"]: "malware"})
                info = json.loads(self.farm.get(f"/{index}/pypi/yard-six/json")[2])
                self.assertEqual((info["info"]["version"], sorted(info["releases"])), ("1.0", ["1.0", "1.2"]))
            for path in (link, link + ".metadata"):
                status, _, problem = self.farm.get(path)
                self.assertEqual((status, json.loads(problem)["code"], "malware" in json.loads(problem)["detail"]), (404, "upstream.quarantined", True))
            self.farm.stop()  # marks outlive a restart, and their files' downloads
            self.farm.start()
        self.assertNotEqual(pip_install(self.farm, "pip-new", self.folder / "1.1", "yard-six==1.1", index=SITE).returncode, 0)
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "1.2", "yard-six==1.2", index=SITE))
        self.assertEqual(self.upstream.count(f"/files/{names['1.1']}"), 0)
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "any", "yard-six", index=SITE))
        self.assertTrue((self.folder / "any/yard_six-1.0.dist-info").is_dir())
        self.assert_ran(subprocess.run(
            [CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--python", install / "bin/python", "--target", self.folder / "uv",
             "--index-url", self.farm.simple_url(SITE), "yard-six"], env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))
        self.assertTrue((self.folder / "uv/yard_six-1.0.dist-info").is_dir())
        self.assertEqual(self.farm.files("yard-six", SITE)[names["1.2"]]["yanked"], "malware")  # it is fetched by now
        self.farm.check_tree()
        self.offer(self.wheel("yard-six", version="1.1", tags=("cp312-abi3-manylinux_2_17_x86_64",)))
        self.change_upstream_age()
        self.assertEqual(len(self.farm.files("yard-six", SITE)), 2)  # a file that the version gets later is of the version
        self.assert_ran(self.farm.run("wheelyard-registry", "explain", BASE, "yard-six", "-c", self.farm.config),
                        "yard-six==1.1 is in quarantine: malware", names["1.2"] + " is yanked: malware")

        self.assert_failed(change("delete", cache, names["1.1"]), "no such file", "put in quarantine in INDEX.UPSTREAM")
        self.assert_failed(change("yank", BASE, names["1.1"]), "INDEX.UPSTREAM")
        self.assert_failed(change("release", cache, names["1.1"]), "said of another name")
        self.assert_ran(change("release", cache, "yard-six==1.1"))
        self.assert_ran(change("unyank", cache, names["1.2"]))
        self.assertEqual([entry["yanked"] for entry in self.farm.files("yard-six", SITE).values()], [False] * 4)
        self.assertEqual(self.farm.get(link)[0], 200)
        self.offer(self.wheel("yard-seven"))
        self.assert_ran(change("status", cache, "yard-seven", "quarantined"))
        self.assertEqual(self.farm.files("yard-seven", SITE), {})
        explained = self.farm.run("wheelyard-registry", "explain", BASE, "yard-seven", "--json", "-c", self.farm.config)
        self.assert_ran(explained, '"has_fetched_files": false')  # a status alone makes nobody the supplier
        self.assert_failed(change("status", cache, "yard-sevn", "active"), "no such project")
        self.assert_ran(change("status", cache, "yard-seven", "archived"))
        self.assertEqual(self.get_file(self.wheel("yard-seven").filename, "yard-seven", SITE)[0], 200)
        self.assert_ran(change("status", cache, "yard-seven", "active"))
        self.assertEqual(len(self.farm.files("yard-seven", SITE)), 1)
        self.farm.check_tree()

    def state_of(self, filename: str) -> str:
        done = self.farm.run("wheelyard-registry", "files", f"{BASE}.public", "--json", "-c", self.farm.config)
        self.assert_ran(done)
        [row] = [row for piece in map(json.loads, done.stdout.splitlines()) for row in piece["files"] if row["filename"] == filename]
        return row["state_reason"] or row["state"]

    def test_what_the_upstream_removed_is_quarantined_where_the_index_says_so(self):
        names = ("yard-file", "yard-gone", "yard-hidden")
        file, gone, hidden = (self.wheel(name).filename for name in names)
        for name in names:
            self.offer(self.wheel(name))
            self.offer(self.wheel(name, version="2.0"))
        self.offer(self.wheel("yard-other"))
        self.open_farm('removed = "quarantine"')
        for name in names:
            self.assert_ran(pip_install(self.farm, "pip-new", self.folder / name, name + "==1.0", index=SITE))
        link = f"/{BASE}" + self.farm.files("yard-file", BASE)[file]["url"].removeprefix("../..")
        page = self.upstream.page("yard-hidden")[1]
        nothing = json.dumps({"meta": {"api-version": "1.1"}, "name": "x", "versions": [], "files": []}).encode()

        # An outage, a page about something else and an upstream that answers 404 to everything remove nothing.
        for answer in ((503, {}, b""), (403, {}, b""), (200, {"Content-Type": "text/html"}, b"<html>maintenance</html>"),
                       (200, {"Content-Type": JSON}, b"{"), (404, {}, b""), (404, {}, b""), (200, {"Content-Type": JSON}, nothing)):
            self.upstream.pages = {name: answer for name in (*names, "yard-other")}
            self.change_upstream_age()
            for name in names:
                self.assertIn(f"{name.replace('-', '_')}-1.0-py3-none-any.whl", self.farm.files(name, SITE), answer)
        # What was never fetched is not, once the project is lost: file servers keep what is on no page.
        self.assertEqual(list(self.farm.files("yard-gone", SITE)), [gone])

        # Malware is removed in three ways. What is missing counts by the second answer, and the loss of a project only
        # while the upstream has another one.
        reasons = {file: "removed upstream: its page no longer lists the file", gone: "removed upstream: it no longer has the project",
                   hidden: "removed upstream: it keeps the project in quarantine"}

        def refreshed(*projects: str) -> dict[str, str]:
            for name in projects:
                self.farm.get(f"/{SITE}/simple/{name}/")
            return {filename: state for filename in reasons if (state := self.state_of(filename)) != "active"}

        self.upstream.pages = {}
        self.change_upstream_age()
        self.assertEqual(refreshed(*names), {})
        del self.upstream.files[file]
        status = {**json.loads(page), "project-status": {"status": "quarantined"}, "files": []}
        self.upstream.pages = {"yard-gone": (404, {}, b""), "yard-hidden": (200, {"Content-Type": JSON}, json.dumps(status).encode())}
        self.change_upstream_age()
        self.assertEqual(refreshed("yard-other", *names), {hidden: reasons[hidden]})
        self.change_upstream_age()
        self.farm.get(f"/{SITE}/simple/yard-other/")
        self.upstream.pages["yard-other"] = (404, {}, b"")
        self.assertEqual(refreshed("yard-gone"), {hidden: reasons[hidden]})
        del self.upstream.pages["yard-other"]
        self.change_upstream_age()
        self.assertEqual(refreshed("yard-other", *names), reasons)
        for name in names:
            done = pip_install(self.farm, "pip-new", self.folder / (name + "-again"), name + "==1.0", index=SITE)
            self.assertNotEqual(done.returncode, 0, name)
        self.farm.check_tree()
        status, _, problem = self.farm.get(link)  # as a lock file names it
        self.assertEqual((status, json.loads(problem)["code"]), (404, "upstream.quarantined"))
        audit = self.farm.run("wheelyard-registry", "audit", "--action", "quarantined", "-c", self.farm.config)
        self.assert_ran(audit, "by upstream:public: removed upstream: its page no longer lists the file")

        # What comes back is released; what a person decides stays.
        words = (f"{BASE}.public", hidden, "-c", self.farm.config)
        self.assert_ran(self.farm.run("wheelyard-registry", "quarantine", *words, "--reason", "malware"))
        sha256 = hashlib.sha256(self.upstream.files[gone].body).hexdigest()
        blob = self.farm.data / "blobs" / "sha256" / sha256[:2] / sha256
        blob.chmod(0o600)
        blob.write_bytes(b"x" + blob.read_bytes()[1:])
        self.upstream.pages = {}
        self.offer(self.wheel("yard-file"))
        self.change_upstream_age()
        self.assertEqual(refreshed(*names), {gone: f"verify: the stored bytes of {blob.name} are damaged", hidden: "malware"})
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "back", "yard-file==1.0", index=SITE))
        self.farm.check_tree()

    def test_a_kill_in_a_download_leaves_nothing_and_the_next_try_succeeds(self):
        wheel = self.wheel("yard-six")
        self.offer(wheel, wait_s=60)
        self.open_farm()
        self.farm.files("yard-six", BASE)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            cut = pool.submit(lambda: self.get_file(wheel.filename, "yard-six"))
            while self.upstream.count(f"/files/{wheel.filename}") == 0:
                time.sleep(0.01)
            self.farm.kill()
            with self.assertRaises(Exception):
                cut.result()
        self.upstream.files[wheel.filename].wait_s = 0
        self.farm.start()
        self.assertEqual(self.get_file(wheel.filename, "yard-six")[0], 200)
        self.assertEqual(self.farm.staging_leftovers(), [])
        self.farm.check_tree()


if __name__ == "__main__":
    main()
