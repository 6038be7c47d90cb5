
begin venv
# Lock the build tree: a job that its scheduler lost may still be running in it. Every process of a
# build holds this lock. On a file system without locks the tree is not protected.
exec 9> "$build/fence"
flock -w {{fence_wait_s}} 9 || if test $? -eq 1; then phase={{fence_phase}}; exit {{fence_exit}}; fi
{{used_by}}rm -rf {{stale}}"$folder/wheel" "$folder/smoke" "$folder/empty"
{{home}}{{resume}}{{new_environment}}{{venv}} "$build/venv"
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
