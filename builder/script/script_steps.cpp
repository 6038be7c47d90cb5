// Shell commands of each step.
#include "builder/script/script_steps.hpp"

#include "builder/script/build_key.hpp"
#include "builder/script/script_frame.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

using base::quote_shell;

// Edits the metadata with `wheel unpack` and `wheel pack`; the latter rewrites RECORD.
// https://wheel.readthedocs.io/en/stable/reference/
constexpr std::string_view metadata_part = R"sh(
# Set the wheel's full version and pin the package that it was built against.
begin metadata
python -I - "$folder/wheel" {{version}} {{pin}} <<'END'
import pathlib, re, subprocess, sys, tempfile
folder, version, pin = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
[wheel] = folder.glob("*.whl")
with tempfile.TemporaryDirectory(dir=folder) as inside:
    subprocess.run([sys.executable, "-m", "wheel", "unpack", "--dest", inside, wheel], check=True)
    [root] = pathlib.Path(inside).iterdir()
    [info] = root.glob("*.dist-info")
    head, blank, description = (info / "METADATA").read_text().partition("\n\n")
    lines = head.split("\n")
    if pin:
        other = re.compile(r"Requires-Dist: *" + re.match(r"[-\w.]+", pin)[0] + r"(?![-\w.])[^;]*$", re.I)
        lines = [line for line in lines if not other.match(line)] + ["Requires-Dist: " + pin]
    lines = ["Version: " + version if line.startswith("Version:") else line for line in lines]
    if "\n".join(lines) == head:
        sys.exit()
    (info / "METADATA").write_text("\n".join(lines) + blank + description)
    for part in [*root.glob("*.dist-info"), *root.glob("*.data")]:
        part.rename(part.with_name(part.name.partition("-")[0] + "-" + version + part.suffix))
    wheel.unlink()
    subprocess.run([sys.executable, "-m", "wheel", "pack", "--dest-dir", folder, root], check=True)
END
)sh";

constexpr std::string_view smoke_part = R"sh(
# Test the wheel as a user installs it: in a clean environment, from an empty folder.
begin smoke
"$python" -m venv "$folder/smoke"
export PATH="$folder/smoke/bin:$PATH"
pip_install "$folder"/wheel/*.whl{{requires}}
mkdir "$folder/empty"
cd "$folder/empty"
)sh";

// A wheel without modules has nothing to import. A folder without __init__.py is a namespace package.
constexpr std::string_view own_modules_part = R"sh(
# The recipe names no modules: import those at the wheel's top level.
modules=$(python -I - "$folder"/wheel/*.whl <<'END'
import importlib.machinery, pathlib, sys, zipfile
endings = tuple(importlib.machinery.all_suffixes())
found = set()
for path in map(pathlib.PurePosixPath, zipfile.ZipFile(sys.argv[1]).namelist()):
    parts = path.parts
    if parts[0].endswith(".data"):
        parts = parts[2:] if parts[1:2] in (("purelib",), ("platlib",)) else ()
    if parts and parts[-1].endswith(endings):
        found.add(parts[0].partition(".")[0])
others = {"doc", "docs", "example", "examples", "test", "tests"}
print(*sorted(name for name in found if name.isidentifier() and not name.startswith("_") and name not in others))
END
)
for module in $modules; do
    echo "importing $module"
    python -c "import $module"
done
)sh";

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

std::string render_tree_steps(const ScriptInput& input, const Placeholders& values) {
    const Recipe& recipe = input.recipe;
    std::string once;
    if (!recipe.patches.empty()) {
        once += R"sh(
begin patch
for patch in "$folder"/patches/*; do
    test -e "$patch" || continue # none for this version
    echo "applying ${patch##*/}"
    patch -p1 --forward --batch < "$patch"
done
)sh";
    }
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

std::string render_upstream_download(const Recipe& recipe) {
    const std::string words = "python -I -m pip download --no-deps --only-binary :all: ";
    if (recipe.index.empty()) return "PIP_CONFIG_FILE=\"$folder/pip.conf\" " + words;
    return words + "--index-url " + quote_shell(recipe.index) + " ";
}

std::string render_build_step(const ScriptInput& input, const std::string& governor) {
    const Recipe& recipe = input.recipe;
    std::string text = "\nbegin build\n";
    if (recipe.source == SourceKind::upstream) {
        const std::string words =
            input.site.offline_jobs
                ? "python -I -m pip download --no-deps --only-binary :all: --no-index --find-links "
                  "\"$folder/wheelhouse\" "
                : render_upstream_download(recipe);
        return text + "mkdir -p \"$folder/wheel\"\n" + words + "\\\n    --dest \"$folder/wheel\" " +
               quote_shell(recipe.package + "==" + input.attempt.asked.version) + "\n";
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
    const std::string text =
        base::replace_all(metadata_part, "{{version}}", quote_shell(input.attempt.asked.version));
    return base::replace_all(text, "{{pin}}", quote_shell(pin_of(input)));
}

std::string render_smoke_step(const ScriptInput& input, const Placeholders& values) {
    std::string text = base::replace_all(smoke_part, "{{requires}}", render_test_requires(input.recipe));
    if (input.recipe.imports.empty()) text += own_modules_part.substr(1);
    for (const auto& name : input.recipe.imports)
        text += "python -c 'import " + name + "'\n";
    const std::string_view command = base::trim(input.recipe.test_command);
    if (!command.empty()) text += fill_placeholders(command, values) + "\n";
    return text;
}

}  // namespace wheelyard::builder
