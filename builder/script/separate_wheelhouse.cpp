// Three rounds: what the project's files name, what its back end asks for, what its wheel needs.
#include "builder/script/separate_wheelhouse.hpp"

#include "builder/script/script_frame.hpp"
#include "builder/script/script_requirements.hpp"
#include "builder/script/separate_script.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::builder {
namespace {

using base::quote_shell;

// pip would take a line that is no requirement for an option, a file or a folder. An address in the metadata of a wheel
// it would download, and run, if that is a source; --only-binary concerns indexes.
constexpr std::string_view fetch_part = R"sh(
test -e "$folder/asking" || "$python" -m venv "$folder/asking"
export PATH="$folder/asking/bin:$PATH" PIP_CACHE_DIR="$folder/cache" PIP_DISABLE_PIP_VERSION_CHECK=1
refuse_addresses=$(cat <<'END'
import runpy, sys
from pip._vendor.packaging.requirements import Requirement
read, of_site = Requirement.__init__, " ".join(sys.argv)

def read_name(self, *text):
    read(self, *text)
    if self.url and not ("://" in self.url and self.url in of_site):
        sys.exit(f"uploaded source: the metadata of a wheel may not require an address: {str(self)[:200]!r}")

Requirement.__init__ = read_name
runpy.run_module("pip", run_name="__main__", alter_sys=True)
END
)
{{bounds}}pip_wheel() { PIP_CONFIG_FILE="$folder/pip.conf" python -I -c "$refuse_addresses" wheel --only-binary :all: {{constraint}}{{index}}--wheel-dir "$folder/wheelhouse" "$@"; }
python -I - "$folder/{{requires}}" "$separate/requires.txt" "$separate/needs.txt"{{files}} > "$folder/asked.txt" <<'END'
import re, sys
from pip._vendor.packaging.requirements import InvalidRequirement, Requirement

def read(line):
    try:
        if not Requirement(line).url:
            return line
    except InvalidRequirement:
        pass
    sys.exit(f"uploaded source: a requirement must be a name with versions, not an address, a file or an option: {line[:200]!r}")

for name in sys.argv[1:]:
    try:
        with open(name, "rb") as file:
            text = file.read(1 << 20).decode("utf-8", "replace")
    except FileNotFoundError:
        continue
    for line in text.splitlines():
        line = re.sub(r"(^|\s+)#.*$", "", line).strip()
        if line:
            print(read(line))
END
pip_wheel --requirement "$folder/asked.txt"{{words}}
)sh";

constexpr std::string_view ask_part = R"sh(
export MAX_JOBS=2 CMAKE_BUILD_PARALLEL_LEVEL=2 MAKEFLAGS=-j2
test -e "$folder/asking" || "$python" -m venv "$folder/asking"
export PATH="$folder/asking/bin:$PATH" PIP_DISABLE_PIP_VERSION_CHECK=1
cd "$build"/tree/{{source}}
)sh";

// What the site itself asks for: its words may be anything that pip takes.
std::string words_of_site(const ScriptInput& input) {
    Attempt attempt = input.attempt;
    attempt.source.build_requires.clear();
    Recipe recipe = input.recipe;
    recipe.requirements_files.clear();
    std::string words = render_install(
        {input.site, recipe, attempt, input.python, input.folder, input.governor, input.hashed_files}, "");
    if (!words.empty()) words.pop_back();  // the end of the line
    return words + render_test_requires(input.recipe);
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
           fill(fetch_part, fields);
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
                       fill(ask_part, {{"source", quote_shell(input.attempt.source.folder)}}) +
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
