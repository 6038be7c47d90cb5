// The list of indexes in force: whose word counts at a start, and for commands beside a server.
#include "registry/store/index_list.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/store/lock.hpp"

using namespace wheelyard;
using registry::DecidedBy;
using registry::IndexList;

namespace {

struct Fixture {
    base::TempDir dir = base::TempDir::make("index-list").value();
    std::filesystem::path file = dir.path() / "registry.toml";
    std::filesystem::path store = dir.path() / "data";

    Fixture() {
        REQUIRE(base::make_directories(store));
        REQUIRE(base::replace_file(file, "config_version = 1\n[[index]]\nname = \"in-file\"\n"));
    }
    void list(DecidedBy by) const {
        const IndexList list{by, io::parse_json(R"([{"name":"in-list"}])").value()};
        const auto catalog = database::Store(store).writer().value();
        REQUIRE(catalog->set_index_rules({}, {.actor = "me"}, {}, registry::render_index_list(list)));
    }
    [[nodiscard]] std::string in_force() const {
        const auto config = registry::read_config_in_force(file);
        REQUIRE_MESSAGE(config, (config ? "" : config.error().text()));
        return base::join(config->index_names(), " ");
    }
};

}  // namespace

TEST_CASE("a list is read as it was written, and one of another form is refused") {
    const IndexList list{DecidedBy::commands, io::parse_json(R"([{"name":"a","quota_mib":5}])").value()};
    const auto again = registry::parse_index_list(registry::render_index_list(list));
    REQUIRE(again.has_value());
    CHECK(again->decided_by == DecidedBy::commands);
    CHECK(again->tables == list.tables);
    for (const char* text : {"", "{}", R"({"format":"wheelyard.index_list/2","decided_by":"file"})",
                             R"({"format":"wheelyard.index_list/1","decided_by":"nobody"})"})
        CHECK_FALSE(registry::parse_index_list(text).has_value());
}

TEST_CASE("without a server the file counts while it decides, then the list") {
    const Fixture fixture;
    CHECK(fixture.in_force() == "in-file");
    fixture.list(DecidedBy::file);
    CHECK(fixture.in_force() == "in-file");
    fixture.list(DecidedBy::commands);
    CHECK(fixture.in_force() == "in-list");
}

TEST_CASE("beside a server the list counts: the file may not be applied yet") {
    const Fixture fixture;
    fixture.list(DecidedBy::file);
    const auto lock = registry::lock_store(fixture.store);
    REQUIRE(lock.has_value());
    CHECK(registry::server_runs(fixture.store).value());
    CHECK(fixture.in_force() == "in-list");
    const auto second = registry::lock_store(fixture.store);
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().code == "serve.running");
}
