// Lines of ten fields. Writers merge into the file instead of overwriting it.
#include "builder/governor/admission/history.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <optional>

#include "lib/base/files/file.hpp"
#include "lib/base/files/lock_file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {

namespace {

constexpr std::size_t max_history_records = 200'000;
constexpr std::int64_t history_lock_wait_ms = 3'000;

constexpr std::string_view head = "wheelyard.governor-history/1";
constexpr std::string_view head_family = "wheelyard.governor-history/";
constexpr std::size_t fields_in_line = 10;
constexpr std::uint64_t max_number = std::uint64_t{1} << 50;  // of KiB and ms: beyond any machine

std::string escape(std::string_view text) {
    // Escapes only what would break the line, so that the file stays readable.
    std::string out;
    for (const char c : text) {
        const bool plain = static_cast<unsigned char>(c) > ' ' && c != '%' && c != 0x7f;
        out += plain ? std::string(1, c) : base::encode_percent(std::string_view(&c, 1));
    }
    return out;
}

std::optional<std::uint64_t> parse_key(std::string_view text) {
    if (text.size() != 16) return std::nullopt;
    std::uint64_t key = 0;
    for (const char c : text) {
        const bool digit = base::is_ascii_digit(c);
        if (!digit && !(c >= 'a' && c <= 'f')) return std::nullopt;
        key = key * 16 + static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
    }
    return key;
}

std::uint64_t whole(double value) {
    return value > 0 ? static_cast<std::uint64_t>(std::llround(value)) : 0;
}

std::optional<std::pair<std::uint64_t, Record>> parse_line(std::string_view line) {
    const auto fields = base::split(line, '\t');
    if (fields.size() != fields_in_line) return std::nullopt;
    const auto key = parse_key(fields[0]);
    if (!key) return std::nullopt;
    std::array<std::uint64_t, 5> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto number = base::parse_decimal(fields[i + 1]);
        if (!number || *number > max_number) return std::nullopt;
        numbers[i] = *number;
    }
    Record record;
    record.peak_bytes = static_cast<double>(numbers[0]) * 1024;
    record.seconds = static_cast<double>(numbers[1]) / 1000;
    record.min_bytes = static_cast<double>(numbers[2]) * 1024;
    record.runs = numbers[3];
    record.last_day = static_cast<std::int64_t>(numbers[4]);
    const std::array<std::string*, 4> texts = {&record.language, &record.compiler, &record.architectures,
                                               &record.source};
    for (std::size_t i = 0; i < texts.size(); ++i) {
        auto text = base::decode_percent(fields[i + 6]);
        if (!text) return std::nullopt;
        *texts[i] = std::move(*text);
    }
    return std::pair{*key, std::move(record)};
}

base::Result<base::LockFile> lock(const std::filesystem::path& file, const base::Clock& clock,
                                  LockPatience patience) {
    constexpr std::int64_t pause_ms = 50;
    const std::int64_t max_ms = patience == LockPatience::none ? 0 : history_lock_wait_ms;
    base::SystemClock sleeper;
    for (std::int64_t waited_ms = 0;; waited_ms += pause_ms) {
        auto lock = base::LockFile::acquire(file.native() + ".lock", clock, history_lock_stale_ms);
        if (lock || lock.error().kind != base::ErrorKind::busy || waited_ms >= max_ms) return lock;
        sleeper.sleep_ms(pause_ms);
    }
}

bool has_other_version(std::string_view text) {
    std::string_view first_line = text.substr(0, text.find('\n'));
    if (first_line.ends_with('\r')) first_line.remove_suffix(1);
    return first_line.starts_with(head_family) && first_line != head;
}

// Does what load_history() does, but a file of another version is an error.
base::Result<History> read_history(const std::filesystem::path& file, std::string& warning) {
    if (const auto ours = prepare_kept(file); !ours) {
        warning = ours.error().text();
        return History{};
    }
    auto text = base::read_file(file, max_history_bytes);
    if (!text) {
        if (text.error().os_error != ENOENT) warning = text.error().text();
        return History{};
    }
    auto history = parse_history(*text);
    if (history || has_other_version(*text)) return history;
    warning = history.error().text();
    std::error_code error;
    std::filesystem::rename(file, file.native() + ".broken", error);
    warning += error ? "; it cannot be renamed" : "; it was renamed to " + file.native() + ".broken";
    return History{};
}

base::Status update(const std::filesystem::path& file, const base::Clock& clock, LockPatience patience,
                    const std::function<void(History&)>& change) {
    WHEELYARD_TRY(prepare_kept(file));
    if (file.has_parent_path()) WHEELYARD_TRY(base::make_directories(file.parent_path()));
    WHEELYARD_ASSIGN(const auto held, lock(file, clock, patience));
    std::string warning;
    WHEELYARD_ASSIGN(History history, read_history(file, warning));
    change(history);
    while (history.size() > max_history_records) {  // remove the least recently used
        auto oldest = history.begin();
        for (auto at = history.begin(); at != history.end(); ++at) {
            if (at->second.last_day < oldest->second.last_day) oldest = at;
        }
        history.erase(oldest);
    }
    return base::replace_file(file, render_history(history));
}

void describe(Record& record, const Record& seen) {
    record.source = seen.source;
    record.compiler = seen.compiler;
    record.language = seen.language;
    record.architectures = seen.architectures;
    record.last_day = std::max(record.last_day, seen.last_day);
}

}  // namespace

base::Result<History> parse_history(std::string_view text) {
    const auto lines = base::split_lines(text);
    if (has_other_version(text)) {
        return base::fail("governor.history_version",
                          "The history was written by another version of the governor",
                          std::string(lines[0].substr(0, 80)),
                          "use that version, or name another file with --history; this one stays as it is");
    }
    if (lines.empty() || lines[0] != head) {
        return base::fail("governor.history_head", "Not a governor history",
                          std::string(lines.empty() ? "" : lines[0].substr(0, 80)),
                          "its first line must be " + std::string(head));
    }
    History history;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (lines[i].empty()) continue;
        auto row = parse_line(lines[i]);
        if (!row || history.size() >= max_history_records) {
            return base::fail("governor.history_line",
                              "Line " + std::to_string(i + 1) + " of the history is malformed",
                              std::string(lines[i].substr(0, 120)), "docs/reference/governor-history.md");
        }
        history[row->first] = std::move(row->second);
    }
    return history;
}

std::string render_history(const History& history) {
    std::string text(head);
    text += '\n';
    for (const auto& [key, record] : history) {
        char name[17];
        std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(key));
        text += name;
        for (const auto number :
             {whole(record.peak_bytes / 1024), whole(record.seconds * 1000), whole(record.min_bytes / 1024),
              record.runs, static_cast<std::uint64_t>(std::max<std::int64_t>(0, record.last_day))}) {
            text += '\t' + std::to_string(number);
        }
        for (const auto* word : {&record.language, &record.compiler, &record.architectures, &record.source}) {
            text += '\t' + escape(*word);
        }
        text += '\n';
    }
    return text;
}

void merge_observation(History& history, const Observation& observation) {
    auto& record = history[observation.key];
    describe(record, observation.seen);
    if (observation.seen.peak_bytes > 0) {
        merge_peak(record, observation.seen.peak_bytes, observation.seen.seconds);
    } else {
        merge_at_least(record, observation.seen.min_bytes);
    }
}

void merge_history(History& into, const History& from) {
    for (const auto& [key, record] : from) {
        const auto [found, added] = into.try_emplace(key, record);
        if (added) continue;
        auto& mine = found->second;
        describe(mine, record);
        if (record.peak_bytes > mine.peak_bytes) {
            mine.peak_bytes = record.peak_bytes;
            mine.seconds = record.seconds;
        }
        mine.min_bytes = std::max(mine.min_bytes, record.min_bytes);
        mine.runs += record.runs;
    }
}

History load_history(const std::filesystem::path& file, std::string& warning) {
    auto history = read_history(file, warning);
    if (history) return *std::move(history);
    warning = history.error().text();
    return {};
}

base::Status store_observations(const std::filesystem::path& file,
                                const std::vector<Observation>& observations, const base::Clock& clock,
                                LockPatience patience) {
    return update(file, clock, patience, [&](History& history) {
        for (const auto& observation : observations)
            merge_observation(history, observation);
    });
}

base::Status store_history(const std::filesystem::path& file, const History& added,
                           const base::Clock& clock) {
    return update(file, clock, LockPatience::some, [&](History& history) { merge_history(history, added); });
}

std::filesystem::path default_history_file() {
    return kept_folder() / "history";
}

double largest_peak_below(const History& history, const std::filesystem::path& root) {
    double largest = 0;
    for (const auto& [key, record] : history) {
        const double peak = std::max(record.peak_bytes, record.min_bytes);
        std::error_code error;
        if (peak > largest && std::filesystem::exists(root / record.source, error)) largest = peak;
    }
    return largest;
}

namespace {

// Shims and libraries in kept_folder(): longer than any build, whose start marks them as used.
constexpr std::int64_t unused_days = 30;

namespace fs = std::filesystem;

constexpr mode_t only_ours = 0700;

// Says whether this process could create files below `folder`: its closest existing parent is a folder that
// it may write.
bool can_keep(fs::path folder) {
    struct stat status {};
    while (::stat(folder.c_str(), &status) != 0) {
        if (errno != ENOENT || !folder.has_relative_path()) return false;
        folder = folder.parent_path();
    }
    return S_ISDIR(status.st_mode) && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

fs::path folder_in(const char* variable, const char* inside) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value == '/' ? fs::path(value) / inside : fs::path();
}

}  // namespace

fs::path kept_folder() {
    for (const fs::path& folder : {folder_in("XDG_CACHE_HOME", "wheelyard/governor"),
                                   folder_in("HOME", ".cache/wheelyard/governor")}) {
        if (!folder.empty() && can_keep(folder)) return folder;
    }
    return private_folder();
}

fs::path private_folder() {
    return "/tmp/wheelyard-" + std::to_string(::geteuid());
}

base::Status make_private_folder(const fs::path& folder) {
    if (::mkdir(folder.c_str(), only_ours) != 0 && errno != EEXIST)
        return base::fail_errno("making the folder", folder.string(), errno);
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0) return base::fail_errno("lstat", folder.string(), errno);
    const bool ours = S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
    if (!ours || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return base::fail("governor.folder", "Another user can write this folder, or it is no folder",
                          folder.string(), "remove it, or set XDG_CACHE_HOME to a folder of yours");
    if (::chmod(folder.c_str(), only_ours) != 0) return base::fail_errno("chmod", folder.string(), errno);
    return {};
}

base::Status prepare_kept(const fs::path& kept) {
    const fs::path folder = private_folder();
    const std::string inside = kept.lexically_relative(folder).string();
    if (inside.empty() || inside.starts_with("..")) return {};
    return make_private_folder(folder);
}

void mark_used(const fs::path& kept) {
    ::utimensat(AT_FDCWD, kept.c_str(), nullptr, 0);
}

void remove_unused(const fs::path& folder, std::string_view prefix) {
    constexpr std::int64_t day_s = 24 * 60 * 60;
    const std::int64_t since = std::time(nullptr) - unused_days * day_s;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        struct stat status {};
        if (!entry.path().filename().string().starts_with(prefix)) continue;
        if (::lstat(entry.path().c_str(), &status) == 0 && status.st_mtime < since)
            fs::remove_all(entry.path(), error);
    }
}

}  // namespace wheelyard::governor
