#SBATCH --job-name=w1ng012h6crvmar
#SBATCH --output=/work/attempts/w1ng012h6crvmar/scheduler.log
#SBATCH --open-mode=append
#SBATCH --chdir=/work/attempts/w1ng012h6crvmar
#SBATCH --no-requeue
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=2400M
#SBATCH --time=40
#SBATCH --signal=B:USR1@240
#SBATCH --partition=build
#!/bin/bash
# torch 2.6.0+debian13 for Python 3.13 on debian13, rendered by wheelyard-builder 0.1.0
# Attempt w1ng012h6crvmar, number 1 of cell torch-2.6.0+debian13-cp313.
set -eu -o pipefail

attempt=w1ng012h6crvmar
folder=/work/attempts/w1ng012h6crvmar
build=$folder
python=/usr/bin/python3.13

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
# Versions that go together (docs/reference/version-pairs.md).
printf '%s\n' 'cmake<4' 'setuptools<82' > "$folder/constraints.txt"
pip_install() { PIP_CONFIG_FILE="$folder/pip.conf" python -I -m pip install --constraint "$folder/constraints.txt" "$@"; }

# One compiler per core of the job.
export MAX_JOBS=2
export CMAKE_BUILD_PARALLEL_LEVEL=2

# The time that tools write instead of the clock's, so that builds can be repeated.
export SOURCE_DATE_EPOCH=1580601600

# From the recipe.
export BUILD_TEST=0
export PYTHONHASHSEED=0
export PYTORCH_BUILD_NUMBER=1
export PYTORCH_BUILD_VERSION=2.6.0+debian13
export USE_CUDA=0
export USE_ROCM=0
export BLAS=OpenBLAS
export BUILD_CUSTOM_PROTOBUF=0
export ONNX_NAMESPACE=onnx
export USE_DISTRIBUTED=1
export USE_FBGEMM=0
export USE_GLOO=1
export USE_ITT=0
export USE_KINETO=0
export USE_MAGMA=0
export USE_MKLDNN=0
export USE_MPI=0
export USE_NNPACK=0
export USE_PYTORCH_QNNPACK=0
export USE_SYSTEM_LIBS=1
export USE_TENSORPIPE=1
export USE_XNNPACK=0

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
pip_install --upgrade --upgrade-strategy eager 'cmake>=3.18,<4' ninja numpy pyyaml 'setuptools<82' typing-extensions wheel

begin patch
for patch in "$folder"/patches/*; do
    test -e "$patch" || continue # none for this version
    echo "applying ${patch##*/}"
    patch -p1 --forward --batch < "$patch"
done

begin before
ln -s "$build/beside/debian" debian
flatc --cpp --gen-mutable --scoped-enums -o torch/csrc/jit/serialization torch/csrc/jit/serialization/mobile_bytecode.fbs

: > "$build/tree_ready" # from here on another attempt may continue

begin build
python setup.py bdist_wheel --dist-dir "$folder/wheel"

# Set the wheel's full version and pin the package that it was built against.
begin metadata
python -I - "$folder/wheel" 2.6.0+debian13 '' <<'END'
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

# Test the wheel as a user installs it: in a clean environment, from an empty folder.
begin smoke
"$python" -m venv "$folder/smoke"
export PATH="$folder/smoke/bin:$PATH"
pip_install "$folder"/wheel/*.whl filelock fsspec jinja2 networkx numpy 'setuptools<82' sympy typing-extensions
mkdir "$folder/empty"
cd "$folder/empty"
python -c 'import torch'
python - <<'END'
import numpy, torch
print(torch.__config__.show())
assert torch.__version__ == "2.6.0+debian13", torch.__version__
torch.manual_seed(1)

a, b = torch.rand(200, 300), torch.rand(300, 100)
numpy.testing.assert_allclose((a @ b).numpy(), a.numpy() @ b.numpy(), rtol=1e-4)

x = torch.rand(10, dtype=torch.double, requires_grad=True)
assert torch.autograd.gradcheck(lambda x: (x.sin() * x.exp()).sum(), x)

net = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
inputs = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
targets = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
for step in range(400):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(inputs), targets)
    loss.backward()
    optimizer.step()
assert loss.item() < 0.01, loss
print("trained an XOR: loss", loss.item())

compiled = torch.compile(lambda x: (x.sin() + x.cos()).sum(dim=1))
x = torch.rand(64, 64)
assert torch.allclose(compiled(x), (x.sin() + x.cos()).sum(dim=1), atol=1e-5)
print("torch.compile: one kernel, compiled here")
END
cat > ranks.py <<'END'
import sys, torch, torch.distributed as d, torch.multiprocessing as mp

def rank(number, port):
    d.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=number, world_size=2)
    t = torch.full((3,), float(number + 1))
    d.all_reduce(t)
    assert d.get_world_size() == 2 and t.tolist() == [3.0, 3.0, 3.0], t
    print("rank", number, "all_reduce over Gloo:", t.tolist(), flush=True)
    d.destroy_process_group()

if __name__ == "__main__":
    import socket
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(rank, args=(port,), nprocs=2)
END
export USE_LIBUV=0 # this torch has no libuv, which the bundled TensorPipe would bring
python ranks.py
mkdir example
cat > example/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(example CXX)
find_package(Torch REQUIRED)
add_executable(example example.cpp)
target_link_libraries(example ${TORCH_LIBRARIES})
set_property(TARGET example PROPERTY CXX_STANDARD 17)
END
cat > example/example.cpp <<'END'
#include <torch/torch.h>
#include <iostream>
int main() {
    torch::Tensor x = torch::ones({2, 3}, torch::requires_grad());
    (x * x).sum().backward();
    std::cout << "LibTorch: gradient " << x.grad().sum().item<float>() << "\n";
    return x.grad().sum().item<float>() == 12.0f ? 0 : 1;
}
END
cmake -S example -B example/build -DCMAKE_PREFIX_PATH="$(python -c 'import torch; print(torch.utils.cmake_prefix_path)')"
cmake --build example/build
example/build/example
begin done
