#include "registry/upstream/last_failures.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/io/log.hpp"
#include "lib/io/record.hpp"
#include "registry/upstream/limits.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::int64_t same_trouble_s =
    24 * 3600;  // between two failures of a project: the count of later ones begins at one
constexpr std::uint64_t max_failures_file_bytes = 1 * base::mib;

constexpr std::string_view failures_format = "wheelyard.upstream-failures/1";

using U = UpstreamFailure;
constexpr auto failure_record = io::record<U>({
    io::field<&U::time>("time", "when the request failed", io::Need::required),
    io::field<&U::since>("since", "the first failure of this project without a day in between"),
    io::field<&U::count>("count", "failures of this project since then"),
    io::field<&U::next_try>("next_try", "no request before"),
    io::field<&U::project>("project", "the project that was asked for"),
    io::field<&U::code>("code", "what failed"),
    io::field<&U::sentence>("sentence", "the same in words"),
    io::field<&U::value>("value", "what it is about, such as an address"),
    io::field<&U::told>("told", "what everybody is told"),
    io::field<&U::is_upstream_wide>("is_upstream_wide", "no request to the upstream would have succeeded"),
});

constexpr auto list_record = io::record<std::vector<U>>({
    io::field_of<std::vector<U>, io::ListOf<io::Nested<failure_record>>>(
        "failures", "one for each project, the newest last", io::Need::valid),
});

std::filesystem::path failures_file(const std::filesystem::path& folder, const std::string& cache_index) {
    return folder / cache_index / "last-failures.json";
}

}  // namespace

// A refused address is a private one, or a host that is not permitted; libcurl's own words name addresses.
std::string public_sentence(const base::Error& error) {
    if (error.kind == base::ErrorKind::refused)
        return "the configuration of this registry refuses its address";
    return error.sentence.substr(0, error.sentence.find(" ("));
}

LastFailures::LastFailures(std::filesystem::path folder, Write write)
    : folder_(std::move(folder)),
      write_(write ? std::move(write)
                   : [folder = folder_](const std::filesystem::path& file, const std::string& bytes) {
                         return base::make_private_directories(folder)
                             .and_then([&] { return base::make_directories(file.parent_path()); })
                             .and_then(
                                 [&] { return base::replace_file(file, bytes, base::private_file_mode); });
                     }) {}

void LastFailures::note(const std::string& cache_index, UpstreamFailure failure) {
    std::unique_lock lock(mutex_);
    Known& known = known_[cache_index];
    std::vector<UpstreamFailure>& all = known.failures;
    failure.since = failure.time;
    failure.count = 1;
    std::erase_if(all, [&](const UpstreamFailure& one) {
        if (one.project != failure.project) return false;
        if (failure.time - one.time < same_trouble_s * 1'000'000) {
            failure.since = one.since == 0 ? one.time : one.since;
            failure.count += one.count;
        }
        return true;
    });
    if (all.size() >= max_failures_kept) all.erase(all.begin());
    all.push_back(std::move(failure));
    known.is_newer = true;
    if (known.is_written_now) return;
    known.is_written_now = true;
    while (known.is_newer) {
        known.is_newer = false;
        io::Json json = io::Json::object({{"format", failures_format}});
        list_record.write_into(json, all);
        lock.unlock();
        const base::Status saved = write_(failures_file(folder_, cache_index), json.render());
        if (!saved) io::log_error("upstream.failure_not_stored", {{"error", saved.error().text()}});
        lock.lock();
    }
    known.is_written_now = false;
}

std::vector<UpstreamFailure> read_last_failures(const std::filesystem::path& folder,
                                                const std::string& cache_index) {
    const auto text = base::read_file(failures_file(folder, cache_index), max_failures_file_bytes);
    if (!text) return {};
    const auto json = io::parse_json(*text);
    std::vector<UpstreamFailure> list;
    if (!json || json->string_or("format", "") != failures_format || !list_record.read(*json, list))
        return {};
    return list;
}

std::optional<UpstreamFailure> find_last_failure(const std::filesystem::path& folder,
                                                 const std::string& cache_index, const std::string& project) {
    const auto failures = read_last_failures(folder, cache_index);
    const auto found = std::find_if(failures.rbegin(), failures.rend(), [&](const UpstreamFailure& each) {
        return each.project == project || each.is_upstream_wide;
    });
    if (found == failures.rend()) return std::nullopt;
    return *found;
}

}  // namespace wheelyard::registry
