renice -n 19 -p $$ > /dev/null || true # others use this login node
export MAX_JOBS=2 CMAKE_BUILD_PARALLEL_LEVEL=2 MAKEFLAGS=-j2
folder=$PWD
rm -rf asking closure.json work
mkdir work
# Only pip reads the agent's configuration, which may contain a password; no back end does.
export PIP_CONFIG_FILE="$folder/pip.conf" PIP_CACHE_DIR="$folder/cache" PIP_DISABLE_PIP_VERSION_CHECK=1
if ! test -d "$pip"; then # its pip, for all closures and their jobs
    "$python" -m venv asking
    # `install --report` came with pip 22.2, `--python` with 22.3.
    asking/bin/python -I -c 'import sys, pip; sys.exit([int(n) for n in pip.__version__.split(".")[:2]] < [22, 3])' ||
        asking/bin/python -I -m pip install --quiet --upgrade 'pip>=22.3'
    rm -rf "$pip.part"
    mkdir -p "$pip.part"
    cp -a asking/lib/*/site-packages/pip asking/lib/*/site-packages/pip-*.dist-info "$pip.part"
    mv -T "$pip.part" "$pip"
    rm -rf asking
fi
new_environment asking
asking/bin/python -I closure.py request.json closure.json work
rm -rf asking work cache
