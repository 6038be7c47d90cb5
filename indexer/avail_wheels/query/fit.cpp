// Asks one check after the other: fit_checks.hpp has them.
#include "indexer/avail_wheels/query/fit.hpp"

#include <algorithm>
#include <array>

#include "indexer/avail_wheels/query/fit_checks.hpp"
#include "indexer/avail_wheels/query/needs.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels {

namespace checks {

std::string listed(const std::vector<std::string>& texts) {
    constexpr std::size_t max_shown = 6;
    std::vector<std::string> shown(
        texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(std::min(texts.size(), max_shown)));
    return base::join(shown, ", ") + (texts.size() > max_shown ? " …" : "");
}

bool requires_nothing(const Needs& needs) {
    return needs.requires_dist &&
           std::all_of(needs.requires_dist->begin(), needs.requires_dist->end(), [](const auto& text) {
               return text.find("extra ==", std::min(text.find(';'), text.size())) != std::string::npos;
           });
}

namespace {

Fit check_known_bad(const Question& q) {
    for (const auto& bad : q.site.known_bad) {
        if (bad.project != q.candidate.release->project ||
            !bad.versions.contains(q.candidate.release->version.without_local(), wheel::Prereleases::allowed))
            continue;
        if (!bad.gpus.empty()) {
            const auto is_here = [&](const std::string& gpu) {
                return std::find(bad.gpus.begin(), bad.gpus.end(), gpu) != bad.gpus.end();
            };
            if (!q.node.gpus || std::none_of(q.node.gpus->archs.begin(), q.node.gpus->archs.end(), is_here))
                continue;
        }
        return no("known_bad", bad.reason.empty() ? "known to fail at this site" : bad.reason, bad.advice);
    }
    return {};
}

// A file name promises nothing of the platform linux_*, and nothing of a file that could not be read.
Fit check_facts(const Question& q) {
    if (q.needs.proven) return {};
    if (!q.candidate.no_facts.empty()) return unknown("facts", q.candidate.no_facts);
    const auto is_linux = [](const std::string& text) {
        return wheel::parse_platform(text).kind == wheel::PlatformKind::linux;
    };
    const auto& platforms = q.candidate.tags->platforms;
    if (!std::all_of(platforms.begin(), platforms.end(), is_linux)) return {};
    return unknown("facts", "only its name is known");
}

}  // namespace

}  // namespace checks

std::string_view runs_text(Runs runs) {
    constexpr std::array<std::string_view, 3> texts{"yes", "no", "unknown"};
    return texts[static_cast<std::size_t>(runs)];
}

Fit judge(const Candidate& candidate, const Node& node, const Site& site, const Installing& how) {
    using namespace checks;
    const Needs needs = needs_of(candidate);
    const Question question{candidate, needs, node, site, how};
    constexpr std::array all{&check_known_bad,
                             &check_variant,
                             &check_machine,
                             &check_python,
                             &check_glibc,
                             &check_stack,
                             &check_platform,
                             &check_hash,
                             &check_processor,
                             &check_gpu,
                             &check_modules,
                             &check_libraries,
                             &check_standard_library,
                             &check_functions,
                             &check_versions,
                             &check_requirements,
                             &check_torch,
                             &check_facts,
                             &part_without_library,
                             &part_without_function,
                             &extras_without_requirements};
    return first_fault(all, [&](const auto& check) { return check(question); });
}

}  // namespace wheelyard::avail_wheels
