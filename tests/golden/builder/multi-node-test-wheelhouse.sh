folder=/work/attempts/w1ng012h6crvmar
build=/work/attempts/w1ng012h6crvmar
python=/usr/bin/python3.12

set +eu # `module` and the scripts that modulefiles source can fail under -eu; the result is checked below
module load gcc/12.2 cuda/12.3
set -eu
for module in gcc/12.2 cuda/12.3; do
    case ":${LOADEDMODULES-}:" in
    *":$module"[:/.]*) ;;
    *)
        echo "error: module $module is not loaded; see the message of 'module load' above, and 'module spider' for what is available" >&2
        exit 69
        ;;
    esac
done

set +u # a variable of jobs is empty here

# The time that tools write instead of the clock's, so that builds can be repeated.
export SOURCE_DATE_EPOCH=1580601600
set -u

# pip uses the agent's configuration, which may contain a password: only pip_install reads it, no build does.
pip_install() { PIP_CONFIG_FILE="$folder/pip.conf" python -I -m pip install --extra-index-url https://wheels.example.org/bede/simple/ "$@"; }
# Build wheels of sdists here, because the job cannot. Few jobs and a low priority: others use this login node.
export MAX_JOBS=2 CMAKE_BUILD_PARALLEL_LEVEL=2 MAKEFLAGS=-j2
renice -n 19 -p $$ > /dev/null || true
pip_wheel() { PIP_CONFIG_FILE="$folder/pip.conf" python -I -m pip wheel --extra-index-url https://wheels.example.org/bede/simple/ --wheel-dir "$folder/wheelhouse" "$@"; }
rm -rf "$folder/wheelhouse" "$folder/asking"
mkdir -p "$folder/wheelhouse"
"$python" -m venv "$folder/asking"
export PATH="$folder/asking/bin:$PATH"
pip_wheel 'torch @ https://wheels.example.org/bede/files/ab/abcd/torch-2.4.0%2Bcu123.gh200-cp312-cp312-linux_aarch64.whl#sha256=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' 'numpy<3'
rm -rf "$folder/asking"
