#include "lib/store/engine/sqlite/sqlite.hpp"

#include <sqlite3.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/store/engine/place.hpp"

namespace wheelyard::sqlite {
namespace {

// How long a statement waits for another process's write transaction; ours last milliseconds.
constexpr int busy_timeout_ms = 10'000;

struct Outcome {
    int result;
    std::string_view code;
    std::string_view sentence;
    std::string_view advice;
    base::Recovery recovery = base::Recovery::never;
    base::ErrorKind kind = base::ErrorKind::other;
    int os_error = 0;
};
constexpr std::array outcomes{
    Outcome{SQLITE_BUSY, "catalog.busy", "Another process has locked the catalog",
            "try again; a backup or a CLI command may be running", base::Recovery::retry,
            base::ErrorKind::unavailable},
    Outcome{SQLITE_FULL, "catalog.disk_full", "The disk that holds the catalog is full", "free space on it",
            base::Recovery::retry, base::ErrorKind::other, ENOSPC},
    Outcome{SQLITE_IOERR, "catalog.io", "The catalog could not be read or written",
            "check the disk and the kernel log"},
    Outcome{SQLITE_CORRUPT, "catalog.corrupt", "The catalog is damaged", "restore it from a backup"},
    Outcome{SQLITE_NOTADB, "catalog.corrupt", "The catalog is not an SQLite file",
            "restore it from a backup"},
    Outcome{SQLITE_READONLY, "catalog.not_writable", "The catalog cannot be written",
            "check its owner and mode"},
    Outcome{SQLITE_CANTOPEN, "catalog.missing", "The catalog could not be opened",
            "check its path, owner and mode"},
    Outcome{SQLITE_CONSTRAINT, "catalog.constraint", "A constraint of the catalog's schema failed", ""},
};

// errno of the last call that failed on the log (in WAL mode) or the journal; 0: none did.
int log_errno(sqlite3* connection) {
    sqlite3_file* file = nullptr;
    int number = 0;
    if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK ||
        file == nullptr || file->pMethods == nullptr ||
        file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number) != SQLITE_OK)
        return 0;
    return number;
}

// Why a call to the disk failed. SQLite keeps errno with the connection where a statement was cut off, but a
// COMMIT that fails at its last fsync is not: only the file knows then. Files remember a failure for good, so
// only results that one of theirs has are looked up there, the log's first: in WAL mode only a merge of the
// log, whose result is not reported, writes the database itself.
int errno_of(sqlite3* connection, int result) {
    switch (result) {
        case SQLITE_IOERR_WRITE:
        case SQLITE_IOERR_FSYNC:
        case SQLITE_IOERR_TRUNCATE: {
            int number = log_errno(connection);
            if (number == 0) sqlite3_file_control(connection, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
            return number;
        }
        default:
            return sqlite3_system_errno(connection);
    }
}

// SQLite counts its memory under a process-wide lock, which nothing here needs. The setting works only before
// the first connection.
void stop_counting_memory() {
    static std::once_flag once;
    std::call_once(once, [] { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); });
}

tl::unexpected<base::Error> fail_sqlite(sqlite3* connection, int result) {
    const std::string message = connection != nullptr ? sqlite3_errmsg(connection) : sqlite3_errstr(result);
    if ((result & 0xff) == SQLITE_IOERR && connection != nullptr) {
        const int system_error = errno_of(connection, result);
        if (system_error == ENOSPC || system_error == EDQUOT) result = SQLITE_FULL;
    }
    for (const Outcome& outcome : outcomes) {
        if (outcome.result == (result & 0xff)) {
            return base::fail({std::string(outcome.code), std::string(outcome.sentence), message,
                               std::string(outcome.advice), outcome.recovery, outcome.kind,
                               outcome.os_error});
        }
    }
    return base::fail("catalog.failed", "SQLite refused an operation", message);
}

// Before SQLite opens it: the log and the index of the log get the database's mode when they are created. A
// stranger who may read them can hold a lock on them that stops every commit. SQLite reports what fails here,
// because it then fails to open the same files.
void make_database_private(const std::filesystem::path& file) {
    static_cast<void>(base::create_private(file));
    for (const std::filesystem::path& each : file_set(file))
        static_cast<void>(base::make_private(each));
}

}  // namespace

std::vector<std::filesystem::path> file_set(const std::filesystem::path& database) {
    std::vector<std::filesystem::path> files;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"})
        files.emplace_back(database.string() + suffix);
    return files;
}

base::Status remove_database(const std::filesystem::path& database) {
    for (const std::filesystem::path& each : file_set(database))
        WHEELYARD_TRY(base::remove_file(each));
    return {};
}

IdleStatements::~IdleStatements() {
    for (const auto& [sql, statement] : statements_)
        sqlite3_finalize(statement);
}

sqlite3_stmt* IdleStatements::take(std::string_view sql) {
    const auto found = statements_.find(sql);
    if (found == statements_.end()) return nullptr;
    return statements_.extract(found).mapped();
}

void IdleStatements::put_back(sqlite3_stmt* statement) {
    constexpr std::size_t max_idle = 64;
    // Reset ends its read transaction; its error repeats that of step().
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    if (statements_.size() < max_idle)
        statements_.emplace(sqlite3_sql(statement), statement);
    else
        sqlite3_finalize(statement);
}

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_),
      statement_(std::exchange(other.statement_, nullptr)),
      idle_(other.idle_),
      failed_(other.failed_) {}

Statement::~Statement() {
    if (statement_ != nullptr) idle_->put_back(statement_);
}

void Statement::note(int result) {
    if (result != SQLITE_OK && failed_ == SQLITE_OK) failed_ = result;
}

void Statement::bind(int position, std::string_view value) {
    note(sqlite3_bind_text64(statement_, position, value.data() != nullptr ? value.data() : "", value.size(),
                             SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind(int position, std::int64_t value) {
    note(sqlite3_bind_int64(statement_, position, value));
}

base::Result<bool> Statement::step() {
    if (failed_ != SQLITE_OK) return fail_sqlite(nullptr, failed_);
    // A row more of the same statement is no further one.
    const base::Spent::Timer timer(database::spent(), sqlite3_stmt_busy(statement_) == 0 ? 1 : 0);
    const int result = sqlite3_step(statement_);
    if (result == SQLITE_ROW) return true;
    if (result == SQLITE_DONE) return false;
    return fail_sqlite(connection_, result);
}

base::Status Statement::run() {
    WHEELYARD_ASSIGN(const bool row, step());
    static_cast<void>(row);  // PRAGMAs return a row that is not needed
    return {};
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}

std::string_view Statement::view(int column) const {
    // Found once and asked twice. The value is "unprotected", which is for one thread alone, as a connection
    // is.
    sqlite3_value* value = sqlite3_column_value(statement_, column);
    const auto* bytes = sqlite3_value_text(value);
    if (bytes == nullptr) return {};
    return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

std::string Statement::text(int column) const {
    return std::string(view(column));
}

base::Result<Database> Database::open(const std::filesystem::path& file, Mode mode) {
    stop_counting_memory();
    const int access =
        mode == Mode::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (mode == Mode::read_write) make_database_private(file);
    sqlite3* connection = nullptr;
    // NOMUTEX: a connection belongs to one thread at a time (its users see to it).
    const int result = sqlite3_open_v2(file.c_str(), &connection, access | SQLITE_OPEN_NOMUTEX, nullptr);
    Database database(connection);  // owns it from here, also after a failure
    if (result != SQLITE_OK) {
        auto failure = fail_sqlite(connection, result);
        failure.value().value = file.string() + ": " + failure.value().value;
        return failure;
    }
    sqlite3_extended_result_codes(connection, 1);
    sqlite3_busy_timeout(connection, busy_timeout_ms);
    return database;
}

Database::Database(Database&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)), idle_(std::move(other.idle_)) {}

Database::~Database() {
    idle_.reset();
    sqlite3_close_v2(connection_);
}

base::Result<Statement> Database::compile(std::string_view sql) const {
    if (sqlite3_stmt* idle = idle_->take(sql)) return Statement(connection_, idle, idle_.get());
    sqlite3_stmt* statement = nullptr;
    const int result =
        sqlite3_prepare_v2(connection_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
    if (result != SQLITE_OK) return fail_sqlite(connection_, result);
    return Statement(connection_, statement, idle_.get());
}

base::Status Database::run_script(const std::string& sql) const {
    const int result = sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr);
    if (result != SQLITE_OK) return fail_sqlite(connection_, result);
    return {};
}

base::Status Database::keep_log() const {
    int keep = 1;
    const int result = sqlite3_file_control(connection_, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
    if (result != SQLITE_OK) return fail_sqlite(connection_, result);
    return {};
}

void Database::merge_log() const noexcept {
    // PASSIVE never blocks; frames that it cannot merge stay in the log.
    int frames = 0;
    int merged = 0;
    const int result =
        sqlite3_wal_checkpoint_v2(connection_, "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &merged);
    if (result != SQLITE_OK || frames <= 0 || frames != merged) return;
    // Also truncated, unless a reader uses it: SQLite would replay its frames onto an older copy that
    // replaces the file.
    sqlite3_busy_timeout(connection_, 0);
    sqlite3_wal_checkpoint_v2(connection_, "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    sqlite3_busy_timeout(connection_, busy_timeout_ms);
}

base::Status Database::copy_to(const std::filesystem::path& to) const {
    // Made by us, so that an existing file is never overwritten; SQLite takes an empty file for a new
    // database.
    WHEELYARD_ASSIGN(const base::Fd created, base::create_new(to, 0600));
    WHEELYARD_ASSIGN(const Database copy, open(to, Mode::read_write));
    sqlite3_backup* backup = sqlite3_backup_init(copy.connection_, "main", connection_, "main");
    if (backup == nullptr) return fail_sqlite(copy.connection_, sqlite3_errcode(copy.connection_));
    // All pages in one step: it holds a read transaction, which in WAL mode keeps no writer waiting.
    const int result = sqlite3_backup_step(backup, -1);
    sqlite3_backup_finish(backup);
    if (result != SQLITE_DONE) return fail_sqlite(copy.connection_, result);
    // The copy takes on the original's WAL mode; with this it is one file without companions.
    WHEELYARD_TRY(copy.run("PRAGMA journal_mode = DELETE"));
    WHEELYARD_TRY(base::fsync_file(created.get(), to.string()));
    return base::fsync_directory(to.parent_path());
}

std::int64_t Database::changes() const {
    return sqlite3_changes64(connection_);
}

void Database::roll_back() const noexcept {
    // SQLite may have rolled back by itself (disk full); then this fails, and that is fine.
    sqlite3_exec(connection_, "ROLLBACK", nullptr, nullptr, nullptr);
}

base::Result<Transaction> Transaction::begin_immediate(const Database& database) {
    WHEELYARD_TRY(database.run("BEGIN IMMEDIATE"));
    return Transaction(database);
}

base::Result<Transaction> Transaction::begin_read(const Database& database) {
    WHEELYARD_TRY(database.run("BEGIN DEFERRED"));
    return Transaction(database);
}

Transaction::~Transaction() {
    if (database_ != nullptr) database_->roll_back();
}

base::Status Transaction::commit() {
    WHEELYARD_TRY(database_->run("COMMIT"));
    database_ = nullptr;
    return {};
}

}  // namespace wheelyard::sqlite
