// Queries run in the Python that builds, in an environment with the packages installed so far.
#include "builder/script/script_requirements.hpp"

#include <algorithm>
#include <vector>

#include "builder/script/script_frame.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

using base::quote_shell;

constexpr std::string_view asking_part =
    R"sh(# Ask the back end for further build requirements (PEP 517, get_requires_for_build_wheel).
python - > "$folder/requires.txt" <<'END'
import sys
sys.path[:] = filter(None, sys.path)  # PEP 517: the project's folder is not on sys.path
import contextlib, importlib, os
sys.path[:0] = [os.path.abspath(p) for p in {{back_end_path}}]
module, _, path = "{{back_end}}".partition(":")
with contextlib.redirect_stdout(sys.stderr):
    back_end = importlib.import_module(module)
    for name in filter(None, path.split(".")):
        back_end = getattr(back_end, name)
    asked = getattr(back_end, "get_requires_for_build_wheel", list)()
print("\n".join(asked))
END
)sh";

// A Python of its own, because importing pip before setuptools changes what setuptools does.
constexpr std::string_view check_part =
    R"sh(python -I - "$folder/{{file}}" <<'END' # pip would take any other line for an option
import sys
from pip._vendor.packaging.requirements import Requirement
with open(sys.argv[1], encoding="utf-8") as file:
    [Requirement(line.strip()) for line in file if line.strip()]
END
)sh";

constexpr std::string_view needs_part =
    R"sh(# Find the wheel's requirements: in pyproject.toml (PEP 621), else from the back end (PEP 517,
# prepare_metadata_for_build_wheel).
python - {{against}} > "$folder/needs.txt" <<'END'
import sys
sys.path[:] = filter(None, sys.path)
import email, importlib, os, pathlib, re, tempfile
needs_file = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # the output of the back end and its tools goes to the log
against = sys.argv[1]

def read_project():
    file = pathlib.Path("pyproject.toml")
    if not file.exists():
        return None
    try:
        import tomllib
    except ImportError:  # before Python 3.11
        from pip._vendor import tomli as tomllib  # since pip 21.2
    return tomllib.loads(file.read_text(encoding="utf-8")).get("project")

def needs_of_back_end():
    module, _, path = "{{back_end}}".partition(":")
    if not module:
        raise LookupError("setup.py cannot report them")
    sys.path[:0] = [os.path.abspath(p) for p in {{back_end_path}}]
    back_end = importlib.import_module(module)
    for name in filter(None, path.split(".")):
        back_end = getattr(back_end, name)
    with tempfile.TemporaryDirectory() as folder:
        info = back_end.prepare_metadata_for_build_wheel(folder)
        metadata = pathlib.Path(folder, info, "METADATA").read_text(encoding="utf-8")
    return email.message_from_string(metadata).get_all("Requires-Dist") or []

try:
    project = read_project()
    if project is not None and "dependencies" not in project.get("dynamic", []):
        needs = project.get("dependencies", [])
    else:
        needs = needs_of_back_end()
except (Exception, SystemExit) as error:
    print("note: the requirements of the wheel are unknown before the build:", repr(error), file=sys.stderr)
    print("note: list them in test.requires of the recipe", file=sys.stderr)
    needs = []
name_of = lambda text: re.sub(r"[-_.]+", "-", re.match(r"\s*([-\w.]*)", text)[1]).lower()
print("\n".join(need for need in needs if not against or name_of(need) != against), file=needs_file)
needs_file.close()
END
)sh";

// A Python list of strings.
std::string render_list(const std::vector<std::string>& items) {
    std::vector<std::string> quoted;
    for (const auto& item : items) {
        std::string text = base::replace_all(base::replace_all(item, "\\", "\\\\"), "\"", "\\\"");
        text = base::replace_all(text, "\n", "\\n");  // a line of it could end the here-document
        quoted.push_back("\"" + text + "\"");
    }
    return "[" + base::join(quoted, ", ") + "]";
}

}  // namespace

bool asks_back_end(const ScriptInput& input) {
    return input.recipe.front_end != "setup-py" && input.recipe.source != SourceKind::upstream;
}

std::string requirements_command(const ScriptInput& input) {
    // A tree that continues keeps the tools that began it, and files with hashes keep what they name.
    if (!input.attempt.job.builds_in.empty() || !input.hashed_files.empty()) return "pip_install";
    return "pip_install --upgrade --upgrade-strategy eager";
}

std::string render_install(const ScriptInput& input, std::string_view command) {
    std::string text;
    for (const auto* list : {&input.attempt.source.build_requires, &input.recipe.build_requires}) {
        if (list == &input.attempt.source.build_requires && !asks_back_end(input)) continue;
        for (const auto& requirement : *list)
            text += " " + quote_shell(requirement);
    }
    if (input.recipe.front_end == "build") text += " build";
    if (needs_metadata_step(input) && (text + " ").find(" wheel ") == std::string::npos) text += " wheel";
    if (!input.attempt.asked.against.empty()) text += " " + quote_shell(input.attempt.asked.against);
    const auto& hashed = input.hashed_files;
    for (const auto& file : input.recipe.requirements_files) {
        if (std::find(hashed.begin(), hashed.end(), file) == hashed.end())
            text += " --requirement " + quote_shell(file);
    }
    return text.empty() ? "" : std::string(command) + text + "\n";
}

std::string render_asking(const ScriptInput& input) {
    return fill(asking_part, {{"back_end", input.attempt.source.back_end},
                              {"back_end_path", render_list(input.attempt.source.back_end_path)}}) +
           fill(check_part, {{"file", "requires.txt"}});
}

std::string render_needs(const ScriptInput& input) {
    const std::string& against = input.attempt.asked.against;
    const std::string name = against.substr(0, std::min(against.size(), against.find("==")));
    return fill(needs_part, {{"against", quote_shell(name)},
                             {"back_end", asks_back_end(input) ? input.attempt.source.back_end : ""},
                             {"back_end_path", render_list(input.attempt.source.back_end_path)}}) +
           fill(check_part, {{"file", "needs.txt"}});
}

}  // namespace wheelyard::builder
