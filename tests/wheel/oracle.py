#!/usr/bin/env python3
"""Writes the golden tables of this folder by asking the `packaging` library, the one that pip uses.

    python3 tests/wheel/oracle.py            # rewrite tests/wheel/golden/
    python3 tests/wheel/oracle.py --check    # exit 1 if a table differs from what `packaging` says now

Needs packaging >= 26.3 (markers, tags and specifiers changed there). Every table is text: one case a line, fields
separated by tabs, `!` for "refused". The first line names the library's version.
"""
import argparse
import collections
import hashlib
import itertools
import pathlib
import random
import re
import sys
import sysconfig

import packaging
from packaging import _manylinux, _musllinux, markers, requirements, specifiers, tags, utils, version

GOLDEN = pathlib.Path(__file__).parent / "golden"
SEED = 440


def parsed_version(text):
    try:
        return version.Version(text)
    except version.InvalidVersion:
        return None


def composed_versions(rng, count):
    releases = ["0", "1", "1.0", "1.0.0", "1.1", "1.2", "1.10", "2", "2.0.1", "1!1.0", "2!0", "2024.11.20", "20240101123456789012345"]
    pres = ["", "a0", "a1", "a10", "b1", "b2", "rc1", "rc2"]
    posts = ["", "", ".post0", ".post1", ".post12"]
    devs = ["", "", ".dev0", ".dev1", ".dev10"]
    local_parts = ["", "", "", "+0", "+1", "+1.0", "+10", "+a", "+abc", "+abc.1", "+abc.10", "+abc.2", "+1.abc", "+cu126", "+cu118", "+1abc"]
    everything = ["".join(parts) for parts in itertools.product(releases, pres, posts, devs, local_parts)]
    return rng.sample(sorted(set(everything)), count)


TOKEN = re.compile(r"\d+|[A-Za-z_]+|\s+|[<>=!~]+|.", re.DOTALL)
# In less than this part of the lines a word or sign is one of many.
RARE = 0.01


def chosen(lines):
    """Of the cases, shortest first, those that have what no earlier one has: of an accepted text two kinds of token beside one another,
    of a refused one a kind of token. Of 70 mutants of lib/wheel they kill the 68 that all of them kill."""
    texts = {line: TOKEN.findall(line.partition("\t")[0]) for line in lines}
    count = collections.Counter(token for tokens in texts.values() for token in set(tokens))

    def kind(token):
        if token.isdigit():
            return token if token == "0" else "01" if token[0] == "0" else "1"
        if token.isspace():
            return " "
        return token if count[token] >= RARE * len(lines) else "rare word" if token[0].isalpha() else "rare sign"

    seen, kept = set(), set()
    for line in sorted(lines, key=lambda line: (len(line), line)):
        kinds = ["^", *map(kind, texts[line]), "$"]
        features = {("!", one) for one in kinds} if line.endswith("\t!") else set(itertools.pairwise(kinds))
        if not features <= seen:
            seen |= features
            kept.add(line)
    return [line for line in lines if line in kept]


def order_table(rng):
    """Versions in ascending order; equal ones share a line."""
    found = sorted({parsed_version(text) for text in composed_versions(rng, 100)})
    hand = ["1.0.dev456", "1.0a1", "1.0a2.dev456", "1.0a12.dev456", "1.0a12", "1.0b1.dev456", "1.0b2", "1.0b2.post345.dev456",
            "1.0b2.post345", "1.0rc1.dev456", "1.0rc1", "1.0", "1.0+abc.5", "1.0+abc.7", "1.0+5", "1.0.post456.dev34",
            "1.0.post456", "1.0.15", "1.1.dev1"]
    found += [parsed_version(text) for text in hand]
    lines = []
    for _, group in itertools.groupby(sorted(found), key=lambda item: item._key):
        lines.append("\t".join(sorted({str(item) for item in group})))
    return lines


def mutated(rng, text, alphabet):
    letters = list(text)
    for _ in range(rng.randint(1, 3)):
        where = rng.randint(0, len(letters))
        action = rng.randint(0, 2)
        if action == 0:
            letters.insert(where, rng.choice(alphabet))
        elif letters and action == 1:
            letters.pop(where % len(letters))
        elif letters:
            letters[where % len(letters)] = rng.choice(alphabet)
    return "".join(letters)


PIECES = ["0", "1", "01", "10", "2024", ".", ".", "-", "_", "a", "b", "c", "rc", "alpha", "beta", "pre", "preview", "post", "rev",
          "r", "dev", "+", "!", "v", "ABC", "RC", "x", " ", "*"]


def random_version_texts(rng, count):
    texts = {" 1.0 ", "v1.0", "V1.0", "vv1.0", "", " ", "1", "1.", ".1", "1..0", "1.0-1", "1.0-", "1.0--1", "1.0a", "1.0a.", "1.0a-", "1.0.a.1",
             "1.0_alpha_1", "1.0-BETA", "1.0c1", "1.0pre2", "1.0preview-3", "1.0.rev4", "1.0-r4", "1.0r", "1.0post", "1.0.post.",
             "1.0.dev", "1.0dev-", "1.0+", "1.0+.a", "1.0+a..b", "1.0+a_b-C.01", "1.0+abc!", "01.002", "1!", "!1", "00!1", "1!2!3",
             "1.0alphabet", "1.0.post1.post2", "1.0.dev1.post1", "1.0a1b1", "1.0a.-1", "1.0a--1", "1.0-1-2", "1.0-1.dev2", "1.0a-1-2",
             "1.0 .dev1", "1.0+cu12.6", "2013b", "2004d", "1.0.0.0.0.0", "1,0", "1.0+ä", "1.٣"}
    for text in composed_versions(rng, 200):
        texts.add(text)
        texts.add(mutated(rng, text, "0123456789.-_abcrv+!postde "))
    while len(texts) < count:
        texts.add("1" * rng.randint(0, 1) + "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 7))))
    return sorted(texts)


def normal_table(rng):
    lines = []
    for text in random_version_texts(rng, 4000):
        found = parsed_version(text)
        lines.append(f"{text}\t{found if found is not None else '!'}")
    return chosen(lines)


def specifier_texts(rng):
    texts = set()
    versions = ["1.0", "1", "1.1", "1.0.0", "2.0", "1.0a1", "1.0rc1", "1.0.dev1", "1.0.post1", "1.0.post1.dev2", "1.0a1.dev1", "1.0rc1.post2",
                "1!1.0", "0", "1.10"]
    for text in versions:
        for operator in ["~=", "==", "!=", "<=", ">=", "<", ">", "==="]:
            texts.add(operator + text)
    for text in ["1.0+abc", "1.0+abc.1", "1.0+5", "1.0.post1+abc", "1.0.0+ABC"]:
        texts |= {"==" + text, "!=" + text, "===" + text}
    for text in ["1", "1.0", "1.1", "1!1", "1.0.0", "0"]:
        texts |= {f"=={text}.*", f"!={text}.*"}
    return sorted(texts)


def specifier_table(rng):
    """First line: versions. Then: specifier, and one 0 or 1 for each of them."""
    versions = composed_versions(rng, 60)
    versions += ["0", "0.dev0", "0.9", "1", "1.0", "1.0.0", "1.0a1", "1.0a1.dev1", "1.0a1+x", "1.0rc1", "1.0rc1.post2", "1.0rc1.post2+q", "1.0.dev1",
                 "1.0.dev1+x", "1.0.dev2", "1.0.post1", "1.0.post1+abc", "1.0.post1.dev2", "1.0.post1.dev2+y", "1.0.post2", "1.0.post2.dev0",
                 "1.0+abc", "1.0+abc.1", "1.0+5", "1.0.1", "1.0.1.dev1", "1.1", "1.1.dev0", "1.1a1", "1.10", "2.0", "2.0.dev1", "2", "1!0.5",
                 "1!1.0", "1!1.1", "1!2.0.dev0"]
    versions = sorted({str(version.Version(text)) for text in versions})
    lines = ["\t".join(versions)]
    for text in specifier_texts(rng):
        try:
            specifier = specifiers.Specifier(text)
        except specifiers.InvalidSpecifier:
            lines.append(f"{text}\t!")
            continue
        lines.append(f"{text}\t" + "".join(str(int(specifier.contains(item, prereleases=True))) for item in versions))
    return lines


def specifier_syntax_table(rng):
    """Sets of specifiers: accepted or not, and whether a pre-release is asked for."""
    base = specifier_texts(rng)
    texts = {"", " ", ",", ">=1.0,", ",>=1.0", ">=1.0,,<2", ">= 1.0 , < 2", ">=1.0 <2", "1.0", "=1.0", "=>1.0", "==1.*.0", "==*", "==1.0.*.*",
             "==1.0a1.*", "==1.0+a.*", ">=1.*", "~=1", "~=1.0.*", "~=1.0+a", "<1.0+a", ">=1.0+a", "===foo", "=== foo;", "===a b", "==v1.0",
             "==V1.0.*", "!=1.0.dev1", "~= 1.0.", ">=1.0 ", "==1.0.0-1", "==1.0 .*", "==1.0. *", "== 1.0.*", "==01.0", "=== 1.0"}
    for _ in range(800):
        texts.add(mutated(rng, rng.choice(base), "0123.*+!<>=~, avdev"))
    for _ in range(300):
        texts.add(",".join(rng.sample(base, rng.randint(2, 4))))
    lines = []
    for text in sorted(texts):
        if any(part.strip() == "===" for part in text.split(",")):
            continue  # an identity with nothing: the specification asks for a character, packaging for none
        try:
            found = specifiers.SpecifierSet(text)
            lines.append(f"{text}\t{int(bool(found.prereleases))}")
        except specifiers.InvalidSpecifier:
            lines.append(f"{text}\t!")
    return chosen(lines)


class Environment:
    def __init__(self, minor, machine, glibc=(0, 0), musl=(0, 0), free_threaded=False, pypy=False):
        self.minor, self.machine, self.glibc, self.musl = minor, machine, glibc, musl
        self.free_threaded, self.pypy = free_threaded, pypy

    def fields(self):
        implementation = "pypy" if self.pypy else "cpython"
        return [str(self.minor), implementation, str(int(self.free_threaded)), self.machine, *map(str, self.glibc), *map(str, self.musl)]

    def tags(self):
        _manylinux._get_glibc_version = lambda: _manylinux._GLibCVersion(*self.glibc) if self.glibc[0] else (-1, -1)
        _manylinux._get_manylinux_module = lambda: None
        allowed = _manylinux._ALLOWED_ARCHS | {"i686", "armv7l"}
        _manylinux._have_compatible_abi = lambda executable, archs: any(arch in allowed for arch in archs)
        _musllinux._get_musl_version = lambda executable: _musllinux._MuslVersion(*self.musl) if self.musl[0] else None
        sysconfig.get_platform = lambda: f"linux-{self.machine}"
        platforms = list(tags._linux_platforms(is_32bit=False))
        python = (3, self.minor)
        if self.pypy:
            digits = f"3{self.minor}"
            own = tags.generic_tags(f"pp{digits}", [f"pypy{digits}_pp73"], platforms)
            interpreter = "pp3"
        else:
            suffix = "t" if self.free_threaded else ("m" if self.minor < 8 else "")
            own = tags.cpython_tags(python, [f"cp3{self.minor}{suffix}"], platforms)
            interpreter = f"cp3{self.minor}"
        return [str(tag) for tag in itertools.chain(own, tags.compatible_tags(python, interpreter, platforms))]


def environments():
    for minor in range(6, 15):
        for machine in ["x86_64", "aarch64"]:
            for glibc in [(2, 17), (2, 28), (2, 35), (2, 41)]:
                yield Environment(minor, machine, glibc=glibc)
            yield Environment(minor, machine, musl=(1, 2))
    for machine in ["i686", "armv7l", "armv8l", "ppc64le", "s390x", "riscv64", "loongarch64", "ppc64", "mips64"]:
        yield Environment(12, machine, glibc=(2, 39))
    for machine in ["x86_64", "aarch64"]:
        yield Environment(13, machine, glibc=(2, 41), free_threaded=True)
        yield Environment(14, machine, musl=(1, 5), free_threaded=True)
        yield Environment(11, machine, glibc=(2, 36), pypy=True)
    yield Environment(12, "x86_64")
    yield Environment(12, "x86_64", glibc=(2, 4))
    yield Environment(12, "aarch64", glibc=(2, 16))
    yield Environment(12, "x86_64", glibc=(3, 1))


def tags_table(rng):
    """Environment (minor, implementation, free-threaded, machine, glibc, musl), number of tags, sha256 of their lines."""
    lines = []
    for environment in environments():
        text = "".join(tag + "\n" for tag in environment.tags())
        lines.append("\t".join(environment.fields() + [str(text.count("\n")), hashlib.sha256(text.encode()).hexdigest()]))
    return lines


def tag_list(environment):
    return lambda rng: ["\t".join(environment.fields())] + environment.tags()


MARKER_ENVIRONMENTS = [
    dict(python_version="3.11", python_full_version="3.11.7", os_name="posix", sys_platform="linux", platform_machine="x86_64",
         platform_system="Linux", platform_release="5.14.0-427.el9.x86_64", platform_version="#1 SMP", implementation_name="cpython",
         platform_python_implementation="CPython", implementation_version="3.11.7", extra=""),
    dict(python_version="3.12", python_full_version="3.12.0rc1", os_name="posix", sys_platform="linux", platform_machine="aarch64",
         platform_system="Linux", platform_release="6.1.0", platform_version="10.0.19045", implementation_name="cpython",
         platform_python_implementation="CPython", implementation_version="3.12.0rc1", extra="test"),
    dict(python_version="3.9", python_full_version="3.9.19", os_name="nt", sys_platform="win32", platform_machine="AMD64",
         platform_system="Windows", platform_release="10", platform_version="10.0.19045", implementation_name="cpython",
         platform_python_implementation="CPython", implementation_version="3.9.19", extra="Dev_Tools"),
    dict(python_version="3.10", python_full_version="3.10.14", os_name="posix", sys_platform="darwin", platform_machine="arm64",
         platform_system="Darwin", platform_release="23.4.0", platform_version="Darwin Kernel", implementation_name="pypy",
         platform_python_implementation="PyPy", implementation_version="7.3.16", extra="gpu"),
    dict(python_version="2.7", python_full_version="2.7.18", os_name="posix", sys_platform="linux2", platform_machine="i686",
         platform_system="Linux", platform_release="3.10.0", platform_version="", implementation_name="cpython",
         platform_python_implementation="CPython", implementation_version="2.7.18", extra=""),
    dict(python_version="3.14", python_full_version="3.14.0+", os_name="posix", sys_platform="linux", platform_machine="riscv64",
         platform_system="Linux", platform_release="6.12", platform_version="x", implementation_name="cpython",
         platform_python_implementation="CPython", implementation_version="3.14.0", extra="all"),
]


def random_comparison(rng):
    versions = ["3.8", "3.11", "3.12", "3.11.7", "2.7", "3.9.*", "3", "4.0", "3.12.0rc1", "7.3", "linux", "3.11, 3.12", "", "5.14", "10", "6.1"]
    words = ["linux", "win32", "Linux", "posix", "nt", "x86_64", "aarch64", "CPython", "cpython", "PyPy", "test", "Dev-Tools", "dev.tools", "gpu",
             "x86_64 aarch64", "lin", "", "arm64"]
    if rng.random() < 0.5:
        name, value = rng.choice(["python_version", "python_full_version", "implementation_version", "platform_release"]), rng.choice(versions)
        operator = rng.choice(["<", "<=", "==", "!=", ">=", ">", "in", "not in", "~=", "==="])
    else:
        name = rng.choice(["os_name", "sys_platform", "platform_machine", "platform_system", "implementation_name", "extra", "os.name",
                           "platform_python_implementation", "python_implementation", "sys.platform", "platform_version"])
        value, operator = rng.choice(words), rng.choice(["==", "!=", "in", "not in", "<", ">=", ">", "<="])
    quote = rng.choice("'\"")
    sides = [name, f"{quote}{value}{quote}"]
    if rng.random() < 0.3:
        sides.reverse()
    space = rng.choice([" ", " ", "  "]) if operator.strip("<>=!~") else rng.choice(["", " "])
    return f"{sides[0]}{space}{operator}{space}{sides[1]}"


def random_marker(rng, depth=0):
    if depth > 2 or rng.random() < 0.45:
        return random_comparison(rng)
    inner = f" {rng.choice(['and', 'or'])} ".join(random_marker(rng, depth + 1) for _ in range(rng.randint(2, 3)))
    return f"({inner})" if rng.random() < 0.5 else inner


def marker_verdict(text):
    try:
        marker = markers.Marker(text)
    except (markers.InvalidMarker, ValueError):
        return "!"
    try:
        return "".join(str(int(marker.evaluate(dict(env)))) for env in MARKER_ENVIRONMENTS)
    except (markers.UndefinedComparison, markers.UndefinedEnvironmentName):
        return None


def marker_table(rng):
    """First lines: environments, `name=value` fields. Then: marker, and one 0 or 1 for each of them."""
    lines = ["\t".join(f"{name}={value}" for name, value in env.items()) for env in MARKER_ENVIRONMENTS]
    texts = {"", "python_version", "python_version >=", "'a' == 'a'", "os_name == sys_platform", "python_version == 3.8", "(os_name == 'nt'",
             "os_name == 'nt')", "os_name == 'nt' and", "os_name == 'nt' os_name == 'nt'", "os_name = 'nt'", "os_name not 'nt'",
             "os_name notin 'nt'", "os_namein'nt'", "os_name in'nt'", "'nt'in os_name", "os_name=='nt'or os_name=='posix'", "foo == 'x'",
             "os_name == 'nt\"", "((os_name=='posix'))", "( os_name == 'posix' )", "os_name == 'posix' AND os_name == 'posix'", "()",
             "python_version=='3.11'and(os_name=='posix')", "os.name == 'posix'", "sys.platform=='linux'", "platform.machine == 'x86_64'"}
    for _ in range(900):
        texts.add(random_marker(rng))
    for _ in range(500):
        texts.add(mutated(rng, random_comparison(rng), "()'\"<>=!~ andorint"))
    cases = [f"{text}\t{verdict}" for text in sorted(texts) if (verdict := marker_verdict(text)) is not None]
    return lines + chosen(cases)


def requirement_table(rng):
    """Requirement, name, extras, specifiers, URL, and the marker's verdicts in the environments of markers.txt."""
    seeds = ["foo", "Foo.Bar_baz", "foo[a]", "foo[a,b-c]>=1.0", "foo [a , b] >= 1.0 , < 2", "foo (>=1.0,<2)", "foo(==1.*)", "foo>=1.0;os_name=='posix'",
             "foo>=1.0 ; python_version < '3.12' and extra == 'test'", "foo @ https://example.org/foo-1.0.zip",
             "foo@https://example.org/a;b ; os_name == 'nt'", "foo[x]@ file:///tmp/foo.whl", "foo~=2.4", "foo!=1.0,==1.*", "foo===1.0-weird",
             "foo ()", "foo[]", "foo>=1.0,", "a", "foo-bar==1.0+local.1", "foo; extra == 'x'"]
    bad = ["", " ", "-foo", "foo-", "foo.", "foo bar", "foo 1.0", "foo=1.0", "foo[a", "foo[a b]", "foo[,a]", "foo[a,]", "foo(>=1.0", "foo>=1.0)", "foo>=1.0,,<2",
           "foo,>=1.0", "foo @", "foo @ ;", "foo;", "foo ; ", "foo; os_name", "foo>=1.0 os_name=='nt'", "foo>=1.0.*", "foo>1.0+a", "foo @ https://a b",
           "foo @ https://a; os_name=='nt'", "foo[-a]", "föö", "foo>=1.0;;os_name=='nt'", "foo(>=1.0)[a]", "foo((>=1.0))"]
    texts = set(seeds) | set(bad)
    for _ in range(1500):
        texts.add(mutated(rng, rng.choice(seeds), "[](),;@<>=!~. -_az01'\""))
    lines = []
    for text in sorted(texts):
        if "\\" in text or any(part.strip() == "===" for part in text.replace(";", ",").replace(")", ",").split(",")):
            continue
        try:
            found = requirements.Requirement(text)
        except requirements.InvalidRequirement:
            lines.append(f"{text}\t!")
            continue
        # packaging takes a trailing `_` for part of a name; the specification's names end in a letter or digit.
        if found.name.endswith("_") or any(extra.endswith("_") for extra in found.extras):
            continue
        if any(spec.version == "" for spec in found.specifier):
            continue
        verdict = "-" if found.marker is None else marker_verdict(str(found.marker))
        if verdict in (None, "!"):
            continue
        specs = ",".join(sorted({str(spec) for spec in found.specifier}))
        lines.append("\t".join([text, found.name, ",".join(sorted(found.extras)), specs, found.url or "", verdict]))
    return chosen(lines)


def filename_table(rng):
    seeds = ["torch-2.4.0+cu126-cp312-cp312-linux_aarch64.whl", "foo_bar-1.0-1-py3-none-any.whl", "Foo.Bar-1.0-2abc-py2.py3-none-any.whl",
             "numpy-2.1.0-cp313-cp313t-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "a-1!2.0rc1.post2.dev3-cp39.cp310-abi3-win_amd64.whl",
             "foo-1.0-py3-none-any.whl"]
    texts = set(seeds) | {"foo-1.0-py3-none.whl", "foo-1.0-py3-none-any.zip", "foo-1.0-py3-none-any", "-1.0-py3-none-any.whl", "foo--py3-none-any.whl",
                          "foo-1.0--none-any.whl", "foo-1.0-py3-none-.whl", "foo-1.0-py3..py2-none-any.whl", "foo-1.0-a-py3-none-any-x.whl", ".whl"}
    for _ in range(1200):
        texts.add(mutated(rng, rng.choice(seeds), "abcPY0123.-_+!"))
    lines = []
    for text in sorted(texts):
        stem = text.removesuffix(".whl")
        parts = stem.split("-")
        # Left out: what the specification and packaging judge differently, and what we read and packaging does not (labels, and
        # versions and names in old spellings).
        if len(parts) > 5 and not parts[2][:1].isdigit() or len(parts) > 6 or "__" in parts[0] or parts[0][:1] in "_." or parts[0][-1:] in "_.":
            continue
        if len(parts) > 1 and "_" in parts[1] or any(c in "+!" for part in parts[2:] for c in part):
            continue
        try:
            name, found, build, tag_set = utils.parse_wheel_filename(text)
        except utils.InvalidWheelFilename:
            lines.append(f"{text}\t!")
            continue
        build_text = f"{build[0]}{build[1]}" if build else ""
        lines.append("\t".join([text, name, str(found), build_text, " ".join(sorted(map(str, tag_set)))]))
    return chosen(lines)


TABLES = {
    "version_order.txt": order_table,
    "version_normal.txt": normal_table,
    "specifiers.txt": specifier_table,
    "specifier_syntax.txt": specifier_syntax_table,
    "tags.txt": tags_table,
    "tags_cp311_aarch64_musl_1_2.txt": tag_list(Environment(11, "aarch64", musl=(1, 2))),
    "markers.txt": marker_table,
    "requirements.txt": requirement_table,
    "filenames.txt": filename_table,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = []
    for name, table in TABLES.items():
        lines = table(random.Random(SEED))
        text = "".join(line + "\n" for line in [f"# packaging {packaging.__version__}, {name}: see oracle.py"] + lines)
        path = GOLDEN / name
        if check:
            if path.read_text(encoding="utf-8") != text:
                stale.append(name)
        else:
            path.write_text(text, encoding="utf-8")
            print(f"{name}: {len(lines)} lines")
    for name in stale:
        print(f"{name} differs; run tests/wheel/oracle.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
