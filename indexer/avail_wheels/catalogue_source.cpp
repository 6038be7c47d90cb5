// Reading a catalogue: lines are looked at, newest version first, only until a project's newest is known, and
// taken apart only where their tags may be listed.
#include <algorithm>
#include <utility>

#include "indexer/avail_wheels/filter.hpp"
#include "indexer/avail_wheels/source.hpp"
#include "lib/base/text.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::avail_wheels {

namespace {

// "cp312-cp312-linux_aarch64" of a file name, where it is plain to see which parts the tags are; else empty.
std::string_view tags_of(std::string_view filename) {
    constexpr std::string_view extension = ".whl";
    constexpr std::ptrdiff_t plain_dashes = 4;  // name-version-python-abi-platform
    if (!filename.ends_with(extension) || std::count(filename.begin(), filename.end(), '-') != plain_dashes)
        return {};
    filename.remove_suffix(extension.size());
    return filename.substr(filename.find('-', filename.find('-') + 1) + 1);
}

// The part of a file name that tells versions apart: "torch-2.4.0+cu126" without looking closer.
std::string_view name_and_version(std::string_view filename) {
    const auto dash = filename.find('-');
    return filename.substr(0, dash == std::string_view::npos ? dash : filename.find('-', dash + 1));
}

std::string_view take_line(std::string_view& text) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

// PEP 503's relative link, as the project pages have it: files/ab/<sha256>/<filename> beside simple/.
std::string file_url(const std::string& files_url, std::string_view sha256, std::string_view filename) {
    constexpr std::size_t prefix_digits = 2;
    if (sha256.size() < prefix_digits) return {};
    std::string url = files_url;
    url.append(sha256.substr(0, prefix_digits)).append("/").append(sha256).append("/");
    return url + base::replace_all(filename, "+", "%2B");
}

class CatalogueReader {
  public:
    CatalogueReader(const Query& query, const std::string& simple_url, bool with_facts)
        : query_(query), filter_(query), with_facts_(with_facts) {
        // Wheels lie beside simple/, whatever is above both.
        std::string above = simple_url;
        while (above.ends_with('/'))
            above.pop_back();
        files_url_ = above.substr(0, above.rfind('/') + 1) + "files/";
    }

    void read(const simple::CatalogueView& project) {
        std::string facts_text;
        if (with_facts_) {
            auto facts = project.part->facts(project.entry);
            if (facts) facts_text = std::move(*facts);
        }
        std::string_view lines = project.lines;
        std::string_view facts = facts_text;
        std::string_view newest;  // of a final release that is listed
        while (!lines.empty()) {
            const auto wheel = simple::parse_catalogue_line(take_line(lines));
            const auto its_facts = take_line(facts);
            const auto tags = tags_of(wheel.filename);
            if (!tags.empty() && !filter_.may_list_tags(tags)) continue;
            if (wheel.yanked && !query_.everything && !has_specifiers()) continue;
            const auto version = name_and_version(wheel.filename);
            const bool is_older = !newest.empty() && version != newest;
            auto parsed = wheel::parse_wheel_filename(wheel.filename);
            if (!parsed) continue;
            // Local versions (2.4.0+cu126, 2.4.0+cpu) are one version.
            if (is_older && parsed->version.compare_public(candidates_.back().wheel.version) != 0 &&
                !query_.all_versions)
                return;
            Candidate candidate = make_candidate(std::move(*parsed), link_of(wheel));
            candidate.facts = its_facts;
            if (!filter_.lists(candidate)) continue;
            if (!candidate.wheel.version.is_prerelease()) newest = version;
            candidates_.push_back(std::move(candidate));
        }
    }
    // Room for so many wheels, which are dear to move.
    void expect(std::size_t wheels) { candidates_.reserve(wheels); }
    std::vector<Candidate> take() { return std::move(candidates_); }

  private:
    [[nodiscard]] bool has_specifiers() const {
        return std::any_of(query_.wanted.begin(), query_.wanted.end(),
                           [](const Wanted& wanted) { return !wanted.specifiers.empty(); });
    }

    [[nodiscard]] simple::FileLink link_of(const simple::CatalogueWheel& wheel) const {
        simple::FileLink link;
        link.filename = wheel.filename;
        link.requires_python = wheel.requires_python;
        link.yanked = wheel.yanked;
        if (!with_facts_) return link;  // a table shows no more
        link.url = file_url(files_url_, wheel.sha256, wheel.filename);
        link.sha256 = wheel.sha256;
        link.size = base::parse_decimal(wheel.size);
        link.yanked_reason = wheel.yanked_reason;
        link.upload_time = wheel.upload_time;
        return link;
    }

    const Query& query_;
    Filter filter_;
    bool with_facts_;
    std::string files_url_;
    std::vector<Candidate> candidates_;
};

}  // namespace

base::Result<std::vector<Candidate>> read_catalogue(const simple::Catalogue& catalogue, const Query& query,
                                                    const std::string& simple_url, bool with_facts) {
    CatalogueReader reader(query, simple_url, with_facts);
    const bool has_glob = std::any_of(query.wanted.begin(), query.wanted.end(),
                                      [](const Wanted& one) { return one.is_glob(); });
    const auto visit = [&](const simple::CatalogueView& project) { reader.read(project); };
    if (has_glob) {
        // What a head claims is believed only as far as the file is long.
        constexpr std::size_t wheels_of_one_version = 4;
        constexpr std::size_t least_line_bytes = 32;
        const auto& head = catalogue.base_head();
        reader.expect(std::min({head.wheels, head.projects * wheels_of_one_version,
                                static_cast<std::size_t>(head.lines_bytes) / least_line_bytes}));
        const auto chosen = [&](std::string_view key) {
            const std::string project = wheel::normalize_name(key);
            return std::any_of(query.wanted.begin(), query.wanted.end(),
                               [&](const Wanted& one) { return one.matches(project); });
        };
        WHEELYARD_TRY(catalogue.visit_all(chosen, visit));
        return reader.take();
    }
    std::vector<std::string> keys;
    for (const auto& one : query.wanted)
        keys.push_back(wheel::escape_name(one.pattern));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (const auto& key : keys)
        WHEELYARD_TRY(catalogue.visit_one(key, visit));
    return reader.take();
}

base::Result<std::vector<std::string>> projects_of_catalogue(const simple::Catalogue& catalogue,
                                                             std::string_view start) {
    const std::string key_start = start.empty() ? std::string() : wheel::escape_name(start);
    std::vector<std::string> projects;
    WHEELYARD_TRY(catalogue.visit_all([&](std::string_view key) { return key.starts_with(key_start); },
                                      [&](const simple::CatalogueView& project) {
                                          projects.push_back(wheel::normalize_name(project.key));
                                      }));
    return projects;
}

}  // namespace wheelyard::avail_wheels
