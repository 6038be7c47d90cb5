
# The job of attempt {{attempt}}: runs script.sh and warns it when the time limit is near.
set -u
folder={{folder}}
exec < /dev/null >> "$folder/log" 2>&1
cd "$folder" || exit 73
unset LC_ALL # set for the messages of the program that submitted the job
. "$folder/environment" || exit 73
{{before_ranks}}
# Record why the job is stopped, for the agent; then let script.sh write its exit record.
build=
reason=
cut() {
    reason=${reason:-$1} # the first one wins
    echo "@@wheelyard stop requested: $reason"
    echo "$reason" > "$folder/cut.tmp" && mv "$folder/cut.tmp" "$folder/cut"
    test -z "$build" || kill -TERM -- "-$build"
}
trap 'cut time_limit' USR1
trap 'cut terminated' TERM INT

set -m # a background job gets its own process group
/bin/bash "$folder/script.sh" &
build=$!
{{alarm}}set +m
test -z "$reason" || kill -TERM -- "-$build" # the signal came before the build started

# A signal interrupts `wait`; the build may still be running.
while true; do
    wait "$build"
    kill -0 "$build" 2> /dev/null || break
done
wait "$build"
code=$?
{{stop_alarm}}kill -KILL -- "-$build" 2> /dev/null # remaining processes
exit "$code"
