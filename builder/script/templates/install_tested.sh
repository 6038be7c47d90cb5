
begin venv
rm -rf "$folder/venv" "$folder/empty"
"$python" -m venv "$folder/venv"
export PATH="$folder/venv/bin:$PATH"
export PIP_DISABLE_PIP_VERSION_CHECK=1

# Install exactly the wheel that the index offers, with its requirements.
begin install
pip_install {{wheel}}
mkdir "$folder/empty"
cd "$folder/empty"

begin test
