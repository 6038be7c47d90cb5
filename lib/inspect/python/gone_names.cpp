// Sources: PEP 594 (3.13), PEP 604 (3.10), PEP 632 (distutils), the sections "Removed" of What's New in Python 3.9
// to 3.14; pkg_resources: setuptools 82; the pages of winreg, msvcrt, winsound and ctypes. xml.etree.cElementTree,
// which What's New in 3.9 lists, was not removed after all. Debian has tkinter, and most of distutils and lib2to3
// up to 3.11, in packages of their own.
#include "lib/inspect/python/gone_names.hpp"

#include <algorithm>
#include <iterator>

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

}  // namespace wheelyard::inspect
