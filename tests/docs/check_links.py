#!/usr/bin/env python3
"""`ctest -R docs-links`: every relative link of every Markdown file resolves, and every page under docs/ has its form.

A code span that looks like a path of the tree, `lib/base/text/text.hpp` or `tests/golden/`, exists, and so does such a path in
a comment of a source. It begins with a folder of the root, or with one beside the page.

A link may end in `#heading` of a Markdown file. A link may carry a title, `[words](file "claim")`: the file that it links
to must contain the title, so that a page that cites a test by its claim fails when the test is renamed.

The form of a page under docs/: lines of at most 120 columns and paragraphs of at most six lines (code, tables and a line
that is one link are free). Below docs/tutorials, how-to, reference and explanation the line after the title names the
kind and the readers, as `*Reference for operators: …*`; a README.md there is an index and has none.

  tests/docs/check_links.py [ROOT]
"""

import re
import sys
from pathlib import Path

LINK = re.compile(r'!?\[[^\]]*\]\(\s*([^)\s]+?)(?:\s+"([^"]*)")?\s*\)')
SPAN = re.compile(r"`([\w.-]+/[\w./-]*)`")
COMMENT = re.compile(r"//.*")
# In a comment: a path with a suffix of the tree's sources and documents. `<…>` and `*` are placeholders of names.
COMMENTED_PATH = re.compile(r"(?<![\w./<>*-])([a-z][\w-]*/[\w./-]*\w\.(?:hpp|cpp|py|md|cmake))(?![\w*<>-])")
FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
SKIPPED_FOLDERS = {"build", ".git"}
MAX_COLUMNS = 120
MAX_PARAGRAPH_LINES = 6
KINDS = {"tutorials": "Tutorial", "how-to": "How-to guide", "reference": "Reference", "explanation": "Explanation"}
LIST_ITEM = re.compile(r"[ \t]*([-*+]|\d+\.)[ \t]")


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


def is_stale(root: Path, folder: Path, path: str) -> bool:
    """Whether `path` begins with a folder of the root or of `folder`, and there is no such file or folder there."""
    if re.search(r"[A-Z]", path.removesuffix("README.md")):  # NAME, MODULE: a placeholder
        return False
    first = path.split("/")[0]
    places = [place for place in (root, folder) if first not in SKIPPED_FOLDERS and (place / first).is_dir()]
    return bool(places) and not any((place / path).exists() for place in places)


def check_paths(root: Path, file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        text = FENCE.sub(lambda match: "\n" * match.group().count("\n"), text)
        found = [(match[1], match.start()) for match in SPAN.finditer(text)]
    else:
        found = [(match[1], comment.start()) for comment in COMMENT.finditer(text)
                 for match in COMMENTED_PATH.finditer(comment.group())]
    return [f"{file.relative_to(root)}:{text.count(chr(10), 0, at) + 1}: there is no '{path}'"
            for path, at in found if is_stale(root, file.parent, path)]


def prose_blocks(text: str) -> list[tuple[int, list[str]]]:
    """What is prose in a page, cut at blank lines: (number of the first line, lines) of each block."""
    text = FENCE.sub(lambda match: "\n" * match.group().count("\n"), text)
    blocks: list[tuple[int, list[str]]] = []
    previous = ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not (line.startswith("    ") and (not previous.strip() or not blocks)):
            if not previous.strip() or not blocks:
                blocks.append((number, []))
            blocks[-1][1].append(line)
            previous = line
        elif not line.strip():  # a line of an indented code block leaves `previous` blank, and so is code to its end
            previous = ""
    return blocks


def is_free(line: str) -> bool:
    return line.startswith(("|", "#", "<!--"))


def is_one_link(line: str) -> bool:
    return re.fullmatch(r"\s*\S*\[[^\]]*\]\([^)]*\)\S*", line) is not None


def check_form(root: Path, markdown: Path) -> list[str]:
    name = markdown.relative_to(root)
    text = markdown.read_text(encoding="utf-8")
    complaints = []
    for first, lines in prose_blocks(text):
        length = 0
        for number, line in enumerate(lines, first):
            if len(line) > MAX_COLUMNS and not is_free(line) and not is_one_link(line):
                complaints.append(f"{name}:{number}: {len(line)} columns, more than {MAX_COLUMNS}")
            length = 0 if is_free(line) else 1 if LIST_ITEM.match(line) else length + 1
            if length == MAX_PARAGRAPH_LINES + 1:
                complaints.append(f"{name}:{number}: a paragraph of more than {MAX_PARAGRAPH_LINES} lines")
    kind = KINDS.get(name.parts[1])
    if kind and markdown.name != "README.md":
        body = [line for line in text.split("\n") if line.strip()]
        if len(body) < 2 or not body[0].startswith("# ") or not body[1].startswith(f"*{kind} for "):
            complaints.append(f"{name}:1: the line after the title does not begin with '*{kind} for '")
    return complaints


def check(root: Path) -> list[str]:
    complaints = []
    for markdown in sorted(root.rglob("*.md")):
        if not SKIPPED_FOLDERS.intersection(markdown.relative_to(root).parts):
            complaints += check_file(root, markdown)
            if markdown.name != "CHANGELOG.md":  # it names what is gone
                complaints += check_paths(root, markdown)
            if markdown.relative_to(root).parts[0] == "docs":
                complaints += check_form(root, markdown)
    for source in sorted(root.rglob("*.?pp")):
        if not SKIPPED_FOLDERS.intersection(source.relative_to(root).parts):
            complaints += check_paths(root, source)
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
