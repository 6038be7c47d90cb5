"""The alert rules and the dashboard of docs/reference, in a real Prometheus. Each rule fires where a registry is broken in its way, and no other
one does: all of them on series that promtool makes, and those that a test can cause on real registries. Each query of the dashboard has a series."""

import contextlib
import datetime
import json
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.case import main
from support.clients import RawUpload
from support.daemons import which
from support.farm import INDEX, ROOT, Farm
from support.node_farm import Nodes
from support.prometheus import Prometheus, missing
from support.s3_store import S3Store
from support.s3_store import missing as missing_store
from support.sample_farm import report_sites
from support.upstream import Upstream
from support.wheels import Wheel

REFERENCE = ROOT / "docs" / "reference"
RULES = REFERENCE / "prometheus-rules.yml"
END_H = 2  # past the longest `for`, of which a day counts as an hour here
DAY_S = 86_400
MAX_MIN_FREE_MIB = 1024 * 1024

# What a registry of two nodes that is well shows at each minute, as promtool writes series.
NOT_READY = ("draining", "no_tree", "disk_full", "not_writable", "publish_fails", "publish_lags", "pages_behind", "node_stopped", "reading_only",
             "clock_differs", "store_of_another", "newer_catalog")
WELL = {
    'up{job="wheelyard"}': "1", **{f'wheelyard_not_ready{{reason="{reason}"}}': "0" for reason in NOT_READY},
    "wheelyard_scrub_faults_total": "2", "wheelyard_publish_damaged_pages": "0",
    "wheelyard_last_scrub_timestamp_seconds": f"{(END_H - 5) * 3600}", "wheelyard_last_backup_timestamp_seconds": f"{(END_H - 5) * 3600}",
    "wheelyard_store_reserve": "1", "wheelyard_store_free_bytes": "9000000000", "wheelyard_store_min_free_bytes": "2000000000",
    "wheelyard_publish_root_lag_seconds": "2", 'wheelyard_requests_total{status="500"}': "7", 'wheelyard_requests_total{status="200"}': "0+60",
    "wheelyard_uploads_in_progress": "3", "wheelyard_max_uploads": "64", "wheelyard_connections": "40", "wheelyard_max_connections": "10000",
    'wheelyard_index_bytes{index="main"}': "80", 'wheelyard_index_quota_bytes{index="main"}': "100", 'wheelyard_index_files{index="main"}': "8",
    'wheelyard_index_quota_files{index="main"}': "10", "wheelyard_s3_request_failures_total": "5", 'wheelyard_site_late{index="main",site="bede"}': "0",
    "wheelyard_upstream_page_requests_total": "0+10", "wheelyard_upstream_page_failures_total": "0+1", "wheelyard_upstream_alarms_total": "1",
    'wheelyard_node_writer{instance="a"}': "1", 'wheelyard_node_writer{instance="b"}': "0", "wheelyard_node_file_differs": "0",
    "wheelyard_node_lapses_total": "3", "wheelyard_node_lost_histories_total": "1",
}
GROWS = f"5x{END_H * 60 - 3} 6 7 8 9 9"  # at the end
# What differs where the registry is broken as the rule says.
BROKEN = {
    "WheelyardDown": {'up{job="wheelyard"}': "0"},
    **{f"Wheelyard{name}": {f'wheelyard_not_ready{{reason="{reason}"}}': "1"} for name, reason in zip(
        ("Draining", "TreeMissing", "DiskFull", "NotWritable", "PublishFails", "PublishLags", "PagesBehind", "NodeStopped", "ReadingOnly",
         "ClockDiffers", "StoreOfAnother", "NewerCatalog"), NOT_READY)},
    "WheelyardDamagedFiles": {"wheelyard_scrub_faults_total": GROWS},
    "WheelyardScrubOld": {"wheelyard_last_scrub_timestamp_seconds": f"{-30 * DAY_S}"},
    "WheelyardBackupOld": {"wheelyard_last_backup_timestamp_seconds": f"{-7 * DAY_S}"},
    "WheelyardNoReserve": {"wheelyard_store_reserve": "0"},
    "WheelyardDiskFillsUp": {"wheelyard_store_free_bytes": "9000000000-4000000"},
    "WheelyardRootPagesLate": {"wheelyard_publish_root_lag_seconds": "301"},
    "WheelyardInternalErrors": {'wheelyard_requests_total{status="500"}': GROWS},
    "WheelyardUploadsAtLimit": {"wheelyard_uploads_in_progress": "64"},
    "WheelyardConnectionsAtLimit": {"wheelyard_connections": "10000"},
    "WheelyardQuotaNearlyFull": {'wheelyard_index_files{index="main"}': "9.5"},
    "WheelyardBucketFails": {"wheelyard_s3_request_failures_total": "0+1"},
    "WheelyardSiteLate": {'wheelyard_site_late{index="main",site="bede"}': "1"},
    "WheelyardUpstreamFails": {"wheelyard_upstream_page_failures_total": "0+9"},
    "WheelyardUpstreamAlarm": {"wheelyard_upstream_alarms_total": GROWS},
    "WheelyardNoWriter": {'wheelyard_node_writer{instance="a"}': "0"},
    "WheelyardTwoWriters": {'wheelyard_node_writer{instance="b"}': "1"},
    "WheelyardFilesDiffer": {"wheelyard_node_file_differs": "1"},
    "WheelyardLeaseLapses": {"wheelyard_node_lapses_total": GROWS},
    "WheelyardHistoryLost": {"wheelyard_node_lost_histories_total": GROWS},
}


def names_of_rules() -> list[str]:
    return re.findall(r"(?m)^ +- alert: (\w+)$", RULES.read_text())


def names_of_metrics() -> set[str]:
    return set(re.findall(r"(?m)^\| `(\w+)` \| [\w,]* \| (?:counter|gauge|histogram|summary) \|", (REFERENCE / "registry-monitoring.md").read_text()))


def values(shape: str) -> str:
    """promtool's notation of one value at each minute up to END_H."""
    if " " in shape:
        return shape
    return f"{shape}x{END_H * 60 + 1}"


class RulesTest(unittest.TestCase):
    def test_rules_name_metrics_of_the_table_alone_and_each_has_one_line_of_what_to_do(self):
        text = RULES.read_text()
        # What Prometheus itself has is `up`.
        used = set(re.findall(r"\b(?:wheelyard|process)_\w+", " ".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))))
        self.assertEqual(used - names_of_metrics(), set())
        self.assertEqual(len(names_of_rules()), len(re.findall(r"(?m)^ +action: \S.*\.$", text)))
        self.assertEqual(sorted(names_of_rules()), sorted(BROKEN))

    @unittest.skipIf(missing(), missing())
    def test_each_rule_fires_on_what_it_is_for_and_no_other_one_does(self):
        folder = Path(tempfile.mkdtemp(prefix="wheelyard-rules-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "rules.yml").write_text(RULES.read_text().replace("for: 1d\n", "for: 1h\n"))
        document = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": [
            {"name": broken or "well", "interval": "1m",
             "input_series": [{"series": series, "values": values(shape)} for series, shape in (WELL | BROKEN.get(broken, {})).items()],
             "promql_expr_test": [{"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": f"{END_H}h",
                                   "exp_samples": [{"labels": f'{{alertname="{broken}"}}', "value": 1}] if broken else []}]}
            for broken in ("", *BROKEN)]}
        (folder / "test.yml").write_text(json.dumps(document))  # JSON is YAML
        done = subprocess.run([which("promtool"), "test", "rules", folder / "test.yml"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


@unittest.skipIf(missing(), missing())
class RealTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-monitoring-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.rules = self.folder / "rules.yml"  # without the patience that people want
        # But for the one that extrapolates hours: what else happens on the disk of a test is not the question.
        self.rules.write_text(re.sub(r"(?m)^ +for: (?!1h).*\n", "", RULES.read_text()))

    def upload(self, farm: Farm, token: str, version: str, project: str = "six") -> int:
        return RawUpload(farm, token, Wheel(project, version).write(self.folder / "wheels")).send()[0]

    def settle(self, farm: Farm) -> None:
        for command in (("backup", self.folder / "backup"), ("verify", "--quiet")):
            done = farm.run("wheelyard-registry", *command, "--config", farm.config)
            self.assertEqual(done.returncode, 0, done.stderr)

    def fires(self, *names: str) -> None:
        self.prometheus.wait(lambda: self.prometheus.firing() == set(names), f"{names} alone")

    def test_what_is_broken_fires_its_rule_alone(self):
        farm = self.enterContext(Farm(index_settings="quota_files = 3\n"))
        token = farm.create_token()
        farm.start()
        self.assertEqual(self.upload(farm, token, "1.0"), 200)
        self.prometheus = self.enterContext(Prometheus(self.folder, self.rules, [farm.port]))
        with self.subTest("never scrubbed and saved"):
            self.fires("WheelyardBackupOld", "WheelyardScrubOld")
        with self.subTest("well"):
            self.settle(farm)
            self.fires()
        with self.subTest("the published tree is gone"):
            farm.tree.rename(farm.data / "elsewhere")
            self.fires("WheelyardTreeMissing")
            (farm.data / "elsewhere").rename(farm.tree)
            self.fires()
        with self.subTest("another program locks the catalog"):
            with contextlib.closing(sqlite3.connect(farm.data / "catalog.sqlite", isolation_level=None)) as catalog:
                catalog.execute("BEGIN IMMEDIATE")
                self.fires("WheelyardNotWritable")
            self.fires()
        with self.subTest("a page cannot be written"):
            page = farm.tree / INDEX / "simple" / "six"
            page.rename(farm.data / "six")
            page.touch()
            self.assertEqual(self.upload(farm, token, "2.0"), 503)
            self.prometheus.wait(lambda: self.prometheus.firing() & {"WheelyardPagesBehind", "WheelyardPublishFails"}, "a rule of publishing")
            self.assertEqual(len(self.prometheus.firing()), 1)
            page.unlink()
            (farm.data / "six").rename(page)
            self.fires()
        with self.subTest("a site's agent is late"):
            past = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=3)).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
            report_sites(farm, token, {"bede": {"format": "wheelyard.site/1", "site": "bede", "index": INDEX, "time": past, "next_tick": past,
                                                "cells": [], "attempts": []}})
            self.fires("WheelyardSiteLate")
            shutil.rmtree(farm.data / "sites")
        with self.subTest("a quota is nearly used"):
            farm.stop()
            farm.start()
            self.assertEqual(self.upload(farm, token, "3.0"), 200)
            self.fires("WheelyardQuotaNearlyFull")
        with self.subTest("a damaged wheel"):
            farm.stop()
            farm.index_settings = ""
            farm.write_config(farm.port)
            wheel = next(path for path in (farm.data / "blobs").rglob("*") if path.is_file() and path.stat().st_size > 500)
            wheel.chmod(0o644)
            wheel.write_bytes(wheel.read_bytes()[:-1] + b"?")
            farm.start()
            self.fires("WheelyardDamagedFiles")  # by the scrub, a minute after the start
        with self.subTest("the disk is full"):
            farm.stop()
            farm.config.write_text(farm.config.read_text().replace("min_free_mib = 1\n", f"min_free_mib = {MAX_MIN_FREE_MIB}\n"))
            farm.start()
            self.prometheus.wait(lambda: "WheelyardDiskFull" in self.prometheus.firing(), "DiskFull")
            self.assertEqual(self.prometheus.firing() - {"WheelyardDamagedFiles"}, {"WheelyardDiskFull"})
        with self.subTest("it does not run"):
            farm.kill()
            self.prometheus.wait(lambda: self.prometheus.firing() - {"WheelyardDamagedFiles"} == {"WheelyardDown"}, "Down alone")

    @unittest.skipIf(missing_store(), missing_store())
    def test_each_query_of_the_dashboard_has_a_series_and_stores_that_are_away_fire_their_rules(self):
        upstream = self.enterContext(Upstream())
        wheel = Wheel("seven")
        upstream.offer(wheel.write(self.folder / "upstream"))
        farm = self.enterContext(Farm(index_settings="quota_files = 90\nquota_mib = 90\ntoken_quota_files = 90\ntoken_quota_mib = 90\n[[index.upstream]]\n"
                                                     f'name = "public"\nurl = "{upstream.url}"\nprivate_hosts = ["127.0.0.1"]\nmax_cache_mib = 9\n'))
        store = self.enterContext(S3Store(self.folder / "store"))
        (self.folder / "bucket").mkdir()
        of_bucket = self.enterContext(Farm(folder=self.folder / "bucket", stores=store.settings("/farm")))
        nodes = Nodes("a", "b", lease_s=5)
        self.addCleanup(nodes.remove)
        farms = [farm, of_bucket, nodes["a"], nodes["b"]]
        tokens = [each.create_token() if each is not nodes["b"] else "" for each in farms]
        for each, token in zip(farms, tokens):
            each.start()
            if token:
                self.assertEqual(self.upload(each, token, "1.0"), 200)
        path = f"/{INDEX}" + farm.files("seven")[wheel.filename]["url"].removeprefix("../..")
        self.assertEqual(farm.get(path)[0], 200)
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
        report_sites(farm, tokens[0], {"bede": {"format": "wheelyard.site/1", "site": "bede", "index": INDEX, "time": now, "cells": [], "attempts": []}})
        for each in farms:
            self.settle(each)
        self.prometheus = self.enterContext(Prometheus(self.folder, self.rules, [each.port for each in farms]))
        self.fires()
        board = json.loads((REFERENCE / "grafana-dashboard.json").read_text())
        queries = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
        self.assertGreater(len(queries), 60)
        self.assertEqual({name for name in names_of_metrics() if not any(name in query for query in queries)}, set())
        for query in queries:
            real = query.replace("$__rate_interval", "10s").replace("$job", ".*").replace("$instance", ".*")
            with self.subTest(real):
                self.prometheus.wait(lambda: self.prometheus.query(real), f"a series of {real}")
        with self.subTest("the bucket is away"):
            store.kill()
            farm_of_bucket_answers = RawUpload(of_bucket, tokens[1], Wheel("six", "2.0").write(self.folder / "wheels")).send()[0]
            self.assertEqual(farm_of_bucket_answers, 503)
            self.fires("WheelyardBucketFails")
            of_bucket.kill()
        with self.subTest("the database is away"):
            nodes.server.stop()
            of_database = {"WheelyardReadingOnly", "WheelyardNodeStopped"}
            self.prometheus.wait(lambda: set() < self.prometheus.firing() - {"WheelyardDown", "WheelyardBucketFails"} <= of_database, "a rule of nodes alone")


if __name__ == "__main__":
    main()
