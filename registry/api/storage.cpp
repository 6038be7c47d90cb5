#include "registry/api/storage.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/io/json.hpp"
#include "registry/blobs/disk_room.hpp"
#include "registry/intake/quota.hpp"

namespace wheelyard::registry {
namespace {

// Projects, and uploaders, in the description of an index's storage.
constexpr std::size_t max_top_returned = 50;
// Days in the description of an index's storage.
constexpr std::int64_t max_growth_days = 365;

constexpr std::size_t day_length = 10;  // of "2026-11-20"

io::Json limit_of(std::uint64_t quota) {
    return quota == no_quota ? io::Json() : io::Json(quota);
}

io::Json list_uploaders(std::vector<catalog::Usage> usage) {
    std::sort(usage.begin(), usage.end(), [](const catalog::Usage& a, const catalog::Usage& b) {
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.uploaded_by < b.uploaded_by;
    });
    if (usage.size() > max_top_returned) usage.resize(max_top_returned);
    io::Json uploaders = io::Json::array();
    for (const catalog::Usage& one : usage)
        uploaders.push(
            io::Json::object({{"name", one.uploaded_by}, {"files", one.files}, {"bytes", one.bytes}}));
    return uploaders;
}

}  // namespace

base::Result<std::string> describe_storage(const RegistryConfig& config, const catalog::Catalog& catalog,
                                           const std::string& index, base::UnixMicros now) {
    WHEELYARD_ASSIGN(const auto usage, catalog.usage(index));
    WHEELYARD_ASSIGN(const auto top, catalog.top_projects(index, max_top_returned));
    WHEELYARD_ASSIGN(const auto quarantined, catalog.quarantine_usage(index));
    WHEELYARD_ASSIGN(const auto days, catalog.usage_by_day(index, now - max_growth_days * base::day_us));
    const catalog::Usage all = usage_of(usage, {});
    const IndexConfig* configured = config.find_index(index);
    const Quota quota = configured == nullptr ? Quota{} : configured->quota;
    std::vector<catalog::Usage> fetched;
    if (configured != nullptr) {
        for (const UpstreamConfig& upstream : configured->upstreams) {
            WHEELYARD_ASSIGN(const auto of_upstream, catalog.usage(upstream.cache_index));
            fetched.push_back(usage_of(of_upstream, {}));
        }
    }
    const catalog::Usage brought = usage_of(fetched, {});
    io::Json projects = io::Json::array();
    for (const catalog::ProjectUsage& one : top)
        projects.push(io::Json::object({{"project", one.project},
                                        {"files", one.files},
                                        {"bytes", one.bytes},
                                        {"newest", base::render_rfc3339(one.newest)}}));
    io::Json growth = io::Json::array();
    for (const catalog::DayUsage& one : days)
        growth.push(
            io::Json::object({{"day", base::render_rfc3339(one.day * base::day_us).substr(0, day_length)},
                              {"files", one.files},
                              {"bytes", one.bytes}}));
    return io::Json::object(
               {{"format", "wheelyard.storage/1"},
                {"index", index},
                {"files", all.files},
                {"bytes", all.bytes},
                {"quota_files", limit_of(quota.files)},
                {"quota_bytes", limit_of(quota.bytes)},
                {"quarantined",
                 io::Json::object({{"files", quarantined.files}, {"bytes", quarantined.bytes}})},
                {"fetched", io::Json::object({{"files", brought.files}, {"bytes", brought.bytes}})},
                {"free_bytes", blobs::free_bytes_of(config.store)},
                {"growth", std::move(growth)},
                {"projects", std::move(projects)},
                {"uploaders", list_uploaders(usage)}})
        .render();
}

}  // namespace wheelyard::registry
