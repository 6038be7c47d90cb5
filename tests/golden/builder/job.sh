#!/bin/bash
#PBS -N w1kq7x9aab3cde

# The job of attempt w1kq7x9aab3cde: runs script.sh and warns it when the time limit is near.
set -u
folder=/work/attempts/w1kq7x9aab3cde
exec < /dev/null >> "$folder/log" 2>&1
cd "$folder" || exit 73
unset LC_ALL # set for the messages of the program that submitted the job
. "$folder/environment" || exit 73
unset SLURM_EXPORT_ENV

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
{ # this batch system sends no warning; count the job's own minutes, not the clock's
    alarm_s=14100
    for ((passed = 0; passed < alarm_s; passed += nap)); do
        nap=$((alarm_s - passed < 60 ? alarm_s - passed : 60))
        sleep "$nap" || exit
        # The agent writes it when another time was granted.
        read -r granted < "$folder/alarm_s" && ((granted > 0)) && alarm_s=$granted
    done 2> /dev/null
    kill -USR1 "$$"
} &
alarm=$!
disown "$alarm" # else bash reports its end as that of a killed process
set +m
test -z "$reason" || kill -TERM -- "-$build" # the signal came before the build started

# A signal interrupts `wait`; the build may still be running.
while true; do
    wait "$build"
    kill -0 "$build" 2> /dev/null || break
done
wait "$build"
code=$?
kill -KILL -- "-$alarm" 2> /dev/null
kill -KILL -- "-$build" 2> /dev/null # remaining processes
exit "$code"
