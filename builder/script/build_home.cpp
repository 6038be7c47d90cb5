// Shell text: the folder, what the user set up, and the variables.
#include "builder/script/build_home.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace templates {  // templates/NAME

// OpenSSH itself reads the home of the password database; other programs look for .ssh. rustup's programs find their
// toolchains at home, so the toolchain itself comes first on PATH.
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
