
export MAX_JOBS=2 CMAKE_BUILD_PARALLEL_LEVEL=2 MAKEFLAGS=-j2
test -e "$folder/asking" || "$python" -m venv "$folder/asking"
export PATH="$folder/asking/bin:$PATH" PIP_DISABLE_PIP_VERSION_CHECK=1
cd "$build"/tree/{{source}}
