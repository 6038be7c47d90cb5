// The cache limit removes bytes only from the store of its own catalog.
#include "registry/serve/upkeep/cache_limit.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "tests/registry/upload_fixture.hpp"
#include "tests/support/becomes_true.hpp"

using namespace wheelyard;
using test_support::RegistryFixture;

TEST_CASE("what was evicted stays while the store is of another history, or another registry's") {
    RegistryFixture registry;
    registry.config =
        registry::parse_config(
            "config_version = 1\n[[index]]\nname = \"main\"\n[[index.upstream]]\nname = \"public\"\n"
            "url = \"https://wheels.example/simple/\"\nmax_cache_mib = 1\n",
            registry.dir.path() / "registry.toml")
            .value();
    catalog::FileRow row;
    row.index = "main.public";
    row.project = "six";
    row.version = "1.0";
    row.filename = "six-1.0-py3-none-any.whl";
    row.sha256 = registry.store.store_bytes("wheel").value();
    row.size_bytes = 5;
    row.metadata_sha256 = registry.store.store_bytes("Name: six").value();
    row.metadata_size_bytes = 9;
    row.uploaded_by = "upstream:public";
    row.facts_json = "{}";
    REQUIRE(registry.cli.add_file(row)->outcome == catalog::AddOutcome::added);
    REQUIRE(registry.cli.evict({row.index, row.filename}, {"test", "limit", registry.clock.now()}));
    std::filesystem::last_write_time(
        registry.store.path_of(row.sha256),
        std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * 30));
    registry::LastUsed last_used(registry.config.store / "last-used.json");
    const auto run = [&](const std::function<bool()>& until) {
        std::atomic<int> rounds = 0;
        const registry::CacheLimit limit({.config = registry.config,
                                          .store = registry.databases,
                                          .blobs = registry.store,
                                          .writer = registry.writer,
                                          .pages = registry.pages,
                                          .last_used = last_used,
                                          .is_mine = [&] { return ++rounds > 0; },
                                          .pause_ms = 1});
        CHECK(test_support::becomes_true([&] { return rounds > 2 && until(); }));
    };
    const auto note = [&](const std::string& id, int serial) {
        REQUIRE(registry.store.write_identity(
            "{\"format\":\"wheelyard.store/1\",\"registry\":\"" + id +
            "\",\"store\":\"8f0c\",\"place\":\"x\",\"serial\":" + std::to_string(serial) +
            ",\"time\":0,\"kind\":\"file_added\"}\n"));
    };
    const std::string own = registry.cli.registry_id().value();
    const auto always = [] { return true; };
    note("another", 0);
    run(always);
    CHECK(registry.store.contains(row.sha256));
    note(own, 1'000);
    run(always);
    CHECK(registry.store.contains(row.sha256));
    note(own, 0);
    run([&] { return !registry.store.contains(row.sha256); });
}
