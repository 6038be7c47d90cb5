// Which files commands that search see.
#include "registry/commands/command_line.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/store/store.hpp"
#include "tests/store/catalog/row_fixture.hpp"

using namespace wheelyard;

TEST_CASE("the files of an index are its own and the copies of its upstreams, until the first error") {
    const base::TempDir dir = base::TempDir::make("each-file").value();
    const auto config = registry::parse_config(
        "config_version = 1\n[store]\ndirectory = \"data\"\n[[index]]\nname = \"main\"\n[[index.upstream]]\n"
        "name = \"u\"\nurl = \"https://w.example/simple\"\n[[index]]\nname = \"other\"\n",
        dir.path() / "registry.toml");
    REQUIRE_MESSAGE(config, config.error().text());
    REQUIRE(base::make_directories(config->store));
    const auto catalog = database::Store(config->database()).writer().value();
    for (const auto& [index, project] : {std::pair{"main", "two"},
                                         {"main", "one"},
                                         {"main.u", "numpy"},
                                         {"other", "three"},
                                         {"gone", "four"}})
        REQUIRE(catalog->add_file(catalog::row_of(index, project, "1.0")));
    const auto seen = [&](const std::string& index) {
        std::string files;
        const auto read =
            registry::for_each_file(*config, index, [&](const catalog::FileRow& row) -> base::Status {
                files += row.index + "/" + row.project + " ";
                if (index.empty() && row.project == "numpy") return base::fail("test.stop", "enough");
                return {};
            });
        return read ? files : files + read.error().code;
    };
    CHECK(seen("main") == "main/one main/two main.u/numpy ");
    CHECK(seen("other") == "other/three ");
    CHECK(seen("") == "main/one main/two main.u/numpy test.stop");
    CHECK(seen("gone") == "index.unknown");
}
