#PBS -N w1ng012h6crvmar
#PBS -j oe
#PBS -o /work/attempts/w1ng012h6crvmar/scheduler.log
#PBS -r n
#PBS -l select=2:ncpus=64:mpiprocs=4:ngpus=4:mem=200000mb
#PBS -l place=scatter
#PBS -l walltime=0:30:00
#PBS -q main
#PBS -A UXYZ0001
#!/bin/bash
# multi-node-test of torch 2.3.1+cu122.cudnn8.a100 for Python 3.12 on derecho, rendered by wheelyard-builder 0.1.0
# Attempt w1ng012h6crvmar, number 1 of cell torch-2.3.1+cu122.cudnn8.a100-cp312.
set -eu -o pipefail

attempt=w1ng012h6crvmar
folder=/work/attempts/w1ng012h6crvmar
build=$folder
python=/glade/work/agentuser/wheelyard/conda/py312/bin/python3.12

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
    echo "@@wheelyard exit=$code phase=$phase at=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
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

# This machine has no network access: the login node has fetched all packages.
# Versions that go together (docs/reference/version-pairs.md).
printf '%s\n' 'cmake<4' 'setuptools<82' > "$folder/constraints.txt"
pip_install() { python -I -m pip install --constraint "$folder/constraints.txt" --no-index --find-links "$folder/wheelhouse" "$@"; }

begin modules
set +eu # `module` and the scripts that modulefiles source can fail under -eu; the result is checked below
type module > /dev/null 2>&1 || . /etc/profile.d/z00_modules.sh
module purge
module load ncarenv/23.09 gcc/12.2.0 ncarcompilers cray-mpich/8.1.27 conda/latest cuda/12.2.1 cudnn/8.8.1.3-12
set -eu
for module in ncarenv/23.09 gcc/12.2.0 ncarcompilers cray-mpich/8.1.27 conda/latest cuda/12.2.1 cudnn/8.8.1.3-12; do
    case ":${LOADEDMODULES-}:" in
    *":$module"[:/.]*) ;;
    *)
        echo "error: module $module is not loaded; see the message of 'module load' above, and 'module spider' for what is available" >&2
        exit 69
        ;;
    esac
done

begin conda
set +eu # the scripts in Conda's activate.d can fail under -eu
. /glade/u/apps/opt/conda/etc/profile.d/conda.sh
conda activate /glade/work/agentuser/wheelyard/conda/py312
set -eu
test "${CONDA_PREFIX-}" = /glade/work/agentuser/wheelyard/conda/py312 || {
    echo "error: conda did not activate its environment; see its message above" >&2
    exit 69
}

# The time that tools write instead of the clock's, so that builds can be repeated.
export SOURCE_DATE_EPOCH=1580601600

# The site's compilers.
export CC=mpicc
export CXX=mpicxx
export MPICC=mpicc

# From site.toml.
export FI_CXI_DEFAULT_CQ_SIZE=131072
export FI_CXI_DISABLE_HOST_REGISTER=1
export FI_MR_CACHE_MONITOR=userfaultfd
export NCCL_CROSS_NIC=1
export NCCL_DEBUG=WARN
export NCCL_NET='AWS Libfabric'
export NCCL_SOCKET_IFNAME=hsn
export OFI_PREFIX=/glade/work/agentuser/wheelyard/nccl-ofi/2.21.5-1.6.0

# For accelerator a100-cudnn8.
export MPICH_GPU_SUPPORT_ENABLED=1
export MPICH_OFI_NIC_POLICY=GPU

begin venv
rm -rf "$folder/venv" "$folder/empty"
"$python" -m venv "$folder/venv"
export PATH="$folder/venv/bin:$PATH"
export PIP_DISABLE_PIP_VERSION_CHECK=1

# Install exactly the wheel that the index offers, with its requirements.
begin install
pip_install torch==2.3.1+cu122.cudnn8.a100 filelock fsspec jinja2 networkx numpy sympy typing-extensions
mkdir "$folder/empty"
cd "$folder/empty"

begin test
LD_LIBRARY_PATH="$OFI_PREFIX/lib:$OFI_PREFIX/aws-ofi-nccl-plugin/lib:${LD_LIBRARY_PATH-}" mpiexec -n 8 -ppn 4 --cpu-bind numa python -c 'import torch, torch.distributed as d; d.init_process_group("mpi"); r = d.get_rank(); t = torch.ones(1, device=f"cuda:{r % torch.cuda.device_count()}"); d.all_reduce(t); assert t.item() == d.get_world_size(), t'
begin done
