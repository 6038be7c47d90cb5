
begin separate
{{namespaces}}code=0
separately script.sh || code=$?
if test "$code" -eq {{over_limit}}; then phase={{limits}}; exit "$code"; fi
inner="$folder/separate"
# Its processes are gone. A link or a FIFO among its results is not followed.
is_file() { test -f "$1" && test ! -L "$1"; }
if test "$code" -ne 0; then
    ! is_file "$inner/exit.json" ||
        phase=$(head -c 4096 "$inner/exit.json" | sed -n 's/.*"phase":"\([a-z]\{1,20\}\)".*/\1/p' | grep . || echo "$phase")
    exit "$code"
fi
rm -rf "$folder/wheel"
mkdir "$folder/wheel"
if test ! -L "$inner/wheel"; then
    for file in "$inner"/wheel/*.whl; do
        ! is_file "$file" || mv "$file" "$folder/wheel/"
    done
fi
! is_file "$inner/built_by" || mv "$inner/built_by" "$folder/built_by"
begin done
