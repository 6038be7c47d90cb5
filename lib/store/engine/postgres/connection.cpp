#include "lib/store/engine/postgres/connection.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/store/engine/place.hpp"

namespace wheelyard::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::int64_t pause_after_refusal_ms = 1'000;  // a queue of changes fails at once, not one by one
constexpr std::int64_t for_the_answer_ms = 500;         // beyond the server's own timeout, which comes first
// A transaction of a writer holds the lock of all changes, and nothing but statements happens in it. One that
// was cut off gives it back within a lease of the nodes; a reader, which renders pages from a snapshot, holds
// none.
constexpr std::int64_t writer_idle_ms = 4'000, reader_idle_ms = 60'000;
constexpr const char* no_session = "The connection to the database is lost";
constexpr int oldest_server = 140'000;  // client_connection_check_interval

struct Outcome {
    std::string_view state;  // of SQLSTATE, or its class
    std::string_view code;
    std::string_view sentence;
    std::string_view advice;
    base::Recovery recovery = base::Recovery::never;
    base::ErrorKind kind = base::ErrorKind::other;
    int os_error = 0;
};
constexpr base::Recovery retry = base::Recovery::retry;
constexpr base::ErrorKind unavailable = base::ErrorKind::unavailable;
// PostgreSQL manual, appendix A. The first row that fits.
constexpr std::array outcomes{
    Outcome{"40001", "catalog.busy", "Another transaction changed the same rows", "try again", retry,
            unavailable},
    Outcome{"40P01", "catalog.busy", "Two transactions waited for each other", "try again", retry,
            unavailable},
    Outcome{"55P03", "catalog.busy", "Another process has locked the catalog", "try again", retry,
            unavailable},
    Outcome{"57014", "catalog.busy", "The database did not finish a statement in time",
            "try again; see which locks and statements are active there (pg_stat_activity)", retry,
            unavailable},
    Outcome{"53100", "catalog.disk_full", "The disk that holds the database is full", "free space on it",
            retry, base::ErrorKind::other, ENOSPC},
    Outcome{"53", "store.unreachable", "The database has no resources left",
            "look at its log; raise its limits", retry, base::ErrorKind::unreachable},
    Outcome{"23", "catalog.constraint", "A constraint of the catalog's schema failed", ""},
    Outcome{"42501", "catalog.not_writable", "The database's user may not do this",
            "grant the user its tables, or make it the database's owner"},
    Outcome{"42P01", "catalog.missing", "The database has no catalog",
            "start wheelyard-registry serve once, or check the database's name"},
    Outcome{"58", "catalog.io", "The database could not read or write its disk", "look at its log"},
    Outcome{"XX001", "catalog.corrupt", "The database is damaged", "restore it from a backup"},
    Outcome{"XX002", "catalog.corrupt", "The database is damaged", "reindex it, or restore it from a backup"},
};
// The session is over, or is one with a server that must not be written to.
constexpr std::array<std::string_view, 7> lost_states{"08",    "25P03", "57P01", "57P02",
                                                      "57P03", "57P05", "25006"};

bool ends_session(std::string_view state) {
    return std::any_of(lost_states.begin(), lost_states.end(),
                       [state](std::string_view one) { return state.starts_with(one); });
}

std::string_view field(const Libpq& library, const PGresult* result, int code) {
    const char* text = library.resultErrorField(result, code);
    return text != nullptr ? text : "";
}

std::string one_line(std::string_view text) {
    std::string line(text);
    while (!line.empty() && (line.back() == '\n' || line.back() == ' '))
        line.pop_back();
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
}

base::Result<std::string> read_password(const std::filesystem::path& file) {
    constexpr std::uint64_t max_bytes = 4'096;
    if (file.empty()) return std::string();
    WHEELYARD_ASSIGN(const std::string text, base::read_file(file, max_bytes));
    return text.substr(0, text.find_first_of("\r\n"));
}

int remaining_ms(steady_clock::time_point end) {
    const auto left = std::chrono::ceil<milliseconds>(end - steady_clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

steady_clock::time_point after_ms(std::int64_t duration_ms) {
    return steady_clock::now() + milliseconds(duration_ms);
}

}  // namespace

std::string Connection::newest_message() const {
    std::string text = one_line(library_.errorMessage(connection_));
    return password_.empty() ? text : base::replace_all(std::move(text), password_, "…");
}

void Connection::give_up() noexcept {
    if (connection_ != nullptr) library_.finish(connection_);
    connection_ = nullptr;
    in_transaction_ = false;
    deferred_.clear();
    listens_to_.clear();
}

base::Status Connection::connect() {
    if (connection_ != nullptr) return {};
    if (refused_ && steady_clock::now() < refused_until_) return base::fail(*refused_);
    auto opened = open_session();
    if (!opened) {
        give_up();
        refused_ = opened.error();
        refused_until_ = after_ms(pause_after_refusal_ms);
        return opened;
    }
    refused_.reset();
    ++sessions_;
    return {};
}

// libpq takes the first host that accepts writes, and goes on to the next one after a refusal and a timeout.
// It does not where a host accepts and closes, as a forwarder without a server does, nor where it is an old
// primary.
base::Status Connection::open_session() {
    WHEELYARD_ASSIGN(password_, read_password(target_.password_file));
    const Time timed_out = after_ms(deadlines_.connect_s * 1'000);
    std::vector<Host> each;
    const base::Status opened = open_at({}, &each);
    const bool is_hidden =
        !opened && opened.error().kind == base::ErrorKind::unreachable && steady_clock::now() < timed_out;
    if (!is_hidden || each.size() < 2) return opened;
    for (const Host& host : each) {
        give_up();
        if (open_at(host)) return {};
    }
    return opened;
}

std::vector<Connection::Host> Connection::hosts() const {
    std::map<std::string_view, std::string> lists{{"host", {}}, {"hostaddr", {}}, {"port", {}}};
    PQconninfoOption* const options = library_.conninfo(connection_);
    for (const PQconninfoOption* option = options; option != nullptr && option->keyword != nullptr;
         ++option) {
        const auto list = lists.find(option->keyword);
        if (list != lists.end() && option->val != nullptr) list->second = option->val;
    }
    library_.conninfoFree(options);
    const auto names = base::split(lists["host"], ',');
    const auto addresses = base::split(lists["hostaddr"], ',');
    const auto ports = base::split(lists["port"], ',');
    // One port is that of all hosts.
    const auto at = [](const std::vector<std::string_view>& list, std::size_t i) {
        return std::string(list.size() == 1 ? list[0] : i < list.size() ? list[i] : std::string_view());
    };
    std::vector<Host> all;
    for (std::size_t i = 0; i < std::max(names.size(), addresses.size()); ++i)
        all.push_back({at(names, i), at(addresses, i), at(ports, i)});
    return all;
}

base::Status Connection::open_at(const Host& host, std::vector<Host>* all) {
    const std::string connect_timeout = std::to_string(deadlines_.connect_s);
    // What the URL says replaces what is before it. A cut network ends this side's wait: unsent bytes by
    // tcp_user_timeout, a wait for an answer by keepalives.
    std::vector<const char*> names{"connect_timeout",     "tcp_user_timeout", "keepalives_idle",
                                   "keepalives_interval", "keepalives_count", "target_session_attrs",
                                   "application_name",    "client_encoding",  "dbname"};
    std::vector<const char*> values{
        connect_timeout.c_str(), "5000", "5", "2", "3", "read-write", "wheelyard-registry", "UTF8",
        target_.url.c_str()};
    const auto add = [&](const char* name, const std::string& value) {
        if (value.empty()) return;
        names.push_back(name);
        values.push_back(value.c_str());
    };
    add("host", host.name);
    add("hostaddr", host.address);
    add("port", host.port);
    add("password", password_);
    names.push_back(nullptr);
    values.push_back(nullptr);
    connection_ = library_.connectdbParams(names.data(), values.data(), 1);
    if (connection_ != nullptr && all != nullptr) *all = hosts();
    if (connection_ == nullptr || library_.status(connection_) != CONNECTION_OK)
        return fail_lost(connection_ == nullptr ? "no memory" : newest_message());
    library_.setNoticeReceiver(
        connection_, [](void*, const PGresult*) {}, nullptr);  // not to standard error
    const int version = library_.serverVersion(connection_);
    if (version < oldest_server)
        return base::fail("store.old_server", "This PostgreSQL is older than version 14",
                          std::to_string(version / 10'000), "upgrade it");
    library_.setnonblocking(connection_, 1);
    const bool is_reader = mode_ == Database::Mode::read_only;
    // The server ends what we no longer wait for, but a COMMIT that waits for a standby; its times are
    // shorter than ours, so that a lost session holds no lock when the next one begins. Not by the option
    // "options": PgBouncer refuses it.
    std::string settings =
        "SET statement_timeout = " + std::to_string(deadlines_.statement_ms) +
        "; SET client_connection_check_interval = 2000; SET idle_in_transaction_session_timeout = " +
        std::to_string(is_reader ? reader_idle_ms : writer_idle_ms) +
        "; SET tcp_user_timeout = 4000; SET tcp_keepalives_idle = 2; SET tcp_keepalives_interval = 1; SET "
        "tcp_keepalives_count = 2";
    if (is_reader) settings += "; SET default_transaction_read_only = on";
    // Where a site turned it off, the server reports commits that a crash forgets.
    settings +=
        "; SELECT set_config('synchronous_commit', 'on', false) "
        "WHERE current_setting('synchronous_commit') = 'off'";
    // A standby has no place in the log that it writes. A pool gives its clients numbers of its own.
    settings +=
        "; SELECT system_identifier, CASE WHEN pg_is_in_recovery() THEN '' ELSE "
        "substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END, pg_backend_pid() FROM pg_control_system()";
    WHEELYARD_ASSIGN(const auto answer, ask(settings, {}));
    return check_server(*answer);
}

base::Status Connection::check_server(const Rows& rows) const {
    const std::string system = library_.getvalue(rows.result, 0, 0);
    const std::string timeline = library_.getvalue(rows.result, 0, 1);
    const std::string backend = library_.getvalue(rows.result, 0, 2);
    if (backend != std::to_string(library_.backendPID(connection_)))
        return base::fail(
            "store.pooled", "A connection pool stands before the database",
            "it gives one session, with its settings and the writer's lock, to several programs",
            "let [stores] database name the server itself, not PgBouncer");
    if (timeline.empty()) return {};
    const std::string newer = Timelines::of_process().newer_than(system, timeline);
    if (newer.empty()) return {};
    return base::fail_as(
        base::ErrorKind::unreachable, retry,
        {"store.old_primary", "This database server was replaced in a failover, and still takes writes",
         "its timeline is " + timeline + ", that of the new primary " + newer,
         "stop it, or make it a standby of the new primary; if it was restored on purpose, restart "
         "the registry"});
}

std::int64_t Connection::set_deadline(std::int64_t statement_ms) {
    const std::int64_t before_ms = std::exchange(deadlines_.statement_ms, statement_ms);
    if (connection_ != nullptr)  // a failure ends the connection, which the next statement reports
        static_cast<void>(ask("SET statement_timeout = " + std::to_string(statement_ms), {}));
    return before_ms;
}

tl::unexpected<base::Error> Connection::fail_lost(std::string reason) {
    give_up();
    return base::fail_as(base::ErrorKind::unreachable, retry,
                         {"store.unreachable", "The database cannot be reached", std::move(reason),
                          "check that PostgreSQL runs and answers, and [stores] database"});
}

// No cancel request: the server ends the statement itself (statement_timeout), or the cancelled COMMIT would
// be reported as durable on a standby that has not got it.
tl::unexpected<base::Error> Connection::fail_late() {
    is_late_ = true;
    return fail_lost("no answer within " + std::to_string(deadlines_.statement_ms) + " ms");
}

tl::unexpected<base::Error> Connection::fail_answer(const Rows& rows) {
    const std::string state(field(library_, rows.result, PG_DIAG_SQLSTATE));
    std::string message(field(library_, rows.result, PG_DIAG_MESSAGE_PRIMARY));
    if (message.empty()) message = newest_message();
    // Without SQLSTATE libpq itself gave up; a crash of the server ends with the end of the stream.
    if (ends_session(state) || state.empty() || library_.status(connection_) == CONNECTION_BAD)
        return fail_lost(one_line(message));
    message += " (SQLSTATE " + state + ")";
    for (const Outcome& outcome : outcomes) {
        if (state.starts_with(outcome.state))
            return base::fail({std::string(outcome.code), std::string(outcome.sentence), std::move(message),
                               std::string(outcome.advice), outcome.recovery, outcome.kind,
                               outcome.os_error});
    }
    return base::fail("catalog.failed", "PostgreSQL refused an operation", std::move(message));
}

bool Connection::wait_for(short events, Time end) const {
    pollfd waited{.fd = library_.socket(connection_), .events = events, .revents = 0};
    while (true) {
        const int ready = ::poll(&waited, 1, remaining_ms(end));
        if (ready > 0) return true;
        if (ready == 0 || errno != EINTR) return false;
    }
}

base::Status Connection::send_all(Time end) {
    while (true) {
        const int left = library_.flush(connection_);
        if (left == 0) return {};
        if (left < 0) return fail_lost(newest_message());
        // The server may send before it has read all.
        if (!wait_for(POLLIN | POLLOUT, end)) return fail_late();
        if (library_.consumeInput(connection_) == 0) return fail_lost(newest_message());
    }
}

base::Status Connection::wait_for_input(Time end) {
    while (library_.isBusy(connection_) != 0) {
        if (!wait_for(POLLIN, end)) return fail_late();
        if (library_.consumeInput(connection_) == 0) return fail_lost(newest_message());
    }
    return {};
}

// The last answer of those of several statements, or the first failed one.
base::Result<std::unique_ptr<Rows>> Connection::receive(Time end) {
    std::unique_ptr<Rows> answer;
    std::optional<base::Error> failed;
    while (true) {
        WHEELYARD_TRY(wait_for_input(end));
        PGresult* result = library_.getResult(connection_);
        if (result == nullptr) break;
        auto rows = std::make_unique<Rows>(library_, result);
        const ExecStatusType status = library_.resultStatus(result);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY) {
            if (!failed) failed = fail_answer(*rows).value();
            if (connection_ == nullptr) break;
        }
        if (!failed) answer = std::move(rows);
    }
    if (failed) return base::fail(*std::move(failed));
    if (!answer) return fail_lost("the connection ended without an answer");
    return answer;
}

base::Status Connection::send(const std::string& sql, std::span<const Value> values) {
    std::vector<const char*> bytes;
    std::vector<int> lengths;
    std::vector<int> formats;
    for (const Value& value : values) {
        bytes.push_back(value.bytes.c_str());
        lengths.push_back(static_cast<int>(value.bytes.size()));
        formats.push_back(value.is_number ? 0 : 1);
    }
    constexpr int answer_as_text = 0;
    if (library_.sendQueryParams(connection_, sql.c_str(), static_cast<int>(values.size()), nullptr,
                                 bytes.data(), lengths.data(), formats.data(), answer_as_text) == 0)
        return fail_lost(newest_message());
    return {};
}

base::Result<std::unique_ptr<Rows>> Connection::ask(const std::string& sql, std::span<const Value> values) {
    const base::Spent::Timer timer(database::spent(), 1 + deferred_.size());
    if (!deferred_.empty()) return ask_together(std::exchange(deferred_, {}), sql, values);
    const Time end = after_ms(deadlines_.statement_ms + for_the_answer_ms);
    is_late_ = false;
    if (!values.empty())
        WHEELYARD_TRY(send(sql, values));
    else if (library_.sendQuery(connection_, sql.c_str()) == 0)  // may be several statements
        return fail_lost(newest_message());
    WHEELYARD_TRY(send_all(end));
    return receive(end);
}

// Pipeline mode (PostgreSQL manual, 34.5): after a failed statement the server skips the others up to the
// sync.
base::Result<std::unique_ptr<Rows>> Connection::ask_together(const std::vector<Deferred>& deferred,
                                                             const std::string& sql,
                                                             std::span<const Value> values) {
    const Time end = after_ms(deadlines_.statement_ms + for_the_answer_ms);
    is_late_ = false;
    if (library_.enterPipelineMode(connection_) == 0) return fail_lost(newest_message());
    for (const Deferred& one : deferred)
        WHEELYARD_TRY(send(one.sql, one.values));
    WHEELYARD_TRY(send(sql, values));
    if (library_.pipelineSync(connection_) == 0) return fail_lost(newest_message());
    WHEELYARD_TRY(send_all(end));
    auto answer = receive(end);
    for (std::size_t received = 0; answer && received < deferred.size(); ++received)
        answer = receive(end);
    if (connection_ == nullptr) return answer;
    WHEELYARD_TRY(skip_to_sync(end));
    if (library_.exitPipelineMode(connection_) == 0) return fail_lost(newest_message());
    return answer;
}

base::Status Connection::skip_to_sync(Time end) {
    while (true) {
        WHEELYARD_TRY(wait_for_input(end));
        PGresult* result = library_.getResult(connection_);
        if (result == nullptr) {  // between two statements, or of a connection that has ended
            if (library_.status(connection_) == CONNECTION_BAD) return fail_lost(newest_message());
            continue;
        }
        const Rows rows(library_, result);
        if (library_.resultStatus(result) == PGRES_PIPELINE_SYNC) return {};
    }
}

base::Status Connection::execute_later(std::string sql, std::vector<Value> values) {
    constexpr std::size_t max_deferred = 200;
    if (!in_transaction_ || deferred_.size() == max_deferred) {
        WHEELYARD_TRY(execute(sql, values));
        return {};
    }
    deferred_.push_back({std::move(sql), std::move(values)});
    return {};
}

base::Result<std::unique_ptr<Rows>> Connection::execute(const std::string& sql,
                                                        std::span<const Value> values) {
    const bool is_alone = mode_ == Database::Mode::one_session || in_transaction_;
    return ask_in_session(sql, values, is_alone, sql.starts_with("SELECT"));
}

// In a session that is opened if there is none. One that was lost while it was idle, as far as anybody can
// tell, costs nothing that `is_harmless` to repeat.
base::Result<std::unique_ptr<Rows>> Connection::ask_in_session(const std::string& sql,
                                                               std::span<const Value> values,
                                                               bool must_be_this_one, bool is_harmless) {
    const bool was_connected = connection_ != nullptr;
    if (!was_connected && must_be_this_one)
        return base::fail_as(base::ErrorKind::lost, retry, {"store.unreachable", no_session});
    WHEELYARD_TRY(connect());
    auto answer = ask(sql, values);
    const bool is_lost = !answer && connection_ == nullptr && !is_late_;
    if (!is_lost || !was_connected || must_be_this_one || !is_harmless) return answer;
    WHEELYARD_TRY(connect());
    return ask(sql, values);
}

base::Status Connection::begin(const std::string& sql) {
    auto begun = ask_in_session(sql, {}, mode_ == Database::Mode::one_session, true);
    if (!begun) {
        if (connection_ != nullptr) static_cast<void>(ask("ROLLBACK", {}));
        return base::fail(std::move(begun.error()));
    }
    in_transaction_ = true;
    return {};
}

base::Status Connection::commit() {
    const bool may_ask = in_transaction_ && connection_ != nullptr;
    auto done = may_ask ? ask("COMMIT", {})
                        : base::fail_as(base::ErrorKind::unreachable, retry,
                                        {"store.unreachable", no_session, "before the commit", "try again"});
    in_transaction_ = false;
    if (!done) {
        if (connection_ != nullptr) static_cast<void>(ask("ROLLBACK", {}));  // a deferred write failed
        if (connection_ != nullptr || !may_ask) return base::fail(std::move(done.error()));
        return base::fail_as(base::ErrorKind::cut, retry,
                             {"store.outcome_unknown", "The database did not answer whether it kept a change",
                              done.error().value, "repeat the change: it reports whether it happened"});
    }
    // COMMIT of a failed transaction succeeds, as a ROLLBACK.
    if (std::string_view(library_.cmdStatus((*done)->result)) != "COMMIT")
        return base::fail("catalog.failed", "PostgreSQL rolled a change back", "ROLLBACK", "try again");
    return {};
}

void Connection::roll_back() noexcept {
    const bool is_open = in_transaction_ && connection_ != nullptr;
    in_transaction_ = false;
    deferred_.clear();
    if (is_open) static_cast<void>(ask("ROLLBACK", {}));
}

base::Result<bool> Connection::wait_notice(const std::string& channel, std::int64_t timeout_ms) {
    const Time end = after_ms(timeout_ms);
    WHEELYARD_TRY(connect());
    if (listens_to_ != channel) {
        WHEELYARD_TRY(ask("LISTEN " + channel, {}));
        listens_to_ = channel;
        return true;  // what happened before is not known
    }
    while (true) {
        bool is_there = false;
        while (PGnotify* notice = library_.notifies(connection_)) {
            library_.freemem(notice);
            is_there = true;
        }
        if (is_there) return true;
        if (!wait_for(POLLIN, end)) return false;
        if (library_.consumeInput(connection_) == 0) return fail_lost(newest_message());
    }
}

}  // namespace wheelyard::postgres
