// Sources of gone_names: PEP 594 (3.13), PEP 632 (distutils), the sections "Removed" of What's New in Python
// 3.9 to 3.14; pkg_resources: setuptools 82.
#include "lib/inspect/python/gone_names.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

constexpr GoneName rows[] = {
    {"dummy_threading", 9},
    {"_dummy_threading", 9},
    {"formatter", 10},
    {"parser", 10},
    {"symbol", 10},
    {"binhex", 11},
    {"asynchat", 12},
    {"asyncore", 12},
    {"distutils", 12, "setuptools"},
    {"imp", 12},
    {"smtpd", 12},
    {"aifc", 13},
    {"audioop", 13},
    {"cgi", 13},
    {"cgitb", 13},
    {"chunk", 13},
    {"crypt", 13},
    {"imghdr", 13},
    {"lib2to3", 13},
    {"mailcap", 13},
    {"nis", 13},
    {"nntplib", 13},
    {"ossaudiodev", 13},
    {"pipes", 13},
    {"sndhdr", 13},
    {"spwd", 13},
    {"sunau", 13},
    {"telnetlib", 13},
    {"uu", 13},
    {"xdrlib", 13},
    {"typing.io", 13},
    {"typing.re", 13},
    {"pkg_resources", 0, "setuptools"},
};

}  // namespace

const GoneName* gone_name(std::string_view dotted) {
    const auto* const row = std::find_if(std::begin(rows), std::end(rows), [&](const GoneName& one) {
        return dotted.starts_with(one.name.front()) && dotted.starts_with(one.name) &&
               (dotted.size() == one.name.size() || dotted[one.name.size()] == '.');
    });
    return row == std::end(rows) ? nullptr : row;
}

namespace {

constexpr std::string_view names =
    "abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop "
    "base64 bdb binascii binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code "
    "codecs codeop collections colorsys compileall compression concurrent configparser contextlib "
    "contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis "
    "distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch "
    "fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib "
    "heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json "
    "keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap "
    "modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode "
    "operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib "
    "poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat "
    "queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors "
    "shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile "
    "sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau symtable sys "
    "sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit "
    "tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing "
    "unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref "
    "xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo";

}  // namespace

bool is_standard_module(std::string_view top) {
    if (top.starts_with('_')) return true;  // of one implementation, or Python's own
    static const auto split = base::split(names, ' ');
    static const std::unordered_set<std::string_view> known(split.begin(), split.end());
    return known.contains(top);
}

}  // namespace wheelyard::inspect
