// The list of indexes in force: whether it counts at a start, and for commands beside a server.
#include "registry/store/index_list.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "registry/indexes/local_indexes.hpp"
#include "registry/store/lock.hpp"

using namespace wheelyard;

namespace {

struct Fixture {
    base::TempDir dir = base::TempDir::make("index-list").value();
    std::filesystem::path file = dir.path() / "registry.toml";
    std::filesystem::path store = dir.path() / "data";

    Fixture() {
        REQUIRE(base::make_directories(store));
        REQUIRE(base::replace_file(file, "config_version = 1\n[[index]]\nname = \"in-file\"\n"));
    }
    void list(const std::string& text) const {
        const auto catalog = database::Store(store).writer().value();
        REQUIRE(catalog->set_index_rules({}, {.actor = "me"}, {}, text));
    }
    // Without a server. "applied", or the error.
    [[nodiscard]] std::string apply(const std::string& tables, bool dry_run = false) const {
        REQUIRE(base::replace_file(
            file,
            "config_version = 1\n[store]\ndirectory = \"data\"\n[[index]]\nname = \"in-file\"\n" + tables));
        const registry::RegistryConfig config = registry::read_config(file).value();
        const base::ManualClock clock{1'795'000'000'000'000};
        const database::Store opened(store);
        const auto done =
            registry::StoreIndexes(config, opened, clock)
                .apply({.tables = config.index_tables, .actor = "local:me", .dry_run = dry_run});
        return done ? "applied" : done.error().code + ": " + done.error().value;
    }
    [[nodiscard]] std::string in_force() const {
        const auto config = registry::read_config_in_force(file);
        REQUIRE_MESSAGE(config, (config ? "" : config.error().text()));
        return base::join(config->index_names(), " ");
    }
};

const std::string of_file = registry::render_index_list({io::parse_json(R"([{"name":"in-list"}])").value()});
// As versions wrote it that had commands which change indexes.
constexpr const char* of_commands =
    R"({"format":"wheelyard.index_list/1","decided_by":"commands","indexes":[{"name":"in-file"},)"
    R"({"name":"in-list","read":"token","policy":{"preset":"mirror"}}]})";

}  // namespace

TEST_CASE("a list is read as it was written, and one of another form is refused") {
    const auto again = registry::parse_index_list(of_file);
    REQUIRE(again.has_value());
    CHECK_FALSE(again->is_of_commands);
    CHECK(again->tables == io::parse_json(R"([{"name":"in-list"}])").value());
    CHECK(registry::parse_index_list(of_commands)->is_of_commands);
    CHECK(registry::render_index_list(registry::parse_index_list(of_commands).value()) == of_commands);
    CHECK(of_file.find(R"("decided_by":"file")") != std::string::npos);  // which earlier versions require
    for (const char* text : {"", "{}", R"({"format":"wheelyard.index_list/2","indexes":[]})"})
        CHECK_FALSE(registry::parse_index_list(text).has_value());
}

TEST_CASE(
    "without a server the file counts, and before it says so what commands of an earlier version changed") {
    const Fixture fixture;
    CHECK(fixture.in_force() == "in-file");
    fixture.list(of_file);
    CHECK(fixture.in_force() == "in-file");
    fixture.list(of_commands);
    CHECK(fixture.in_force() == "in-file in-list");
}

TEST_CASE("what commands of an earlier version changed is told as tables that the file can have") {
    const Fixture fixture;
    const auto lacking = [&](const std::string& more, const std::string& list) {
        REQUIRE(
            base::replace_file(fixture.file, "config_version = 1\n[[index]]\nname = \"in-file\"\n" + more));
        return registry::tables_to_paste(registry::read_config(fixture.file).value(),
                                         registry::parse_index_list(list).value())
            .value();
    };
    const std::string tables = lacking("", of_commands);
    CHECK(tables ==
          "[[index]]\nname = \"in-list\"\nread = \"token\"\n\n[index.policy]\npreset = \"mirror\"\n");
    CHECK(lacking(tables, of_commands).empty());
    CHECK(lacking("[[index]]\nname = \"in-list\"\n", of_commands) == tables);
    CHECK(lacking(tables + "[[index]]\nname = \"newer\"\n", of_commands).empty());
    CHECK(lacking("", of_file).empty());
}

TEST_CASE("`apply` opens no index that commands of an earlier version closed, before the file closed it") {
    const Fixture fixture;
    fixture.list(of_commands);
    const std::string in_list = "[[index]]\nname = \"in-list\"\n";
    CHECK(fixture.apply(in_list, true) == "applied");
    CHECK(fixture.apply(in_list) == "index.opened: in-list");
    CHECK(fixture.apply(in_list + "read = \"token\"\n") == "applied");
    CHECK(fixture.apply(in_list) == "applied");
}

TEST_CASE("a new index shows to nobody what a private one of its name left behind, without a server either") {
    const Fixture fixture;
    fixture.list(of_file);
    const std::string secret = "[[index]]\nname = \"secret\"\n", closed = secret + "read = \"token\"\n";
    CHECK(fixture.apply(closed) == "applied");
    CHECK(fixture.apply("") == "applied");
    CHECK(fixture.apply(secret) == "index.was_private: secret");
    CHECK(fixture.apply(closed) == "applied");
    CHECK(fixture.apply(secret) == "applied");
}

TEST_CASE("beside a server the list counts: the file may not be applied yet") {
    const Fixture fixture;
    fixture.list(of_file);
    const auto lock = registry::lock_store(fixture.store);
    REQUIRE(lock.has_value());
    CHECK(registry::server_runs(fixture.store).value());
    CHECK(fixture.in_force() == "in-list");
    const auto second = registry::lock_store(fixture.store);
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().code == "serve.running");
}
