
# The source's own tests, each file by itself against the installed wheel, while their minutes last.
begin own_tests
own_end=$((SECONDS + {{seconds}})) own_failed=
for own in {{files}}; do
    left=$((own_end - SECONDS)) code=0
    if ! test -e "$build"/tree/{{source}}/"$own"; then
        echo "own tests: $own: not run, the source does not have it"
    elif test "$left" -le 0; then
        echo "own tests: $own: not run, their minutes are over"
    elif (cd "$build"/tree/{{source}}/"${own%/*}" && timeout --kill-after=30 "$left" python "${own##*/}") || code=$?; then
        if test "$code" -eq 0; then
            echo "own tests: $own: passed"
        elif test "$SECONDS" -ge "$own_end"; then
            echo "own tests: $own: cut, their minutes are over"
        else
            own_failed+=" $own"
        fi
    fi
done
test -z "$own_failed" || echo "own tests failed:$own_failed; the wheel is kept, for no machine passes all of them"
