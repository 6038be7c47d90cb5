// Shell commands of each step.
#include "builder/script/script_frame.hpp"

#include "builder/script/script.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace templates {  // templates/NAME

// Edits the metadata with `wheel unpack` and `wheel pack`; the latter rewrites RECORD.
// https://wheel.readthedocs.io/en/stable/reference/
extern const std::string_view metadata;
extern const std::string_view own_tests;
extern const std::string_view smoke;
extern const std::string_view smoke_environment;
// A wheel without modules has nothing to import. A folder without __init__.py is a namespace package.
extern const std::string_view own_modules;
extern const std::string_view patch;

// CMake takes a CC of two words for a compiler with an argument, and ccache refuses to run itself: a project
// has either launchers or a CC.
extern const std::string_view compiler_cache;

}  // namespace templates

namespace {

using base::quote_shell;

std::string render_lines(std::string_view phase, const std::vector<std::string>& lines,
                         const Placeholders& values) {
    if (lines.empty()) return "";
    std::string text = "\nbegin " + std::string(phase) + "\n";
    for (const auto& line : lines)
        text += fill_placeholders(line, values) + "\n";
    return text;
}

// What the wheel requires of the package that it is built against.
std::string pin_of(const ScriptInput& input) {
    const std::string& against = input.attempt.asked.against;
    const auto exact = exact_version(against);
    if (!exact || input.recipe.stable_abi.count(without_label(input.attempt.asked.version)) == 0)
        return against;
    return exact->first + ">=" + exact->second.public_text();
}

}  // namespace

std::string render_compiler_cache(const ScriptInput& input) {
    if (input.site.compiler_cache_gib == 0 || input.attempt.asked.purpose != Purpose::build) return "";
    const std::string folder = quote_shell((input.site.work_directory / "ccache").string());
    const std::string text = base::replace_all(templates::compiler_cache, "{{folder}}", folder);
    return base::replace_all(text, "{{gib}}", std::to_string(input.site.compiler_cache_gib));
}

std::string render_tree_steps(const ScriptInput& input, const Placeholders& values) {
    const Recipe& recipe = input.recipe;
    std::string once;
    if (!recipe.patches.empty()) once += templates::patch;
    once += render_lines("before", recipe.before, values);
    std::string text;
    if (input.attempt.job.builds_in.empty())
        text = once + "\n: > \"$build/" + std::string(tree_ready_file) +
               "\" # from here on another attempt may continue\n";
    return text + render_lines("configure", recipe.configure, values);
}

std::string render_upstream_steps(const ScriptInput& input, const Placeholders& values) {
    return render_lines("before", input.recipe.before, values);
}

std::string render_upstream_download(const ScriptInput& input, bool from_wheelhouse, const std::string& to) {
    const std::string& index = input.recipe.index;
    std::string from = "--index-url " + quote_shell(index) + " ", first;
    if (from_wheelhouse) {
        from = "--no-index --find-links \"$folder/wheelhouse\" ";
    } else if (index.empty()) {
        from.clear();
        first = "PIP_CONFIG_FILE=\"$folder/pip.conf\" ";
    }
    const std::string name = input.recipe.package + "==" + input.attempt.asked.version;
    std::string wheel = quote_shell(name);
    const auto& closure = input.attempt.asked.closure;
    if (closure && !closure->sha256.empty()) {
        first = "echo " + quote_shell(name + " --hash=sha256:" + closure->sha256) +
                " > \"$folder/upstream.txt\"\n" + first;
        wheel = "--require-hashes --requirement \"$folder/upstream.txt\"";
    }
    return first + "python -I -m pip download --no-deps --only-binary :all: " + from + "\\\n    --dest " +
           to + " " + wheel + "\n";
}

std::string render_build_step(const ScriptInput& input, const std::string& governor) {
    const Recipe& recipe = input.recipe;
    std::string text = "\nbegin build\n";
    if (recipe.source == SourceKind::upstream) {
        return text + "mkdir -p \"$folder/wheel\"\n" +
               render_upstream_download(input, input.site.offline_jobs, "\"$folder/wheel\"");
    }
    text += governor;
    if (recipe.front_end == "setup-py")
        return text + "python setup.py bdist_wheel --dist-dir \"$folder/wheel\"\n";
    if (recipe.front_end == "build")
        return text + "python -m build --wheel --no-isolation --outdir \"$folder/wheel\" .\n";
    return text +
           R"sh(python -I -m pip wheel --verbose --no-deps --use-pep517 --no-build-isolation --no-cache-dir \
    --wheel-dir "$folder/wheel" .
)sh";
}

std::string render_metadata_step(const ScriptInput& input) {
    if (!needs_metadata_step(input)) return "";
    const std::uint64_t build = input.attempt.asked.build;
    return fill(templates::metadata,
                {{"version", quote_shell(input.attempt.asked.version)},
                 {"pin", quote_shell(pin_of(input))},
                 {"build", build > 0 ? " --build-number=" + std::to_string(build) : ""}});
}

std::string render_smoke_step(const ScriptInput& input, const Placeholders& values) {
    const std::string_view command = base::trim(input.recipe.test_command);
    // Nothing lies beside what the index gave. A test of the recipe's own may call pip.
    const bool calls_pip = !command.empty();
    const bool shares_pip = !calls_pip && !input.attempt.asked.closure;
    std::string text =
        fill(templates::smoke,
             {{"environment", shares_pip ? std::string(templates::smoke_environment)
                                         : environment_command(input) + " \"$folder/smoke\"\n"},
              {"requires", render_test_requires(input)},
              {"leave", calls_pip ? "" : "rm -f \"$folder\"/smoke/lib/*/site-packages/pip.pth\n"}});
    if (input.recipe.imports.empty()) text += templates::own_modules.substr(1);
    for (const auto& name : input.recipe.imports)
        text += "python -c 'import " + name + "'\n";
    if (!command.empty()) text += fill_placeholders(command, values) + "\n";
    if (runs_own_tests(input)) {
        std::string files;
        for (const auto& file : input.recipe.own_tests.files)
            files += (files.empty() ? "" : " ") + quote_shell(file);
        text += fill(templates::own_tests, {{"seconds", std::to_string(input.recipe.own_tests.minutes * 60)},
                                            {"files", files},
                                            {"source", quote_shell(input.attempt.source.folder)}});
    }
    return text;
}

}  // namespace wheelyard::builder
