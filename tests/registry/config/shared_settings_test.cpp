// What nodes compare of their files: every key, but for those of one machine.
#include "registry/config/shared_settings.hpp"

#include <doctest/doctest.h>

#include <string>

#include "registry/config/config.hpp"

using namespace wheelyard;

namespace {

nodes::SharedSettings of(const std::string& tables) {
    const auto config =
        registry::parse_config("config_version = 1\n" + tables, "/etc/wheelyard/registry.toml");
    REQUIRE_MESSAGE(config, (config ? "" : config.error().text()));
    return config->shared;
}

std::string tables_that_differ(const std::string& mine, const std::string& theirs) {
    return nodes::list_differences(
        {.id = "1", .tables = of(mine)},
        {{{.id = "2", .name = "b", .settings = {{"x", "1"}}, .tables = of(theirs)}}});
}

const std::string one_index = "[[index]]\nname = \"a\"\nquota_mib = 5\n";

}  // namespace

TEST_CASE("files that differ in what one machine has are alike, and so is another order of keys") {
    const std::string server = "[server]\nlisten = \"10.0.0.1:80\"\nmax_connections = 9\n";
    const std::string stores = "[stores]\nblobs_credentials_file = \"/root/s3\"\n";
    const std::string node = "[node]\nname = \"a\"\n";
    CHECK(tables_that_differ(server + node + stores + one_index, one_index).empty());
    CHECK(tables_that_differ("[[index]]\nquota_mib = 5\nname = \"a\"\n", one_index).empty());
    CHECK(tables_that_differ("[store]\ndirectory = \"/b\"\n" + one_index, one_index).empty());
    const std::string upstream =
        "[[index.upstream]]\nname = \"u\"\nurl = \"https://x/simple/\"\nusername = \"u\"\n";
    CHECK(tables_that_differ(one_index + upstream + "password_file = \"/root/a\"\n",
                             one_index + upstream + "password_file = \"/etc/b\"\n")
              .empty());
}

TEST_CASE("a file that differs in what all have is told by the names of its tables") {
    const std::string url = "[server]\npublic_url = \"https://x\"\n";
    CHECK(tables_that_differ(url + one_index, one_index) == "node b in [server]");
    CHECK(tables_that_differ(one_index, url + one_index) == "node b in [server]");
    CHECK(tables_that_differ("[tasks]\nlease_s = 9\n" + url + one_index,
                             "[tasks]\nlease_s = 8\n" + url + one_index) == "node b in [tasks]");
    CHECK(tables_that_differ(one_index + "[index.policy]\npreset = \"mirror\"\n", one_index) ==
          "node b in [[index]]");
    CHECK(tables_that_differ(one_index + "[index.policy]\n\"zip.special_file\" = \"warn\"\n", one_index) ==
          "node b in [[index]]");
    CHECK(tables_that_differ("[pages]\nname = \"Ours\"\n[store]\npages = false\n" + one_index, one_index) ==
          "node b in [pages], [store]");
}
