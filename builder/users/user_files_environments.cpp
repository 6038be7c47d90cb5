// The environment itself, and what leads into it from a user's own virtual or Conda environment. A venv says
// in `activate` and in the first lines of its programs where it stands: whoever moves one rewrites these.
#include "builder/site/script_setup.hpp"
#include "builder/users/user_files_parts.hpp"
#include "lib/base/encoding.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder::user_files {
namespace {

constexpr std::string_view install = R"sh(#!/bin/bash
# Makes the environment of {{module}}: {{wheels}}. Made by `wheelyard-builder site user-files`.
# What the site's index has not got (numpy and the like) comes from wherever this machine's pip takes packages.
set -eu -o pipefail
root={{root}}
if test -e "$root"; then
    echo "install-environment: $root is there already; remove it, or name another in [users]" >&2
    exit 1
fi
)sh";

constexpr std::string_view install_end = R"sh(
trap 'test -e "$root/.complete" || rm -rf "$root"' EXIT # half an environment is none
mkdir -p "$(dirname "$root")"
{{interpreter}} -m venv "$root"
"$root/bin/python" -m pip install --no-input --extra-index-url {{index}} {{requirements}}
touch "$root/.complete"
echo "install-environment: $root is ready"
)sh";

constexpr std::string_view extend_venv = R"sh(#!/bin/bash
# extend-venv-activate VENV: from now on VENV sees the wheels of {{module}}; activating it loads the module.
# Its own packages come first. Made by `wheelyard-builder site user-files`.
set -eu
venv=${1:?"usage: extend-venv-activate VENV"}
activate=$venv/bin/activate
mark='# {{module}}, by extend-venv-activate'
if grep -qF "$mark" "$activate"; then
    echo "extend-venv-activate: $venv is extended already"
    exit 0
fi
theirs=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
ours=$({{root}}/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
if test "${theirs##*/lib/}" != "${ours##*/lib/}"; then
    echo "extend-venv-activate: $venv has another Python than {{module}} (${ours##*/lib/})" >&2
    exit 1
fi
begin=$(cat <<'BEGIN'
{{mark}}
{{begin}}
BEGIN
)
end=$(cat <<'END'
        {{mark}}
{{end}}
END
)
# At its head, before the venv puts its own programs first; and where `deactivate` removes itself.
begin=$begin end=$end awk '
    NR == 1 { print; print ENVIRON["begin"]; next }
    { print }
    /unset -f deactivate/ { print ENVIRON["end"] }
' "$activate" > "$activate.aside"
echo "$ours" > "$theirs/wheelyard-{{name}}.pth"
mv "$activate.aside" "$activate"
echo "extend-venv-activate: $venv uses {{module}}"
)sh";

constexpr std::string_view load_module = R"sh(type module > /dev/null 2>&1 || . {{init}}
module use {{place}}/modulefiles
case ":${LOADEDMODULES-}:" in
*:{{module}}:*) ;;
*) module load {{module}} && WHEELYARD_LOADED={{module}} ;;
esac)sh";

constexpr std::string_view unload_module = R"sh(        if [ "${WHEELYARD_LOADED-}" = {{module}} ] ; then
            module unload {{module}}
            unset WHEELYARD_LOADED
        fi)sh";

constexpr std::string_view pack = R"sh(#!/bin/bash
# The environment of {{module}} as one file, for job.sh: one file is what a shared file system reads fast.
# Made by `wheelyard-builder site user-files`.
set -eu
to={{place}}/environment.tar
test -e {{root}}/.complete || { echo "pack-environment: {{root}} is not there; run install-environment" >&2; exit 1; }
tar -C {{root}} -cf "$to.aside" .
mv "$to.aside" "$to"
echo "pack-environment: $to"
)sh";

constexpr std::string_view unpack = R"sh(#!/bin/bash
# unpack-environment TAR FOLDER: the packed environment, so that it works from FOLDER. Its interpreter stays where it is.
# Made by `wheelyard-builder site user-files`.
set -eu
from=${1:?"usage: unpack-environment TAR FOLDER"}
to=${2:?"usage: unpack-environment TAR FOLDER"}
test ! -e "$to/.complete" || exit 0
rm -rf "$to"
mkdir -p "$to"
tar -C "$to" --exclude ./.complete -xf "$from"
# The first lines of programs, and `activate`, say where it stands.
grep -rlIF {{root}} "$to/bin" "$to/pyvenv.cfg" | while read -r file; do
    OLD={{root}} NEW=$to awk '{
        line = ""
        while (at = index($0, ENVIRON["OLD"])) {
            line = line substr($0, 1, at - 1) ENVIRON["NEW"]
            $0 = substr($0, at + length(ENVIRON["OLD"]))
        }
        print line $0
    }' "$file" > "$file.aside"
    cat "$file.aside" > "$file" # its mode stays
    rm "$file.aside"
done
touch "$to/.complete"
)sh";

// Each variable's value, as a word of bash, in which the path of libraries goes before what is there.
Environment hook_environment(const Words& words) {
    Environment all;
    for (const auto& [name, value] : lasting_environment(words))
        all.emplace_back(name, base::quote_shell(value));
    if (!words.users.library_path.empty())
        all.emplace_back("LD_LIBRARY_PATH", base::quote_shell(base::join(words.users.library_path, ":")) +
                                                "\"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"");
    return all;
}

}  // namespace

std::string render_install(const Words& words) {
    std::vector<std::string> quoted;
    for (const auto& requirement : words.users.requirements)
        quoted.push_back(base::quote_shell(requirement));
    std::string end =
        base::replace_all(install_end, "{{interpreter}}", base::quote_shell(words.python.executable));
    end = base::replace_all(end, "{{index}}", base::quote_shell(words.site.registry->simple_url()));
    end = base::replace_all(end, "{{requirements}}", base::join(quoted, " "));
    return fill(install, words) + render_setup(words.site, &words.python, &words.accelerator, "") +
           fill(end, words);
}

// Without modules the variables are set, and stay: there is nothing to unload.
std::string render_extend_venv(const Words& words) {
    std::string begin;
    std::string end = "        :";
    if (words.site.modules.init.empty()) {
        for (const auto& [name, value] : lasting_environment(words))
            begin += (begin.empty() ? "export " : "\nexport ") + name + "=" + base::quote_shell(value);
    } else {
        begin = base::replace_all(load_module, "{{init}}", quote_expanding(words.site.modules.init));
        end = unload_module;
    }
    std::string text = base::replace_all(extend_venv, "{{begin}}", begin);
    text = base::replace_all(text, "{{end}}", end);
    return fill(base::replace_all(text, "{{mark}}", "# {{module}}, by extend-venv-activate"), words);
}

std::string render_activate(const Words& words) {
    std::string text = fill(
        "# Sourced by `conda activate`: the variables of {{module}} on {{site}}. Made by `wheelyard-builder "
        "site "
        "user-files`.\n",
        words);
    for (const auto& [name, value] : hook_environment(words)) {
        text += "if [ -n \"${" + name + "+set}\" ]; then WHEELYARD_OLD_" + name + "=$" + name + "; fi\n";
        text += "export " + name + "=" + value + "\n";
    }
    return text;
}

std::string render_deactivate(const Words& words) {
    std::string text = fill(
        "# Sourced by `conda deactivate`: what was set before {{module}}. Made by `wheelyard-builder site "
        "user-files`.\n",
        words);
    for (const auto& [name, value] : hook_environment(words)) {
        text += "if [ -n \"${WHEELYARD_OLD_" + name + "+set}\" ]; then\n    export " + name +
                "=$WHEELYARD_OLD_" + name + "\n    unset WHEELYARD_OLD_" + name + "\nelse\n    unset " +
                name + "\nfi\n";
    }
    return text;
}

std::string render_pack(const Words& words) {
    return fill(pack, words);
}

std::string render_unpack(const Words& words) {
    return fill(unpack, words);
}

}  // namespace wheelyard::builder::user_files
