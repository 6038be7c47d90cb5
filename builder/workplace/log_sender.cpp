#include "builder/workplace/log_sender.hpp"

#include <set>
#include <system_error>
#include <utility>

#include "builder/remote/log_piece.hpp"
#include "builder/remote/report_client.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;
using Word = LogAnswer::Word;

constexpr std::string_view sent_logs_format = "wheelyard.sent_logs/1";
constexpr std::uint64_t max_sent_logs_bytes = base::mib;
constexpr base::UnixMicros ask_again_after = std::int64_t{3'600} * 1'000'000;  // a registry that kept no logs
// An agent may have been killed before its first call, with the build of a task already over.
constexpr base::UnixMicros sent_before_first_call = base::day_us;
constexpr int max_log_pieces_per_tick = 32;  // per log, to keep ticks short
constexpr std::int64_t no_more = INT64_MAX;  // of a log that is full

std::int64_t size_of(const fs::path& file) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    return error ? -1 : static_cast<std::int64_t>(size);
}

std::int64_t integer_of(const io::Json& json, std::string_view name) {
    const io::Json* found = json.find(name);
    const std::int64_t* value = found == nullptr ? nullptr : found->as_int();
    return value == nullptr ? -1 : *value;
}

}  // namespace

std::string render_sent_logs(const SentLogs& sent) {
    io::Json logs = io::Json::object();
    for (const auto& [id, log] : sent.logs)
        logs.set(id, io::Json::object({{"sent", log.sent}, {"login_bytes", log.login_bytes}}));
    return io::Json::object({{"format", sent_logs_format},
                             {"since", base::render_rfc3339(sent.since)},
                             {"logs", std::move(logs)}})
        .render();
}

SentLogs parse_sent_logs(std::string_view text) {
    const auto json = io::parse_json(text);
    SentLogs sent;
    if (!json || json->string_or("format", "") != sent_logs_format) return sent;
    sent.since = base::parse_rfc3339(json->string_or("since", "")).value_or(0);
    const io::Json* logs = json->find("logs");
    if (logs == nullptr || logs->as_object() == nullptr) return sent;
    for (const auto& [id, log] : *logs->as_object())
        sent.logs[id] = {integer_of(log, "sent"), integer_of(log, "login_bytes")};
    return sent;
}

base::Status LogSender::send(const std::vector<Attempt>& attempts, const std::vector<std::string>& secrets) {
    const base::UnixMicros now = place_.clock().now();
    if (is_absent_ && now - asked_ < ask_again_after) return {};
    is_absent_ = false;
    asked_ = now;
    const fs::path file = place_.site().state_directory / "sent_logs.json";
    const auto text = base::read_file(file, max_sent_logs_bytes);
    known_ = text ? parse_sent_logs(*text) : SentLogs();
    const std::string before = text.value_or("");
    if (known_.since == 0) known_.since = now - sent_before_first_call;
    auto sent = send_all(attempts, secrets);
    if (sent && !is_absent_) known_.since = std::max(known_.since, now);
    const std::string after = render_sent_logs(known_);
    // If it cannot be written, because the next tick sweeps meanwhile, for example, that one sends the same
    // pieces again.
    if (after != before) static_cast<void>(base::replace_file(file, after));
    return sent;
}

base::Status LogSender::send_all(const std::vector<Attempt>& attempts,
                                 const std::vector<std::string>& secrets) {
    std::set<std::string> ids;
    for (const Attempt& attempt : attempts) {
        ids.insert(attempt.id);
        const bool is_new = !is_over(attempt.state) || attempt.changed > known_.since;
        if (!is_new && !known_.logs.contains(attempt.id)) continue;
        WHEELYARD_ASSIGN(const bool has_more, send_one(attempt, known_.logs[attempt.id], secrets));
        if (is_absent_) return {};
        if (!has_more) known_.logs.erase(attempt.id);
    }
    std::erase_if(known_.logs, [&](const auto& log) { return !ids.contains(log.first); });
    return {};
}

base::Result<std::string> LogSender::next_piece(const Attempt& attempt, SentLog& log,
                                                const std::vector<std::string>& secrets) const {
    const AttemptFolder folder = place_.folder_of(attempt);
    const std::int64_t login = size_of(folder.login_log());
    const bool has_job = size_of(folder.log()) >= 0;
    if (has_job && log.login_bytes < 0) log.login_bytes = std::max<std::int64_t>(login, 0);
    const bool is_login = !has_job || log.sent < log.login_bytes;
    const fs::path file = is_login ? folder.login_log() : folder.log();
    const std::int64_t from = is_login ? log.sent : log.sent - log.login_bytes;
    if (size_of(file) <= from) return std::string();
    // The login log is sent only as far as it was written when the job's log began.
    const auto room =
        is_login && has_job ? static_cast<std::uint64_t>(log.login_bytes - from) : log_piece_bytes;
    return read_log_piece(file, static_cast<std::uint64_t>(from),
                          static_cast<std::size_t>(std::min<std::uint64_t>(room, log_piece_bytes)),
                          is_over(attempt.state) || (is_login && has_job), secrets);
}

base::Result<bool> LogSender::send_one(const Attempt& attempt, SentLog& log,
                                       const std::vector<std::string>& secrets) {
    const Site& site = place_.site();
    const auto ask = [&](std::int64_t offset, const std::string& piece) -> base::Result<Word> {
        WHEELYARD_ASSIGN(const LogAnswer answer,
                         send_build_log(http_, *site.registry, site.name, attempt.id, offset, piece));
        if (answer.word == Word::kept) log.sent = answer.log_bytes;
        if (answer.word == Word::gap) log.sent = -1;
        is_absent_ = answer.word == Word::absent;
        return answer.word;
    };
    if (log.sent < 0) {
        WHEELYARD_ASSIGN(const Word word, ask(0, {}));
        // Also of a build that ended before any report named it: nobody will ask for its log.
        if (word != Word::kept) return !is_over(attempt.state);
    }
    for (int pieces = 0; pieces < max_log_pieces_per_tick; ++pieces) {
        WHEELYARD_ASSIGN(const std::string piece, next_piece(attempt, log, secrets));
        if (piece.empty()) return !is_over(attempt.state);
        WHEELYARD_ASSIGN(const Word word, ask(log.sent, piece));
        if (word == Word::full) log.sent = no_more;
        if (word == Word::full) return !is_over(attempt.state);
        if (word != Word::kept) return !is_over(attempt.state) || word == Word::gap;
    }
    return true;
}

}  // namespace wheelyard::builder
