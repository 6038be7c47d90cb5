test "${CONDA_PREFIX-}" = {{environment}} || {
    echo "error: conda did not activate its environment; see its message above" >&2
    exit 69
}
