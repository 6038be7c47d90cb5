# Build wheels of sdists here, because the job cannot. Few jobs and a low priority: others use this login node.
export MAX_JOBS=2 CMAKE_BUILD_PARALLEL_LEVEL=2 MAKEFLAGS=-j2
renice -n 19 -p $$ > /dev/null || true
pip_wheel() { PIP_CONFIG_FILE="$folder/{{conf}}" python -I -m pip wheel {{constraint}}{{index}}--wheel-dir "$folder/wheelhouse" "$@"; }
rm -rf "$folder/wheelhouse" "$folder/asking"
mkdir -p "$folder/wheelhouse"
"$python" -m venv "$folder/asking"
export PATH="$folder/asking/bin:$PATH"
