
# This machine has no network access: the login node has fetched all packages.
{{bounds}}pip_install() { python -I -m pip install {{constraint}}--no-index --find-links "$folder/wheelhouse" "$@"; }
