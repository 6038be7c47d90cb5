#include "registry/upstream/last_used.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "registry/upstream/freshness.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::int64_t last_used_kept_days = 400;  // later, the day of the fetch counts
constexpr std::uint64_t max_last_used_bytes = 256 * base::mib;

constexpr std::string_view format = "wheelyard.last-used/1";

base::Result<std::unordered_map<std::string, Day>> read_days(const std::filesystem::path& file) {
    std::unordered_map<std::string, Day> days;
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return days;
    WHEELYARD_ASSIGN(const std::string text, base::read_file(file, max_last_used_bytes));
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(text, {.bytes = max_last_used_bytes}));
    const io::Json* json = document.find("days");
    const io::Json::Object* members = json != nullptr ? json->as_object() : nullptr;
    if (document.string_or("format", "") != format || members == nullptr)
        return base::fail_malformed("upstream.last_used", "This is not a record of used files",
                                    file.native());
    for (const auto& [sha256, day] : *members)
        if (base::is_sha256_hex(sha256) && day.as_int() != nullptr) days[sha256] = *day.as_int();
    return days;
}

}  // namespace

Day day_of(base::UnixMicros time) {
    return time / base::day_us;
}

LastUsed::LastUsed(std::filesystem::path file) : file_(std::move(file)) {
    auto days = read_days(file_);
    if (days)
        days_ = *std::move(days);
    else
        io::log_error("upstream.last_used_unreadable", {{"error", days.error().text()}});
}

void LastUsed::note(const std::string& sha256, base::UnixMicros now) {
    const std::lock_guard lock(mutex_);
    Day& day = days_[sha256];
    if (day >= day_of(now)) return;
    day = day_of(now);
    is_changed_ = true;
}

Day LastUsed::day(const std::string& sha256) const {
    const std::lock_guard lock(mutex_);
    const auto found = days_.find(sha256);
    return found == days_.end() ? 0 : found->second;
}

base::Status LastUsed::save(base::UnixMicros now) {
    io::Json days = io::Json::object();
    {
        const std::lock_guard lock(mutex_);
        if (!is_changed_) return {};
        const Day oldest = day_of(now) - last_used_kept_days;
        std::erase_if(days_, [oldest](const auto& entry) { return entry.second < oldest; });
        io::Json::Object members;
        for (const auto& [sha256, day] : days_)
            members.emplace_back(sha256, day);
        days = io::Json(std::move(members));
        is_changed_ = false;
    }
    auto saved = base::make_private_directories(file_.parent_path());
    if (saved)
        saved = base::replace_file(file_,
                                   io::Json::object({{"format", format}, {"days", std::move(days)}}).render(),
                                   base::private_file_mode);
    if (saved) return {};
    const std::lock_guard lock(mutex_);
    is_changed_ = true;
    return saved;
}

namespace {

// The limit of a cache. Bytes of the last hour may belong to an upload in progress, so their blobs could not
// be removed (lifecycle::min_grace_ms), and a client that waited for a file has it by then.
constexpr std::int64_t min_cached_s = 3'600;

}  // namespace

std::vector<CachedCopy> order_of_return(std::vector<CachedCopy> copies, base::UnixMicros now) {
    std::erase_if(copies, [now](const CachedCopy& copy) {
        return copy.is_kept || copy.fetched > now - min_cached_s * base::second_us;
    });
    std::sort(copies.begin(), copies.end(), [](const CachedCopy& a, const CachedCopy& b) {
        return std::tie(a.last_used, a.fetched, a.filename) < std::tie(b.last_used, b.fetched, b.filename);
    });
    return copies;
}

}  // namespace wheelyard::registry
