folder=/work/attempts/w1ng012h6crvmar
build=/work/attempts/w1ng012h6crvmar
python=/usr/bin/python3.12

set +eu # `module` and what modulefiles source fail under them; the outcome is checked below
module load gcc/12.2 cuda/12.3
set -eu
for module in gcc/12.2 cuda/12.3; do
    case ":${LOADEDMODULES-}:" in
    *":$module"[:/.]*) ;;
    *)
        echo "error: module $module is not loaded; its reason stands above, 'module spider' says what there is" >&2
        exit 69
        ;;
    esac
done

# As pip is configured for the agent. That may hold a password: only this pip is told of it, and no build.
pip_install() { PIP_CONFIG_FILE="$folder/pip.conf" python -I -m pip install --extra-index-url https://wheels.example.org/bede/simple/ "$@"; }
# Of what an index has only as a source, too, a wheel: the job could not build it. Others work here, too.
export MAX_JOBS=2 CMAKE_BUILD_PARALLEL_LEVEL=2 MAKEFLAGS=-j2
renice -n 19 -p $$ > /dev/null || true
pip_wheel() { PIP_CONFIG_FILE="$folder/pip.conf" python -I -m pip wheel --extra-index-url https://wheels.example.org/bede/simple/ --wheel-dir "$folder/wheelhouse" "$@"; }
rm -rf "$folder/wheelhouse" "$folder/asking"
mkdir -p "$folder/wheelhouse"
"$python" -m venv "$folder/asking"
export PATH="$folder/asking/bin:$PATH"
pip_wheel 'torch @ https://wheels.example.org/bede/files/ab/abcd/torch-2.4.0%2Bcu123.gh200-cp312-cp312-linux_aarch64.whl#sha256=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' 'numpy<3'
rm -rf "$folder/asking"
