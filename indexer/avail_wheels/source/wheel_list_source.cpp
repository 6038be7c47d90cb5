// Reads a wheel list. Lines are scanned, newest version first, only until a project's newest version is
// known, and parsed only if their tags may be listed.
#include <algorithm>
#include <memory>
#include <utility>

#include "indexer/avail_wheels/query/filter.hpp"
#include "indexer/avail_wheels/source/source.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::avail_wheels {

namespace {

// Says whether "torch-2.4.0-1" has another public version than `known`. False if the version is not
// normalised.
bool is_other_version(std::string_view release, const Release& known) {
    const auto text = release.substr(release.find('-') + 1);
    const auto version = wheel::Version::parse(text.substr(0, text.find('-')));
    // Local versions (2.4.0+cu126, 2.4.0+cpu) count as one version.
    return version && version->compare_public(known.version) != 0;
}

std::string_view take_line(std::string_view& text) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

// PEP 503's relative link, as on the project pages: files/ab/<sha256>/<filename> next to simple/.
std::string file_url(const std::string& files_url, std::string_view sha256, std::string_view filename) {
    constexpr std::size_t prefix_digits = 2;
    if (sha256.size() < prefix_digits) return {};
    std::string url = files_url;
    url.append(sha256.substr(0, prefix_digits)).append("/").append(sha256).append("/");
    return url + base::replace_all(filename, "+", "%2B");
}

class WheelListReader {
  public:
    WheelListReader(const Query& query, const std::string& simple_url, bool with_facts)
        : query_(query),
          filter_(query),
          with_facts_(with_facts),
          has_specifiers_(std::any_of(query_.wanted.begin(), query_.wanted.end(),
                                      [](const Wanted& wanted) { return !wanted.specifiers.empty(); })) {
        // files/ is a sibling of simple/.
        std::string above = simple_url;
        while (above.ends_with('/'))
            above.pop_back();
        files_url_ = above.substr(0, above.rfind('/') + 1) + "files/";
    }

    void read(const simple::WheelListView& project) {
        std::string facts_text;
        if (with_facts_) {
            auto facts = project.part->facts(project.entry);
            if (facts) facts_text = std::move(*facts);
        }
        std::string_view lines = project.lines;
        std::string_view facts = facts_text;
        std::shared_ptr<const Release> newest;  // the newest listed final release
        std::string_view newest_text;
        while (!lines.empty()) {
            const auto wheel = simple::parse_wheel_list_line(take_line(lines));
            const auto its_facts = take_line(facts);
            const auto halves = halves_of(wheel.filename);
            if (!halves) continue;
            if (const auto* tags = names_.known_tags(halves->tags);
                tags != nullptr && !filter_.may_list(*tags))
                continue;
            if (wheel.yanked && !query_.everything && !query_.yanked && !has_specifiers_) continue;
            const bool is_older = newest != nullptr && !query_.all_versions && halves->release != newest_text;
            if (is_older && is_other_version(halves->release, *newest)) return;
            auto name = names_.parse(wheel.filename);
            if (!name) continue;
            // A version that is not normalised ("1.0_1") is compared only after parsing.
            if (is_older && name->release->version.compare_public(newest->version) != 0) return;
            candidates_.push_back(make_candidate(std::move(*name), link_of(wheel)));
            Candidate& candidate = candidates_.back();
            candidate.facts = its_facts;
            if (!filter_.lists(candidate)) {
                candidates_.pop_back();
                continue;
            }
            if (candidate.release->version.is_prerelease() && !query_.prereleases) continue;
            newest = candidate.release;
            newest_text = halves->release;
        }
    }
    // Reserves capacity; candidates are expensive to move.
    void expect(std::size_t wheels) { candidates_.reserve(wheels); }
    std::vector<Candidate> take() { return std::move(candidates_); }

  private:
    [[nodiscard]] simple::FileLink link_of(const simple::WheelListLine& wheel) const {
        simple::FileLink link{wheel.file(with_facts_)};  // a table shows no more than without
        if (with_facts_) link.url = file_url(files_url_, link.sha256, link.filename);
        return link;
    }

    const Query& query_;
    Filter filter_;
    bool with_facts_;
    std::string files_url_;
    bool has_specifiers_;
    WheelNames names_;
    std::vector<Candidate> candidates_;
};

}  // namespace

base::Result<std::vector<Candidate>> read_wheel_list(const simple::WheelList& wheel_list, const Query& query,
                                                     const std::string& simple_url, bool with_facts) {
    WheelListReader reader(query, simple_url, with_facts);
    const bool has_glob = std::any_of(query.wanted.begin(), query.wanted.end(),
                                      [](const Wanted& one) { return one.is_glob(); });
    const auto visit = [&](const simple::WheelListView& project) { reader.read(project); };
    if (has_glob) {
        // The header's counts are untrusted, so they are limited by the file's size.
        constexpr std::size_t wheels_of_one_version = 4;
        constexpr std::size_t min_line_bytes = 32;
        const auto& head = wheel_list.base_head();
        reader.expect(std::min({head.wheels, head.projects * wheels_of_one_version,
                                static_cast<std::size_t>(head.lines_bytes) / min_line_bytes}));
        const auto chosen = [&](std::string_view key) {
            const std::string project = wheel::normalize_name(key);
            return std::any_of(query.wanted.begin(), query.wanted.end(),
                               [&](const Wanted& one) { return one.matches(project); });
        };
        WHEELYARD_TRY(wheel_list.visit_all(chosen, visit));
        return reader.take();
    }
    std::vector<std::string> keys;
    for (const auto& one : query.wanted) {
        keys.push_back(wheel::escape_name(one.pattern));
        for (const auto& project : one.projects)
            keys.push_back(wheel::escape_name(project));
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (const auto& key : keys)
        WHEELYARD_TRY(wheel_list.visit_one(key, visit));
    return reader.take();
}

base::Result<std::vector<std::string>> projects_of_wheel_list(const simple::WheelList& wheel_list,
                                                              std::string_view start) {
    const std::string key_start = start.empty() ? std::string() : wheel::escape_name(start);
    std::vector<std::string> projects;
    WHEELYARD_TRY(wheel_list.visit_all([&](std::string_view key) { return key.starts_with(key_start); },
                                       [&](const simple::WheelListView& project) {
                                           projects.push_back(wheel::normalize_name(project.key));
                                       }));
    return projects;
}

}  // namespace wheelyard::avail_wheels
