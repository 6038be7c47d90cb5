#!/bin/bash
# The machine's Python for tests whose agent makes environments. `-m venv FOLDER` copies one that the real Python made, with its pip, and
# writes the new place into it: the real one takes four seconds of CPU, and each build of a wheel needs two. Everything else is the real
# Python's. scripts/prepare-clients puts it beside that environment.
set -eu
template=${0%/*}/pip-debian
if [ $# != 3 ] || [ "$1 $2" != "-m venv" ]; then
    exec @PYTHON@ "$@"
fi
mkdir -p "$3"
folder=$(cd "$3" && pwd)
[ ! -x "$folder/bin/pip" ] || exit 0 # the real one keeps what is installed
made=$(sed -nE "s;^ *(export )?VIRTUAL_ENV=[\"']?(/[^\"']*).*;\2;p" "$template/bin/activate") # where it was made
cp -a --reflink=auto "$template/." "$folder"
sed -i "s,$made,$folder,g" "$folder"/bin/activate* "$folder"/bin/pip* "$folder/pyvenv.cfg"
