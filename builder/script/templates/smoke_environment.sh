# With the pip of the build's environment, by a link: to install one takes longer than most tests.
"$python" -m venv --without-pip "$folder/smoke"
mkdir "$folder/smoke/pip"
ln -s "$build"/venv/lib/*/site-packages/pip "$folder/smoke/pip"
(cd "$folder"/smoke/lib/*/site-packages && echo "$folder/smoke/pip" > pip.pth)
