// Resolves the same requirements as the job, with the same interpreter.
#include "builder/script/wheelhouse.hpp"

#include "builder/script/script_frame.hpp"
#include "builder/script/separate_script.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/base/digest/digest.hpp"
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
    const std::string extra = against + render_test_requires(input);
    const bool builds = input.recipe.source != SourceKind::upstream;
    return render_wheelhouse_frame(input, frame_fields(input)) +
           (builds ? render_built(input, extra) : render_upstream(input, extra)) +
           "rm -rf \"$folder/asking\"\n";
}

// Three rounds: what the project's files name, what its back end asks for, what its wheel needs.
namespace templates {  // templates/NAME

// pip would take a line that is no requirement for an option, a file or a folder. An address in the metadata
// of a wheel it would download, and run, if that is a source; --only-binary concerns indexes.
extern const std::string_view separate_fetch;
extern const std::string_view separate_ask;

}  // namespace templates

namespace {

using base::quote_shell;

// What the site itself asks for: its words may be anything that pip takes.
std::string words_of_site(const ScriptInput& input) {
    Attempt attempt = input.attempt;
    attempt.source.build_requires.clear();
    Recipe recipe = input.recipe;
    recipe.requirements_files.clear();
    std::string words = render_install(
        {input.site, recipe, attempt, input.python, input.folder, input.governor, input.hashed_files}, "");
    if (!words.empty()) words.pop_back();  // the end of the line
    return words + render_test_requires(input);
}

}  // namespace

std::string render_fetch_script(const ScriptInput& input) {
    const std::string root = quote_shell(input.folder.root.string());
    const AttemptFolder separate{input.folder.root, {}, true};
    std::string files;
    for (const auto& file : input.recipe.requirements_files)
        files += " " + quote_shell((separate.tree() / input.attempt.source.folder / file).string());
    Fields fields = frame_fields(input);
    fields.insert(
        fields.end(),
        {{"requires", std::string(build_requires_file)}, {"files", files}, {"words", words_of_site(input)}});
    return "set -eu -o pipefail\nfolder=" + root + "/fetch\nseparate=" + root +
           "/separate\npython=" + quote_shell(input.python.string()) + "\n" +
           render_setup(input.site, input.site.python(input.attempt.asked.python),
                        input.site.accelerator(input.attempt.asked.accelerator), "") +
           fill(templates::separate_fetch, fields);
}

std::string render_build_requires(const ScriptInput& input) {
    std::string text;
    if (!asks_back_end(input)) return text;
    for (const auto& requirement : input.attempt.source.build_requires)
        text += requirement + "\n";
    return text;
}

std::string render_ask_script(const ScriptInput& input) {
    const Fields fields = frame_fields(input);
    std::string text = "set -eu -o pipefail\n" + render_login_opening(input) + render_pip(input, fields) +
                       fill(templates::separate_ask, {{"source", quote_shell(input.attempt.source.folder)}}) +
                       render_install(input, requirements_command(input));
    if (asks_back_end(input))
        text += "if test \"$1\" = requires; then\n" + render_asking(input) +
                "exit\nfi\npip_install --requirement \"$folder/requires.txt\"\n";
    return text + render_needs(input);
}

std::string render_separate_wheelhouse(const ScriptInput& input) {
    const std::string runs = base::sha256_hex(render_fetch_script(input) + render_build_requires(input) +
                                              render_ask_script(input));
    std::string text = "# Runs scripts of SHA-256 " + runs +
                       ".\nfolder=" + quote_shell(input.folder.root.string()) + "\n" +
                       render_namespaces(input.site) +
                       "(cd \"$folder\" && rm -rf fetch/wheelhouse fetch/asking separate/asking)\n"
                       "mkdir \"$folder/fetch/wheelhouse\"\nfetching\n";
    if (asks_back_end(input)) text += "separately " + std::string(ask_script) + " requires\nfetching\n";
    return text + "separately " + std::string(ask_script) + " needs\nfetching\n";
}

}  // namespace wheelyard::builder
