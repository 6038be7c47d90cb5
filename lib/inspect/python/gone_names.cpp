// Sources of gone_names: PEP 594 (3.13), PEP 604 (3.10), PEP 632 (distutils), the sections "Removed" of
// What's New in Python 3.9 to 3.14, and of new ones what libraries use most; pkg_resources: setuptools 82;
// the pages of winreg, msvcrt, winsound and ctypes. xml.etree.cElementTree, which What's New in 3.9 lists,
// was not removed after all. Debian has tkinter, and most of distutils and lib2to3 up to 3.11, in packages of
// their own.
#include "lib/inspect/python/gone_names.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

constexpr GoneName rows[] = {
    // Modules.
    {"dummy_threading", 9},
    {"_dummy_threading", 9},
    {"formatter", 10},
    {"parser", 10},
    {"symbol", 10},
    {"binhex", 11},
    {"asynchat", 12},
    {"asyncore", 12},
    {"distutils", 12, true, "setuptools"},
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
    {"pkg_resources", 0, true, "setuptools"},
    {"tkinter", 0, true, "tk"},
    {"_tkinter", 0, true, "tk"},
    {"msvcrt", only_windows},
    {"nt", only_windows},
    {"winreg", only_windows},
    {"winsound", only_windows},
    {"_winapi", only_windows},
    // Modules that came.
    {"tomllib", 0, true, {}, 11},
    {"zoneinfo", 0, true, {}, 9},
    {"graphlib", 0, true, {}, 9},
    {"annotationlib", 0, true, {}, 14},
    {"compression", 0, true, {}, 14},
    {"concurrent.interpreters", 0, true, {}, 14},
    {"string.templatelib", 0, true, {}, 14},
    {"importlib.resources.abc", 0, true, {}, 11},
    {"wsgiref.types", 0, true, {}, 11},
    // Names of modules that are still there.
    {"ctypes.OleDLL", only_windows, false},
    {"ctypes.WINFUNCTYPE", only_windows, false},
    {"ctypes.WinDLL", only_windows, false},
    {"ctypes.WinError", only_windows, false},
    {"ctypes.oledll", only_windows, false},
    {"ctypes.windll", only_windows, false},
    {union_type, 0, false, {}, 10},
    {"fractions.gcd", 9, false},
    {"collections.Awaitable", 10, false},
    {"collections.Callable", 10, false},
    {"collections.Container", 10, false},
    {"collections.Generator", 10, false},
    {"collections.Hashable", 10, false},
    {"collections.ItemsView", 10, false},
    {"collections.Iterable", 10, false},
    {"collections.Iterator", 10, false},
    {"collections.KeysView", 10, false},
    {"collections.Mapping", 10, false},
    {"collections.MappingView", 10, false},
    {"collections.MutableMapping", 10, false},
    {"collections.MutableSequence", 10, false},
    {"collections.MutableSet", 10, false},
    {"collections.Sequence", 10, false},
    {"collections.Set", 10, false},
    {"collections.Sized", 10, false},
    {"collections.ValuesView", 10, false},
    {"asyncio.coroutine", 11, false},
    {"inspect.formatargspec", 11, false},
    {"inspect.getargspec", 11, false},
    {"configparser.SafeConfigParser", 12, false},
    {"importlib.find_loader", 12, false},
    {"pkgutil.ImpImporter", 12, false},
    {"pkgutil.ImpLoader", 12, false},
    {"ssl.match_hostname", 12, false},
    {"ssl.wrap_socket", 12, false},
    {"locale.resetlocale", 13, false},
    {"typing.io", 13, false},
    {"typing.re", 13, false},
    {"unittest.findTestCases", 13, false},
    {"unittest.makeSuite", 13, false},
    {"ast.Bytes", 14, false},
    {"ast.Ellipsis", 14, false},
    {"ast.NameConstant", 14, false},
    {"ast.Num", 14, false},
    {"ast.Str", 14, false},
    {"importlib.abc.ResourceReader", 14, false},
    {"importlib.abc.Traversable", 14, false},
    {"importlib.abc.TraversableResources", 14, false},
    {"pkgutil.find_loader", 14, false},
    {"pkgutil.get_loader", 14, false},
    // Names that came.
    {"asyncio.Runner", 0, false, {}, 11},
    {"asyncio.TaskGroup", 0, false, {}, 11},
    {"asyncio.timeout", 0, false, {}, 11},
    {"asyncio.to_thread", 0, false, {}, 9},
    {"collections.abc.Buffer", 0, false, {}, 12},
    {"contextlib.aclosing", 0, false, {}, 10},
    {"contextlib.chdir", 0, false, {}, 11},
    {"copy.replace", 0, false, {}, 13},
    {"datetime.UTC", 0, false, {}, 11},
    {"enum.EnumCheck", 0, false, {}, 11},
    {"enum.ReprEnum", 0, false, {}, 11},
    {"enum.StrEnum", 0, false, {}, 11},
    {"enum.verify", 0, false, {}, 11},
    {"functools.cache", 0, false, {}, 9},
    {"hashlib.file_digest", 0, false, {}, 11},
    {"importlib.resources.as_file", 0, false, {}, 9},
    {"importlib.resources.files", 0, false, {}, 9},
    {"inspect.get_annotations", 0, false, {}, 10},
    {"itertools.batched", 0, false, {}, 12},
    {"itertools.pairwise", 0, false, {}, 10},
    {"math.lcm", 0, false, {}, 9},
    {"types.EllipsisType", 0, false, {}, 10},
    {"types.NoneType", 0, false, {}, 10},
    {"types.get_original_bases", 0, false, {}, 12},
    {"typing.Annotated", 0, false, {}, 9},
    {"typing.Concatenate", 0, false, {}, 10},
    {"typing.LiteralString", 0, false, {}, 11},
    {"typing.Never", 0, false, {}, 11},
    {"typing.NoDefault", 0, false, {}, 13},
    {"typing.NotRequired", 0, false, {}, 11},
    {"typing.ParamSpec", 0, false, {}, 10},
    {"typing.ParamSpecArgs", 0, false, {}, 10},
    {"typing.ReadOnly", 0, false, {}, 13},
    {"typing.Required", 0, false, {}, 11},
    {"typing.Self", 0, false, {}, 11},
    {"typing.TypeAlias", 0, false, {}, 10},
    {"typing.TypeAliasType", 0, false, {}, 12},
    {"typing.TypeGuard", 0, false, {}, 10},
    {"typing.TypeIs", 0, false, {}, 13},
    {"typing.TypeVarTuple", 0, false, {}, 11},
    {"typing.Unpack", 0, false, {}, 11},
    {"typing.assert_never", 0, false, {}, 11},
    {"typing.assert_type", 0, false, {}, 11},
    {"typing.clear_overloads", 0, false, {}, 11},
    {"typing.dataclass_transform", 0, false, {}, 11},
    {"typing.get_overloads", 0, false, {}, 11},
    {"typing.get_protocol_members", 0, false, {}, 13},
    {"typing.is_typeddict", 0, false, {}, 10},
    {"typing.override", 0, false, {}, 12},
    {"typing.reveal_type", 0, false, {}, 11},
    {"warnings.deprecated", 0, false, {}, 13},
};

}  // namespace

std::span<const GoneName> gone_names() {
    return rows;
}

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
