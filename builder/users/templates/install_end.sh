
trap 'test -e "$root/.complete" || rm -rf "$root"' EXIT # remove an incomplete environment
mkdir -p "$(dirname "$root")"
{{interpreter}} -m venv "$root"
{{bounds}}"$root/bin/python" -m pip install --no-input {{constraint}}--extra-index-url {{index}} {{requirements}}
touch "$root/.complete"
echo "install-environment: $root is ready"
