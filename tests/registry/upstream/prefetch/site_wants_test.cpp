// Reports of sites as requirements.
#include "registry/upstream/prefetch/site_wants.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;
using registry::SiteWant;

namespace {

status::CellReport cell(std::string package, std::string version, std::string python,
                        std::string accelerator = {}, std::string purpose = {}) {
    return {.package = std::move(package),
            .version = std::move(version),
            .python = std::move(python),
            .accelerator = std::move(accelerator),
            .purpose = std::move(purpose),
            .state = "have",
            .reason = {},
            .attempt = {}};
}

}  // namespace

TEST_CASE("each build that sites want is one requirement for its Python") {
    status::IndexStatus reported{.index = "gh200", .sites = {}};
    status::SiteReport bede;
    bede.cells = {cell("torch", "2.4.0+cu124", "3.12", "h100"), cell("torch", "2.4.0", "3.12", "gh200"),
                  cell("torch", "2.4.0", "3.11"), cell("Mpi4Py", "4.0.1", "3.12")};
    status::SiteReport other;
    other.cells = {cell("torch", "2.4.0", "3.12"), cell("torch", "2.4.0", "3.12", "h100", "gpu-test"),
                   cell("torch", ">=2.5", "3.12"), cell("-", "1.0", "3.12")};
    reported.sites = {bede, other};
    CHECK(registry::wants_of(reported) == std::vector<SiteWant>{{"mpi4py", "4.0.1", "3.12"},
                                                                {"torch", "2.4.0", "3.11"},
                                                                {"torch", "2.4.0", "3.12"}});
    CHECK(registry::wants_of(reported).front().requirement() == "mpi4py==4.0.1");
    CHECK(registry::wants_of({.index = "gh200", .sites = {}}).empty());
}

TEST_CASE("a want has the platforms of the nodes with its accelerator") {
    struct Row {
        const char* name;
        std::string machine, glibc;  // of the agent's host
        std::vector<status::NodeReport> nodes;
        std::string accelerator;
        std::vector<std::string> platforms;
    };
    const status::NodeReport arm{.name = "gh",
                                 .accelerator = "h100",
                                 .architectures = {"sm_90"},
                                 .machine = "aarch64",
                                 .glibc = "2.34"};
    const status::NodeReport x86{
        .name = "cpu", .accelerator = {}, .architectures = {}, .machine = "x86_64", .glibc = "2.28"};
    const status::NodeReport unknown{.name = "old", .accelerator = {}, .architectures = {}};
    const status::NodeReport hostile{
        .name = "evil", .accelerator = {}, .architectures = {}, .machine = "--config=x", .glibc = "2.34"};
    const Row rows[] = {
        {"of the accelerator's nodes", "x86_64", "2.36", {arm, x86}, "h100", {"manylinux_2_34_aarch64"}},
        {"of all nodes",
         "x86_64",
         "2.36",
         {arm, x86},
         "",
         {"manylinux_2_28_x86_64", "manylinux_2_34_aarch64"}},
        {"a site without node types", "x86_64", "2.36", {}, "h100", {"manylinux_2_36_x86_64"}},
        {"a host with musl", "x86_64", "", {}, "", {}},
        {"an older agent", "", "", {unknown}, "", {}},
        {"words that are no platform", "", "", {hostile}, "", {}},
        {"a version that is none", "x86_64", "2.x", {}, "", {}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.name);
        status::SiteReport site;
        site.machine = row.machine;
        site.glibc = row.glibc;
        site.nodes = row.nodes;
        site.cells = {cell("torch", "2.4.0", "3.12", row.accelerator)};
        const auto wants = registry::wants_of({.index = "gh200", .sites = {site}});
        REQUIRE(wants.size() == 1);
        CHECK(wants.front().platforms == row.platforms);
    }
}

TEST_CASE("two sites want one package for the platforms of both") {
    status::SiteReport arm;
    arm.machine = "aarch64";
    arm.glibc = "2.34";
    arm.cells = {cell("torch", "2.4.0", "3.12")};
    status::SiteReport x86 = arm;
    x86.machine = "x86_64";
    const auto wants = registry::wants_of({.index = "gh200", .sites = {arm, x86}});
    REQUIRE(wants.size() == 1);
    CHECK(wants.front().platforms ==
          std::vector<std::string>{"manylinux_2_34_aarch64", "manylinux_2_34_x86_64"});
}
