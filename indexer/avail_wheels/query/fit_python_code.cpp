// What a wheel imports, or calls, and this Python does not have.
#include <algorithm>
#include <optional>
#include <string_view>

#include "indexer/avail_wheels/query/fit_checks.hpp"
#include "lib/inspect/python/gone_names.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::avail_wheels::checks {

namespace {

// "setuptools", "legacy-cgi", "audioop-lts": a project that has the module.
bool brings_module(const std::string& project, std::string_view module, const inspect::GoneName& row) {
    const std::string_view top = module.substr(0, module.find('.'));
    return project == row.brought_by || project.ends_with("-" + std::string(top)) ||
           project.starts_with(std::string(top) + "-") || project == "py" + std::string(top);
}

// setuptools 82 has no pkg_resources; an installer takes the newest that a requirement allows, of those that the
// source has where it has any.
bool may_lack_pkg_resources(const Question& q, const wheel::Requirement& requirement) {
    static const auto without = wheel::Version::parse("82");
    if (requirement.project != "setuptools" || !without) return false;
    const auto allows = [&](const wheel::Version& version) {
        return version >= *without && requirement.specifiers.contains(version, wheel::Prereleases::allowed);
    };
    const auto* there = wheels_for(q.how, requirement.project);
    if (there == nullptr || there->empty()) return allows(*without);
    return std::any_of(there->begin(), there->end(),
                       [&](const Candidate& one) { return allows(one.release->version); });
}

// nullopt: the Python was not asked.
std::optional<bool> has_module(const Question& q, std::string_view name) {
    const auto found = q.node.found_modules.find(name);
    return found == q.node.found_modules.end() ? std::nullopt : std::optional(found->second);
}

// The import fails for certain where this Python does not have the module, and nothing else can bring it.
Fit check_import(const Question& q, const std::string& name, const std::string& by) {
    const Python* python = taking_python(q);
    const auto* row = inspect::gone_name(name);
    const auto is_found = has_module(q, name);
    const std::string what = by + " imports " + name + ", which ";
    if (python == nullptr || is_found.value_or(false)) return {};
    if (row == nullptr) return unknown("python_module", what + "nothing that it requires brings");
    if (row->name == "distutils" && has_module(q, distutils_shim).value_or(false)) return {};
    for (const auto& text : q.needs.requires_dist.value_or(std::vector<std::string>())) {
        const auto requirement = wheel::Requirement::parse(text);
        const bool is_asked =
            requirement &&
            (!requirement->marker || marker_holds(*requirement->marker, *python, q.node.machine, {}));
        if (!is_asked || !brings_module(requirement->project, name, *row)) continue;
        if (name.starts_with("pkg_resources") && may_lack_pkg_resources(q, *requirement))
            return unknown("python_module", what + "setuptools has no more since 82");
        return {};
    }
    const bool is_gone = row->since != 0 && static_cast<unsigned>(python->minor) >= row->since;
    const std::string why = what + "Python " + python->text() + " has no more";
    if (is_gone && is_found && requires_nothing(q.needs))
        return no("python_module", why,
                  row->brought_by.empty() ? "choose a newer version, or another Python"
                                          : "install " + std::string(row->brought_by) + ", too");
    if (is_gone) return unknown("python_module", why + "; another project may bring it");
    // Of a module that was not removed: extension modules, and what is built in, are no such files.
    if (row->brought_by.empty()) return {};
    if (is_found) return unknown("python_module", what + "this Python does not have");
    if (row->since != 0) return {};
    return unknown("python_module", what + "this Python may not have");
}

}  // namespace

Fit check_standard_library(const Question& q) {
    return first_fault(q.needs.imports,
                       [&](const auto& import) { return check_import(q, import.first, import.second); });
}

namespace {

using FunctionsByModule = std::map<std::string, std::vector<std::string>, std::less<>>;

Fit fit_of_functions(const Question& q, const FunctionsByModule& functions) {
    const Python* python = functions.empty() ? nullptr : taking_python(q);
    if (python == nullptr || !python->pypy) return {};
    return first_fault(functions, [&](const auto& of_module) {
        return first_fault(of_module.second, [&](const std::string& name) -> Fit {
            const std::string what = of_module.first + " uses " + name;
            const auto found = q.node.found_functions.find(name);
            if (found == q.node.found_functions.end())
                return unknown("python", what + ", and whether this PyPy has it is unknown");
            if (found->second) return {};
            return no("python", what + ", which this PyPy does not have", "use a newer PyPy");
        });
    });
}

}  // namespace

Fit check_functions(const Question& q) {
    return fit_of_functions(q, q.needs.pypy_names);
}

Fit part_without_function(const Question& q) {
    Fit functions = fit_of_functions(q, q.needs.pypy_later);
    if (functions.runs != Runs::no) return {};
    return {Runs::yes, "part", "but " + functions.why, std::move(functions.advice)};
}

}  // namespace wheelyard::avail_wheels::checks
