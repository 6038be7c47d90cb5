// The text of the frame.
#include "builder/script/script_frame.hpp"

#include <algorithm>

#include "builder/script/build_home.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/base/check.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::builder {
namespace {

using base::quote_shell;

constexpr std::string_view opening = R"sh(#!/bin/bash
# {{title}}
# Attempt {{attempt}}, number {{number}} of cell {{cell}}.
set -eu -o pipefail

attempt={{attempt}}
folder={{folder}}
build={{build}}
python={{python}}

# Only the first start of an attempt runs: mkdir succeeds once. A second start changes nothing.
if ! mkdir "$folder/claim"; then
    echo "@@wheelyard attempt $attempt is already claimed"
    test -d "$folder/claim"
    exit
fi
printf '{"host":"%s","boot":"%s","pid":%d,"start":%d}\n' "$(uname -n)" "$(cat /proc/sys/kernel/random/boot_id)" \
    $$ "$(cut -d ' ' -f 22 /proc/$$/stat)" > "$folder/claim/owner.tmp"
mv "$folder/claim/owner.tmp" "$folder/claim/owner"

# Mark every phase in the log. The exit record reports how the job ended; it is synced before it is renamed.
phase=start
phases=
begin() {
    phase=$1
    phases+="${phases:+,}{\"name\":\"$phase\",\"began_ms\":$(date +%s%3N)}"
    echo "@@wheelyard phase=$phase at=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
}
finish() {
    code=$?
    trap '' TERM INT HUP
    rm -f "$folder/pip.conf"
{{durable}}    echo "@@wheelyard exit=$code phase=$phase at=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    printf '{"format":"wheelyard.exit/1","attempt":"%s","exit_code":%d,"phase":"%s","phases":[%s],"ended_ms":%d}\n' \
        "$attempt" "$code" "$phase" "$phases" "$(date +%s%3N)" > "$folder/exit.json.tmp"
    sync "$folder/exit.json.tmp"
    mv "$folder/exit.json.tmp" "$folder/exit.json"
    sync "$folder"
}
trap finish EXIT
# Who asks the job to end records why in `cut`; a machine that shuts down does not.
stop() {
    test -e "$folder/cut" || echo terminated > "$folder/cut"
    exit "$1"
}
trap 'stop 143' TERM
trap 'stop 130' INT
trap 'stop 129' HUP

# Nodes of some sites have no home, or do not mount it: what programs keep there then lies beside the tree.
if ! test -d "${HOME-}" || ! test -w "$HOME"; then
    export HOME="$build/home"
    mkdir -p "$HOME"
fi
)sh";

constexpr std::string_view online_pip = R"sh(
# pip uses the agent's configuration, which may contain a password: only pip_install reads it, no build does.
{{bounds}}pip_install() { PIP_CONFIG_FILE="$folder/pip.conf" python -I -m pip install {{constraint}}{{index}}"$@"; }
)sh";

constexpr std::string_view offline_pip = R"sh(
# This machine has no network access: the login node has fetched all packages.
{{bounds}}pip_install() { python -I -m pip install {{constraint}}--no-index --find-links "$folder/wheelhouse" "$@"; }
)sh";

constexpr std::string_view wheelhouse_part =
    R"sh(# Build wheels of sdists here, because the job cannot. Few jobs and a low priority: others use this login node.
export MAX_JOBS=2 CMAKE_BUILD_PARALLEL_LEVEL=2 MAKEFLAGS=-j2
renice -n 19 -p $$ > /dev/null || true
pip_wheel() { PIP_CONFIG_FILE="$folder/pip.conf" python -I -m pip wheel {{constraint}}{{index}}--wheel-dir "$folder/wheelhouse" "$@"; }
rm -rf "$folder/wheelhouse" "$folder/asking"
mkdir -p "$folder/wheelhouse"
"$python" -m venv "$folder/asking"
export PATH="$folder/asking/bin:$PATH"
)sh";

constexpr std::string_view durable_wheel =
    R"sh(    # Report success only after the wheel is synced to disk.
    test "$code" -ne 0 || find "$folder/wheel" -exec sync {} + || { code=74 phase=sync; }
)sh";

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
    for (const auto& upstream : input.indexes)
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
        {"durable", builds ? std::string(durable_wheel) : ""}};
}

Environment own_environment(const Recipe& recipe, Purpose purpose) {
    const bool builds = makes_wheel(purpose) && recipe.source != SourceKind::upstream;
    return builds ? recipe.build_environment : Environment();
}

std::string render_test_requires(const Recipe& recipe) {
    std::string text;
    for (const auto& requirement : recipe.test_requires)
        text += " " + quote_shell(requirement);
    return text;
}

std::string render_opening(const Fields& fields) {
    return fill(opening, fields);
}

std::string render_frame(const ScriptInput& input, const Fields& fields) {
    return render_opening(fields) + render_pip(input, fields);
}

std::string render_pip(const ScriptInput& input, const Fields& fields) {
    return fill(input.site.offline_jobs ? offline_pip : online_pip, fields);
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
    return render_login_opening(input) + fill(online_pip, fields) + fill(wheelhouse_part, fields);
}

}  // namespace wheelyard::builder
