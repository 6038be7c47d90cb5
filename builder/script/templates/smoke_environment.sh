# With the pip of the build's environment, by a link: to install one takes longer than most tests.
"$python" -m venv --without-pip "$folder/smoke"
mkdir -p "$folder/pip"
ln -sfn "$build"/venv/lib/*/site-packages/pip "$folder/pip/pip"
(cd "$folder"/smoke/lib/*/site-packages && echo "$folder/pip" > pip.pth)
