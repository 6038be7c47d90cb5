
test -e "$folder/asking" || "$python" -m venv "$folder/asking"
export PATH="$folder/asking/bin:$PATH" PIP_CACHE_DIR="$folder/cache" PIP_DISABLE_PIP_VERSION_CHECK=1
refuse_addresses=$(cat <<'END'
import runpy, sys
from pip._vendor.packaging.requirements import Requirement
read, of_site = Requirement.__init__, " ".join(sys.argv)

def read_name(self, *text):
    read(self, *text)
    if self.url and not ("://" in self.url and self.url in of_site):
        sys.exit(f"uploaded source: the metadata of a wheel may not require an address: {str(self)[:200]!r}")

Requirement.__init__ = read_name
runpy.run_module("pip", run_name="__main__", alter_sys=True)
END
)
{{bounds}}pip_wheel() { PIP_CONFIG_FILE="$folder/pip.conf" python -I -c "$refuse_addresses" wheel --only-binary :all: {{constraint}}{{index}}--wheel-dir "$folder/wheelhouse" "$@"; }
python -I - "$folder/{{requires}}" "$separate/requires.txt" "$separate/needs.txt"{{files}} > "$folder/asked.txt" <<'END'
import re, sys
from pip._vendor.packaging.requirements import InvalidRequirement, Requirement

def read(line):
    try:
        if not Requirement(line).url:
            return line
    except InvalidRequirement:
        pass
    sys.exit(f"uploaded source: a requirement must be a name with versions, not an address, a file or an option: {line[:200]!r}")

for name in sys.argv[1:]:
    try:
        with open(name, "rb") as file:
            text = file.read(1 << 20).decode("utf-8", "replace")
    except FileNotFoundError:
        continue
    for line in text.splitlines():
        line = re.sub(r"(^|\s+)#.*$", "", line).strip()
        if line:
            print(read(line))
END
pip_wheel --requirement "$folder/asked.txt"{{words}}
