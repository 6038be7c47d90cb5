#include "indexer/avail_wheels/query/fit.hpp"

#include <doctest/doctest.h>

#include "indexer/avail_wheels/query/needs.hpp"
#include "tests/indexer/avail_wheels/query/judged.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

TEST_CASE(
    "a C function that this PyPy lacks is a reason against a wheel, and one that nobody asked is unknown") {
    Node node = h100();
    node.pythons = {*parse_python("pypy3.11.11")};
    node.pythons[0].pypy_abi = "pp73";
    const auto with = [](const std::string& functions) {
        return wheel_of("a-1-pp311-pypy311_pp73-manylinux_2_17_x86_64.whl",
                        R"({"machines":["x86_64"],"requires_dist":[],)" + functions + "}");
    };
    const auto wheel = with(R"("pypy_names":{"a._b":["PyPyList_New","PyPyModule_FromDefAndSpec2"]})");
    CHECK(judge(wheel, node, {}).why == "a._b uses PyPyList_New, and whether this PyPy has it is unknown");
    node.found_functions = {{"PyPyList_New", true}, {"PyPyModule_FromDefAndSpec2", false}};
    CHECK(found(wheel, node) == "no python");
    const std::string why = "a._b uses PyPyModule_FromDefAndSpec2, which this PyPy does not have";
    CHECK(judge(wheel, node, {}).why == why);
    const auto part = with(R"("pypy_later":{"a._b":["PyPyModule_FromDefAndSpec2"]})");
    CHECK(found(part, node) == "yes part");
    CHECK(judge(part, node, {}).why == "but " + why);
    node.found_functions["PyPyModule_FromDefAndSpec2"] = true;
    CHECK(found(wheel, node) == "yes");
    CHECK(found(part, node) == "yes");
    CHECK(functions_to_ask(needs_of(part)) == std::vector<std::string>{"PyPyModule_FromDefAndSpec2"});
}

TEST_CASE(
    "a standard module that the node's Python lacks is no proof, and nothing where a project brings it") {
    const auto answer = [&](const std::string& name, const std::string& python,
                            const std::string& required = {},
                            const std::map<std::string, bool, std::less<>>& asked = {}) {
        Node node = debian12();
        node.pythons = {*parse_python(python)};
        node.found_modules = asked;
        const Fit fit =
            judge(wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":[)" + required +
                                                       R"(],"gone_names":{")" + name + R"(":"a.b"}})"),
                  node, {});
        CHECK(fit.advice.empty());
        return std::string(runs_text(fit.runs)) + (fit.why.empty() ? "" : " " + fit.why);
    };
    const std::string open = "; it may do without";  // the import may be guarded in a way that was not seen
    CHECK(answer("cgi", "3.12") == "yes");
    CHECK(answer("cgi", "3.13") == "unknown a.b imports cgi, which Python 3.13 has no more" + open);
    CHECK(answer("cgi", "3.13", R"("legacy-cgi; python_version >= '3.13'")") == "yes");
    CHECK(answer("cgi", "3.13", "", {{"cgi", true}}) == "yes");
    CHECK(answer("collections.Mapping", "3.9") == "yes");
    CHECK(answer("collections.Mapping", "3.10").starts_with("unknown"));
    CHECK(answer("types.UnionType", "3.9") ==
          "unknown a.b needs types.UnionType for X | None, which Python 3.9 does not have yet" + open);
    CHECK(answer("types.UnionType", "3.10") == "yes");
    CHECK(answer("typing.override", "3.11") ==
          "unknown a.b needs typing.override, which Python 3.11 does not have yet" + open);
    CHECK(answer("typing.override", "3.12") == "yes");
    CHECK(answer("tomllib", "3.10") ==
          "unknown a.b needs tomllib, which Python 3.10 does not have yet" + open);
    CHECK(answer("tomllib", "3.11") == "yes");
    CHECK(answer("graphlib", "3.8", R"("graphlib-backport; python_version < '3.9'")") == "yes");
    CHECK(answer("distutils.version", "3.11") == "yes");
    // Debian has most of distutils in a package of its own.
    CHECK(answer("distutils.util", "3.11", "", {{"distutils.util", false}}) ==
          "unknown a.b imports distutils.util, which this Python does not have" + open);
    CHECK(answer("distutils.util", "3.12", R"("setuptools")") == "yes");
    CHECK(answer("audioop", "3.12", "", {{"audioop", false}}) == "yes");  // built in, or an extension module
    CHECK(answer("pkg_resources", "3.13").starts_with("unknown"));
    CHECK(answer("pkg_resources", "3.13", "", {{"pkg_resources", false}}).ends_with(open));
    CHECK(answer("pkg_resources", "3.13", R"("setuptools<82")") == "yes");
    CHECK(answer("pkg_resources", "3.13", R"("setuptools")").starts_with("unknown"));
    CHECK(answer("tkinter", "3.13", "", {{"tkinter", false}}).ends_with(open));
    CHECK(answer("not.in.the.table", "3.13") == "yes");  // of a newer program
    CHECK(answer("winreg", "3.13") == "unknown a.b imports winreg, which only Windows has" + open);
    CHECK(answer("ctypes.windll.user32", "3.13") ==
          "unknown a.b imports ctypes.windll, which only Windows has" + open);
    const std::string undeclared = "unknown a.b imports botocore, which nothing that it requires brings";
    CHECK(answer("botocore", "3.13", "", {{"botocore", false}}) == undeclared);
    CHECK(answer("botocore", "3.13") == undeclared);
    CHECK(answer("botocore", "3.13", "", {{"botocore", true}}) == "yes");
}
