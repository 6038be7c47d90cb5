#!/usr/bin/env python3
"""`ctest -R docs-links`: every relative link of every Markdown file leads somewhere.

A link may end in `#heading` of a Markdown file. A link may carry a title, `[words](file "claim")`: the title must stand
in the file it links to, so that a page that cites a test by its claim fails when the test is renamed.

  tests/docs/check_links.py [ROOT]
"""

import re
import sys
from pathlib import Path

LINK = re.compile(r'!?\[[^\]]*\]\(\s*([^)\s]+?)(?:\s+"([^"]*)")?\s*\)')
FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
SKIPPED_FOLDERS = {"build", ".git"}


def slug(heading: str) -> str:
    """GitHub's anchor of a heading: lower case, punctuation dropped, spaces to hyphens."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(markdown: Path) -> set[str]:
    text = FENCE.sub("", markdown.read_text(encoding="utf-8"))
    return {slug(heading) for heading in re.findall(r"^#+[ \t]+(.+)$", text, re.MULTILINE)}


def check_file(root: Path, markdown: Path) -> list[str]:
    text = markdown.read_text(encoding="utf-8")
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())  # keeps line numbers
    prose = FENCE.sub(blank, text)
    complaints = []
    for match in LINK.finditer(prose):
        target, title = match.group(1), match.group(2)
        where = f"{markdown.relative_to(root)}:{prose.count(chr(10), 0, match.start()) + 1}"
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (markdown.parent / path).resolve() if path else markdown
        if not file.is_relative_to(root) or not file.exists():
            complaints.append(f"{where}: '{target}' leads nowhere")
        elif anchor and (file.suffix != ".md" or anchor not in anchors(file)):
            complaints.append(f"{where}: '{path or markdown.name}' has no heading '#{anchor}'")
        elif title is not None and title not in file.read_text(encoding="utf-8"):
            complaints.append(f"{where}: '{path}' does not say \"{title}\"")
    return complaints


def check(root: Path) -> list[str]:
    complaints = []
    for markdown in sorted(root.rglob("*.md")):
        if not SKIPPED_FOLDERS.intersection(markdown.relative_to(root).parts):
            complaints += check_file(root, markdown)
    return complaints


def main() -> int:
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    complaints = check(root)
    for complaint in complaints:
        print(complaint)
    print(f"docs-links: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
