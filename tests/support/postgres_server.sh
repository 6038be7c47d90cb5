#!/bin/sh
# A PostgreSQL server in a folder, for tests: as an unprivileged user where the caller is root, which the server refuses.
#
#   postgres_server.sh init FOLDER              makes FOLDER/data, whose superuser is `wheelyard`
#   postgres_server.sh run FOLDER [OPTION…]     becomes the server; ends with the process that called it
#   postgres_server.sh as FOLDER PROGRAM …      runs another of PostgreSQL's programs as that user
#
# Status 77: PostgreSQL's server is not installed (scripts/install-deps --unit).
set -eu
verb=$1
folder=$2
shift 2
programs=
for each in /usr/lib/postgresql/*/bin; do
    [ -x "$each/postgres" ] && programs=$each # the newest
done
[ -n "$programs" ] || programs=$(dirname "$(command -v postgres || echo missing/postgres)")
[ -x "$programs/postgres" ] || exit 77
end="setpriv --pdeathsig INT"
[ "$(id -u)" -ne 0 ] || end="$end --reuid nobody --regid nogroup --clear-groups"
cd /
case $verb in
init)
    mkdir -p "$folder"
    [ "$(id -u)" -ne 0 ] || chown nobody:nogroup "$folder"
    # shellcheck disable=SC2086 # words
    exec $end "$programs/initdb" -D "$folder/data" -U wheelyard -A trust -E UTF8 --locale=C.UTF-8 --no-sync "$@" >"$folder.log"
    ;;
run)
    # shellcheck disable=SC2086 # words
    exec $end "$programs/postgres" -D "$folder/data" -c unix_socket_directories="$folder" "$@" >>"$folder.log" 2>&1
    ;;
as)
    program=$1
    shift
    # shellcheck disable=SC2086 # words
    exec $end "$programs/$program" "$@"
    ;;
esac
