// The tables of indexes as JSON: the same strict reader as the file's, and back to TOML.
#include "registry/config/index_tables.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace wheelyard;
using io::Json;
using registry::RegistryConfig;

namespace {

Json json(const std::string& text) {
    return io::parse_json(text).value();
}

RegistryConfig parse(const std::string& indexes) {
    return registry::parse_config("config_version = 1\n" + indexes, "/etc/wheelyard/registry.toml").value();
}

const std::string sample = R"([[index]]
name = "main"
title = "A \"quoted\" title"
owns = ["torch", "numpy"]
quota_mib = 5

[index.policy]
preset = "mirror"
"elf.needed_unknown" = "reject"

[[index.upstream]]
name = "public"
url = "https://index.example.org/simple/"
username = "u"
password_file = "secret"

[index.upstream.policy]
preset = "linux"
)";

// What the reader says of these tables.
std::string problems_of(const std::string& tables) {
    const auto config = registry::with_indexes(parse("[[index]]\nname = \"a\"\n"), json(tables));
    return config ? "" : config.error().sentence;
}

}  // namespace

TEST_CASE("the tables of a file are the same indexes as JSON, and the same TOML again") {
    const RegistryConfig config = parse(sample);
    const auto again = registry::with_indexes(config, config.index_tables);
    REQUIRE(again.has_value());
    CHECK(again->indexes.front().upstreams == config.indexes.front().upstreams);
    CHECK(again->indexes.front().upstreams.front().password_file == "/etc/wheelyard/secret");
    CHECK(again->indexes.front().policy == config.indexes.front().policy);
    CHECK(again->index_tables == config.index_tables);
    const std::string text = registry::render_table(config.index_tables.items().front());
    CHECK(parse(text).index_tables == config.index_tables);
}

TEST_CASE("every problem of a table is reported with the path of its key") {
    CHECK(problems_of(R"([{"name":"a"},{"name":"b","quota_mib":5}])").empty());
    CHECK(problems_of(R"([{"name":"a","quota_mb":5}])") ==
          "index.a.quota_mb: unknown key `quota_mb`; did you mean `quota_mib`?");
    CHECK(problems_of(R"([{"name":"a","read":"all"},{"name":"b","inherits":["c"]}])") ==
          "index.a.read: `index[0].read` is not a valid choice (expected one of `public`, `token`, found the "
          "string \"all\")\n"
          "index.b.inherits: there is no [[index]] named `c`");
    CHECK(
        problems_of(R"([{"name":"a","quota_mib":"5","upstream":[{"name":"u","url":7}]}])")
            .starts_with("index.a.quota_mib: `index[0].quota_mib` has the wrong type (expected an integer"));
    CHECK(problems_of(R"([{"name":"a","title":null}])").find("found null") != std::string::npos);
    CHECK(problems_of("[]") == "index: at least one [[index]] is required");
    CHECK(problems_of(R"([7])").find("expected a table") != std::string::npos);
}

TEST_CASE("all tables together are no larger than a file may be") {
    const std::string title(registry::max_config_bytes, 'x');
    const auto config = registry::with_indexes(parse("[[index]]\nname = \"a\"\n"),
                                               json(R"([{"name":"a","title":")" + title + "\"}]"));
    REQUIRE_FALSE(config.has_value());
    CHECK(config.error().code == "config.too_large");
}
