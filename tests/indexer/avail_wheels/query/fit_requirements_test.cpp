#include "indexer/avail_wheels/query/fit.hpp"

#include <doctest/doctest.h>

#include "lib/base/text/text.hpp"
#include "tests/indexer/avail_wheels/query/judged.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

TEST_CASE(
    "what a variant requires is judged by its label and by the properties that the node has (PEP 825)") {
    const auto answer = [](const std::string& marker, const std::string& filename) {
        Node node = h100();
        node.torch = InstalledTorch{.version = "2.8.0", .folder = "/env"};
        return found(
            wheel_of(
                filename,
                R"({"requires_dist":["torch<2 ; )" + marker +
                    R"("],"variant":{"variants":{"gpu":{"nvidia":{"sm_arch":["90_real","120_real"]}}}}})"),
            node);
    };
    const std::string plain = "a-1-py3-none-any.whl", labelled = "a-1-py3-none-any-gpu.whl";
    CHECK(answer("variant_label == 'gpu'", labelled) == "no torch");
    CHECK(answer("'nvidia' in variant_namespaces", labelled) == "no torch");
    CHECK(answer("'nvidia :: sm_arch :: 90_real' in variant_properties", labelled) == "no torch");
    // As uv: a value that the node lacks is no reason to install something.
    CHECK(answer("'nvidia :: sm_arch :: 120_real' in variant_properties", labelled) == "unknown variant");
    CHECK(answer("'amd' in variant_namespaces", labelled) == "unknown variant");
    CHECK(answer("variant_label == ''", labelled) == "unknown variant");
    CHECK(answer("variant_label == 'gpu' or 'nvidia' in variant_namespaces", plain) == "yes");
    CHECK(answer("variant_label == ''", plain) == "no torch");
}

// The values of nvidia-variant-provider: for a driver of CUDA 12.4 the lower bounds 12.4, …, 12.0, 12, 11.20, …, 11, and the
// upper ones, which are excluded, 15.20, …, 13.0, 13, 12.20, …, 12.5.

TEST_CASE("what the source owns must satisfy Requires-Dist") {
    Node node = debian12();
    const std::vector<Candidate> torch{wheel_of("torch-2.6.0-cp311-cp311-linux_x86_64.whl"),
                                       wheel_of("torch-2.5.1-cp312-cp312-linux_x86_64.whl")};
    const OwnedWheels owned = [&](const std::string& project) {
        return project == "torch" ? &torch : nullptr;
    };
    const auto answer = [&](const std::string& required, const std::vector<std::string>& extras = {}) {
        return judge(
            wheel_of("torch_scatter-2.1.2-py3-none-any.whl", R"({"requires_dist":[")" + required + R"("]})"),
            node, {}, {.owned = owned, .extras = extras});
    };
    CHECK(answer("torch==2.6.*").runs == Runs::yes);
    CHECK(answer("torch==2.8.0").why == "requires torch==2.8.0, and here are torch 2.6.0, 2.5.1");
    CHECK(answer("torch==2.8.0").code == "requires_dist");
    CHECK(answer("torch==2.5.1").why == "requires torch==2.5.1, and here are torch 2.5.1 for cp312 alone");
    const std::vector<Candidate> tornado{wheel_of("tornado-6.6.1-cp39-abi3-win_amd64.whl"),
                                         wheel_of("tornado-6.6.1-cp39-abi3-manylinux2014_aarch64.whl")};
    const OwnedWheels owns_tornado = [&](const std::string& project) {
        return project == "tornado" ? &tornado : nullptr;
    };
    CHECK(judge(wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":["tornado>=6.5.7"]})"), node, {},
                {.owned = owns_tornado})
              .why == "requires tornado>=6.5.7, and here are tornado 6.6.1 for win_amd64, aarch64 alone");
    std::vector<Candidate> triton{wheel_of("triton-3.2.0-py3-none-any.whl")};
    triton.front().link.yanked = true;
    const auto with_yanked = [&](const std::string& required) {
        return judge(wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":[")" + required + R"("]})"), node,
                     {}, {.owned = [&](const std::string&) { return &triton; }});
    };
    CHECK(with_yanked("triton==3.2.0").runs == Runs::yes);  // pip takes it, and warns
    CHECK(with_yanked("triton>=3").why == "requires triton>=3, and here are triton 3.2.0, yanked");
    CHECK(with_yanked("triton==3.2.*").runs == Runs::no);
    CHECK(answer("torch==2.8.0; python_version < '3.9'").runs == Runs::yes);
    CHECK(answer("torch==2.8.0; extra == 'gpu'").runs == Runs::yes);
    CHECK(answer("torch==2.8.0; extra == 'gpu'", {"cpu", "gpu"}).why ==
          "requires torch==2.8.0, and here are torch 2.6.0, 2.5.1");
    CHECK(answer("torch==2.8.0; extra == 'gpu' and python_version < '3.9'", {"gpu"}).runs == Runs::yes);
    CHECK(answer("torch==2.8.0; python_version >= '3.9'", {"gpu"}).runs == Runs::no);
    CHECK(answer(R"(torch==2.8.0; extra == 'gpu'","Torch.Scatter[gpu]; extra == 'all')", {"all"}).code ==
          "requires_dist");
    const Fit misspelt = answer("torch; extra == 'My-GPU'", {"my_gpu", "nosuch"});
    CHECK(misspelt.runs == Runs::yes);
    CHECK(misspelt.why == "but requires nothing for the extra nosuch");
    CHECK(answer("numpy>=99").runs == Runs::yes);  // comes from elsewhere
    const std::vector<Candidate> none{wheel_of("cffi-1.0-cp311-cp311-linux_x86_64.whl")};
    const OwnedWheels cffi = [&](const std::string& project) { return project == "cffi" ? &none : nullptr; };
    const std::vector<Candidate> empty;
    const OwnedWheels whole = [&](const std::string& project) {
        return project == "cffi" ? &empty : nullptr;
    };
    const auto zmq = wheel_of("pyzmq-1-py3-none-any.whl", R"({"requires_dist":["cffi"]})");
    CHECK(judge(zmq, node, {}, {.owned = cffi}).runs == Runs::yes);
    CHECK(judge(zmq, node, {}, {.owned = whole}).runs == Runs::yes);
    CHECK(judge(zmq, node, {}, {.owned = whole}).why ==
          "but requires cffi, of which this index has no wheel");
    const OwnedWheels nothing = [&](const std::string&) { return &empty; };
    CHECK(judge(wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":["b>=1 ; python_version > '3'","c"]})"),
                node, {}, {.owned = nothing})
              .why == "but requires b>=1, c, of which this index has no wheel");
    // A folder says nothing of what it does not have, but of torch, unless that is installed.
    const OwnedWheels without = [](const std::string&) { return nullptr; };
    const auto extension = wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":["torch>=2.4","numpy"]})");
    CHECK(judge(extension, h100(), {}, {.owned = without}).why.empty());
    const Fit told = judge(extension, h100(), {}, {.owned = without, .of_folder = true});
    CHECK(told.runs == Runs::yes);
    CHECK(told.why == "but requires torch>=2.4, of which this folder has no wheel");
    Node with_torch = h100();
    with_torch.torch = InstalledTorch{.version = "2.6.0", .folder = "/venv/torch"};
    CHECK(judge(extension, with_torch, {}, {.owned = without, .of_folder = true}).why.empty());
    node.pythons = {*parse_python("pypy3.9.16")};
    CHECK(judge(zmq, node, {}, {.owned = cffi}).runs == Runs::yes);  // PyPy has it
    CHECK(judge(zmq, node, {}, {.owned = whole}).why.empty());
}

TEST_CASE("a required wheel that does not run leaves it open whether the wheel does, and is named") {
    const Node node = debian12();
    const std::string fails = R"({"requires_dist":[],"needed":{"unknown":["libodbc.so.2"]}})";
    Node asked = node;
    asked.libraries["libodbc.so.2"] = {};
    std::map<std::string, std::vector<Candidate>> there;
    const OwnedWheels owned = [&](const std::string& project) -> const std::vector<Candidate>* {
        const auto found = there.find(project);
        return found == there.end() ? nullptr : &found->second;
    };
    const RequiredFit required = [&](const Taken& taken) {
        return judge(*taken.first, asked, {}, {.owned = owned, .required = required, .extras = taken.second});
    };
    const auto answer = [&](const std::string& text) {
        const Fit fit = judge(wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":[")" + text + R"("]})"),
                              asked, {}, {.owned = owned, .required = required});
        return std::string(runs_text(fit.runs)) + (fit.why.empty() ? "" : " " + fit.why);
    };
    const std::string newer = "pyodbc-5.3-cp311-cp311-linux_x86_64.whl",
                      older = "pyodbc-5.2-cp311-cp311-linux_x86_64.whl", runs = R"({"requires_dist":[]})";
    const std::string why = "pyodbc 5.3 does not run here: needs libodbc.so.2, which is not here";
    there["pyodbc"] = {wheel_of(older, runs), wheel_of(newer, fails)};
    CHECK(answer("pyodbc>=5") == "unknown requires pyodbc, and " + why);
    CHECK(answer("pyodbc<5.3") == "yes");
    CHECK(answer("pyodbc; extra == 'sql'") == "yes");
    // The newest is for another Python, or a pre-release.
    there["pyodbc"] = {wheel_of("pyodbc-5.3-cp312-cp312-linux_x86_64.whl", fails), wheel_of(older, runs)};
    CHECK(answer("pyodbc") == "yes");
    there["pyodbc"] = {wheel_of("pyodbc-5.3rc1-cp311-cp311-linux_x86_64.whl", fails), wheel_of(older, runs)};
    CHECK(answer("pyodbc") == "yes");
    // One of the newest runs.
    there["pyodbc"] = {wheel_of(newer, fails),
                       wheel_of("pyodbc-5.3+here-cp311-cp311-linux_x86_64.whl", runs)};
    CHECK(answer("pyodbc") == "yes");
    there["pyodbc"] = {wheel_of(newer, fails)};
    there["b"] = {wheel_of("b-2-py3-none-any.whl", R"({"requires_dist":["pyodbc"]})")};
    CHECK(answer("b") == "unknown requires b, which requires pyodbc, and " + why);
    // An extra that the requirement names asks for more (PEP 685), also by way of another.
    there["b"] = {wheel_of("b-2-py3-none-any.whl", R"({"requires_dist":["pyodbc; extra == 'my-sql'",
        "b[my_sql]; extra == 'all'", "c"]})")};
    there["c"] = {wheel_of("c-1-py3-none-any.whl", R"({"requires_dist":["b[All]; extra == 'more'"]})")};
    CHECK(answer("b") == "yes");
    CHECK(answer("b[other]") == "yes");  // pip warns of it
    CHECK(answer("b[My_SQL]>=1") == "unknown requires b[My_SQL], which requires pyodbc, and " + why);
    CHECK(answer("b[other,all]") == "unknown requires b[other,all], which requires pyodbc, and " + why);
    CHECK(answer("c") == "yes");
    CHECK(answer(R"(c","c[more])") ==
          "unknown requires c[more], which requires b[All], which requires pyodbc, and " + why);
    // One that is missing everywhere, as an index without upstreams knows.
    there["pyodbc"] = {};
    CHECK(answer("b[all]") ==
          "yes but requires b[all], which requires pyodbc, of which this index has no wheel");
    CHECK(answer("c[more]").find(
              "yes but requires c[more], which requires b[All], which requires pyodbc, of") == 0);
    // An installer goes on to an older version; not where one does not run.
    there["d"] = {wheel_of("d-2-py3-none-any.whl", R"({"requires_dist":["pyodbc"]})"),
                  wheel_of("d-1.1-py3-none-any.whl", R"({"requires_dist":["pyodbc>=1"]})"),
                  wheel_of("d-1-py3-none-any.whl", runs)};
    CHECK(answer("d") == "yes");
    CHECK(answer("d>1") == "yes but requires d, which requires pyodbc, of which this index has no wheel");
    there["pyodbc"] = {wheel_of(newer, fails)};
    CHECK(answer("d") == "unknown requires d, which requires pyodbc, and " + why);
    there["pyodbc"] = {wheel_of(newer, fails)};
    // What is not known of a requirement is a question of its own.
    there["b"] = {wheel_of("b-2-cp311-cp311-linux_x86_64.whl")};
    CHECK(answer("b") == "yes");
    CHECK(judge(wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":["pyodbc"]})"), asked, {},
                {.owned = owned})
              .runs == Runs::yes);
}

TEST_CASE("of what a wheel requires the wheels that an installer takes are asked for their libraries") {
    const std::vector<Candidate> there{wheel_of("b-1-py3-none-any.whl"), wheel_of("b-3-py3-none-any.whl"),
                                       wheel_of("b-2-py3-none-any.whl")};
    const auto taken = [&](const std::string& text) {
        std::string names;
        const auto brought = brought_by(
            wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":[")" + text + R"(","c"]})"), debian12(),
            {.owned = [&](const std::string& project) { return project == "b" ? &there : nullptr; }});
        for (const auto& [one, extras] : brought.wheels)
            names += one->release->version.text() + base::join(extras, ",");
        return names;
    };
    CHECK(taken("b") == "3");
    CHECK(taken("b<3") == "2");
    CHECK(taken("b[x]<2") == "1x");
    CHECK(taken("b>3") == "");
    CHECK(taken("b; extra == 'x'") == "");
}

TEST_CASE("a wheel of a lock is judged by the lock's versions, which installers take without asking") {
    const Node node = debian12();
    const std::vector<Candidate> older{wheel_of("torch-2.6.0-cp311-cp311-linux_x86_64.whl")};
    const OwnedWheels owned = [&](const std::string&) { return &older; };
    const LockedVersions locked{
        {"torch", {*wheel::Version::parse("2.9.0"), *wheel::Version::parse("2.8.0")}}};
    const auto answer = [&](const std::string& required) {
        const auto vision =
            wheel_of("torchvision-0.24-py3-none-any.whl", R"({"requires_dist":[")" + required + R"("]})");
        const Fit fit = judge(vision, node, {}, {.owned = owned, .locked = &locked});
        return std::string(runs_text(fit.runs)) + " " + fit.why;
    };
    CHECK(answer("torch==2.9.0") == "yes ");
    CHECK(answer("torch<2.9") == "yes ");  // of another marker
    CHECK(answer("torch==2.6.0") == "unknown requires torch==2.6.0, and the lock has torch 2.9.0, 2.8.0");
    CHECK(answer("torch==2.6.0; python_version < '3.9'") == "yes ");
    CHECK(answer("numpy>=99") == "yes ");  // left to the environment
}

TEST_CASE("an extension is held to the torch that is installed, by the first thing that differs") {
    Node node = h100();
    node.torch = InstalledTorch{.version = "2.6.0+cu124",
                                .folder = "/venv/torch",
                                .toolkits = {{"cuda", "12.4"}},
                                .cxx11_abi = "false",
                                .libraries = {"libc10.so", "libtorch_cpu.so"}};
    struct Case {
        const char* facts;
        const char* why;  // nullptr: it runs
    };
    for (const auto& [facts, why] : {
             Case{R"({"torch_at_least":"2.6","torch_below":"2.7","torch_cxx11_abi":"false"})", nullptr},
             Case{R"({"torch_at_least":"2.7"})",
                  "uses names that torch has since 2.7, and torch 2.6.0+cu124 is"},
             Case{R"({"torch_below":"2.6"})", "uses names that torch has no more since 2.6"},
             Case{R"({"torch_cxx11_abi":"true"})", "is built with _GLIBCXX_USE_CXX11_ABI=1"},
             Case{R"({"torch_cxx11_abi":"mixed"})", nullptr},
             Case{R"({"needed":{"torch":["libc10.so"]}})", nullptr},
             Case{R"({"needed":{"torch":["libtorch_cuda.so"]}})", "needs libtorch_cuda.so"},
             Case{R"({"cuda_sm":["sm_90"],"needed":{"cuda":["libcudart.so.11"],"torch":["libc10.so"]}})",
                  "is built for CUDA 11, and torch 2.6.0+cu124 is installed in /venv/torch with 12.4"},
             Case{R"({"cuda_sm":["sm_90"],"needed":{"cuda":["libcudart.so.12"],"torch":["libc10.so"]}})",
                  nullptr},
             Case{R"({"cuda_sm":["sm_90"],"needed":{"cuda":["libcudart.so.11"]}})", nullptr},
             Case{R"({"requires_dist":["torch==2.6.0"]})", nullptr},
             Case{R"({"requires_dist":["torch==2.5.1"]})", "requires torch==2.5.1, and torch 2.6.0+cu124"},
             Case{R"({"requires_dist":["torch==2.5.1; python_version < '3.9'"]})", nullptr},
             Case{R"({"requires_dist":["torch==1.4.0; extra == 'dev'"]})", nullptr},
         }) {
        CAPTURE(facts);
        const Fit fit = judge(wheel_of("torchvision-0.21.0-cp311-cp311-linux_x86_64.whl", facts), node, {});
        CAPTURE(fit.why);
        CHECK(fit.runs == (why == nullptr ? Runs::yes : Runs::no));
        if (why == nullptr) continue;
        CHECK(fit.code == "torch");
        CHECK(fit.why.find(why) == 0);
    }
    CHECK(judge(wheel_of(x86, R"({"torch_at_least":"2.7"})"), node, {}).runs == Runs::yes);
    node.torch.reset();
    CHECK(judge(wheel_of("a-1-cp311-cp311-linux_x86_64.whl", R"({"torch_at_least":"2.7"})"), node, {}).runs ==
          Runs::yes);
}
