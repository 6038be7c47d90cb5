// Selects the files that a retention rule deletes.
#include "lib/store/lifecycle/perform.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "lib/wheel/version.hpp"

namespace wheelyard::lifecycle {
namespace {

struct Entry {
    wheel::Version version;  // without its local part
    const catalog::FileRow* row;
};

std::string series_of(const wheel::Version& version) {
    std::string series = version.epoch().is_zero() ? std::string() : version.epoch().text() + "!";
    const auto& release = version.release();
    series += release.empty() ? "0" : release[0].text();
    series += ".";
    series += release.size() < 2 ? "0" : release[1].text();
    return series;
}

}  // namespace

std::vector<GivenUp> choose_given_up(const std::vector<catalog::FileRow>& files, std::int64_t keep) {
    std::map<std::string, std::vector<Entry>> all_series;
    for (const catalog::FileRow& row : files) {
        auto version = wheel::Version::parse(row.version);
        if (!version || row.pinned || row.state != catalog::FileState::active) continue;
        auto public_version = version->without_local();
        auto& series = all_series[series_of(public_version)];
        series.push_back({std::move(public_version), &row});
    }
    std::vector<GivenUp> given_up;
    for (auto& [series, entries] : all_series) {
        std::stable_sort(entries.begin(), entries.end(),
                         [](const Entry& a, const Entry& b) { return a.version > b.version; });
        std::int64_t newer = 0;  // versions that installers choose from
        std::int64_t newer_finals = 0;
        for (auto first = entries.begin(); first != entries.end();) {
            const auto last = std::find_if(
                first, entries.end(), [&](const Entry& entry) { return !(entry.version == first->version); });
            const bool is_prerelease = first->version.is_prerelease();
            if ((is_prerelease ? newer : newer_finals) >= keep)
                for (auto entry = first; entry != last; ++entry)
                    given_up.push_back({entry->row->filename, series});
            const bool counts =
                std::any_of(first, last, [](const Entry& entry) { return !entry.row->yanked; });
            if (counts) ++newer;
            if (counts && !is_prerelease) ++newer_finals;
            first = last;
        }
    }
    return given_up;
}

}  // namespace wheelyard::lifecycle
