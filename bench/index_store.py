"""A store of many projects for the benches of the index: a catalog filled by SQL, and blobs. Either each file has two blobs
of its own, as in real use, or each project has one blob that its ten files share: then a blob's folder has as many names in
a large tree as in a small one, and a store of a million files takes a minute to create."""

import gzip
import hashlib
import json
import pathlib
import sqlite3
import subprocess

INDEX = "main"
EPOCH_US = 1_795_176_000_000_000
FILES_PER_PROJECT = 10


# Those of a public index. Made-up ones, such as project-7, have few words and few beginnings: a search of them has some forty
# files, of real ones some thousand.
NAMES = gzip.open(pathlib.Path(__file__).parent.parent / "tests/indexer/web/data/names-10000.txt.gz", "rt").read().split()


def project_name(number: int) -> str:
    """The 10,000 names, then each after another one: a-b, with every a after the same distance."""
    turn, at = divmod(number, len(NAMES))
    return NAMES[at] if turn == 0 else f"{NAMES[at]}-{NAMES[(at + 37 * turn) % len(NAMES)]}"[:100].rstrip("-")


def file_name(project: int, version: int) -> str:
    return f"{project_name(project).replace('-', '_')}-1.{version}.0-cp312-cp312-linux_aarch64.whl"


class Store:
    def __init__(self, folder: pathlib.Path, bin_folder: pathlib.Path, projects: int, shares_blobs: bool = True):
        self.folder = folder
        self.projects = projects
        self.shares_blobs = shares_blobs
        blobs = projects if shares_blobs else projects * FILES_PER_PROJECT
        folder.mkdir(parents=True)
        (folder / "registry.toml").write_text(
            f'config_version = 1\n[store]\ndirectory = "data"\n[[index]]\nname = "{INDEX}"\n')
        # Creates the catalog with its schema.
        subprocess.run([bin_folder / "wheelyard-registry", "token", "create", "-c", folder / "registry.toml", "--name", "bench",
                        "--index", INDEX], check=True, stdout=subprocess.DEVNULL)
        self.data = folder / "data"
        self.wheels = [self.blob(f"wheel {number}".encode() * 20) for number in range(blobs)]
        self.metadata = [self.blob(f"Metadata-Version: 2.1\nName: p\nVersion: {number}\nSummary: A library for {NAMES[number % len(NAMES)]}\n".encode())
                         for number in range(blobs)]
        self.catalog = sqlite3.connect(self.data / "catalog.sqlite", isolation_level=None)
        self.catalog.execute("BEGIN")
        self.catalog.executemany("INSERT INTO blob (sha256, size_bytes) VALUES (?, ?)", set(self.wheels + self.metadata))
        self.catalog.executemany("INSERT INTO project (index_name, name) VALUES (?, ?)",
                                 ((INDEX, project_name(number)) for number in range(projects)))
        for number in range(projects):
            for version in range(FILES_PER_PROJECT):
                self.insert(number, version)
        self.catalog.execute("COMMIT")
        # All of it is one transaction in the WAL, as large as the catalog. A registry's WAL is a few MB (SQLite checkpoints it
        # every thousand pages) and empty after a stop.
        self.catalog.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def blob(self, data: bytes) -> tuple[str, int]:
        sha256 = hashlib.sha256(data).hexdigest()
        path = self.data / "blobs" / "sha256" / sha256[:2] / sha256
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o444)
        return sha256, len(data)

    def insert(self, project: int, version: int, name: str | None = None) -> None:
        """Commits a file as an upload does."""
        number = project * (7 if self.shares_blobs else FILES_PER_PROJECT) + version
        wheel, size = self.wheels[number % len(self.wheels)]
        metadata, metadata_size = self.metadata[(project + version if self.shares_blobs else number) % len(self.metadata)]
        row = {"index": INDEX, "project": name or project_name(project), "filename": file_name(project, version),
               "version": f"1.{version}.0", "sha256": wheel, "metadata_sha256": metadata, "requires_python": ">=3.9",
               "upload_time": EPOCH_US + version, "uploaded_by": "bench", "yanked": False, "yanked_reason": "", "facts": {}}
        details = json.dumps({"format": "wheelyard.file/1", **row, "size_bytes": size, "metadata_size_bytes": metadata_size})
        serial = self.catalog.execute(
            "INSERT INTO event (kind, time, index_name, project, filename, details_json) VALUES ('file_added', ?, ?, ?, ?, ?)",
            (row["upload_time"], INDEX, row["project"], row["filename"], details)).lastrowid
        self.catalog.execute(
            "INSERT INTO file (index_name, project, filename, version, sha256, metadata_sha256, requires_python, upload_time, "
            "uploaded_by, yanked, yanked_reason, facts_json, added_serial, size_bytes, metadata_size_bytes) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'bench', 0, '', '{}', ?, ?, ?)",
            (INDEX, row["project"], row["filename"], row["version"], wheel, metadata, row["requires_python"], row["upload_time"],
             serial, size, metadata_size))

    def add(self, project: int, version: int, new_name: str | None = None) -> None:
        self.catalog.execute("BEGIN")
        if new_name:
            self.catalog.execute("INSERT INTO project (index_name, name) VALUES (?, ?)", (INDEX, new_name))
        self.insert(project, version, new_name)
        self.catalog.execute("COMMIT")
