// The table of a closure, and the reasons of one project.
#include "builder/closure/closure_report.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::builder {
namespace {

std::string size_text(std::int64_t bytes) {
    const auto unit = static_cast<std::int64_t>(base::kib);
    return bytes == 0 ? "" : std::to_string((bytes + unit - 1) / unit) + " KiB";
}

}  // namespace

base::Result<ClosureAsked> parse_asked(const std::string& requirement, const std::string& python,
                                       ClosureMode mode, const Site& site) {
    const auto end = requirement.find_first_of("=<>!~ ");
    const std::string package = requirement.substr(0, end);
    std::string version =
        end == std::string::npos ? "latest" : std::string(base::trim(requirement.substr(end)));
    if (version.starts_with("==") && wheel::Version::parse(version.substr(2))) version.erase(0, 2);
    const bool is_known =
        version == "latest" || wheel::Version::parse(version) || wheel::SpecifierSet::parse(version);
    if (!wheel::is_valid_name(package) || !is_known)
        return base::fail("closure.requirement", "Not a project with versions", requirement,
                          "name it as in pandas, pandas==3.1.1 or 'pandas>=3,<4'");
    const std::string chosen =
        python.empty() && site.pythons.size() == 1 ? site.pythons.front().version : python;
    if (site.python(chosen) == nullptr) {
        std::vector<std::string> known;
        for (const auto& one : site.pythons)
            known.push_back(one.version);
        return base::fail("closure.python", "Which Python of the site?", chosen,
                          "name it with --python: " + base::join(known, ", "));
    }
    return ClosureAsked{wheel::normalize_name(package), version, chosen, mode};
}

std::string render_closure_table(const Closure& closure, const Plan& plan, const std::string& python,
                                 std::size_t columns) {
    std::vector<base::TableRow> rows = {{"RELEASE", "HOW", "SIZE", "STATE", "WHY"}};
    std::size_t built = 0;
    for (const ClosureRelease& release : closure.releases) {
        const auto cell = find_release(plan.cells, release.name, release.version, python);
        built += release.how == ReleaseHow::sdist ? 1 : 0;
        const std::string why = why_needed(closure, release);
        rows.push_back({release.id(), std::string(release_hows.text(release.how)),
                        size_text(release.file.size),
                        cell ? std::string(cell_state_text(plan.cells[*cell].state)) : "",
                        why + (why.empty() || release.note.empty() ? "" : "; ") + release.note});
    }
    return base::render_table(rows, columns) + std::to_string(closure.releases.size()) + " releases, " +
           std::to_string(built) + " built here; versions by " + closure.resolver + " with Python " +
           closure.python + "\n";
}

std::string render_closure_reasons(const Closure& closure, const std::string& project) {
    std::string text;
    std::set<std::string> shown;
    std::vector<std::string> queue;
    for (const ClosureRelease& release : closure.releases) {
        if (release.name == wheel::normalize_name(project)) queue.push_back(release.id());
    }
    for (std::size_t at = 0; at < queue.size(); ++at) {
        const ClosureRelease* release = closure.find(queue[at]);
        if (release == nullptr || !shown.insert(release->id()).second) continue;
        text += release->id() + "\n";
        for (const auto& reason : release->why) {
            text += "  " + (reason.of.empty() ? "you" : reason.of) + " (" + reason.kind +
                    "): " + reason.text + "\n";
            if (!reason.of.empty()) queue.push_back(reason.of);
        }
    }
    return text;
}

}  // namespace wheelyard::builder
