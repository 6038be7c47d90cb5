# Resume in the build tree of attempt {{attempt}}.
logged_by_ninja() {
    find "$build/tree" -type f -name .ninja_log | while IFS= read -r log; do
        top="${log%/*}/" awk -F '\t' 'FNR > 1 { print ($4 ~ "^/" ? "" : ENVIRON["top"]) $4 }' "$log"
    done
}
objects() { find "$build/tree" -type f \( -name '*.o' -o -name '*.so' -o -name '*.a' \) "$@"; }
newest=$(find "$build/tree" -type f -printf '%T@\n' | sort -n | tail -n 1)
if test -n "$newest"; then
    objects -size 0 -delete
    comm -23 <(objects -newermt "@$((${newest%.*} - 60))" | sort) <(logged_by_ninja | sort) | xargs -r -d '\n' rm -f
fi
