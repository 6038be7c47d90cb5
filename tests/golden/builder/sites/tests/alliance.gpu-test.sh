#SBATCH --job-name=w1ng012h6crvmar
#SBATCH --output=/work/attempts/w1ng012h6crvmar/scheduler.log
#SBATCH --open-mode=append
#SBATCH --chdir=/work/attempts/w1ng012h6crvmar
#SBATCH --no-requeue
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=64000M
#SBATCH --time=10
#SBATCH --signal=B:USR1@60
#SBATCH --account=def-builder
#SBATCH --gres=gpu:1
#!/bin/bash
# gpu-test of torch 2.4.0+computecanada for Python 3.11 on alliance, rendered by wheelyard-builder 0.1.0
# Attempt w1ng012h6crvmar, number 1 of cell torch-2.4.0+computecanada-cp311.
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
printf '%s\n' 'cmake<4' 'setuptools<82' > "$folder/constraints.txt"
pip_install() { python -I -m pip install --constraint "$folder/constraints.txt" --no-index --find-links "$folder/wheelhouse" "$@"; }

begin modules
set +eu # `module` and the scripts that modulefiles source can fail under -eu; the result is checked below
type module > /dev/null 2>&1 || . /cvmfs/soft.computecanada.ca/config/profile/bash.sh
module load StdEnv/2023 gcc openmpi flexiblas cmake protobuf abseil opencv/4.8.1 cuda/12.2 cudnn/9.2.1.18 cusparselt nccl magma python/3.11
set -eu
for module in StdEnv/2023 gcc openmpi flexiblas cmake protobuf abseil opencv/4.8.1 cuda/12.2 cudnn/9.2.1.18 cusparselt nccl magma python/3.11; do
    case ":${LOADEDMODULES-}:" in
    *":$module"[:/.]*) ;;
    *)
        echo "error: module $module is not loaded; see the message of 'module load' above, and 'module spider' for what is available" >&2
        exit 69
        ;;
    esac
done

# The time that tools write instead of the clock's, so that builds can be repeated.
export SOURCE_DATE_EPOCH=1580601600

# The site's network and scratch.
export TMPDIR="${SLURM_TMPDIR}"

begin venv
rm -rf "$folder/venv" "$folder/empty"
"$python" -m venv "$folder/venv"
export PATH="$folder/venv/bin:$PATH"
export PIP_DISABLE_PIP_VERSION_CHECK=1

# Install exactly the wheel that the index offers, with its requirements.
begin install
pip_install torch==2.4.0+computecanada filelock fsspec jinja2 networkx numpy sympy typing-extensions
mkdir "$folder/empty"
cd "$folder/empty"

begin test
python -c '
import torch
x = torch.rand(64, 64, device="cuda")
assert torch.allclose((x @ x).cpu(), x.cpu() @ x.cpu(), atol=1e-3)
if "MAGMA" in "OpenMP MPI NCCL cuDNN MAGMA".split():
    values, vectors = torch.linalg.eig(x)
    assert torch.allclose(x.to(vectors.dtype) @ vectors, vectors * values, atol=1e-2)
'
begin done
