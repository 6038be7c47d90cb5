# Ask the back end for further build requirements (PEP 517, get_requires_for_build_wheel). What it prints itself, or a
# program that it runs, such as nc-config, goes to the log.
python - 3> "$folder/requires.txt" >&2 <<'END'
import sys
sys.path[:] = filter(None, sys.path)  # PEP 517: the project's folder is not on sys.path
import importlib, os
sys.path[:0] = [os.path.abspath(p) for p in {{back_end_path}}]
module, _, path = "{{back_end}}".partition(":")
back_end = importlib.import_module(module)
for name in filter(None, path.split(".")):
    back_end = getattr(back_end, name)
print("\n".join(getattr(back_end, "get_requires_for_build_wheel", list)()), file=open(3, "w"))
END
