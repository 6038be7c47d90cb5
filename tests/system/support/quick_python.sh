#!/bin/bash
# A Python whose venv and pip are these lines, so that a build takes a moment and does what the test's folder says.
# Everything that is not about venv or pip goes to the real one.
#
#   CONTROL/builds     one line a build that began: its folder
#   CONTROL/steps      one line a step of a build that was taken
#   CONTROL/gate       while it is there, builds wait before their last step, but not for ever: its maker may be dead
#   CONTROL/deaf-DEMO  the same for the build in a folder of the name DEMO, which ignores SIGTERM while it waits
#   CONTROL/hog        its number of MiB is taken by the next build, once, for five seconds: a batch system that measures now and then sees it
#   CONTROL/hog-DEMO   the same by the build in a folder of the name DEMO, after the gate
set -eu
shopt -s extglob # for the pattern +(…)
control=@CONTROL@
gate_limit=9000 # tenths of a second: ctest's own limit
wait_at() {
    for ((waited = 0; waited < gate_limit; waited++)); do
        test -e "$1" || return 0
        sleep 0.1
    done
    echo "nobody opened $1"
    exit 1
}
hog() {
    if mv "$1" "$control/hogged" 2> /dev/null; then
        @PYTHON@ -c 'import sys, time; all = bytearray(int(sys.argv[1]) << 20); time.sleep(5)' "$(cat "$control/hogged")"
    fi
}
arguments=" $* "
case "$arguments" in
*" -m venv "*)
    folder=${!#}
    mkdir -p "$folder/bin" "$folder/lib/python3/site-packages/pip"
    cp "$0" "$folder/bin/python"
    ;;
*" -m pip install "*) ;;
*" -m pip wheel "*)
    echo "$PWD" >> "$control/builds"
    while test "$1" != --wheel-dir; do shift; done
    for step in 1 2 3; do
        if test "$step" = 3; then
            hog "$control/hog"
            deaf=$control/deaf-${PWD##*/}
            if test -e "$deaf"; then
                trap '' TERM
                wait_at "$deaf"
            fi
            wait_at "$control/gate"
            hog "$control/hog-${PWD##*/}"
        fi
        if test -e "step$step.done"; then continue; fi
        : > "step$step.done" # before its line: a test that has seen it may end this build
        echo "$PWD step $step" >> "$control/steps"
    done
    mkdir -p "$2"
    cp "$control/prebuilt/${PWD##*/}"-*.whl "$2"
    ;;
" - ") cat > /dev/null ;;
*" -c import "+([a-z_])" ") exec @PYTHON@ -c "" ;;
*) exec @PYTHON@ "$@" ;;
esac
