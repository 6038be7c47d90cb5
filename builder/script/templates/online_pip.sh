
# pip uses the agent's configuration, which may contain a password: only pip_install reads it, no build does.
{{bounds}}pip_install() { PIP_CONFIG_FILE="$folder/{{conf}}" python -I -m pip install {{constraint}}{{index}}"$@"; }
