// What was told is a file of the folder. The command runs under a shell that ends it after its time, started
// so that it outlives this process.
#include "lib/notify/notify.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "lib/base/check.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::notify {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view notice_format = "wheelyard.notice/1";
constexpr std::string_view told_format = "wheelyard.told/1";
constexpr std::uint64_t max_told_bytes = 4u << 20;
constexpr std::uint64_t max_log_bytes = 1u << 20;  // a larger log begins again
constexpr base::UnixMicros hour = 3'600'000'000;
constexpr base::UnixMicros kept_for = 31 * 24 * hour;  // longer than any `again_h`

// $1: seconds, $2: the command, $3: the file with the notice.
constexpr std::string_view runner =
    R"sh(timeout -k 5 "$1" /bin/sh -c "$2" < "$3" || echo "the command ended with status $?"; rm -f "$3")sh";

// Notices by "event subject cause": those that were told, and those that were not sent since.
struct Told {
    std::map<std::string, base::UnixMicros> at;
    std::set<std::string> suppressed;
};

Told read_told(const fs::path& file) {
    Told told;
    const auto text = base::read_file(file, max_told_bytes);
    const auto json = text ? io::parse_json(*text) : base::Result<io::Json>(tl::unexpected(text.error()));
    if (!json || json->string_or("format", "") != told_format) return told;  // then it is told once more
    const io::Json* suppressed = json->find("suppressed");
    if (suppressed != nullptr && suppressed->as_array() != nullptr) {
        for (const auto& key : *suppressed->as_array()) {
            if (key.as_string() != nullptr) told.suppressed.insert(*key.as_string());
        }
    }
    const io::Json* at = json->find("told");
    if (at == nullptr || at->as_object() == nullptr) return told;
    for (const auto& [key, time] : *at->as_object()) {
        if (time.as_int() != nullptr) told.at[key] = *time.as_int();
    }
    return told;
}

base::Status write_told(const fs::path& file, const Told& told) {
    io::Json::Object at;
    for (const auto& [key, time] : told.at)
        at.emplace_back(key, io::Json(time));
    io::Json suppressed = io::Json::array();
    for (const auto& key : told.suppressed)
        suppressed.push(key);
    return base::replace_file(file,
                              io::Json::object({{"format", told_format},
                                                {"suppressed", std::move(suppressed)},
                                                {"told", io::Json(std::move(at))}})
                                  .render(),
                              0600);
}

std::string render(const Settings& settings, const Notice& notice, std::int64_t suppressed,
                   base::UnixMicros now) {
    return io::Json::object({{"format", notice_format},
                             {"event", notice.event},
                             {"program", settings.program},
                             {"from", settings.from},
                             {"time", base::render_rfc3339(now)},
                             {"subject", notice.subject},
                             {"text", settings.from + ": " + notice.sentence},
                             {"suppressed", suppressed}})
               .render() +
           "\n";
}

// What programs need that send something, and no credentials: those of this process are not theirs.
std::map<std::string, std::string> environment_of_command() {
    static constexpr std::array<std::string_view, 14> passed = {
        "HOME",   "LANG",          "LC_ALL",     "LOGNAME",     "PATH",        "SHELL",    "SSL_CERT_DIR",
        "TMPDIR", "SSL_CERT_FILE", "http_proxy", "https_proxy", "HTTPS_PROXY", "no_proxy", "USER"};
    std::map<std::string, std::string> environment;
    for (const auto& [name, value] : base::current_environment()) {
        const bool is_passed = std::find(passed.begin(), passed.end(), name) != passed.end();
        if (is_passed &&
            !(base::ascii_lower(name).ends_with("_proxy") && value.find('@') != std::string::npos))
            environment.emplace(name, value);
    }
    return environment;
}

base::Status start(const Settings& settings, const std::string& notice, base::UnixMicros now, int number) {
    const fs::path file =
        settings.folder / ("notice-" + std::to_string(now) + "-" + std::to_string(number) + ".json");
    const fs::path log = settings.folder / "command.log";
    std::error_code error;
    if (fs::file_size(log, error) > max_log_bytes && !error) fs::remove(log, error);
    WHEELYARD_TRY(base::replace_file(file, notice, 0600));
    const auto started =
        base::start_reaped({.argv = {"/bin/sh", "-c", std::string(runner), "notify",
                                     std::to_string(command_limit_s), settings.command, file.string()},
                            .environment = environment_of_command(),
                            .directory = settings.folder},
                           log);
    if (!started) return tl::unexpected(started.error());
    return {};
}

const EventRow& row_of(std::string_view event) {
    const auto rows = event_rows();
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const auto& one) { return one.event == event; });
    WHEELYARD_CHECK(row != rows.end());
    return *row;
}

}  // namespace

base::Result<int> tell(const Settings& settings, const std::vector<Notice>& notices,
                       const base::Clock& clock) {
    if (settings.command.empty() || notices.empty()) return 0;
    WHEELYARD_TRY(base::make_directories(settings.folder));
    const fs::path file = settings.folder / "told.json";
    Told told = read_told(file);
    const base::UnixMicros now = clock.now();
    std::erase_if(told.at, [&](const auto& one) { return one.second < now - kept_for || one.second > now; });
    auto lately = std::count_if(told.at.begin(), told.at.end(),
                                [&](const auto& one) { return one.second > now - hour; });
    int sent = 0;
    bool is_changed = false;
    for (const Notice& notice : notices) {
        const EventRow& row = row_of(notice.event);
        std::string key = std::string(notice.event) + " " + notice.subject;
        if (!notice.cause.empty()) key += " " + notice.cause;
        const auto before = told.at.find(key);
        if (before != told.at.end() && now - before->second < row.again_h * hour) continue;
        if (lately >= max_notices_an_hour && !row.is_always_sent) {
            if (told.suppressed.size() < max_suppressed)
                is_changed = told.suppressed.insert(key).second || is_changed;
            continue;
        }
        // Recorded first: a notice that is told at every tick is worse than one that is lost.
        told.at[key] = now;
        const auto suppressed = std::exchange(told.suppressed, {}).size();
        const std::string text = render(settings, notice, static_cast<std::int64_t>(suppressed), now);
        WHEELYARD_TRY(write_told(file, told));
        WHEELYARD_TRY(start(settings, text, now, sent));
        ++lately;
        ++sent;
    }
    if (is_changed) WHEELYARD_TRY(write_told(file, told));
    return sent;
}

base::Result<base::Finished> try_command(const Settings& settings, const base::Clock& clock) {
    if (settings.command.empty())
        return base::fail("notify.no_command", "The configuration names no command to notify anybody", {},
                          "set `command` in [notify]");
    const Notice notice{"test", "test", "This is a test: somebody ran `notify test`."};
    return base::run_command({.argv = {"/bin/sh", "-c", settings.command},
                              .environment = environment_of_command(),
                              .timeout_ms = command_limit_s * 1000,
                              .input = render(settings, notice, 0, clock.now())});
}

}  // namespace wheelyard::notify
