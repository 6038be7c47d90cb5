#!/bin/bash
# {{title}}
# Attempt {{attempt}}, number {{number}} of cell {{cell}}.
set -eu -o pipefail

attempt={{attempt}}
folder={{folder}}
build={{build}}
python={{python}}

# Only the first start of an attempt runs: mkdir succeeds once. A second start changes nothing.
if ! mkdir "$folder/claim"; then
    echo "@@wheelyard attempt $attempt is already claimed"
    test -d "$folder/claim"
    exit
fi
printf '{"host":"%s","boot":"%s","pid":%d,"start":%d}\n' "$(uname -n)" "$(cat /proc/sys/kernel/random/boot_id)" \
    $$ "$(cut -d ' ' -f 22 /proc/$$/stat)" > "$folder/claim/owner.tmp"
mv "$folder/claim/owner.tmp" "$folder/claim/owner"

# How many processes the kernel has killed because memory ran out: of this control group, else of this node.
oom_kills() {
    local number kind group kills=
    while IFS=: read -r number kind group; do
        case $number:$kind in
        0:) kills=$(sed -n 's/^oom_kill //p' "/sys/fs/cgroup$group/memory.events") ;;
        *:memory) kills=$(sed -n 's/^oom_kill //p' "/sys/fs/cgroup/memory$group/memory.oom_control") ;;
        esac
        test -z "$kills" || break
    done < /proc/self/cgroup 2> /dev/null
    test -n "$kills" || kills=$(sed -n 's/^oom_kill //p' /proc/vmstat)
    echo "$kills"
}
oom_kills_before=$(oom_kills || true)

# Mark every phase in the log. The exit record reports how the job ended; it is synced before it is renamed.
phase=start
phases=
begin() {
    phase=$1
    phases+="${phases:+,}{\"name\":\"$phase\",\"began_ms\":$(date +%s%3N)}"
    echo "@@wheelyard phase=$phase at=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
}
finish() {
    code=$?
    trap '' TERM INT HUP
    killed=${oom_kills_before:+,\"oom_kills\":$(($(oom_kills || true) - oom_kills_before))}
    rm -f "$folder/pip.conf"
{{durable}}    if test "$code" -ne 0; then
        for place in "$folder" "$build" "${TMPDIR:-/tmp}" "${HOME:-/}"; do
            test ! -w "$place" || test "$(($(stat -f -c '%b > 0 && %a * %S < 1048576' "$place" || echo 0)))" -eq 0 ||
                echo "@@wheelyard no space left on $place"
        done 2> /dev/null
    fi
    echo "@@wheelyard exit=$code phase=$phase at=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    printf '{"format":"wheelyard.exit/1","attempt":"%s","exit_code":%d,"phase":"%s","phases":[%s],"ended_ms":%d%s}\n' \
        "$attempt" "$code" "$phase" "$phases" "$(date +%s%3N)" "$killed" > "$folder/exit.json.tmp"
    sync "$folder/exit.json.tmp"
    mv "$folder/exit.json.tmp" "$folder/exit.json"
    sync "$folder"
}
trap finish EXIT
# Who asks the job to end records why in `cut`; a machine that shuts down does not.
stop() {
    test -e "$folder/cut" || echo terminated > "$folder/cut"
    exit "$1"
}
trap 'stop 143' TERM
trap 'stop 130' INT
trap 'stop 129' HUP

# The user's home, also of an agent that was started without HOME: settings and toolchains lie there.
user_home=${HOME:-$(unset HOME && echo ~)}
# Nodes of some sites have no home, or do not mount it: what programs keep there then lies beside the tree.
if ! test -d "${HOME-}" || ! test -w "$HOME"; then
    export HOME="$build/home"
    mkdir -p "$HOME"
fi
