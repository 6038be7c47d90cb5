#include "registry/commands/advisories/advisory.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::advisories {
namespace {

constexpr std::array<std::pair<std::string_view, Event::Kind>, 4> event_names{{
    {"introduced", Event::Kind::introduced},
    {"fixed", Event::Kind::fixed},
    {"last_affected", Event::Kind::last_affected},
    {"limit", Event::Kind::limit},
}};

auto unreadable(std::string why, std::string_view value) {
    return base::fail("advisory.unreadable", std::move(why), std::string(value),
                      "give one record of OSV, or a folder of them; unpack an archive of records first");
}

Range read_range(const io::Json& range) {
    Range events;
    for (const io::Json& event : range.items("events"))
        for (const auto& [name, kind] : event_names)
            if (const std::string version = event.string_or(name, {}); !version.empty())
                events.push_back({kind, version});
    return events;
}

std::optional<Affected> read_affected(const io::Json& entry) {
    const io::Json* const package = entry.find("package");
    if (package == nullptr) return std::nullopt;
    const std::string written = package->string_or("ecosystem", {});
    const Ecosystem* const ecosystem = find_ecosystem(written);
    if (ecosystem == nullptr) return std::nullopt;
    Affected affected{ecosystem, {}, package_name(*ecosystem, package->string_or("name", {})), {}, {}};
    if (const std::size_t colon = written.find(':'); colon != std::string::npos)
        affected.release = written.substr(colon + 1);
    for (const io::Json& range : entry.items("ranges"))
        if (range.string_or("type", {}) != "GIT") affected.ranges.push_back(read_range(range));
    for (const io::Json& version : entry.items("versions"))
        if (const std::string* const text = version.as_string()) affected.versions.push_back(*text);
    return affected;
}

// Says whether the version is of this release of the distribution: "1.2.11-25.el8_9" is of 8. nullopt: it
// does not say.
std::optional<bool> is_of_release(std::string_view version, std::string_view release) {
    constexpr std::string_view mark = ".el";
    const std::size_t at = version.rfind(mark);
    if (at == std::string_view::npos) return std::nullopt;
    version.remove_prefix(at + mark.size());
    const auto end = std::find_if_not(version.begin(), version.end(), base::is_ascii_digit);
    return version.substr(0, static_cast<std::size_t>(end - version.begin())) == release;
}

bool is_start(const Event& event) {
    return event.kind == Event::Kind::introduced && event.version == "0";
}
bool is_endless(const Event& event) {
    return event.kind == Event::Kind::limit && event.version == "*";
}

// The position of a version in a range; nullopt: an event cannot be compared with it.
struct Position {
    bool is_affected = false;
    std::string fixed;
};
std::optional<Position> find_position(VersionOrder order, Range range, std::string_view version) {
    bool is_limited = false, is_below_limit = false;
    for (const Event& event : range) {
        if (is_start(event)) continue;
        const auto compared = compare_versions(order, version, event.version);
        if (!compared && !is_endless(event)) return std::nullopt;
        if (event.kind != Event::Kind::limit) continue;
        is_limited = true;
        is_below_limit = is_below_limit || is_endless(event) || *compared < 0;
    }
    std::erase_if(range, [](const Event& event) { return event.kind == Event::Kind::limit; });
    std::stable_sort(range.begin(), range.end(), [&](const Event& a, const Event& b) {
        if (is_start(a) || is_start(b)) return !is_start(b);
        return *compare_versions(order, a.version, b.version) < 0;
    });
    Position found;
    for (const Event& event : range) {
        const bool is_reached =
            is_start(event) || (event.kind == Event::Kind::last_affected
                                    ? *compare_versions(order, version, event.version) > 0
                                    : *compare_versions(order, version, event.version) >= 0);
        if (is_reached)
            found.is_affected = event.kind == Event::Kind::introduced;
        else if (event.kind == Event::Kind::fixed && found.fixed.empty())
            found.fixed = event.version;
    }
    if (is_limited && !is_below_limit) found.is_affected = false;
    return found;
}

}  // namespace

base::Result<Advisory> parse_advisory(std::string_view text) {
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(text, {.bytes = max_advisory_bytes}));
    Advisory advisory;
    advisory.id = document.string_or("id", {});
    if (advisory.id.empty() || document.find("modified") == nullptr)
        return unreadable("This is no record of OSV: it has no `id`, or no `modified`", advisory.id);
    for (const io::Json& alias : document.items("aliases"))
        if (const std::string* const id = alias.as_string()) advisory.aliases.push_back(*id);
    if (!document.string_or("withdrawn", {}).empty()) return advisory;
    for (const io::Json& entry : document.items("affected"))
        if (auto affected = read_affected(entry)) advisory.affected.push_back(std::move(*affected));
    return advisory;
}

Judgement judge(const Affected& affected, std::string_view version) {
    const VersionOrder order = affected.ecosystem->order;
    Judgement judgement;
    if (!affected.release.empty()) {
        const auto is_same = is_of_release(version, affected.release);
        if (!is_same || !*is_same) {
            judgement.impact = is_same ? Impact::unaffected : Impact::not_judged;
            return judgement;
        }
    }
    const bool is_listed =
        std::any_of(affected.versions.begin(), affected.versions.end(), [&](const std::string& one) {
            return one == version || compare_versions(order, one, version) == std::strong_ordering::equal;
        });
    if (is_listed) judgement.impact = Impact::affected;
    for (const Range& range : affected.ranges) {
        const auto position = find_position(order, range, version);
        if (!position) {
            if (judgement.impact == Impact::unaffected) judgement.impact = Impact::not_judged;
            continue;
        }
        if (!position->is_affected && !is_listed) continue;
        if (position->is_affected) judgement.impact = Impact::affected;
        if (judgement.fixed.empty()) judgement.fixed = position->fixed;
    }
    return judgement;
}

}  // namespace wheelyard::advisories
