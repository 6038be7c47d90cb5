
# The recipe names no modules: import those at the wheel's top level.
modules=$(python -I - "$folder"/wheel/*.whl <<'END'
import importlib.machinery, pathlib, sys, zipfile
endings = tuple(importlib.machinery.all_suffixes())
found = set()
for path in map(pathlib.PurePosixPath, zipfile.ZipFile(sys.argv[1]).namelist()):
    parts = path.parts
    if parts[0].endswith(".data"):
        parts = parts[2:] if parts[1:2] in (("purelib",), ("platlib",)) else ()
    if parts and parts[-1].endswith(endings):
        found.add(parts[0].partition(".")[0])
others = {"doc", "docs", "example", "examples", "test", "tests"}
print(*sorted(name for name in found if name.isidentifier() and not name.startswith("_") and name not in others))
END
)
for module in $modules; do
    echo "importing $module"
    python -c "import $module"
done
