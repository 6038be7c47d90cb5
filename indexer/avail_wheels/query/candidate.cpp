// Parses file names, each distinct part once, and derives the architecture from platform tags.
#include "indexer/avail_wheels/query/candidate.hpp"

#include <array>
#include <set>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/wheel/limits.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels {

namespace {

std::shared_ptr<const Release> make_release(wheel::WheelFilename& wheel) {
    auto release = std::make_shared<Release>();
    release->key = wheel::escape_name(wheel.project);
    release->name = std::move(wheel.name);
    release->project = std::move(wheel.project);
    release->public_version = wheel.version.public_text();
    release->version = std::move(wheel.version);
    if (wheel.build) release->build = wheel.build->text();
    return release;
}

std::shared_ptr<const TagSet> make_tag_set(std::string_view text, wheel::WheelFilename& wheel) {
    auto set = std::make_shared<TagSet>();
    set->text = text;
    set->arch = arch_of_platforms(wheel.platforms);
    set->python = joined_tags(wheel.pythons);
    set->pythons = std::move(wheel.pythons);
    set->abis = std::move(wheel.abis);
    set->platforms = std::move(wheel.platforms);
    set->tags = std::move(wheel.tags);
    set->variant = wheel.variant.value_or(std::string());
    return set;
}

}  // namespace

std::optional<FilenameHalves> halves_of(std::string_view filename) {
    constexpr std::string_view extension = ".whl";
    constexpr std::size_t max_dashes = 6;  // with a build tag and a variant label
    constexpr std::size_t min_dashes = 4;
    if (!filename.ends_with(extension)) return std::nullopt;
    filename.remove_suffix(extension.size());
    std::array<std::size_t, max_dashes> dashes{};
    std::size_t count = 0;
    for (auto dash = filename.find('-'); dash != std::string_view::npos;
         dash = filename.find('-', dash + 1)) {
        if (count == max_dashes) return std::nullopt;
        dashes[count++] = dash;
    }
    if (count < min_dashes) return std::nullopt;
    // A build tag starts with a digit, a Python tag never does.
    const std::size_t third = dashes[1] + 1;
    const bool has_build = count > min_dashes && base::is_ascii_digit(filename[third]);
    const std::size_t end = has_build ? dashes[2] : dashes[1];
    return FilenameHalves{filename.substr(0, end), filename.substr(end + 1)};
}

std::optional<WheelName> WheelNames::parse(std::string_view filename) {
    const auto halves = halves_of(filename);
    if (!halves) return std::nullopt;
    const auto known = tag_sets_.find(halves->tags);
    const bool is_same_release = release_ != nullptr && release_text_ == halves->release;
    // If both halves come from valid names, the name is valid too, unless it is too long.
    if (is_same_release && known != tag_sets_.end() && filename.size() <= wheel::max_filename_bytes)
        return WheelName{release_, known->second};
    auto parsed = wheel::parse_wheel_filename(filename);
    if (!parsed) return std::nullopt;
    WheelName name;
    name.tags = known != tag_sets_.end() ? known->second : make_tag_set(halves->tags, *parsed);
    if (known == tag_sets_.end()) tag_sets_.emplace(halves->tags, name.tags);
    if (!is_same_release) {
        release_text_ = halves->release;
        release_ = make_release(*parsed);
    }
    name.release = release_;
    return name;
}

const TagSet* WheelNames::known_tags(std::string_view tags) const {
    const auto known = tag_sets_.find(tags);
    return known == tag_sets_.end() ? nullptr : known->second.get();
}

Candidate make_candidate(WheelName name, simple::FileLink link, const std::string& arch) {
    Candidate candidate;
    candidate.arch = arch.empty() ? name.tags->arch : arch;
    candidate.release = std::move(name.release);
    candidate.tags = std::move(name.tags);
    candidate.link = std::move(link);
    return candidate;
}

std::string arch_of_platforms(const std::vector<std::string>& platforms) {
    if (platforms.size() == 1 && platforms.front() == "any") return "generic";
    std::set<std::string> archs;
    for (const auto& text : platforms) {
        const wheel::Platform platform = wheel::parse_platform(text);
        if (platform.kind == wheel::PlatformKind::any) {
            archs.insert("generic");
        } else {
            archs.insert(platform.machine.empty() ? text : platform.machine);
        }
    }
    return base::join({archs.begin(), archs.end()}, ",");
}

std::string joined_tags(const std::vector<std::string>& tags) {
    if (tags.size() == 1) return tags.front();
    const std::set<std::string> sorted(tags.begin(), tags.end());
    return base::join({sorted.begin(), sorted.end()}, ",");
}

}  // namespace wheelyard::avail_wheels
