
# Test the wheel as a user installs it: in a clean environment, from an empty folder.
begin smoke
{{environment}}export PATH="$folder/smoke/bin:$PATH"
pip_install "$folder"/wheel/*.whl{{requires}}
{{leave}}mkdir "$folder/empty"
cd "$folder/empty"
