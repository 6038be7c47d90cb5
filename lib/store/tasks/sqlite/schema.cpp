// A step that has been released is never edited: add another. For people: docs/reference/task.md.
#include "lib/store/tasks/sqlite/sqlite_tasks.hpp"

#include <array>

namespace wheelyard::tasks {
namespace {

constexpr const char* version_1 = R"sql(
-- What was asked for. `number` is the order of the queue and never leaves the database.
CREATE TABLE task (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE,
    index_name   TEXT NOT NULL,
    package      TEXT NOT NULL,  -- normalised (PEP 503)
    version      TEXT NOT NULL,  -- normalised (PEP 440)
    python       TEXT NOT NULL,
    accelerator  TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('queued', 'claimed', 'done', 'failed', 'cancelled')),
    reason       TEXT NOT NULL,
    asked_by     TEXT NOT NULL,
    asked        INTEGER NOT NULL,  -- microseconds since 1970
    changed      INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    outcome_json TEXT NOT NULL      -- '' before the end
) STRICT;
-- Asked for twice is one task.
CREATE UNIQUE INDEX open_task ON task (index_name, package, version, python, accelerator)
    WHERE state IN ('queued', 'claimed');
CREATE INDEX task_by_state ON task (state, number);

-- One row a claim. Leases that are over stay: a late agent gets the reason, and logs are read by attempt.
CREATE TABLE lease (
    claim         TEXT PRIMARY KEY CHECK (length(claim) = 32),
    task          TEXT NOT NULL REFERENCES task (id),
    number        INTEGER NOT NULL,  -- of this task, from 1
    agent         TEXT NOT NULL,
    token         TEXT NOT NULL,     -- the id of the token that claimed: with it the grant ends
    state         TEXT NOT NULL CHECK (state IN ('held', 'ended', 'over', 'cancelled')),
    until         INTEGER NOT NULL,
    target_index  TEXT NOT NULL,
    grant_id      TEXT NOT NULL UNIQUE,
    grant_sha256  TEXT NOT NULL CHECK (length(grant_sha256) = 64),
    used_filename TEXT NOT NULL,     -- what the grant was used for; '': nothing yet
    used_sha256   TEXT NOT NULL,
    log_bytes     INTEGER NOT NULL,
    log_pieces    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX held_lease ON lease (task) WHERE state = 'held';  -- of two agents, one wins
CREATE UNIQUE INDEX lease_by_number ON lease (task, number);

-- Pieces of logs as they came; `start` is where a piece begins.
CREATE TABLE log_piece (
    claim TEXT NOT NULL REFERENCES lease (claim),
    start INTEGER NOT NULL,
    bytes TEXT NOT NULL,  -- as the build printed them: not always UTF-8
    PRIMARY KEY (claim, start)
) STRICT;
)sql";

// SQLite changes no CHECK of a table: the rows move to a new one. No foreign key is enforced meanwhile
// (open_sqlite_tasks).
constexpr const char* version_2 = R"sql(
CREATE TABLE task_2 (
    number          INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT NOT NULL UNIQUE,
    index_name      TEXT NOT NULL,
    package         TEXT NOT NULL,  -- normalised (PEP 503)
    version         TEXT NOT NULL,  -- normalised (PEP 440)
    python          TEXT NOT NULL,
    accelerator     TEXT NOT NULL,
    source_index    TEXT NOT NULL,  -- of an uploaded source distribution; '': the source is the recipe's
    source_filename TEXT NOT NULL,
    source_sha256   TEXT NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('awaits_approval', 'queued', 'claimed', 'done', 'failed', 'cancelled')),
    reason          TEXT NOT NULL,
    asked_by        TEXT NOT NULL,
    approved_by     TEXT NOT NULL,  -- '': nobody, or no approval is needed
    asked           INTEGER NOT NULL,  -- microseconds since 1970
    changed         INTEGER NOT NULL,
    attempts        INTEGER NOT NULL,
    outcome_json    TEXT NOT NULL      -- '' before the end
) STRICT;
INSERT INTO task_2 SELECT number, id, index_name, package, version, python, accelerator, '', '', '', state, reason, asked_by, '',
    asked, changed, attempts, outcome_json FROM task;
DROP TABLE task;
ALTER TABLE task_2 RENAME TO task;
-- Asked for twice is one task.
CREATE UNIQUE INDEX open_task ON task (index_name, package, version, python, accelerator, source_sha256)
    WHERE state IN ('awaits_approval', 'queued', 'claimed');
CREATE INDEX task_by_state ON task (state, number);
)sql";

constexpr const char* version_3 = R"sql(
-- What the sites reported of their builds, and the logs of these.
CREATE TABLE build (
    index_name TEXT NOT NULL,
    site       TEXT NOT NULL,
    id         TEXT NOT NULL,     -- of the attempt
    package    TEXT NOT NULL,
    is_over    INTEGER NOT NULL,  -- 0 or 1
    changed    INTEGER NOT NULL,  -- microseconds since 1970
    document   TEXT NOT NULL,     -- wheelyard.build/1
    log_bytes  INTEGER NOT NULL,
    log_pieces INTEGER NOT NULL,
    PRIMARY KEY (index_name, site, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX build_by_time ON build (changed);
CREATE INDEX build_by_package ON build (index_name, package, changed);

-- Pieces of logs as they came; `start` is where a piece begins.
CREATE TABLE build_log (
    index_name TEXT NOT NULL,
    site       TEXT NOT NULL,
    build      TEXT NOT NULL,
    start      INTEGER NOT NULL,
    bytes      TEXT NOT NULL,  -- as the build printed them: not always UTF-8
    PRIMARY KEY (index_name, site, build, start)
) STRICT;
)sql";

constexpr const char* version_4 = R"sql(
-- A task's log is that of its build. What agents sent to a task becomes the log of a build of their site,
-- unless that build has one.
CREATE TABLE sent AS SELECT lease.claim AS claim, task.index_name AS index_name, coalesce(nullif(CASE WHEN lease.state = 'ended' AND
    length(CAST(json_extract(task.outcome, '$.site') AS BLOB)) < 100 THEN json_extract(task.outcome, '$.site') END, ''),
    nullif(rtrim(rtrim(lease.agent, replace(lease.agent, '.', '')), '.'), ''), lease.agent) AS site,
    coalesce(nullif(CASE WHEN lease.state = 'ended' AND length(CAST(json_extract(task.outcome, '$.attempt') AS BLOB)) < 100
    THEN json_extract(task.outcome, '$.attempt') END, ''), 'claim-' || substr(lease.claim, 1, 12)) AS id,
    task.package AS package, task.version AS version, task.python AS python, task.accelerator AS accelerator,
    CASE WHEN lease.state = 'ended' THEN task.state ELSE 'ended' END AS state, task.asked AS asked, task.changed AS changed,
    lease.log_bytes AS log_bytes, lease.log_pieces AS log_pieces
    FROM lease JOIN (SELECT *, CASE WHEN json_valid(outcome_json) THEN outcome_json END AS outcome FROM task) AS task
    ON task.id = lease.task WHERE lease.log_bytes > 0;
DELETE FROM sent WHERE EXISTS (SELECT 1 FROM sent AS other WHERE other.index_name = sent.index_name AND other.site = sent.site
    AND other.id = sent.id AND other.claim > sent.claim);
INSERT INTO build (index_name, site, id, package, is_over, changed, document, log_bytes, log_pieces)
    SELECT index_name, site, id, package, 1, changed, json_object(
        'format', 'wheelyard.build/1', 'site', site, 'index', index_name, 'id', id, 'package', package, 'version', version,
        'python', python, 'accelerator', accelerator, 'state', state,
        'began', strftime('%Y-%m-%dT%H:%M:%SZ', asked / 1000000 + 1, 'unixepoch'), 'ended', strftime('%Y-%m-%dT%H:%M:%SZ', changed / 1000000 + 1, 'unixepoch')), 0, 0
    FROM sent WHERE true ON CONFLICT DO NOTHING;
INSERT INTO build_log (index_name, site, build, start, bytes)
    SELECT sent.index_name, sent.site, sent.id, log_piece.start, log_piece.bytes
    FROM log_piece JOIN sent ON sent.claim = log_piece.claim
    JOIN build ON build.index_name = sent.index_name AND build.site = sent.site AND build.id = sent.id
    WHERE build.log_bytes = 0;
UPDATE build SET log_bytes = sent.log_bytes, log_pieces = sent.log_pieces FROM sent
    WHERE build.index_name = sent.index_name AND build.site = sent.site AND build.id = sent.id AND build.log_bytes = 0;
DROP TABLE sent;
DROP TABLE log_piece;
ALTER TABLE lease DROP COLUMN log_bytes;
ALTER TABLE lease DROP COLUMN log_pieces;
)sql";

constexpr const char* version_5 = R"sql(
-- A site takes a task by one statement; what a claim kept lies with its task.
ALTER TABLE task ADD COLUMN agent TEXT NOT NULL DEFAULT '';  -- of the site that has it, or had it last
ALTER TABLE task ADD COLUMN token TEXT NOT NULL DEFAULT '';  -- of the site that asked last: TaskRow::holder
ALTER TABLE task ADD COLUMN lease_until INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN used_filename TEXT NOT NULL DEFAULT '';  -- the file that was uploaded for it; '': none yet
ALTER TABLE task ADD COLUMN used_sha256 TEXT NOT NULL DEFAULT '';
UPDATE task SET agent = lease.agent, token = lease.token,
    lease_until = CASE lease.state WHEN 'held' THEN lease.until ELSE 0 END,
    used_filename = lease.used_filename, used_sha256 = lease.used_sha256
    FROM lease WHERE lease.task = task.id AND lease.number = task.attempts;
DROP TABLE lease;
)sql";

constexpr std::array steps{version_1, version_2, version_3, version_4, version_5};

}  // namespace

std::span<const char* const> schema_steps() {
    return steps;
}

}  // namespace wheelyard::tasks
