#include "lib/store/nodes/postgres/postgres_board.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "lib/io/json.hpp"
#include "lib/store/engine/postgres/postgres.hpp"
#include "lib/store/nodes/limits.hpp"

namespace wheelyard::nodes {
namespace {

using postgres::Database;

constexpr std::int64_t writer_key = 0x57595752;  // "WYWR"
// Below the rest of a lease after a renewal, and below writer_idle_ms less its margin.
constexpr postgres::Deadlines deadlines{.connect_s = 2, .statement_ms = 2'000};

// Which database this is: another number after a failover or a restore. "7577…/00000002".
#define WHEELYARD_TIMELINE                                          \
    "(SELECT system_identifier::text FROM pg_control_system()) || " \
    "'/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"

constexpr std::array schema{
    "CREATE TABLE node ("
    "id TEXT PRIMARY KEY, name TEXT NOT NULL, address TEXT NOT NULL, lease_until TIMESTAMPTZ NOT NULL, "
    "visible_serial BIGINT NOT NULL, is_writer SMALLINT NOT NULL);"
    // In which database a writer last waited until all leases had ended. Nobody has one yet.
    "CREATE TABLE writer_timeline (only_row SMALLINT PRIMARY KEY CHECK (only_row = 1), timeline TEXT NOT "
    "NULL);"
    "INSERT INTO writer_timeline VALUES (1, " WHEELYARD_TIMELINE ")",
    "ALTER TABLE node ADD COLUMN place TEXT NOT NULL DEFAULT '', ADD COLUMN settings TEXT NOT NULL DEFAULT "
    "'', ADD COLUMN lost BIGINT NOT NULL DEFAULT 0;"
    // Of older programs: lifecycle/store_identity.hpp has taken its place.
    "CREATE TABLE blob_mark (only_row SMALLINT PRIMARY KEY CHECK (only_row = 1), mark TEXT NOT NULL);"
    "INSERT INTO blob_mark VALUES (1, '')",
};

// One statement, so one commit, which is durable (the connection sees to it): a renewal that a crash forgets
// would let the writer stop waiting too early.
constexpr const char* renewal =
    "WITH here AS (SELECT " WHEELYARD_TIMELINE
    " AS timeline), "
    "old AS (SELECT lease_until > clock_timestamp() AS is_live FROM node WHERE id = ?), "
    "written AS (INSERT INTO node (id, name, address, lease_until, visible_serial, is_writer, place, "
    "settings, lost) SELECT ?::text, ?::text, ?::text, clock_timestamp() + ?::bigint * interval '1 "
    "millisecond', "
    "CASE WHEN timeline = ?::text THEN ?::bigint ELSE 0 END, ?::smallint, ?::text, ?::text, ?::bigint FROM "
    "here "
    "ON CONFLICT (id) DO UPDATE SET name = excluded.name, address = excluded.address, lease_until = "
    "excluded.lease_until, visible_serial = excluded.visible_serial, is_writer = excluded.is_writer, "
    "place = excluded.place, settings = excluded.settings, lost = excluded.lost RETURNING 1), "
    "others AS (SELECT coalesce(max(visible_serial), -1) AS most, coalesce(min(lost), -1) AS least FROM node "
    "WHERE lease_until > clock_timestamp() AND id <> ?::text) "
    "SELECT coalesce((SELECT is_live FROM old), false), here.timeline, writer.id IS NOT NULL, "
    "writer.id, writer.name, writer.address, others.most, others.least, "
    "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM here CROSS JOIN written CROSS "
    "JOIN "
    "others LEFT JOIN LATERAL "
    "(SELECT id, name, address FROM node WHERE is_writer = 1 AND lease_until > clock_timestamp() AND id <> "
    "?::text "
    "ORDER BY lease_until DESC LIMIT 1) AS writer ON true";

io::Json json_of(const SharedSettings& settings) {
    io::Json json = io::Json::object();
    for (const auto& [name, value] : settings)
        json.set(name, value);
    return json;
}

// Settings, and the digests of tables as one more member, which programs before them skip.
std::string text_of(const NodeRow& row) {
    io::Json json = json_of(row.settings);
    json.set("tables", json_of(row.tables));
    return json.render();
}

// Empty where an older program wrote none.
SharedSettings settings_of(const io::Json* json) {
    SharedSettings settings;
    if (json == nullptr || json->as_object() == nullptr) return settings;
    for (const auto& [name, value] : *json->as_object()) {
        if (const std::string* known = value.as_string()) settings[name] = *known;
    }
    return settings;
}

class PostgresBoard final : public NodeBoard {
  public:
    explicit PostgresBoard(Database database) : database_(std::move(database)) {}

    [[nodiscard]] base::Result<Renewed> renew(const NodeRow& row, std::int64_t lease_ms) override {
        WHEELYARD_ASSIGN(auto query,
                         database_.prepare(renewal, row.id, row.id, row.name, row.address, lease_ms,
                                           row.timeline, row.visible, std::int64_t{row.is_writer ? 1 : 0},
                                           row.place, text_of(row), row.lost, row.id, row.id));
        WHEELYARD_ASSIGN(const bool has_row, query.step());
        if (!has_row) return base::fail("node.not_renewed", "The row of this node was not written", row.name);
        Renewed renewed{
            .was_live = query.integer(0) != 0, .timeline = query.text(1), .time = query.integer(8)};
        if (query.integer(2) != 0) renewed.writer = WritingNode{query.text(3), query.text(4), query.text(5)};
        if (query.integer(6) >= 0) renewed.most_visible = query.integer(6);
        if (query.integer(7) >= 0) renewed.least_lost = query.integer(7);
        return renewed;
    }

    [[nodiscard]] base::Status leave(const std::string& id) override {
        return database_.run("DELETE FROM node WHERE id = ?", id);
    }

    [[nodiscard]] base::Result<Serial> lowest_visible(const std::string& timeline) override {
        return database_.integer(
            "SELECT CASE WHEN ?::text IN ('', " WHEELYARD_TIMELINE
            ") THEN (SELECT coalesce(min(visible_serial), ?::bigint) FROM node WHERE lease_until > "
            "clock_timestamp()) ELSE 0 END",
            timeline, none_is_live);
    }

    [[nodiscard]] base::Result<std::vector<SeenNode>> nodes() override {
        WHEELYARD_ASSIGN(
            auto query,
            database_.prepare(
                "SELECT id, name, address, visible_serial, is_writer, (extract(epoch FROM lease_until - "
                "clock_timestamp()) * 1000)::bigint, place, settings, lost FROM node WHERE lease_until > "
                "clock_timestamp() "
                "ORDER BY name COLLATE \"C\", id COLLATE \"C\""));
        std::vector<SeenNode> seen;
        while (true) {
            WHEELYARD_ASSIGN(const bool has_row, query.step());
            if (!has_row) return seen;
            const io::Json shared = io::parse_json(query.view(7)).value_or(io::Json());
            seen.push_back({{.id = query.text(0),
                             .name = query.text(1),
                             .address = query.text(2),
                             .visible = query.integer(3),
                             .is_writer = query.integer(4) != 0,
                             .place = query.text(6),
                             .settings = settings_of(&shared),
                             .tables = settings_of(shared.find("tables")),
                             .lost = query.integer(8)},
                            query.integer(5)});
        }
    }

  private:
    const Database database_;
};

class PostgresLock final : public WriterLock {
  public:
    explicit PostgresLock(postgres::Target target) : target_(std::move(target)) {}

    [[nodiscard]] base::Result<Kept> take_or_keep() override {
        auto kept = try_to();
        if (!kept) {  // another session may get it: this one is over
            session_.reset();
            is_held_ = false;
        }
        return kept;
    }
    [[nodiscard]] base::Status note_waited() override {
        if (!session_) return base::fail("node.no_session", "The session of the writer's lock is over");
        return session_->run("UPDATE writer_timeline SET timeline = " WHEELYARD_TIMELINE);
    }
    [[nodiscard]] base::Status release() override {
        is_held_ = false;
        if (!session_) return {};
        const base::Status released = session_->run("SELECT pg_advisory_unlock(?::bigint)", writer_key);
        session_.reset();
        return released;
    }

  private:
    [[nodiscard]] base::Result<Kept> try_to() {
        if (!session_) {
            WHEELYARD_ASSIGN(auto opened, Database::open(target_, Database::Mode::one_session, deadlines));
            WHEELYARD_TRY(opened.run_script("SET idle_session_timeout = " + std::to_string(writer_idle_ms)));
            session_.emplace(std::move(opened));
        }
        if (!is_held_) {
            // The lock of a standby is its own.
            WHEELYARD_ASSIGN(
                const std::int64_t taken,
                session_->integer("SELECT NOT pg_is_in_recovery() AND pg_try_advisory_lock(?::bigint)",
                                  writer_key));
            is_held_ = taken != 0;
        }
        if (!is_held_) return Kept{};
        WHEELYARD_ASSIGN(
            const std::int64_t is_same,
            session_->integer("SELECT count(*) FROM writer_timeline WHERE NOT pg_is_in_recovery() AND "
                              "timeline = " WHEELYARD_TIMELINE));
        return Kept{.is_held = true, .is_after_failover = is_same == 0};
    }

    const postgres::Target target_;
    std::optional<Database> session_;
    bool is_held_ = false;
};

base::Result<Database> open_with_tables(const postgres::Target& target, Database::Mode mode) {
    WHEELYARD_ASSIGN(Database database, Database::open(target, mode, deadlines));
    WHEELYARD_TRY(postgres::migrate(database, "nodes", {.steps = schema}));
    return database;
}

#undef WHEELYARD_TIMELINE

}  // namespace

base::Result<std::unique_ptr<NodeBoard>> open_postgres_board(const postgres::Target& target) {
    WHEELYARD_ASSIGN(Database database, open_with_tables(target, Database::Mode::read_write));
    WHEELYARD_TRY(database.run("DELETE FROM node WHERE lease_until < clock_timestamp() - interval '1 hour'"));
    return std::make_unique<PostgresBoard>(std::move(database));
}

base::Result<std::unique_ptr<WriterLock>> open_postgres_lock(const postgres::Target& target) {
    WHEELYARD_TRY(open_with_tables(target, Database::Mode::one_session));
    return std::make_unique<PostgresLock>(target);
}

}  // namespace wheelyard::nodes
