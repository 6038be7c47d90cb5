
# Set the wheel's full version and build tag, and pin the package that it was built against.
begin metadata
python -I - "$folder/wheel" {{version}} {{pin}}{{build}} <<'END'
import pathlib, re, subprocess, sys, tempfile
folder, version, pin, build = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
[wheel] = folder.glob("*.whl")
with tempfile.TemporaryDirectory(dir=folder) as inside:
    subprocess.run([sys.executable, "-m", "wheel", "unpack", "--dest", inside, wheel], check=True)
    [root] = pathlib.Path(inside).iterdir()
    [info] = root.glob("*.dist-info")
    head, blank, description = (info / "METADATA").read_text().partition("\n\n")
    lines = head.split("\n")
    if pin:
        other = re.compile(r"Requires-Dist: *" + re.match(r"[-\w.]+", pin)[0] + r"(?![-\w.])[^;]*$", re.I)
        lines = [line for line in lines if not other.match(line)] + ["Requires-Dist: " + pin]
    lines = ["Version: " + version if line.startswith("Version:") else line for line in lines]
    if "\n".join(lines) == head and not build:
        sys.exit()
    (info / "METADATA").write_text("\n".join(lines) + blank + description)
    for part in [*root.glob("*.dist-info"), *root.glob("*.data")]:
        part.rename(part.with_name(part.name.partition("-")[0] + "-" + version + part.suffix))
    wheel.unlink()
    subprocess.run([sys.executable, "-m", "wheel", "pack", *build, "--dest-dir", folder, root], check=True)
END
