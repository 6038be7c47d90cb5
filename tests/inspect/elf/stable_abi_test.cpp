// Names of CPython's C API and the versions that have them.
#include "lib/inspect/elf/private_symbols.hpp"

#include <doctest/doctest.h>

#include "lib/inspect/elf/elf.hpp"

using namespace wheelyard;

TEST_CASE("a name joined the Stable ABI in one version and is exported since that or an earlier one") {
    struct Row {
        std::string_view name;
        unsigned stable, exported;  // 0: never
    };
    for (const Row& row : {
             Row{"PyList_New", 2, 2},
             Row{"PyModule_Create2", 2, 2},
             Row{"PyExc_ValueError", 2, 2},
             Row{"PyType_GetName", 11, 11},
             Row{"PyObject_GetBuffer", 11, 6},  // 3.6 or earlier
             Row{"PyObject_Vectorcall", 12, 11},
             Row{"PyType_GetTypeDataSize", 12, 12},
             Row{"PyErr_GetRaisedException", 12, 12},
             Row{"PyObject_CallNoArgs", 10, 9},
             Row{"PyMem_RawMalloc", 13, 6},
             Row{"_Py_Dealloc", 2, 2},
             Row{"PyDict_GetItemRef", 13, 13},
             Row{"_PyDict_NewPresized", 0, 0},
             Row{"PyUnicode_New", 0, 0},
             Row{"PyErr_SetFromWindowsErr", 0, 0},
             Row{"", 0, 0},
         }) {
        CAPTURE(row.name);
        CHECK(inspect::stable_abi_since(row.name).value_or(0) == row.stable);
        CHECK(inspect::exported_since(row.name).value_or(0) == row.exported);
    }
}

TEST_CASE("C API names are recognised by CPython's naming scheme") {
    for (const std::string_view name :
         {"PyList_New", "_PyObject_New", "Py_Exit", "_Py_NoneStruct", "PyOS_snprintf"})
        CHECK(inspect::is_python_api(name));
    for (const std::string_view name :
         {"Py", "_Py", "Python", "pyList_New", "PyrList", "malloc", "_ZN2PyE", ""})
        CHECK_FALSE(inspect::is_python_api(name));
}

TEST_CASE("the imports of a module require the newest Python among them; weak imports are ignored") {
    inspect::SymbolFacts facts;
    for (const std::string_view name : {"PyList_New", "PyObject_GetBuffer", "PyType_GetName", "malloc"})
        facts.take({name, true, false});
    facts.take({"PyErr_GetRaisedException", true, true});
    facts.take({"PyInit_six", false, false});
    CHECK(facts.python.count == 3);
    CHECK(facts.python.stable_since == 11);
    CHECK(facts.python.exported_since == 11);
    CHECK(facts.python.newest_exported == "PyType_GetName");
    CHECK(facts.python.outside.empty());
    CHECK(facts.python.exported == std::vector<std::string>{"PyInit_six"});
    for (int i = 0; i < 1000; ++i) {
        facts.take({"_PyPrivate_Thing", true, false});
        facts.take({"PyOther_Thing", false, false});
    }
    CHECK(facts.python.outside.size() == inspect::max_python_names);
    CHECK(facts.python.exported.size() == inspect::max_python_names);
}
