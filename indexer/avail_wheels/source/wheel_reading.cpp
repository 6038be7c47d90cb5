// One JSON file of all wheels of a source.
#include "indexer/avail_wheels/source/wheel_reading.hpp"

#include <sys/stat.h>

#include <system_error>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;
using io::Json;

namespace {

constexpr std::uint64_t max_wheels_read_bytes = base::gib;  // of a folder in one call: four seconds
constexpr std::size_t max_wheels_kept = 20'000;             // in the cache of a folder; 1 KiB each
constexpr std::uint64_t max_wheel_cache_bytes = 64 * base::mib;
constexpr const char* format = "wheelyard.wheels-read/7";
constexpr std::int64_t ns_per_s = 1'000'000'000;

void set_wheel(Candidate& candidate, const ReadWheel& wheel) {
    candidate.facts = wheel.facts;
    if (!wheel.requires_python.empty()) candidate.link.requires_python = wheel.requires_python;
}

}  // namespace

WheelReading::WheelReading(ReadWheelFile read, fs::path cache)
    : read_(std::move(read)), cache_(std::move(cache)) {
    const auto text = base::read_file(cache_, max_wheel_cache_bytes);
    const auto json = text ? io::parse_json(*text) : base::Result<Json>(Json());
    if (!json || json->string_or("format", {}) != format) return;
    const auto* wheels = json->find("wheels");
    if (wheels == nullptr || wheels->as_object() == nullptr) return;
    for (const auto& [path, one] : *wheels->as_object()) {
        const auto* facts = one.find("facts");
        if (facts == nullptr) continue;
        kept_.emplace(path, Kept{static_cast<std::uint64_t>(one.int_or("size", 0)), one.int_or("time_ns", 0),
                                 ReadWheel{one.string_or("requires_python", {}), facts->render()}});
    }
}

void WheelReading::add_facts(Candidate& candidate) {
    const auto url = base::parse_url(candidate.link.url);
    const auto path = url ? base::decode_percent(url->path) : base::Result<std::string>(std::string());
    if (!path || path->empty()) return;
    struct stat about {};
    if (::stat(path->c_str(), &about) != 0) {
        candidate.no_facts = "could not be read";
        return;
    }
    const auto size = static_cast<std::uint64_t>(about.st_size);
    const std::int64_t time_ns = about.st_mtim.tv_sec * ns_per_s + about.st_mtim.tv_nsec;
    const auto known = kept_.find(*path);
    if (known != kept_.end() && known->second.size == size && known->second.time_ns == time_ns) {
        set_wheel(candidate, known->second.wheel);
        return;
    }
    if (!read_) return;
    // One that is larger than the limit is read alone.
    if (read_bytes_ > 0 && read_bytes_ + size > max_wheels_read_bytes) {
        candidate.no_facts = "not read yet; the next call goes on reading this folder";
        return;
    }
    read_bytes_ += size;
    auto wheel = read_(*path);
    if (!wheel) {
        candidate.no_facts = "could not be read: " + wheel.error().sentence;
        return;
    }
    set_wheel(candidate, *wheel);
    if (kept_.size() >= max_wheels_kept && known == kept_.end()) kept_.erase(kept_.begin());
    kept_.insert_or_assign(*path, Kept{size, time_ns, std::move(*wheel)});
    is_changed_ = true;
}

void WheelReading::keep() {
    if (!is_changed_ || cache_.empty()) return;
    io::Json::Object members;
    for (const auto& [path, kept] : kept_) {
        auto facts = io::parse_json(kept.wheel.facts);
        if (!facts) continue;
        members.emplace_back(path, Json::object({{"size", kept.size},
                                                 {"time_ns", kept.time_ns},
                                                 {"requires_python", kept.wheel.requires_python},
                                                 {"facts", std::move(*facts)}}));
    }
    const Json json = Json::object({{"format", format}, {"wheels", Json(std::move(members))}});
    std::error_code error;
    fs::create_directories(cache_.parent_path(), error);
    // On a full home the wheels are read again next time.
    if (!error) (void)base::replace_file(cache_, json.render());
    is_changed_ = false;
}

}  // namespace wheelyard::avail_wheels
