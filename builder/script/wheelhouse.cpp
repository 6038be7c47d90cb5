// Resolves the same requirements as the job, with the same interpreter.
#include "builder/script/wheelhouse.hpp"

#include "builder/script/hashed_requirements.hpp"
#include "builder/script/script_frame.hpp"
#include "builder/script/script_requirements.hpp"
#include "builder/script/script_steps.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::builder {
namespace {

using base::quote_shell;

// Downloads an upstream wheel and its requirements. The wheel is named by its file, because by name pip might
// also take another index's build of the same version.
std::string render_upstream(const ScriptInput& input, const std::string& extra) {
    return render_upstream_download(input, false, "\"$folder/wheelhouse\"") +
           "pip_wheel \"$folder\"/wheelhouse/*.whl" + extra + "\n";
}

std::string render_built(const ScriptInput& input, const std::string& extra) {
    std::string text = "cd \"$build\"/tree/" + quote_shell(input.attempt.source.folder) + "\n";
    text += render_lock(input, "pip_wheel") + render_lock(input, "pip_install") +
            render_hashed_wheels(input) + render_install(input, "pip_wheel");
    if (asks_back_end(input)) {
        if (!input.hashed_files.empty()) text += render_checked_install();
        text += render_install(input, requirements_command(input)) + render_asking(input) +
                "pip_wheel --requirement \"$folder/requires.txt\"\n"
                "pip_install --requirement \"$folder/requires.txt\"\n";
    }
    return text + render_needs(input) + "pip_wheel --requirement \"$folder/needs.txt\"" + extra + "\n";
}

}  // namespace

std::string render_wheelhouse_script(const ScriptInput& input) {
    const std::string against =
        input.attempt.asked.against.empty() ? "" : " " + quote_shell(input.attempt.asked.against);
    const std::string extra = against + render_test_requires(input.recipe);
    const bool builds = input.recipe.source != SourceKind::upstream;
    return render_wheelhouse_frame(input, frame_fields(input)) +
           (builds ? render_built(input, extra) : render_upstream(input, extra)) +
           "rm -rf \"$folder/asking\"\n";
}

}  // namespace wheelyard::builder
