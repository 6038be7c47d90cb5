#SBATCH --job-name=w1ng012h6crvmar
#SBATCH --output=/work/attempts/w1ng012h6crvmar/scheduler.log
#SBATCH --open-mode=append
#SBATCH --chdir=/work/attempts/w1ng012h6crvmar
#SBATCH --no-requeue
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=128000M
#SBATCH --time=480
#SBATCH --signal=B:USR1@300
#SBATCH --account=def-builder
#!/bin/bash
# torch 2.4.0+computecanada for Python 3.11 on alliance, rendered by wheelyard-builder 0.1.0
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

# One compiler per core of the job.
export MAX_JOBS=16
export CMAKE_BUILD_PARALLEL_LEVEL=16

# The time that tools write instead of the clock's, so that builds can be repeated.
export SOURCE_DATE_EPOCH=1580601600

# The site's network and scratch.
export TMPDIR="${SLURM_TMPDIR}"

# From the recipe.
export BUILD_TEST=0
export PYTHONHASHSEED=0
export PYTORCH_BUILD_NUMBER=1
export PYTORCH_BUILD_VERSION=2.4.0+computecanada
export TORCH_CUDA_ARCH_LIST='7.0;8.0;9.0'
export USE_CUDA=1
export USE_ROCM=0
export BLAS=FlexiBLAS
export CMAKE_INCLUDE_PATH="${EBROOTFLEXIBLAS}/include/flexiblas"
export CMAKE_LIBRARY_PATH="${EBROOTFLEXIBLAS}/lib:${EBROOTCUDACORE}/extras/CUPTI/lib64"
export CMAKE_PREFIX_PATH="${EBROOTPROTOBUF}:${EBROOTABSEIL}:${CMAKE_PREFIX_PATH}"
export CUDNN_INCLUDE_DIR="${EBROOTCUDNN}/include"
export CUDNN_LIBRARY="${EBROOTCUDNN}/lib64/libcudnn.so"
export CUDNN_LIB_DIR="${EBROOTCUDNN}/lib64"
export CUSPARSELT_ROOT="${EBROOTCUSPARSELT}"
export MAGMA_HOME="${EBROOTMAGMA}"
export NCCL_ROOT="${EBROOTNCCL}"
export USE_CUDNN=1
export USE_CUSPARSELT=1
export USE_MPI=1
export USE_SYSTEM_NCCL=1

begin venv
# Lock the build tree: a job that its scheduler lost may still be running in it. Every process of a
# build holds this lock. On a file system without locks the tree is not protected.
exec 9> "$build/fence"
flock -w 120 9 || if test $? -eq 1; then phase=fence; exit 75; fi
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
cd "$build"/tree/torch
pip_install --upgrade --upgrade-strategy eager 'cmake>=3.18,<4' ninja setuptools wheel --requirement requirements.txt

: > "$build/tree_ready" # from here on another attempt may continue

begin build
python setup.py bdist_wheel --dist-dir "$folder/wheel"

# Set the wheel's full version and build tag, and pin the package that it was built against.
begin metadata
python -I - "$folder/wheel" 2.4.0+computecanada '' <<'END'
import pathlib, re, subprocess, sys, tempfile
folder, version, pin, build = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
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
    if "\n".join(lines) == head and not build:
        sys.exit()
    (info / "METADATA").write_text("\n".join(lines) + blank + description)
    for part in [*root.glob("*.dist-info"), *root.glob("*.data")]:
        part.rename(part.with_name(part.name.partition("-")[0] + "-" + version + part.suffix))
    wheel.unlink()
    subprocess.run([sys.executable, "-m", "wheel", "pack", *build, "--dest-dir", folder, root], check=True)
END

# Test the wheel as a user installs it: in a clean environment, from an empty folder.
begin smoke
"$python" -m venv "$folder/smoke"
export PATH="$folder/smoke/bin:$PATH"
pip_install "$folder"/wheel/*.whl filelock fsspec jinja2 networkx numpy sympy typing-extensions expecttest
mkdir "$folder/empty"
cd "$folder/empty"
python -c 'import torch'
python -c '
import torch, torch.distributed as d
assert torch.__version__.startswith("2.4.0+computecanada"), torch.__version__
config = torch.__config__.show()
print(config)
assert torch.allclose(torch.linalg.solve(2 * torch.eye(3), torch.ones(3)), torch.full((3,), 0.5))
has = {"MKL": torch.backends.mkl.is_available(), "OpenMP": torch.backends.openmp.is_available(), "MPI": d.is_available() and d.is_mpi_available(), "NCCL": d.is_available() and d.is_nccl_available(), "cuDNN": "USE_CUDNN=ON" in config or "USE_CUDNN=1" in config, "MAGMA": True}
lacking = [one for one in "OpenMP MPI NCCL cuDNN MAGMA".split() if not has[one]]
assert not lacking, "the site promises " + " ".join(lacking)
'

# The source's own tests, each file by itself against the installed wheel, while their minutes last.
begin own_tests
own_end=$((SECONDS + 600)) own_failed=
for own in test/test_indexing.py test/test_type_promotion.py test/test_view_ops.py test/test_sort_and_select.py; do
    left=$((own_end - SECONDS)) code=0
    if ! test -e "$build"/tree/torch/"$own"; then
        echo "own tests: $own: not run, the source does not have it"
    elif test "$left" -le 0; then
        echo "own tests: $own: not run, their minutes are over"
    elif (cd "$build"/tree/torch/"${own%/*}" && timeout --kill-after=30 "$left" python "${own##*/}") || code=$?; then
        if test "$code" -eq 0; then
            echo "own tests: $own: passed"
        elif test "$SECONDS" -ge "$own_end"; then
            echo "own tests: $own: cut, their minutes are over"
        else
            own_failed+=" $own"
        fi
    fi
done
test -z "$own_failed" || echo "own tests failed:$own_failed; the wheel is kept, for no machine passes all of them"
begin done
