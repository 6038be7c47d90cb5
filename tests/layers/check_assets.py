"""No string of a script of lib/page/assets/ has what cmake/assets.cmake takes out around operators: the page would show another text."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A comment is passed over, a regular expression is not told from a division: no script here has a quote in one.
TOKENS = re.compile(r"//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`", re.DOTALL)


def taken_out():
    """The pattern of cmake/assets.cmake, whose syntax Python has too."""
    [pattern] = re.findall(r'REGEX REPLACE "( \(=>[^"]*\) )"', (ROOT / "cmake/assets.cmake").read_text())
    return re.compile(pattern)


def faults(script, pattern):
    """The strings that would change. What a template fills in, ${…}, is code."""
    strings = [found for found in TOKENS.findall(script) if not found.startswith("//")]
    return [each for each in strings if pattern.search(re.sub(r"\$\{[^}]*\}", "", each))]


def main():
    pattern = taken_out()
    assert faults('const a = "x" + "y : z";', pattern) == ['"y : z"'] and not faults('// it is : so\nconst a = "x" + `${b ? c : d}`;', pattern)
    found = [f"{path.relative_to(ROOT)}: {each}" for path in sorted((ROOT / "lib/page/assets").glob("*.js")) for each in faults(path.read_text(), pattern)]
    print("\n".join(found) or "no string of a script changes when it is embedded")
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
