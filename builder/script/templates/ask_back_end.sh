# Ask the back end for further build requirements (PEP 517, get_requires_for_build_wheel).
python - > "$folder/requires.txt" <<'END'
import sys
sys.path[:] = filter(None, sys.path)  # PEP 517: the project's folder is not on sys.path
import contextlib, importlib, os
sys.path[:0] = [os.path.abspath(p) for p in {{back_end_path}}]
module, _, path = "{{back_end}}".partition(":")
with contextlib.redirect_stdout(sys.stderr):
    back_end = importlib.import_module(module)
    for name in filter(None, path.split(".")):
        back_end = getattr(back_end, name)
    asked = getattr(back_end, "get_requires_for_build_wheel", list)()
print("\n".join(asked))
END
