// The text of the frame.
#include "builder/script/script_frame.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "builder/site/script_setup.hpp"
#include "lib/base/check.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

namespace templates {  // templates/NAME

extern const std::string_view opening;
extern const std::string_view online_pip;
extern const std::string_view offline_pip;
extern const std::string_view wheelhouse;
extern const std::string_view durable_wheel;
extern const std::string_view new_environment;  // of a closure

}  // namespace templates

namespace {

using base::quote_shell;

Placeholders values_of(const ScriptInput& input) {
    return placeholders_of({input.site, input.attempt.asked.version, input.attempt.asked.against,
                            input.attempt.asked.accelerator});
}

std::string title(const ScriptInput& input) {
    const std::string tested = input.attempt.asked.purpose == Purpose::build
                                   ? ""
                                   : std::string(purpose_text(input.attempt.asked.purpose)) + " of ";
    return tested + input.attempt.asked.package + " " + input.attempt.asked.version + " for Python " +
           input.attempt.asked.python + " on " + input.site.name +
           ", rendered by wheelyard-builder " WHEELYARD_VERSION;
}

std::string render_bounds(const std::vector<std::string>& constraints) {
    if (constraints.empty()) return "";
    std::string text = "# Versions that go together (docs/reference/version-pairs.md).\nprintf '%s\\n'";
    for (const auto& constraint : constraints)
        text += " " + quote_shell(constraint);
    return text + " > \"$folder/constraints.txt\"\n";
}

}  // namespace

std::vector<std::string> constraints_for(const Site& site, const Attempt& attempt) {
    std::vector<PackageVersion> packages;
    for (const auto& requirement :
         {attempt.asked.package + "==" + attempt.asked.version, attempt.asked.against}) {
        if (const auto exact = exact_version(requirement)) packages.push_back(*exact);
    }
    return constraints_of(pairs_for(site.version_pairs, packages, {PairUse::build, PairUse::run}));
}

std::string fill(std::string_view part, const Fields& fields) {
    std::string text;
    while (true) {
        const auto open = part.find("{{");
        text += part.substr(0, open);
        if (open == std::string_view::npos) return text;
        const auto close = part.find("}}", open);
        const std::string_view name = part.substr(open + 2, close - open - 2);
        const auto field =
            std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.first == name; });
        WHEELYARD_CHECK(field != fields.end());
        text += field->second;
        part.remove_prefix(close + 2);
    }
}

Fields frame_fields(const ScriptInput& input) {
    const bool builds = makes_wheel(input.attempt.asked.purpose);
    const bool asks_site = !input.attempt.asked.against.empty() || !builds;
    const auto constraints = constraints_for(input.site, input.attempt);
    std::string index;
    if (asks_site && input.site.registry) {
        index += "--extra-index-url " + quote_shell(input.site.registry->simple_url()) + " ";
    } else if (asks_site) {  // a site without a registry keeps its wheels
        index += "--find-links " + quote_shell((input.site.work_directory / "wheels").string()) + " ";
    }
    for (const auto& upstream : input.attempt.asked.closure ? std::vector<std::string>() : input.indexes)
        index += "--extra-index-url " + quote_shell(upstream) + " ";
    return {
        {"title", title(input)},
        {"attempt", input.attempt.id},
        {"number", std::to_string(input.attempt.number)},
        {"cell", input.attempt.asked.cell},
        {"folder", quote_shell(input.folder.root.string())},
        {"build", input.folder.build_root.empty() ? "$folder" : quote_shell(input.folder.build().string())},
        {"python", quote_shell(input.python.string())},
        {"bounds", render_bounds(constraints)},
        {"constraint", constraints.empty() ? "" : "--constraint \"$folder/constraints.txt\" "},
        {"index", index},
        {"conf", input.attempt.asked.closure ? "farm.conf" : "pip.conf"},
        {"durable", builds ? std::string(templates::durable_wheel) : ""}};
}

Environment own_environment(const Recipe& recipe, Purpose purpose) {
    const bool builds = makes_wheel(purpose) && recipe.source != SourceKind::upstream;
    return builds ? recipe.build_environment : Environment();
}

bool runs_own_tests(const ScriptInput& input) {
    return input.recipe.runs_own_tests() && input.attempt.asked.purpose == Purpose::build;
}

std::string render_test_requires(const ScriptInput& input) {
    std::string text;
    for (const auto& requirement : input.recipe.test_requires)
        text += " " + quote_shell(requirement);
    if (!runs_own_tests(input)) return text;
    for (const auto& requirement : input.recipe.own_tests.requires_too)
        text += " " + quote_shell(requirement);
    return text;
}

std::string render_new_environment(const Site& site, const std::string& python) {
    const auto pip = site.state_directory / "closures" / ("pip-" + python);
    return fill(templates::new_environment, {{"pip", base::quote_shell(pip.string())}});
}

std::string environment_command(const ScriptInput& input) {
    return input.attempt.asked.closure ? "new_environment" : "\"$python\" -m venv";
}

std::string render_opening(const Fields& fields) {
    return fill(templates::opening, fields);
}

std::string render_frame(const ScriptInput& input, const Fields& fields) {
    return render_opening(fields) + render_pip(input, fields);
}

std::string render_pip(const ScriptInput& input, const Fields& fields) {
    return fill(input.site.offline_jobs ? templates::offline_pip : templates::online_pip, fields);
}

std::string render_login_opening(const ScriptInput& input) {
    const Accelerator* accelerator = input.site.accelerator(input.attempt.asked.accelerator);
    std::string text = "folder=" + quote_shell(input.folder.root.string()) +
                       "\nbuild=" + quote_shell(input.folder.build().string()) +
                       "\npython=" + quote_shell(input.python.string()) + "\n";
    text += render_setup(input.site, input.site.python(input.attempt.asked.python), accelerator, "");
    const std::string exports = render_exports(
        exports_of_build(input.site, accelerator, own_environment(input.recipe, input.attempt.asked.purpose),
                         values_of(input)));
    // Packages built here use the same variables as the job.
    if (!exports.empty()) text += "\nset +u # a variable of jobs is empty here\n" + exports + "set -u\n";
    return text + render_build_home(input);
}

std::string render_wheelhouse_frame(const ScriptInput& input, const Fields& fields) {
    return render_login_opening(input) + fill(templates::online_pip, fields) +
           fill(templates::wheelhouse, fields);
}

// Shell text: the folder, what the user set up, and the variables.
namespace templates {  // templates/NAME

// OpenSSH itself reads the home of the password database; other programs look for .ssh. rustup's programs
// find their toolchains at home, so the toolchain itself comes first on PATH.
extern const std::string_view home;

}  // namespace templates

namespace {

struct Variable {
    std::string_view name;
    std::string_view value;
};
constexpr std::array variables = {
    Variable{"XDG_CACHE_HOME", "$HOME/.cache"},      Variable{"XDG_CONFIG_HOME", "$HOME/.config"},
    Variable{"XDG_DATA_HOME", "$HOME/.local/share"}, Variable{"XDG_STATE_HOME", "$HOME/.local/state"},
    Variable{"CARGO_HOME", "$HOME/.cargo"},          Variable{"RUSTUP_HOME", "$HOME/.rustup"}};

// maturin's helper puccinialin would download a Rust toolchain that nobody chose.
constexpr std::string_view no_toolchain = "MATURIN_NO_INSTALL_RUST";

bool names(const Environment& environment, std::string_view name) {
    return std::any_of(environment.begin(), environment.end(),
                       [name](const auto& one) { return one.first == name; });
}

}  // namespace

std::string render_build_home(const ScriptInput& input) {
    const bool builds =
        makes_wheel(input.attempt.asked.purpose) && input.recipe.source != SourceKind::upstream;
    if (!builds) return "";
    const Accelerator* accelerator = input.site.accelerator(input.attempt.asked.accelerator);
    const auto is_named = [&](std::string_view name) {
        return names(input.site.environment, name) || names(input.recipe.build_environment, name) ||
               (accelerator != nullptr && names(accelerator->environment, name));
    };
    std::string text;
    if (home_of(input.site, input.recipe) == BuildHome::own && !is_named("HOME")) {
        text += templates::home;
        std::string exports;
        for (const Variable& variable : variables) {
            if (!is_named(variable.name))
                exports += " " + std::string(variable.name) + "=\"" + std::string(variable.value) + "\"";
        }
        if (!exports.empty()) text += "export" + exports + "\n";
    }
    if (!is_named(no_toolchain)) {
        text += "export " + std::string(no_toolchain) + "=1 # no download of a Rust that nobody chose\n";
    }
    return text;
}

}  // namespace wheelyard::builder
