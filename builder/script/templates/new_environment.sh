# With the pip that its closure was resolved with, because installing one takes longer than most wheels of a closure.
pip={{pip}}
new_environment() {
    if test -d "$pip"; then
        "$python" -m venv --without-pip "$1"
        (cd "$1"/lib/*/site-packages && echo "$pip" > pip.pth)
    else
        "$python" -m venv "$1"
    fi
}
