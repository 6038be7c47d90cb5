// --web
#include "indexer/avail_wheels/run.hpp"

#include <doctest/doctest.h>

namespace wheelyard::avail_wheels {
namespace {

std::vector<status::SiteReport> reported() {
    status::SiteReport bede;
    bede.site = "bede";
    bede.nodes = {
        {.name = "gh", .gpus = 1, .accelerator = "gh200", .architectures = {"sm_90"}, .machine = "aarch64"},
        {.name = "login", .machine = "aarch64"}};
    status::SiteReport archer;
    archer.site = "archer2";
    archer.nodes = {{.name = "standard", .machine = "x86_64"}, {.name = "highmem", .machine = "x86_64"}};
    return {bede, archer};
}

Node node_with(const std::string& machine, std::vector<std::string> gpus) {
    Node node;
    node.name = "host17";
    node.machine = machine;
    node.gpus = Gpus{std::move(gpus), {}};
    node.pythons = {*parse_python("3.12")};
    return node;
}

WebLink link_of(const Node& node, std::vector<std::string> words = {},
                const std::vector<status::SiteReport>& sites = reported()) {
    words.insert(words.end(), {"--web", "--index-url", "https://me:secret@farm.example/main/simple/"});
    auto options = parse_command_line(words, {});
    REQUIRE(std::holds_alternative<Options>(options));
    const auto link = make_web_link(std::get<Options>(options), node, sites);
    REQUIRE(link.has_value());
    return *link;
}

}  // namespace

TEST_CASE(
    "--web leads to what runs on this node, or to the project that is named, and sets node type and Python") {
    const Node gh = node_with("aarch64", {"sm_90"});
    CHECK(link_of(gh).url ==
          "https://farm.example/main/site/bede/?node=bede%2C%20gh%20%28gh200%29&my_python=3.12");
    CHECK(link_of(gh, {"Flash_Attn"}).url ==
          "https://farm.example/main/project/flash-attn/?node=bede%2C%20gh%20%28gh200%29&my_python=3.12");
    CHECK(link_of(gh, {"*cdf*"}).url ==
          "https://farm.example/main/project/?q=cdf&node=bede%2C%20gh%20%28gh200%29&my_python=3.12");
    CHECK(link_of(gh, {"numpy", "scipy"}).url ==
          "https://farm.example/main/project/?node=bede%2C%20gh%20%28gh200%29&my_python=3.12");
}

TEST_CASE("--web names no node type where several or none suit, and says which several do") {
    const WebLink several = link_of(node_with("x86_64", {}), {"torch"});
    CHECK(several.url == "https://farm.example/main/project/torch/?my_python=3.12");
    CHECK(several.node_types == std::vector<std::string>{"archer2, standard", "archer2, highmem"});
    const WebLink none = link_of(node_with("riscv64", {}));
    CHECK(none.url == "https://farm.example/main/project/?my_python=3.12");
    CHECK(none.node_types.empty());
    CHECK(link_of(node_with("aarch64", {"sm_70"})).node.empty());
    CHECK(link_of(node_with("aarch64", {})).node == "bede, login");  // without GPUs
    CHECK(link_of(node_with("x86_64", {}), {}, {}).node.empty());
    // Where nothing tells of GPUs, the only node type of this machine is none for it if it has some.
    Node unknown = node_with("aarch64", {});
    unknown.gpus.reset();
    CHECK(link_of(unknown).node == "bede, login");
    auto sites = reported();
    sites[0].nodes.pop_back();
    CHECK(link_of(unknown, {}, sites).node.empty());
}

TEST_CASE("--web takes the node type that the site file names, whatever the node has") {
    Node node = node_with("x86_64", {});
    node.name = "highmem";
    CHECK(link_of(node).node == "archer2, highmem");
}

TEST_CASE("--web needs an index: a folder of wheels has no pages") {
    Options options;
    options.source.wheelhouse = "/wheels";
    const auto link = make_web_link(options, {}, {});
    REQUIRE(!link);
    CHECK(link.error().code == "web.no_index");
    options.source.index_url = "https://me:secret@farm.example/packages/";
    const auto other = make_web_link(options, {}, {});
    REQUIRE(!other);
    CHECK(other.error().value.find("secret") == std::string::npos);
    CHECK(other.error().value.find("farm.example/packages") != std::string::npos);
}

}  // namespace wheelyard::avail_wheels
