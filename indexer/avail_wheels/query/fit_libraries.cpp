// What the loader finds on a node, and the modules that bring it.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>

#include "indexer/avail_wheels/query/fit_checks.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/wheel/requirement.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels::checks {

using accelerator::AcceleratorKind;

namespace {

std::string name_of_module(std::string_view module) {
    return std::string(module.substr(0, module.find('/')));
}

// Its entry among what the loader was asked: that of the wheel's own search paths before that of the process,
// because they are searched first unless LD_LIBRARY_PATH has the library, too. nullptr: unknown.
const Library* library_here(const Question& q, const std::string& name) {
    for (const auto& path : q.needs.search_paths) {
        const auto own = q.node.libraries.find(path + "/" + name);
        if (own != q.node.libraries.end() && !own->second.path.empty()) return &own->second;
    }
    const auto found = q.node.libraries.find(name);
    return found == q.node.libraries.end() ? nullptr : &found->second;
}

bool is_here(const Question& q, const std::string& name) {
    const auto* library = library_here(q, name);
    return library != nullptr && !library->path.empty();
}

bool is_loaded(const Question& q, std::string_view module) {
    const auto& loaded = q.node.modules;
    return loaded && std::any_of(loaded->begin(), loaded->end(),
                                 [&](const std::string& one) { return name_of_module(one) == module; });
}

bool is_loaded(const Question& q, const MpiFamily& family) {
    return std::any_of(family.modules.begin(), family.modules.end(),
                       [&](std::string_view module) { return is_loaded(q, module); });
}

// mpi4py has a module for each family of MPI, and loads the one whose library is here.
bool has_another_mpi(const Question& q, const MpiFamily& family) {
    return std::any_of(q.needs.mpi.begin(), q.needs.mpi.end(), [&](const std::string& library) {
        const auto other = mpi_family(library);
        if (!other || other->name == family.name) return false;
        return is_here(q, library) || is_loaded(q, *other);
    });
}

}  // namespace

Fit check_modules(const Question& q) {
    const auto& loaded = q.node.modules;
    for (const auto& library : q.needs.mpi) {
        const auto family = mpi_family(library);
        if (!family || is_here(q, library) || has_another_mpi(q, *family)) continue;
        if (!loaded)
            return unknown("mpi", "needs " + std::string(family->name) + " (" + library +
                                      "), and this node's modules are unknown");
        if (is_loaded(q, *family)) continue;
        const auto built =
            std::find_if(q.needs.modules.begin(), q.needs.modules.end(), [&](const auto& module) {
                return std::find(family->modules.begin(), family->modules.end(), name_of_module(module)) !=
                       family->modules.end();
            });
        return no(
            "mpi",
            "needs " + std::string(family->name) + " (" + library + "), and none of its modules is loaded",
            "module load " +
                (built == q.needs.modules.end() ? std::string(family->modules.front()) : *built));
    }
    for (const auto& module : q.needs.modules) {
        // The wheel's library search path works without the module, so this is not a "no" by default; the
        // site lists modules that must be loaded.
        const auto name = name_of_module(module);
        if (std::find(q.site.needed_modules.begin(), q.site.needed_modules.end(), name) ==
            q.site.needed_modules.end())
            continue;
        if (!loaded)
            return unknown("module", "needs the module " + module + ", and this node's modules are unknown");
        if (!is_loaded(q, name)) {
            return no("module", "needs the module " + module + ", which is not loaded",
                      "module load " + module);
        }
    }
    return {};
}

namespace {

// By the facts of a wheel of the source: libboost_container.so.1.90.0 of cmeel-boost.
bool has_library(const Question& q, const std::string& project, const std::string& library) {
    const auto* wheels = wheels_for(q.how, project);
    return wheels != nullptr && std::any_of(wheels->begin(), wheels->end(), [&](const Candidate& wheel) {
               if (!may_have(wheel, "provides\":")) return false;  // as most
               const auto provided = provided_by(wheel);
               return std::find(provided.begin(), provided.end(), library) != provided.end();
           });
}

bool is_required(const Question& q, const NeededLibrary& library) {
    if (!q.needs.requires_dist) return false;
    return std::any_of(q.needs.requires_dist->begin(), q.needs.requires_dist->end(),
                       [&](const std::string& text) {
                           const auto requirement = wheel::Requirement::parse(text);
                           return requirement &&
                                  (brings(requirement->project, library) ||
                                   has_library(q, requirement->project, library.name)) &&
                                  asks_for(q, requirement->project);
                       });
}

// What an installer takes for its requirements requires in turn: libQt6Core.so.6 of PySide6_Essentials, for
// who requires PySide6. Asked only of a library that is missing otherwise. nullopt: there is too much of it.
std::optional<bool> is_required_in_turn(const Question& q, const NeededLibrary& library) {
    constexpr std::size_t max_wheels = 256;
    BroughtBy here;
    BroughtBy& known = q.how.brought == nullptr ? here : *q.how.brought;
    std::vector<Taken> all = brought_by(q.candidate, q.node, q.how).wheels;
    std::set<Taken> seen(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i == max_wheels) return std::nullopt;
        const auto [found, is_new] = known.try_emplace(all[i]);
        const Brought& brought = found->second;
        if (is_new) {
            Installing from_here = q.how;
            from_here.extras = all[i].second;
            found->second = brought_by(*all[i].first, q.node, from_here);
        }
        const auto& libraries = brought.libraries;
        if (std::find(libraries.begin(), libraries.end(), library.name) != libraries.end() ||
            std::any_of(brought.projects.begin(), brought.projects.end(),
                        [&](const std::string& project) { return brings(project, library); }))
            return true;
        for (const Taken& next : brought.wheels)
            if (seen.insert(next).second) all.push_back(next);
    }
    return false;
}

bool promises_platform(const Candidate& candidate) {
    return std::any_of(
        candidate.tags->platforms.begin(), candidate.tags->platforms.end(), [](const auto& text) {
            const auto kind = wheel::parse_platform(text).kind;
            return kind == wheel::PlatformKind::manylinux || kind == wheel::PlatformKind::musllinux;
        });
}

// The module of the node that has a library of this kind, by the site's description.
bool has_module_of(const Question& q, const NeededLibrary& library) {
    if (library.kind == "mpi") {
        const auto family = mpi_family(library.name);
        return family && is_loaded(q, *family);
    }
    const auto kinds = accelerator::accelerator_kinds();
    return std::any_of(kinds.begin(), kinds.end(), [&](const AcceleratorKind* kind) {
        const auto& modules = kind->toolkit_modules;
        return kind->library_kind == library.kind &&
               std::any_of(modules.begin(), modules.end(),
                           [&](std::string_view module) { return is_loaded(q, module); });
    });
}

bool is_of_accelerator(const NeededLibrary& library) {
    const auto kinds = accelerator::accelerator_kinds();
    return std::any_of(kinds.begin(), kinds.end(), [&](const AcceleratorKind* kind) {
        return kind->library_kind == library.kind && !kind->is_library_kind_shared;
    });
}

// Nothing that is installed with it can have the library.
bool is_needed_surely(const Question& q, const NeededLibrary& library) {
    return q.needs.surely.contains(library.name) && requires_nothing(q.needs);
}

Fit check_library(const Question& q, const NeededLibrary& library) {
    const auto* here = library_here(q, library.name);
    const bool is_found = here != nullptr && !here->path.empty();
    if ((is_found && here->lacks.empty()) || is_required(q, library)) return {};
    std::string what = "needs " + library.name;
    if (is_found) {
        what += ", which needs " + here->lacks;
        // The process may have it already: of the wheel, or of a project that was imported before.
        const auto* kind = accelerator::kind_of_library(here->lacks);
        const NeededLibrary lacked{here->lacks,
                                   kind == nullptr ? library.kind : std::string(kind->library_kind)};
        if (!q.needs.search_paths.empty() || is_required(q, lacked) || kind != nullptr)
            return unknown("library", what + ", which is not here; the wheel may bring it, or do without");
    }
    if (here == nullptr) {
        if (is_everywhere(library.name) && q.node.is_described) return {};
        if (q.node.is_described && has_module_of(q, library)) return {};
        return unknown("library", what + ", and what this node has is unknown");
    }
    // A driver's library, or one that is asked for only where there is a GPU.
    if (is_of_accelerator(library) && (!q.node.gpus || q.node.gpus->archs.empty()))
        return unknown("library", what + ", which is not here, and neither is a GPU");
    if (library.kind == "torch")
        return unknown("library", what + ", which the project torch brings, and it does not require torch");
    const auto in_turn = is_required_in_turn(q, library);
    if (!in_turn) return unknown("library", what + ", which one of the many that it requires may have");
    if (*in_turn) return {};
    const bool is_own = library.kind == "unfound";
    const std::string absent =
        is_own ? ", which it has where the loader does not look" : ", which is not here";
    // Who repairs a wheel leaves out what it does without, or what another project brings.
    if (promises_platform(q.candidate) && library.kind != "system" && !is_needed_surely(q, library))
        return unknown("library", what + absent + "; it may do without");
    if (!q.needs.requires_dist) return unknown("library", what + absent + "; what it requires is unknown");
    if (is_for_several(q)) return unknown("library", "a file for one of its machines " + what + absent);
    const auto family = library.kind == "mpi" ? mpi_family(library.name) : std::nullopt;
    return no("library", what + absent,
              is_own   ? "choose another version"
              : family ? is_loaded(q, *family) ? "load another MPI: the loaded one does not have it"
                                               : "module load " + std::string(family->modules.front())
                       : "load a module that has it, or ask for its package");
}

// A module of MPI counts though only a part of the wheel loads it: that part is what it is for.
bool is_later(const Question& q, const NeededLibrary& library) {
    return library.kind != "mpi" && q.needs.later.contains(library.name);
}

}  // namespace

Fit check_libraries(const Question& q) {
    // pip's tags decide for another C library.
    return first_fault(q.needs.libraries, [&](const NeededLibrary& library) -> Fit {
        if (is_later(q, library)) return {};
        const auto family = library.kind == "mpi" ? mpi_family(library.name) : std::nullopt;
        if (family && has_another_mpi(q, *family)) return {};
        Fit fit = check_library(q, library);
        const auto maybe = q.needs.maybe.find(library.name);
        if (fit.runs != Runs::no || maybe == q.needs.maybe.end()) return fit;
        return unknown("library", "its import may load " + maybe->second + ", which " + fit.why);
    });
}

namespace {

// needs_of() gives "GLIBCXX" and 3.4.30.
Fit check_version(const Question& q, const std::string& prefix, const Dotted& needed) {
    const std::string library(library_of_prefix(prefix));
    const std::string what = "needs " + prefix + "_" + needed.text();
    const auto* here = library_here(q, library);
    if (here != nullptr && here->path.empty()) return {};  // its absence is reported
    const auto found =
        here == nullptr ? decltype(here->versions.find(prefix)){} : here->versions.find(prefix);
    if (here == nullptr || found == here->versions.end()) {
        // PEP 600: a mainstream system with this glibc has them.
        const bool is_promised = q.node.is_described && q.needs.manylinux_glibc && q.node.glibc &&
                                 *q.needs.manylinux_glibc <= *q.node.glibc;
        if (is_promised) return {};
        return unknown("library", what + ", and the version of this node's " + library + " is unknown");
    }
    if (needed <= found->second) return {};
    const std::string why = what + ", here is " + prefix + "_" + found->second.text() + " of " + here->path;
    if (is_for_several(q)) return unknown("library", "a file for one of its machines " + why);
    return no("library", why, "load a module with a newer compiler, or choose an older build");
}

}  // namespace

Fit check_versions(const Question& q) {
    if (q.node.musl) return {};  // it does not compare versions of symbols
    return first_fault(q.needs.versions,
                       [&](const auto& version) { return check_version(q, version.first, version.second); });
}

Fit part_without_library(const Question& q) {
    for (const auto& library : q.needs.libraries) {
        if (!is_later(q, library) || is_required(q, library)) continue;
        const auto* here = library_here(q, library.name);
        if (here != nullptr && here->path.empty() && !is_required_in_turn(q, library).value_or(true))
            return {Runs::yes, "part",
                    "but " + q.needs.later.find(library.name)->second + " needs " + library.name +
                        ", which is not here",
                    "load a module that has it, or ask for its package"};
    }
    return {};
}

}  // namespace wheelyard::avail_wheels::checks
