#include "lib/inspect/truth/required_libraries.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/inspect/truth/libraries.hpp"
#include "lib/inspect/truth/module_suffix.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::size_t max_provided_libraries = 256;  // impi-rt has 40

using Texts = std::span<const std::string_view>;
// Libraries and the projects that have them or require one that does; prefixes of their names.
struct Family {
    Texts libraries;
    Texts projects;
};
// RAPIDS 26.10: librmm-cu12, libraft-cu12, libcuvs-cu12, libkvikio-cu12, libucxx-cu12, rapids-logger have these libraries,
// and rmm-cu12, pylibraft-cu12, cuvs-cu12, pylibcudf-cu12, cugraph-cu12, ucxx-cu12 need them.
constexpr std::string_view rapids_libraries[] = {
    "librapids_logger.so", "librmm.so", "libcudf.so", "libraft.so", "libcuvs",
    "libkvikio.so",        "libucxx",   "libcugraph", "libcuml"};
constexpr std::string_view rapids_projects[] = {
    "rapids-logger", "librmm",  "rmm-",      "libcudf", "pylibcudf",  "cudf-",        "libraft",
    "pylibraft",     "libcuvs", "libkvikio", "libucxx", "libcugraph", "pylibcugraph", "libcuml"};
// umf 1.2; intel-cmplr-lib-ur 2026.2 needs it.
constexpr std::string_view umf_libraries[] = {"libumf.so"};
constexpr std::string_view umf_projects[] = {"umf", "intel-cmplr-lib-ur", "intel-sycl-rt", "dpcpp-cpp-rt"};
// tcmlib 1.6; tbb 2023.2 and umf 1.2 need it.
constexpr std::string_view hwloc_libraries[] = {"libhwloc.so"};
constexpr std::string_view hwloc_projects[] = {"tcmlib", "tbb", "umf"};
// intel-cmplr-lib-rt 2026.2; intel-sycl-rt 2026.2 needs it.
constexpr std::string_view xpti_libraries[] = {"libxptifw.so"};
constexpr std::string_view xpti_projects[] = {"intel-cmplr-lib-rt", "intel-sycl-rt", "dpcpp-cpp-rt"};
// dpctl 0.22.1; dpnp 0.20 needs it.
constexpr std::string_view dpctl_libraries[] = {"libDPCTLSyclInterface.so"};
constexpr std::string_view dpctl_projects[] = {"dpctl"};

constexpr Family families[] = {{rapids_libraries, rapids_projects},
                               {umf_libraries, umf_projects},
                               {hwloc_libraries, hwloc_projects},
                               {xpti_libraries, xpti_projects},
                               {dpctl_libraries, dpctl_projects}};

bool is_of(Texts prefixes, std::string_view name) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [name](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

bool is_of_an_extra(const wheel::Requirement& requirement) {
    return requirement.marker && requirement.marker->text().find("extra") != std::string::npos;
}

RequiredLibraries::RequiredLibraries(const std::vector<std::string>& requires_dist, LibrariesOf libraries_of)
    : libraries_of_(std::move(libraries_of)) {
    std::set<std::string> seen;
    for (const std::string& line : requires_dist) {
        if (projects_.size() == max_required_projects) break;
        const auto requirement = wheel::Requirement::parse(line);
        if (!requirement || is_of_an_extra(*requirement)) continue;
        if (seen.insert(requirement->project).second) projects_.push_back(requirement->project);
    }
    for (const Family& family : families) {
        const auto named = std::find_if(projects_.begin(), projects_.end(), [&](const std::string& project) {
            return is_of(family.projects, project);
        });
        family_projects_.push_back(named == projects_.end() ? std::string() : *named);
    }
}

std::string RequiredLibraries::project_of(std::string_view path) const {
    if (is_path_outside(path) || projects_.empty()) return {};
    const std::string_view library = base::base_name(path);
    auto known = known_.find(library);
    while (libraries_of_ && known == known_.end() && asked_ < projects_.size()) {
        const std::string& project = projects_[asked_++];
        for (const std::string& name : libraries_of_(project))
            known_.emplace(name, project);
        known = known_.find(library);
    }
    if (known != known_.end()) return known->second;
    const auto* const family =
        std::find_if(std::begin(families), std::end(families),
                     [library](const Family& row) { return is_of(row.libraries, library); });
    if (family == std::end(families)) return {};
    return family_projects_[static_cast<std::size_t>(family - std::begin(families))];
}

std::vector<std::string> libraries_for_others(const std::vector<ElfMember>& elves) {
    std::set<std::string> names;
    for (const ElfMember& member : elves) {
        const std::string_view file = base::base_name(member.name);
        const bool is_library = member.elf.kind == ElfKind::shared && !member.elf.is_device &&
                                file.starts_with("lib") && file.find(".so") != std::string_view::npos;
        if (!is_library || module_suffix(member.name).has_value()) continue;
        names.insert(member.elf.soname.empty() ? std::string(file) : member.elf.soname);
        if (names.size() == max_provided_libraries) break;
    }
    return {names.begin(), names.end()};
}

}  // namespace wheelyard::inspect
