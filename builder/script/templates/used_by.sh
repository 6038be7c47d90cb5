# A job that starts late, after its agent has given it up, leaves the tree to the attempt that uses it.
if test "$(cat "$build/used_by")" != "$attempt"; then phase={{fence_phase}}; exit {{fence_exit}}; fi
