# shellcheck shell=bash
# Sourced by a script first of all: answers --help with the comment at the script's head, and does nothing else.
case "${1:-}" in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit
    ;;
esac
