"""The commands that a page tells its reader to type: those of its fenced blocks of `sh`, and of its indented blocks."""

import re

from support.farm import ROOT

README, INSTALL = "README.md", "docs/how-to/install.md"
_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<fenced>.*?)^```$|(?<=\n\n)(?P<indented>(?:    [^\n]*\n)+)", re.DOTALL | re.MULTILINE)


def blocks(page: str, after: str = "") -> list[list[str]]:
    """The blocks of a page, or of its rest behind some words, without comments."""
    text = (ROOT / page).read_text()
    found = []
    for match in _BLOCK.finditer(text, text.index(after)):
        if match["indented"] or match["language"] == "sh":
            lines = [re.sub(r"(^|\s+)# .*", "", line).strip() for line in (match["indented"] or match["fenced"]).splitlines()]
            found.append([line for line in lines if line])
    return found


def commands(page: str) -> list[str]:
    return [command for block in blocks(page) for command in block]
