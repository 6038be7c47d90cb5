#!/bin/bash
#PBS -N w1kq7x9aab3cde

# The job of attempt w1kq7x9aab3cde: runs script.sh, and tells it when its time is nearly up.
set -u
folder=/work/attempts/w1kq7x9aab3cde
exec < /dev/null >> "$folder/log" 2>&1
cd "$folder" || exit 73
. "$folder/environment" || exit 73
unset SLURM_EXPORT_ENV # it would keep the environment from steps that the build starts

# Why it was cut, for the agent; then script.sh gets the chance to write its exit record.
build=
told=
cut() {
    told=${told:-$1} # the first word counts
    echo "@@wheelyard told to end: $told"
    echo "$told" > "$folder/cut.aside" && mv "$folder/cut.aside" "$folder/cut"
    test -z "$build" || kill -TERM -- "-$build"
}
trap 'cut time_limit' USR1
trap 'cut terminated' TERM INT

set -m # what runs in the background gets a process group of its own
/bin/bash "$folder/script.sh" &
build=$!
{ sleep 14100; kill -USR1 "$$"; } & # the batch system does not warn
alarm=$!
set +m
test -z "$told" || kill -TERM -- "-$build" # told while it began

# A signal interrupts `wait`; the build may be there still.
while true; do
    wait "$build"
    kill -0 "$build" 2> /dev/null || break
done
wait "$build"
code=$?
kill -KILL -- "-$alarm" 2> /dev/null
kill -KILL -- "-$build" 2> /dev/null # what it left behind
exit "$code"
