#include "lib/store/engine/postgres/postgres.hpp"

#include <charconv>

#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/store/engine/postgres/connection.hpp"

namespace wheelyard::postgres {

namespace {

constexpr Oid type_of_bytea = 17;  // pg_type.dat
constexpr std::string_view replacement = "\xEF\xBF\xBD";

// `?` outside of quotes becomes $1, $2, …
std::string numbered(std::string_view sql) {
    std::string text;
    text.reserve(sql.size() + 16);
    int position = 0;
    bool is_quoted = false;
    for (const char c : sql) {
        if (c == '\'') is_quoted = !is_quoted;
        if (c == '?' && !is_quoted)
            text += "$" + std::to_string(++position);
        else
            text += c;
    }
    return text;
}

std::string as_text(std::string_view value) {
    if (base::is_utf8(value) && value.find('\0') == std::string_view::npos) return std::string(value);
    std::string text;
    while (!value.empty()) {
        const auto character = base::decode_utf8(value);
        const bool is_good = character && value.front() != '\0';
        const std::size_t size = is_good ? character->bytes : 1;
        text += is_good ? value.substr(0, size) : replacement;
        value.remove_prefix(size);
    }
    return text;
}

unsigned char digit_of(char c) {
    return static_cast<unsigned char>(c <= '9' ? c - '0' : c - 'a' + 10);
}

// bytea_output = hex, the default: "\x6162".
std::string decode_bytes(std::string_view hex) {
    std::string bytes;
    if (hex.starts_with("\\x")) hex.remove_prefix(2);
    bytes.reserve(hex.size() / 2);
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(digit_of(hex[i]) << 4 | digit_of(hex[i + 1]));
    return bytes;
}

}  // namespace

Statement::Statement(Connection& connection, std::string sql)
    : connection_(&connection), sql_(std::move(sql)) {}
Statement::Statement(Statement&& other) noexcept = default;
Statement::~Statement() = default;

void Statement::bind(Bytes value) {
    values_.push_back({std::string(value.value), false});
}
void Statement::bind(std::string_view value) {
    values_.push_back({as_text(value), false});
}
void Statement::bind(std::int64_t value) {
    values_.push_back({std::to_string(value), true});
}

base::Result<bool> Statement::step() {
    if (!rows_) {
        WHEELYARD_ASSIGN(rows_, connection_->execute(sql_, values_));
    }
    return ++row_ < rows_->library.ntuples(rows_->result);
}

base::Status Statement::run() {
    WHEELYARD_ASSIGN(const bool row, step());
    static_cast<void>(row);
    return {};
}

std::string_view Statement::view(int column) const {
    const Libpq& library = rows_->library;
    const std::string_view raw(library.getvalue(rows_->result, row_, column),
                               static_cast<std::size_t>(library.getlength(rows_->result, row_, column)));
    if (library.ftype(rows_->result, column) != type_of_bytea) return raw;
    return rows_->decoded = decode_bytes(raw);
}

std::string Statement::text(int column) const {
    return std::string(view(column));
}

std::int64_t Statement::integer(int column) const {
    const std::string_view text = view(column);
    if (text == "t") return 1;
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

Database::Database(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Database::Database(Database&& other) noexcept = default;
Database::~Database() = default;

base::Result<Database> Database::open(const Target& target, Mode mode, const Deadlines& deadlines) {
    WHEELYARD_ASSIGN(const Libpq* const library, libpq());
    auto connection = std::make_unique<Connection>(*library, target, mode, deadlines);
    WHEELYARD_TRY(connection->connect());
    return Database(std::move(connection));
}

Statement Database::compile(std::string_view sql) const {
    return Statement(*connection_, numbered(sql));
}

base::Status Database::send_later(Statement statement) const {
    return connection_->execute_later(std::move(statement.sql_), std::move(statement.values_));
}

base::Status Database::run_script(const std::string& sql) const {
    WHEELYARD_TRY(connection_->execute(sql));
    return {};
}

base::Result<bool> Database::wait_notice(const std::string& channel, std::int64_t timeout_ms) const {
    return connection_->wait_notice(channel, timeout_ms);
}

std::int64_t Database::session() const {
    return connection_->session();
}

LongWork::LongWork(const Database& database, std::int64_t statement_ms)
    : connection_(*database.connection_), before_ms_(connection_.set_deadline(statement_ms)) {}
LongWork::~LongWork() {
    connection_.set_deadline(before_ms_);
}

base::Result<Transaction> Transaction::begin_locked(const Database& database, std::int64_t key) {
    Connection& connection = *database.connection_;
    WHEELYARD_TRY(connection.begin("BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(" +
                                   std::to_string(key) + ")"));
    return Transaction(connection);
}

base::Result<Transaction> Transaction::begin_read(const Database& database) {
    Connection& connection = *database.connection_;
    WHEELYARD_TRY(connection.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
    return Transaction(connection);
}

Transaction::~Transaction() {
    if (connection_ != nullptr) connection_->roll_back();
}

base::Status Transaction::commit() {
    return std::exchange(connection_, nullptr)->commit();
}

// The newest timeline that this process has seen of each database.
std::string Timelines::newer_than(const std::string& system, const std::string& timeline) {
    const std::lock_guard lock(mutex_);
    std::string& newest = newest_[system];
    if (timeline < newest) return newest;
    newest = timeline;
    return {};
}

Timelines& Timelines::of_process() {
    static Timelines timelines;
    return timelines;
}

}  // namespace wheelyard::postgres
