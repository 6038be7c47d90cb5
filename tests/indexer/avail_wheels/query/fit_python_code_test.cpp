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

TEST_CASE("a module that the import needs and this Python lacks is a no where nothing else can bring it") {
    using Asked = std::map<std::string, bool, std::less<>>;
    const auto answer = [&](const std::string& name, const std::string& python, const Asked& asked,
                            const std::string& required = {}) {
        Node node = debian12();
        node.pythons = {*parse_python(python)};
        node.found_modules = asked;
        const Fit fit =
            judge(wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":[)" + required +
                                                       R"(],"sure_imports":{")" + name + R"(":"a.b"}})"),
                  node, {});
        return std::string(runs_text(fit.runs)) + (fit.why.empty() ? "" : " " + fit.why) +
               (fit.advice.empty() ? "" : ": " + fit.advice);
    };
    const Asked no_cgi{{"cgi", false}};
    const std::string gone = "a.b imports cgi, which Python 3.13 has no more";
    CHECK(answer("cgi", "3.13", no_cgi) == "no " + gone + ": choose a newer version, or another Python");
    CHECK(answer("cgi", "3.13", no_cgi, R"("pytest; extra == 'test'")").starts_with("no"));
    CHECK(answer("cgi", "3.12", no_cgi) == "yes");
    CHECK(answer("cgi", "3.13", {{"cgi", true}}) == "yes");
    CHECK(answer("typing.io", "3.13", {{"typing.io", false}}).starts_with("no"));
    CHECK(answer("typing.io", "3.12", {{"typing.io", false}}) == "yes");  // no file has it
    CHECK(answer("cgi", "3.13", no_cgi, R"("legacy-cgi; python_version >= '3.13'")") == "yes");
    CHECK(answer("cgi", "3.13", no_cgi, R"("legacy-cgi; python_version < '3.13'")").starts_with("unknown"));
    CHECK(answer("cgi", "3.13", no_cgi, R"("legacy-cgi; extra == 'web'")").starts_with("no"));
    // It is not known what else is there, or comes.
    CHECK(answer("cgi", "3.13", {}) == "unknown " + gone + "; another project may bring it");
    CHECK(answer("cgi", "3.13", no_cgi, R"("webob")").starts_with("unknown"));
    const Asked no_distutils{{"distutils.version", false}, {"_distutils_hack", false}};
    CHECK(answer("distutils.version", "3.13", no_distutils).ends_with(": install setuptools, too"));
    CHECK(answer("distutils.version", "3.13", {{"distutils.version", false}, {"_distutils_hack", true}}) ==
          "yes");
    CHECK(answer("distutils.version", "3.13", no_distutils, R"("setuptools")") == "yes");
    CHECK(answer("distutils.version", "3.11", {}) == "yes");
    // Debian has most of distutils in a package of its own.
    CHECK(answer("distutils.version", "3.11", no_distutils) ==
          "unknown a.b imports distutils.version, which this Python does not have");
    CHECK(answer("audioop", "3.12", {{"audioop", false}}) == "yes");  // built in, or an extension module
    CHECK(answer("pkg_resources", "3.13", {{"pkg_resources", false}}).starts_with("unknown"));
    CHECK(answer("pkg_resources", "3.13", {}, R"("setuptools<82")") == "yes");
    CHECK(answer("pkg_resources", "3.13", {}, R"("setuptools")").starts_with("unknown"));
    const std::string undeclared = "unknown a.b imports botocore, which nothing that it requires brings";
    CHECK(answer("botocore", "3.13", {{"botocore", false}}) == undeclared);
    CHECK(answer("botocore", "3.13", {}) == undeclared);
    CHECK(answer("botocore", "3.13", {{"botocore", true}}) == "yes");
}

TEST_CASE("setuptools has pkg_resources where the source has no version of it without") {
    Node node = debian12();
    node.found_modules = {{"pkg_resources", false}};
    const auto answer = [&](const std::string& setuptools, const std::string& required) {
        const std::vector<Candidate> there{wheel_of("setuptools-" + setuptools + "-py3-none-any.whl")};
        const auto wheel =
            wheel_of("a-1-py3-none-any.whl",
                     R"({"requires_dist":[")" + required + R"("],"sure_imports":{"pkg_resources":"a"}})");
        return std::string(
            runs_text(judge(wheel, node, {}, {.owned = [&](const std::string&) { return &there; }}).runs));
    };
    CHECK(answer("66.1.1", "setuptools") == "yes");
    CHECK(answer("82.0.1", "setuptools") == "unknown");
    CHECK(answer("66.1.1", "setuptools<82") == "yes");
}

TEST_CASE("what older facts say of names that an import may need decides nothing") {
    Node node = debian12();
    node.pythons = {*parse_python("3.13")};
    CHECK(found(wheel_of("a-1-py3-none-any.whl",
                         R"({"requires_dist":[],"gone_names":{"cgi":"a","types.UnionType":"a"},)"
                         R"("opens":[{"any":["libmagic.so.1"],"by":"a"}]})"),
                node) == "yes");
}

TEST_CASE("of every Python that is asked about, the node's own gets the same answer") {
    Node node = debian12();
    node.pythons = {*parse_python("3.13")};
    node.found_modules = {{"cgi", false}};
    const auto wheel = wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":[],"sure_imports":{"cgi":"a"}})");
    const auto other =
        wheel_of("a-1-cp312-none-any.whl", R"({"requires_dist":[],"sure_imports":{"cgi":"a"}})");
    CHECK(found(wheel, node) == "no python_module");
    CHECK(found(other, node) == "no python");
    node.any_python = true;
    CHECK(found(wheel, node) == "no python_module");
    CHECK(found(other, node) == "unknown python");
}
