#include "indexer/avail_wheels/node/node.hpp"

#include <doctest/doctest.h>

#include "indexer/avail_wheels/node/site.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

TEST_CASE("a processor's level is the highest whose features are all present") {
    const std::string v1 = "fpu cx8 cmov mmx fxsr sse sse2";
    const std::string v2 = v1 + " pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm";
    const std::string v3 = v2 + " fma movbe avx f16c abm bmi1 avx2 bmi2";
    const std::string v4 = v3 + " avx512f avx512dq avx512cd avx512bw avx512vl";
    CHECK(x86_level("") == "");
    CHECK(x86_level(v1) == "x86-64-v1");
    CHECK(x86_level(v2) == "x86-64-v2");
    CHECK(x86_level(v3) == "x86-64-v3");
    CHECK(x86_level(v4) == "x86-64-v4");
    CHECK(x86_level(v2 + " avx512f avx512dq avx512cd avx512bw avx512vl") == "x86-64-v2");
    CHECK(level_of_folder("avx2") == "x86-64-v3");
    CHECK(level_of_folder("generic") == "");
}

TEST_CASE("a node survives a JSON round trip, and unknown properties stay unknown") {
    Node node;
    node.name = "gh001";
    node.machine = "aarch64";
    node.glibc = Dotted::parse("2.34");
    node.gpus = Gpus{{"sm_90"}, {"NVIDIA GH200 480GB"}};
    node.driver = Dotted::parse("550.54.15");
    node.pythons = {*parse_python("3.12.1"), *parse_python("3.13t")};
    node.module_folders = {"/opt/lib/python3.12/site-packages"};
    node.modules = std::vector<std::string>{"cuda/12.3.2"};
    const auto back = node_from_json(node_to_json(node));
    CHECK(node_to_json(back) == node_to_json(node));
    CHECK(back.pythons == node.pythons);
    CHECK(back.gpus->archs == node.gpus->archs);
    CHECK(back.module_folders == node.module_folders);

    const auto empty = node_from_json(node_to_json(Node()));
    CHECK_FALSE(empty.gpus);
    CHECK_FALSE(empty.glibc);
    CHECK_FALSE(empty.driver);
    CHECK_FALSE(empty.modules);
}

TEST_CASE("assumed properties replace probed ones") {
    Node node;
    for (const char* good : {"machine=aarch64", "glibc=2.28", "cpu=x86-64-v3", "gpu=sm_90,gfx90a",
                             "driver=550.54.15", "modules=cuda/12.2,openmpi/4.1.6"})
        CHECK(assume(node, good));
    CHECK(node.machine == "aarch64");
    CHECK(node.glibc->text() == "2.28");
    CHECK(node.gpus->archs == std::vector<std::string>{"sm_90", "gfx90a"});
    CHECK(node.modules->size() == 2);
    REQUIRE(assume(node, "gpu=none"));
    CHECK(node.gpus->archs.empty());
    REQUIRE(assume(node, "gpu=A100"));
    CHECK(node.gpus->archs == std::vector<std::string>{"sm_80"});
    REQUIRE(assume(node, "gpu=9.0"));
    CHECK(node.gpus->archs == std::vector<std::string>{"sm_90"});
    REQUIRE(assume(node, "gpu=a100,gh200,mi250x,MI300A"));
    CHECK(node.gpus->archs == std::vector<std::string>{"sm_80", "sm_90", "gfx90a", "gfx942"});
    for (const char* bad : {"", "gpu", "gpu=", "gpu=hopper", "cpu=zen4", "glibc=new", "colour=red"}) {
        CAPTURE(bad);
        CHECK(assume(node, bad).error().code == "usage.assume");
    }
}

TEST_CASE("a wrong assumption names what was meant") {
    struct Case {
        const char* assignment;
        const char* says;
    };
    for (const auto& [assignment, says] :
         {Case{"a100", "did you mean gpu=a100?"}, Case{"sm_90", "did you mean gpu=sm_90?"},
          Case{"arch=aarch64", "did you mean machine=?"}, Case{"python=3.11", "--python"},
          Case{"cuda=12.3", "modules=cuda/"}, Case{"mpi=openmpi", "modules=openmpi/"},
          Case{"gpu=hopper", "or a model (a100)"}}) {
        Node node;
        const auto error = assume(node, assignment).error().text();
        CHECK_MESSAGE(error.find(says) != std::string::npos, error);
    }
}

TEST_CASE("a site file is read strictly") {
    const auto folder = *base::TempDir::make("wheelyard-site-test");
    const auto file = folder.path() / "avail_wheels.toml";
    REQUIRE(base::replace_file(file, R"(config_version = 1
index_url = "https://wheels.example.org/main/simple/"
here = true
needed_modules = ["cray-mpich"]
[node.gh200]
hosts = ["gh*"]
machine = "aarch64"
gpus = ["9.0", "gfx90a:xnack-"]
pythons = ["3.11", "3.12"]
[node.cpu]
gpus = []
[[known_bad]]
package = "Torch"
versions = "<2.3"
gpus = ["sm_90"]
advice = "H100 needs torch 2.3 or newer"
)"));
    const auto site = read_site(file);
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    CHECK(site->here);
    CHECK(site->nodes.at("gh200").node.gpus->archs == std::vector<std::string>{"sm_90", "gfx90a:xnack-"});
    CHECK(site->nodes.at("gh200").node.pythons.size() == 2);
    CHECK(site->nodes.at("cpu").node.gpus->archs.empty());
    CHECK_FALSE(site->nodes.at("cpu").node.glibc);
    CHECK(site->known_bad.at(0).project == "torch");

    REQUIRE(base::replace_file(
        file, "config_version = 1\nindex_ulr = \"x\"\n[node.a]\ngpus = [\"big one\"]\ncpu = \"zen\"\n"));
    const auto bad = read_site(file);
    REQUIRE_FALSE(bad);
    for (const char* part : {"index_ulr", "index_url", "big one", "cpu"})
        CHECK(bad.error().text().find(part) != std::string::npos);
}

TEST_CASE("a registry that takes requests may be named with slashes at its end") {
    const auto folder = *base::TempDir::make("wheelyard-site-requests-test");
    const auto file = folder.path() / "avail_wheels.toml";
    for (const std::string end : {"", "/", "//"}) {
        REQUIRE(base::replace_file(
            file, "config_version = 1\nrequests = \"https://wheels.example.org/py" + end + "\"\n"));
        const auto site = read_site(file);
        REQUIRE_MESSAGE(site.has_value(), site.error().text());
        CHECK(site->requests_registry == "https://wheels.example.org/py");
        CHECK(site->requests.empty());
    }
}

TEST_CASE("the example in docs/reference/avail_wheels-site.md has every key and is valid") {
    const auto page = *base::read_file(
        std::filesystem::path(WHEELYARD_TEST_DATA) / "../docs/reference/avail_wheels-site.md", 100'000);
    const std::string start = "```toml\n";
    const auto begin = page.find(start) + start.size();
    const auto folder = *base::TempDir::make("wheelyard-site-doc-test");
    const auto file = folder.path() / "avail_wheels.toml";
    REQUIRE(base::replace_file(file, page.substr(begin, page.find("```", begin) - begin)));
    const auto site = read_site(file);
    REQUIRE_MESSAGE(site.has_value(), site.error().text());
    CHECK(site->nodes.size() == 2);
    CHECK(site->known_bad.size() == 2);
    CHECK(site->nodes.at("gh200").hosts == std::vector<std::string>{"gpu*.bede*"});
    CHECK(site->status.starts_with("https://"));
    CHECK(site->requests == "/nobackup/wheels/requests");
}
