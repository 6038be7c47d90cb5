// Sources of gone_names: PEP 594 (3.13), PEP 632 (distutils), the sections "Removed" of What's New in Python
// 3.9 to 3.14; pkg_resources: setuptools 82.
#include "lib/inspect/python/gone_names.hpp"

#include <map>
#include <unordered_set>

#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

struct Row {
    unsigned since;
    std::string_view brought_by, names;
};
constexpr Row rows[] = {{9, "", "_dummy_threading dummy_threading"},
                        {10, "", "formatter parser symbol"},
                        {11, "", "binhex"},
                        {12, "", "asynchat asyncore imp smtpd"},
                        {12, "setuptools", "distutils"},
                        {13, "",
                         "aifc audioop cgi cgitb chunk crypt imghdr lib2to3 mailcap nis nntplib ossaudiodev "
                         "pipes sndhdr spwd sunau telnetlib typing.io typing.re uu xdrlib"},
                        {0, "setuptools", "pkg_resources"}};

// The others, also those that one system alone or only newer Pythons have.
constexpr std::string_view names =
    "abc annotationlib antigravity argparse array ast asyncio atexit base64 bdb binascii bisect "
    "builtins bz2 cProfile calendar cmath cmd code codecs codeop collections colorsys compileall "
    "compression concurrent configparser contextlib contextvars copy copyreg csv ctypes curses "
    "dataclasses datetime dbm decimal difflib dis doctest email encodings ensurepip enum errno "
    "faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt "
    "getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib importlib "
    "inspect io ipaddress itertools json keyword linecache locale logging lzma mailbox marshal math "
    "mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nt ntpath nturl2path numbers "
    "opcode operator optparse os pathlib pdb pickle pickletools pkgutil platform plistlib poplib posix "
    "posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri "
    "random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex "
    "shutil signal site smtplib socket socketserver sqlite3 sre_compile sre_constants sre_parse ssl "
    "stat statistics string stringprep struct subprocess symtable sys sysconfig syslog tabnanny tarfile "
    "tempfile termios textwrap this threading time timeit tkinter token tokenize tomllib trace "
    "traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uuid venv "
    "warnings wave weakref webbrowser winreg winsound wsgiref xml xmlrpc zipapp zipfile zipimport zlib "
    "zoneinfo";

}  // namespace

const GoneName* gone_name(std::string_view dotted) {
    static const auto all = [] {
        std::map<std::string_view, GoneName> of_names;
        for (const auto& [since, brought_by, gone] : rows)
            for (const std::string_view name : base::split(gone, ' '))
                of_names.emplace(name, GoneName{name, since, brought_by});
        return of_names;
    }();
    for (std::size_t dot = dotted.find('.');; dot = dotted.find('.', dot + 1)) {
        const auto found = all.find(dotted.substr(0, dot));
        if (found != all.end()) return &found->second;
        if (dot == std::string_view::npos) return nullptr;
    }
}

bool is_standard_module(std::string_view top) {
    if (top.starts_with('_')) return true;  // of one implementation, or Python's own
    static const auto split = base::split(names, ' ');
    static const std::unordered_set<std::string_view> known(split.begin(), split.end());
    return known.contains(top);
}

}  // namespace wheelyard::inspect
