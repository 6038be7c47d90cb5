// Names that a wheel uses and this Python does not have.
#include <string_view>

#include "indexer/avail_wheels/query/fit_checks.hpp"
#include "lib/inspect/python/gone_names.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::avail_wheels::checks {

namespace {

// "setuptools", "legacy-cgi", "audioop-lts": a project that has the module.
bool brings_module(const std::string& text, std::string_view module, const inspect::GoneName& row) {
    const auto requirement = wheel::Requirement::parse(text);
    if (!requirement) return false;
    const std::string_view top = module.substr(0, module.find('.'));
    return requirement->project == row.brought_by || requirement->project.ends_with("-" + std::string(top)) ||
           requirement->project.starts_with(std::string(top) + "-") ||
           requirement->project == "py" + std::string(top);
}

// setuptools 82 has no pkg_resources; an installer takes the newest that a requirement allows.
bool may_lack_pkg_resources(const std::string& text) {
    const auto requirement = wheel::Requirement::parse(text);
    static const auto without = wheel::Version::parse("82");
    return requirement && requirement->project == "setuptools" && without &&
           requirement->specifiers.contains(*without, wheel::Prereleases::allowed);
}

// A module of another project, which nothing that the wheel requires brings. One with a dot is a name of the
// standard library that a newer program wrote down.
Fit check_undeclared(const Question& q, const std::string& name, const std::string& by) {
    const auto found = q.node.found_modules.find(name);
    const bool is_there = found != q.node.found_modules.end() && found->second;
    if (is_there || name.find('.') != std::string::npos) return {};
    return unknown("python_module", by + " imports " + name + ", which nothing that it requires brings");
}

// What reading Python code shows may lie behind a condition that was not seen, so it never gives a "no".
Fit check_gone(const Question& q, const std::string& name, const std::string& by) {
    const auto* row = inspect::gone_name(name);
    const Python* python = taking_python(q);
    if (python == nullptr) return {};
    if (row == nullptr) return check_undeclared(q, name, by);
    const auto minor = static_cast<unsigned>(python->minor);
    const bool is_removed = row->since != 0 && minor >= row->since;
    if (row->first != 0 && minor >= row->first) return {};
    const std::string what = by + (row->first != 0 ? " needs " : " imports ") +
                             (row->is_module ? name : std::string(row->name)) +
                             (row->name == inspect::union_type ? " for X | None" : "");
    const auto found = q.node.found_modules.find(name);
    const bool is_asked = row->is_module && found != q.node.found_modules.end();
    if (is_asked && found->second) return {};
    for (const auto& text : q.needs.requires_dist.value_or(std::vector<std::string>())) {
        if (!row->is_module || !brings_module(text, name, *row)) continue;
        if (name.starts_with("pkg_resources") && may_lack_pkg_resources(text))
            return unknown("python_module", what + ", which setuptools has no more since 82");
        return {};
    }
    // Extension modules, and what was built into the program, are no such files.
    const bool is_seen_lacking =
        is_asked && (row->since == 0 || !row->brought_by.empty() || name == "lib2to3");
    if (row->first == 0 && !is_removed && !is_seen_lacking)
        return row->since == 0
                   ? unknown("python_module", what + ", and whether this Python has it is unknown")
                   : Fit{};
    return unknown("python_module", what + ", which " +
                                        (row->since == inspect::only_windows ? "only Windows has"
                                         : row->first != 0 ? "Python " + python->text() + " does not have yet"
                                         : is_removed      ? "Python " + python->text() + " has no more"
                                                           : "this Python does not have") +
                                        "; it may do without");
}

}  // namespace

Fit check_standard_library(const Question& q) {
    if (q.node.any_python) return {};
    return first_fault(q.needs.gone,
                       [&](const auto& gone) { return check_gone(q, gone.first, gone.second); });
}

namespace {

using FunctionsByModule = std::map<std::string, std::vector<std::string>, std::less<>>;

Fit fit_of_functions(const Question& q, const FunctionsByModule& functions) {
    const Python* python = functions.empty() || q.node.any_python ? nullptr : taking_python(q);
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
