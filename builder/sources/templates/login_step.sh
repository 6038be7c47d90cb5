#!/bin/bash
# {{what}}
set -u
cd {{folder}} || exit
test -e {{name}}.alive || exit # cancelled before it began
touch -c {{name}}.alive
timeout --kill-after=30 {{max_s}} bash -eu -o pipefail -c {{script}} &
work=$!
( while sleep {{touch_s}}; do
    kill -0 $$ 2> /dev/null && test -e {{name}}.alive || { kill "$work"; break; }
    touch -c {{name}}.alive
done ) &
wait "$work"
code=$?
kill -KILL -- "-$work" 2> /dev/null # its remaining processes
test "$SECONDS" -lt {{max_s}} || test "$code" -eq 0 || code={{time_is_over}}
rm -rf {{name}}.end.tmp {{name}}.end # whatever the script made of them
echo "$code" > {{name}}.end.tmp
kill "$!"
mv {{name}}.end.tmp {{name}}.end
