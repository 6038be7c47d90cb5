// Every version of the schema as the step from the one before. A step that has been released is never edited:
// add another. The document for people is docs/reference/catalog.md.
#include "lib/store/catalog/sqlite/sqlite_catalog.hpp"

#include <array>

namespace wheelyard::catalog {
namespace {

constexpr const char* version_1 = R"sql(
-- What the store holds for us. A row is added after the bytes are durable, in the transaction that first refers to them: a
-- blob without a row is an orphan, a row without a blob is damage.
CREATE TABLE blob (
    sha256             TEXT PRIMARY KEY CHECK (length(sha256) = 64),
    size_bytes         INTEGER NOT NULL CHECK (size_bytes >= 0),
    -- When the last row that referred to it went: gc's grace counts from here. 0: a row refers to it.
    unreferenced_since INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- The append-only publication log. AUTOINCREMENT: a serial is never given twice, even after a row were deleted by hand.
-- `details_json` holds the whole file row, so that a follower renders without asking back.
CREATE TABLE event (
    serial       INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT NOT NULL,
    time         INTEGER NOT NULL,  -- microseconds since 1970
    index_name   TEXT NOT NULL,
    project      TEXT NOT NULL,
    filename     TEXT NOT NULL,
    details_json TEXT NOT NULL,
    actor        TEXT NOT NULL DEFAULT '',  -- who did it …
    reason       TEXT NOT NULL DEFAULT ''   -- … and why
) STRICT;

-- A project exists from its first file on and keeps its name for good. Its status is PEP 792's.
CREATE TABLE project (
    index_name    TEXT NOT NULL,
    name          TEXT NOT NULL,  -- normalised (PEP 503)
    status        TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived', 'quarantined', 'deprecated')),
    status_reason TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (index_name, name)
) STRICT, WITHOUT ROWID;

-- What an index inherits and which names are its own. It is here and not only in the registry's configuration, so that every
-- program that renders from the catalog alone shows the same. An index without a row does neither.
CREATE TABLE index_rule (
    index_name TEXT PRIMARY KEY,
    rule_json  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Published files. UNIQUE (index_name, filename) is the promise that a name never changes its bytes: concurrent uploads of one
-- name have one winner. `added_serial` lets an identical retry wait for the event that made the file visible. The sizes of the
-- two blobs are repeated here because a page shows them of every file; a blob's size never changes, since its name is the hash
-- of its bytes. A quarantined file keeps its name and its bytes and is shown nowhere; a pinned one is never deleted.
CREATE TABLE file (
    id                  INTEGER PRIMARY KEY,  -- never leaves the database
    index_name          TEXT NOT NULL,
    project             TEXT NOT NULL,
    filename            TEXT NOT NULL,
    version             TEXT NOT NULL,
    sha256              TEXT NOT NULL REFERENCES blob (sha256),
    size_bytes          INTEGER NOT NULL CHECK (size_bytes >= 0),
    metadata_sha256     TEXT NOT NULL REFERENCES blob (sha256),
    metadata_size_bytes INTEGER NOT NULL CHECK (metadata_size_bytes >= 0),
    metadata_name       TEXT NOT NULL DEFAULT '',  -- as METADATA spells it: some clients compare it with the name that they asked for
    requires_python     TEXT NOT NULL,
    upload_time         INTEGER NOT NULL,
    uploaded_by         TEXT NOT NULL,
    yanked              INTEGER NOT NULL CHECK (yanked IN (0, 1)),
    yanked_reason       TEXT NOT NULL,
    state               TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'quarantined')),
    state_reason        TEXT NOT NULL DEFAULT '',
    pinned              INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    facts_json          TEXT NOT NULL,
    added_serial        INTEGER NOT NULL REFERENCES event (serial),
    UNIQUE (index_name, filename),
    FOREIGN KEY (index_name, project) REFERENCES project (index_name, name)
) STRICT;
CREATE INDEX file_by_project ON file (index_name, project);
CREATE INDEX file_by_uploader ON file (index_name, uploaded_by, size_bytes);  -- for quotas: no row is read
CREATE INDEX file_by_sha256 ON file (sha256);                    -- for gc: is this blob still referred to?
CREATE INDEX file_by_metadata_sha256 ON file (metadata_sha256);

-- Names of deleted files: never used again (a lock file somewhere may hold the old hash).
CREATE TABLE tombstone (
    index_name TEXT NOT NULL,
    filename   TEXT NOT NULL,
    sha256     TEXT NOT NULL,
    time       INTEGER NOT NULL,
    PRIMARY KEY (index_name, filename)
) STRICT, WITHOUT ROWID;

-- Who may do what. Only the hash of a secret is kept. Revoked tokens stay, so that old log lines can be explained.
CREATE TABLE token (
    id            TEXT PRIMARY KEY,
    secret_sha256 TEXT NOT NULL CHECK (length(secret_sha256) = 64),
    name          TEXT NOT NULL,
    indexes_json  TEXT NOT NULL,
    projects_json TEXT NOT NULL,
    actions_json  TEXT NOT NULL,
    created       INTEGER NOT NULL,
    expires       INTEGER NOT NULL,  -- 0: never
    revoked       INTEGER NOT NULL CHECK (revoked IN (0, 1))
) STRICT, WITHOUT ROWID;
)sql";

constexpr const char* version_2 = R"sql(
-- What made a wheel ("wheelyard.provenance/1"): a blob beside the wheel's, from the upload itself. NULL: none was sent.
ALTER TABLE file ADD COLUMN provenance_sha256 TEXT REFERENCES blob (sha256);
ALTER TABLE file ADD COLUMN provenance_size_bytes INTEGER NOT NULL DEFAULT 0 CHECK (provenance_size_bytes >= 0);
CREATE INDEX file_by_provenance_sha256 ON file (provenance_sha256);

-- Who created and who revoked a token: tokens' names, or local:USER. Empty for tokens of version 1.
ALTER TABLE token ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
ALTER TABLE token ADD COLUMN revoked_by TEXT NOT NULL DEFAULT '';
ALTER TABLE token ADD COLUMN revoked_at INTEGER NOT NULL DEFAULT 0;
)sql";

constexpr const char* version_3 = R"sql(
-- A rule may say "read":"token" (private). Programs of version 2 do not know that word and would publish the files of such
-- an index for everyone: this version makes them refuse the catalog. The tables do not change.
)sql";

constexpr const char* version_4 = R"sql(
-- 1: a fetched copy that was given back (max_cache_mib). Its name may come again, with these bytes only.
ALTER TABLE tombstone ADD COLUMN may_return INTEGER NOT NULL DEFAULT 0 CHECK (may_return IN (0, 1));
CREATE INDEX tombstone_that_may_return ON tombstone (sha256) WHERE may_return = 1;  -- for the removal of their blobs
)sql";

constexpr const char* version_5 = R"sql(
-- The registry's indexes as they are in force: the keys of their [[index]] tables (docs/reference/registry-config.md), and
-- whether the configuration file or commands decided them last. One row; none before the first start.
CREATE TABLE index_list (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    json     TEXT NOT NULL
) STRICT;
)sql";

constexpr const char* version_6 = R"sql(
-- The number of changes: each transaction that changes anything, tokens and rules too, raises it. A reader that finds the
-- number it had knows everything already.
CREATE TABLE change_count (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    count    INTEGER NOT NULL
) STRICT;
INSERT INTO change_count VALUES (1, 0);
)sql";

constexpr const char* version_7 = R"sql(
-- Uploaded attestations (PEP 740): a blob beside the wheel's. NULL: none was sent.
ALTER TABLE file ADD COLUMN attestations_sha256 TEXT REFERENCES blob (sha256);
ALTER TABLE file ADD COLUMN attestations_size_bytes INTEGER NOT NULL DEFAULT 0 CHECK (attestations_size_bytes >= 0);
CREATE INDEX file_by_attestations_sha256 ON file (attestations_sha256) WHERE attestations_sha256 IS NOT NULL;
)sql";

constexpr const char* version_8 = R"sql(
-- Which registry this is. The store of the wheels has it too (registry.json), so that no other catalog's gc takes them away.
CREATE TABLE registry (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    id       TEXT NOT NULL
) STRICT;
INSERT INTO registry VALUES (1, lower(hex(randomblob(16))));
)sql";

constexpr const char* version_9 = R"sql(
-- For an upload's question whether a file is there in another spelling. Equal versions (PEP 440) differ in ".0" at the
-- release's end alone, so that they have one place here; others may share it.
CREATE INDEX file_by_version ON file (index_name, project, replace(version, '.0', ''));
DROP INDEX file_by_project;  -- the other one begins with its columns
-- Marks of what only an upstream has: `name` is a file's, or "six==1.17.0" for a version. An older program that goes on with
-- the catalog shows these files.
CREATE TABLE upstream_mark (
    index_name    TEXT NOT NULL,
    project       TEXT NOT NULL,
    name          TEXT NOT NULL,
    yanked        INTEGER NOT NULL CHECK (yanked IN (0, 1)),
    yanked_reason TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN ('active', 'quarantined')),
    state_reason  TEXT NOT NULL,
    PRIMARY KEY (index_name, project, name)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::array steps{version_1, version_2, version_3, version_4, version_5,
                           version_6, version_7, version_8, version_9};

}  // namespace

std::span<const char* const> schema_steps() {
    return steps;
}

}  // namespace wheelyard::catalog
