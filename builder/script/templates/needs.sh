# Find the wheel's requirements: in pyproject.toml (PEP 621), else from the back end (PEP 517,
# prepare_metadata_for_build_wheel).
python - {{against}} > "$folder/needs.txt" <<'END'
import sys
sys.path[:] = filter(None, sys.path)
import email, importlib, os, pathlib, re, tempfile
needs_file = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # the output of the back end and its tools goes to the log
against = sys.argv[1]

def read_project():
    file = pathlib.Path("pyproject.toml")
    if not file.exists():
        return None
    try:
        import tomllib
    except ImportError:  # before Python 3.11
        from pip._vendor import tomli as tomllib  # since pip 21.2
    return tomllib.loads(file.read_text(encoding="utf-8")).get("project")

def needs_of_back_end():
    module, _, path = "{{back_end}}".partition(":")
    if not module:
        raise LookupError("setup.py cannot report them")
    sys.path[:0] = [os.path.abspath(p) for p in {{back_end_path}}]
    back_end = importlib.import_module(module)
    for name in filter(None, path.split(".")):
        back_end = getattr(back_end, name)
    with tempfile.TemporaryDirectory() as folder:
        info = back_end.prepare_metadata_for_build_wheel(folder)
        metadata = pathlib.Path(folder, info, "METADATA").read_text(encoding="utf-8")
    return email.message_from_string(metadata).get_all("Requires-Dist") or []

try:
    project = read_project()
    if project is not None and "dependencies" not in project.get("dynamic", []):
        needs = project.get("dependencies", [])
    else:
        needs = needs_of_back_end()
except (Exception, SystemExit) as error:
    print("note: the requirements of the wheel are unknown before the build:", repr(error), file=sys.stderr)
    print("note: list them in test.requires of the recipe", file=sys.stderr)
    needs = []
name_of = lambda text: re.sub(r"[-_.]+", "-", re.match(r"\s*([-\w.]*)", text)[1]).lower()
print("\n".join(need for need in needs if not against or name_of(need) != against), file=needs_file)
needs_file.close()
END
