#SBATCH --job-name=w1ng012h6crvmar
#SBATCH --output=/work/attempts/w1ng012h6crvmar/scheduler.log
#SBATCH --open-mode=append
#SBATCH --chdir=/work/attempts/w1ng012h6crvmar
#SBATCH --no-requeue
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --time=480
#SBATCH --signal=B:USR1@300
#SBATCH --partition=gpu
#SBATCH --account=pawsey0001-gpu
#SBATCH --gres=gpu:1
#!/bin/bash
# torch 2.7.1+rocm6.3 for Python 3.11 on setonix, rendered by wheelyard-builder 0.1.0
# Attempt w1ng012h6crvmar, number 1 of cell torch-2.7.1+rocm6.3-cp311.
set -eu -o pipefail

attempt=w1ng012h6crvmar
folder=/work/attempts/w1ng012h6crvmar
build=$folder
python=python3.11

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

# This machine has no network access: the login node has fetched all packages.
# Versions that go together (docs/reference/version-pairs.md).
printf '%s\n' 'setuptools<82' > "$folder/constraints.txt"
pip_install() { python -I -m pip install --constraint "$folder/constraints.txt" --no-index --find-links "$folder/wheelhouse" "$@"; }

begin modules
set +eu # `module` and the scripts that modulefiles source can fail under -eu; the result is checked below
type module > /dev/null 2>&1 || . /etc/profile
module load PrgEnv-gnu craype-accel-amd-gfx90a rocm/6.3.3 cray-python/3.11.7
set -eu
for module in PrgEnv-gnu craype-accel-amd-gfx90a rocm/6.3.3 cray-python/3.11.7; do
    case ":${LOADEDMODULES-}:" in
    *":$module"[:/.]*) ;;
    *)
        echo "error: module $module is not loaded; see the message of 'module load' above, and 'module spider' for what is available" >&2
        exit 69
        ;;
    esac
done

# One compiler per core of the job.
export MAX_JOBS=8
export CMAKE_BUILD_PARALLEL_LEVEL=8

# The time that tools write instead of the clock's, so that builds can be repeated.
export SOURCE_DATE_EPOCH=1580601600

# The site's compilers.
export CC=cc
export CXX=CC
export FC=ftn
export MPICC='cc -shared'

begin venv
# Lock the build tree: a job that its scheduler lost may still be running in it. Every process of a
# build holds this lock. On a file system without locks the tree is not protected.
exec 9> "$build/fence"
flock -w 120 9 || if test $? -eq 1; then phase=fence; exit 75; fi
rm -rf "$build/venv" "$folder/wheel" "$folder/smoke" "$folder/empty"
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

begin build
mkdir -p "$folder/wheel"
python -I -m pip download --no-deps --only-binary :all: --no-index --find-links "$folder/wheelhouse" \
    --dest "$folder/wheel" torch==2.7.1+rocm6.3

# Test the wheel as a user installs it: in a clean environment, from an empty folder.
begin smoke
"$python" -m venv "$folder/smoke"
export PATH="$folder/smoke/bin:$PATH"
pip_install "$folder"/wheel/*.whl filelock fsspec jinja2 networkx numpy sympy typing-extensions
mkdir "$folder/empty"
cd "$folder/empty"
python -c 'import torch'
python -c '
import torch, torch.distributed as d
assert torch.__version__.startswith("2.7.1+rocm6.3"), torch.__version__
config = torch.__config__.show()
print(config)
assert torch.allclose(torch.linalg.solve(2 * torch.eye(3), torch.ones(3)), torch.full((3,), 0.5))
has = {"MKL": torch.backends.mkl.is_available(), "OpenMP": torch.backends.openmp.is_available(), "MPI": d.is_available() and d.is_mpi_available(), "NCCL": d.is_available() and d.is_nccl_available(), "cuDNN": "USE_CUDNN=ON" in config or "USE_CUDNN=1" in config, "MAGMA": True}
lacking = [one for one in "".split() if not has[one]]
assert not lacking, "the site promises " + " ".join(lacking)
'
begin done
