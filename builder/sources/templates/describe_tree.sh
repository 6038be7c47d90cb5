
git -C tree diff --quiet --ignore-submodules=none HEAD
git -C tree rev-parse HEAD
git -C tree submodule status --recursive | while read -r commit path _; do
    case $commit in [-+U]*) echo "submodule $path is not at its commit" >&2; exit 1 ;; esac
    echo "$commit $path"
done
