
python={{interpreter}}
command -v "$python" > /dev/null || {
    echo "install-environment: no $python: correct the Python of site.toml, or name the version of the module that has it" >&2
    exit 69
}
trap 'test -e "$root/.complete" || rm -rf "$root"' EXIT # remove an incomplete environment
mkdir -p "$(dirname "$root")"
{{interpreter}} -m venv "$root"
{{bounds}}"$root/bin/python" -m pip install --no-input {{constraint}}--extra-index-url {{index}} {{requirements}}
ln -s {{place}}/extend-venv-activate "$root/bin/" # on PATH where the module is loaded
touch "$root/.complete"
echo "install-environment: $root is ready"
