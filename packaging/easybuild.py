"""The easyconfig of the portable tarballs: `eb wheelyard-VERSION.eb` makes a module of them on any cluster.

https://docs.easybuild.io/writing-easyconfig-files/
"""

import hashlib

import contents
from fetch import HOMEPAGE

TEXT = '''easyblock = 'Tarball'

name = 'wheelyard'
version = '{version}'

homepage = '{homepage}'
description = """Build farm for Python wheels: the agent that builds wheels for this cluster, and avail_wheels, which shows
the wheels that run here. The programs are static and need only the kernel."""

toolchain = SYSTEM

sources = ['%(name)s-%(version)s-portable-linux-%(arch)s.tar.xz']
checksums = [{{
{checksums}
}}]

sanity_check_paths = {{
    'files': [{programs}],
    'dirs': ['share/wheelyard/site-configs', 'share/man/man1'],
}}
sanity_check_commands = [{commands}]

modextrapaths = {{'XDG_DATA_DIRS': 'share'}}  # completions

moduleclass = 'tools'
'''


def quoted(words):
    return ", ".join(f"'{word}'" for word in words)


def write(tarballs, programs, out):
    """The easyconfig for these tarballs, in `out`. Sources are found beside it (`eb --sourcepath`)."""
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in tarballs}
    path = out / f"wheelyard-{contents.VERSION}.eb"
    path.write_text(TEXT.format(
        version=contents.VERSION, homepage=HOMEPAGE, checksums="\n".join(f"    '{name}':\n        '{sums[name]}'," for name in sorted(sums)),
        programs=quoted(f"bin/{name}" for name in programs), commands=quoted(f"{name} --help" for name in programs)))
    return path
