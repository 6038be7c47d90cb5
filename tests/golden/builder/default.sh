#!/bin/bash
# rapid-fuzz 3.14.3 for Python 3.11 on debian12, rendered by wheelyard-builder 0.1.0
# Attempt w1ng012h6crvmar, number 2 of cell rapid-fuzz-3.14.3-cp311.
set -eu -o pipefail

attempt=w1ng012h6crvmar
folder=/work/attempts/w1ng012h6crvmar
build=/work/trees/rapid-fuzz-1
python=/usr/bin/python3.11

# Only the first start of an attempt runs: mkdir succeeds once. A second start changes nothing.
if ! mkdir "$folder/claim"; then
    echo "@@wheelyard attempt $attempt is already claimed"
    test -d "$folder/claim"
    exit
fi
printf '{"host":"%s","boot":"%s","pid":%d,"start":%d}\n' "$(uname -n)" "$(cat /proc/sys/kernel/random/boot_id)" \
    $$ "$(cut -d ' ' -f 22 /proc/$$/stat)" > "$folder/claim/owner.tmp"
mv "$folder/claim/owner.tmp" "$folder/claim/owner"

# How many processes the kernel has killed because memory ran out: of this control group, else of this node.
oom_kills() {
    local number kind group kills=
    while IFS=: read -r number kind group; do
        case $number:$kind in
        0:) kills=$(sed -n 's/^oom_kill //p' "/sys/fs/cgroup$group/memory.events") ;;
        *:memory) kills=$(sed -n 's/^oom_kill //p' "/sys/fs/cgroup/memory$group/memory.oom_control") ;;
        esac
        test -z "$kills" || break
    done < /proc/self/cgroup 2> /dev/null
    test -n "$kills" || kills=$(sed -n 's/^oom_kill //p' /proc/vmstat)
    echo "$kills"
}
oom_kills_before=$(oom_kills || true)

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
    killed=${oom_kills_before:+,\"oom_kills\":$(($(oom_kills || true) - oom_kills_before))}
    rm -f "$folder/pip.conf"
    # Report success only after the wheel is synced to disk.
    test "$code" -ne 0 || find "$folder/wheel" -exec sync {} + || { code=74 phase=sync; }
    if test "$code" -ne 0; then
        for place in "$folder" "$build" "${TMPDIR:-/tmp}" "${HOME:-/}"; do
            test ! -w "$place" || test "$(($(stat -f -c '%b > 0 && %a * %S < 1048576' "$place" || echo 0)))" -eq 0 ||
                echo "@@wheelyard no space left on $place"
        done 2> /dev/null
    fi
    echo "@@wheelyard exit=$code phase=$phase at=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    printf '{"format":"wheelyard.exit/1","attempt":"%s","exit_code":%d,"phase":"%s","phases":[%s],"ended_ms":%d%s}\n' \
        "$attempt" "$code" "$phase" "$phases" "$(date +%s%3N)" "$killed" > "$folder/exit.json.tmp"
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

# The user's home, also of an agent that was started without HOME: settings and toolchains lie there.
user_home=${HOME:-$(unset HOME && echo ~)}
# Nodes of some sites have no home, or do not mount it: what programs keep there then lies beside the tree.
if ! test -d "${HOME-}" || ! test -w "$HOME"; then
    export HOME="$build/home"
    mkdir -p "$HOME"
fi

# pip uses the agent's configuration, which may contain a password: only pip_install reads it, no build does.
pip_install() { PIP_CONFIG_FILE="$folder/pip.conf" python -I -m pip install "$@"; }

# The time that tools write instead of the clock's, so that builds can be repeated.
export SOURCE_DATE_EPOCH=1580601600

begin venv
# Lock the build tree: a job that its scheduler lost may still be running in it. Every process of a
# build holds this lock. On a file system without locks the tree is not protected.
exec 9> "$build/fence"
flock -w 120 9 || if test $? -eq 1; then phase=fence; exit 75; fi
# A job that starts late, after its agent has given it up, leaves the tree to the attempt that uses it.
if test "$(cat "$build/used_by")" != "$attempt"; then phase=fence; exit 75; fi
rm -rf "$build/venv" "$folder/wheel" "$folder/smoke" "$folder/empty"
# What programs keep at home lies in the build's tree (`home` of [build]). What the user set up for ssh, git, pip and
# Cargo is copied or included, since programs write through links; .ssh and pip's cache are links.
test -n "${user_home-}" || user_home=${HOME:-$(unset HOME && echo ~)} # on the login node; a job has it
if test -d "$user_home" && test "$user_home" != "$build/home"; then
    test ! -L "$build/home/.config/git" || rm "$build/home/.config/git"
    mkdir -p "$build/home/.config/git" "$build/home/.cache" "$build/home/.cargo"
    test ! -e "$user_home/.ssh" || ln -sfn "$user_home/.ssh" "$build/home/.ssh"
    for kept in .gitconfig .config/git/config; do
        rm -f "$build/home/$kept"
        test ! -e "$user_home/$kept" || printf '[include]\n\tpath = "%s"\n' "$user_home/$kept" > "$build/home/$kept"
    done
    for kept in .git-credentials .netrc .config/git/credentials .config/git/ignore .config/git/attributes \
        .cargo/config .cargo/config.toml; do
        rm -f "$build/home/$kept"
        test ! -r "$user_home/$kept" || (umask 077 && cat "$user_home/$kept" > "$build/home/$kept")
    done
    cache="${XDG_CACHE_HOME:-$user_home/.cache}/pip"
    ! mkdir -p "$cache" 2> /dev/null || ln -sfn "$cache" "$build/home/.cache/pip"
    toolchain=$(HOME=$user_home timeout 20 rustc --print sysroot 2> /dev/null < /dev/null) || toolchain=
    case "$toolchain" in */toolchains/*) export PATH="$toolchain/bin:$PATH" ;; esac
fi
mkdir -p "$build/home"
export HOME="$build/home"
export XDG_CACHE_HOME="$HOME/.cache" XDG_CONFIG_HOME="$HOME/.config" XDG_DATA_HOME="$HOME/.local/share" XDG_STATE_HOME="$HOME/.local/state" CARGO_HOME="$HOME/.cargo" RUSTUP_HOME="$HOME/.rustup"
export MATURIN_NO_INSTALL_RUST=1 # no download of a Rust that nobody chose
"$python" -m venv "$build/venv"
export PATH="$build/venv/bin:$PATH"
export PIP_DISABLE_PIP_VERSION_CHECK=1
# Record the machine and the tools. A tool that hangs or fails is left out.
{
    printf 'host\t%s\nsystem\t%s\nmodules\t%s\n' "$(uname -n)" "$(uname -srm)" "${LOADEDMODULES-}"
    for tool in python "${CC:-cc}" "${CXX:-c++}" "${FC:-gfortran}" nvcc hipcc mpicc cmake ninja rustc cargo; do
        command -v "$tool" > /dev/null || continue
        printf 'tool\t%s\t%s\n' "$tool" "$(timeout 20 "$tool" --version 2>&1 < /dev/null | grep -m 1 '[0-9][.][0-9]')"
    done
} > "$folder/built_by" || true

begin requirements
cd "$build"/tree/rapid_fuzz-3.14.3
pip_install --upgrade --upgrade-strategy eager 'scikit-build-core>=0.11' 'cython; python_version < '\''4'\'''
# Ask the back end for further build requirements (PEP 517, get_requires_for_build_wheel). What it prints itself, or a
# program that it runs, such as nc-config, goes to the log.
python - 3> "$folder/requires.txt" >&2 <<'END'
import sys
sys.path[:] = filter(None, sys.path)  # PEP 517: the project's folder is not on sys.path
import importlib, os
sys.path[:0] = [os.path.abspath(p) for p in []]
module, _, path = "scikit_build_core.build".partition(":")
back_end = importlib.import_module(module)
for name in filter(None, path.split(".")):
    back_end = getattr(back_end, name)
print("\n".join(getattr(back_end, "get_requires_for_build_wheel", list)()), file=open(3, "w"))
END
python -I - "$folder/requires.txt" <<'END' # pip would take any other line for an option
import sys
from pip._vendor.packaging.requirements import Requirement
with open(sys.argv[1], encoding="utf-8") as file:
    [Requirement(line.strip()) for line in file if line.strip()]
END
pip_install --requirement "$folder/requires.txt"

: > "$build/tree_ready" # from here on another attempt may continue

begin build
# Starts each compile when there is memory for it (docs/explanation/governor.md).
'/opt/my governor' --cores 4 --history /home/wheelyard/state/governor-history \
    --json "$folder/governor.json" -- \
    python -I -m pip wheel --verbose --no-deps --use-pep517 --no-build-isolation --no-cache-dir \
    --wheel-dir "$folder/wheel" .

# Test the wheel as a user installs it: in a clean environment, from an empty folder.
begin smoke
# With the pip of the build's environment, by a link: to install one takes longer than most tests.
"$python" -m venv --without-pip "$folder/smoke"
mkdir "$folder/smoke/pip"
ln -s "$build"/venv/lib/*/site-packages/pip "$folder/smoke/pip"
(cd "$folder"/smoke/lib/*/site-packages && echo "$folder/smoke/pip" > pip.pth)
export PATH="$folder/smoke/bin:$PATH"
pip_install "$folder"/wheel/*.whl
rm -f "$folder"/smoke/lib/*/site-packages/pip.pth
mkdir "$folder/empty"
cd "$folder/empty"
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
begin done
