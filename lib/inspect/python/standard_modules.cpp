// sys.stdlib_module_names of CPython 3.10 to 3.14, without those that begin with `_`.
#include "lib/inspect/python/standard_modules.hpp"

#include <unordered_set>

#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
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
