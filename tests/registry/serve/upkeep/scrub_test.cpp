// The scrub of `serve`: it runs without being asked, hides what is damaged, and ends with the server.
#include "registry/serve/upkeep/scrub.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>

#include "lib/base/files/file.hpp"
#include "lib/store/lifecycle/perform.hpp"
#include "tests/registry/upload_fixture.hpp"
#include "tests/support/becomes_true.hpp"

using namespace wheelyard;
using test_support::Form;
using test_support::RegistryFixture;
using test_support::WheelWriter;

namespace {

constexpr auto always = [] { return true; };

}  // namespace

TEST_CASE("flipped bytes are found and their file is quarantined; the same upload releases it") {
    RegistryFixture registry;
    const Form form = Form::of(WheelWriter("six", "1.16.0"));
    REQUIRE(registry.send(form).status == 200);
    const auto row = registry.cli.file("main", form.filename).value().value();
    const std::filesystem::path blob = registry.store.path_of(row.sha256);
    std::string bytes = base::read_file(blob, base::mib).value();
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    REQUIRE(base::replace_file(blob, bytes, 0444).has_value());
    {
        const registry::Scrub scrub(registry.config, registry.databases, registry.store, registry.pages,
                                    always, {.first_ms = 0, .pause_ms = 1});
        CHECK(test_support::becomes_true([&] { return scrub.seen().rounds > 1; }));
        CHECK(scrub.seen().faults >= 2);  // in every round
    }
    CHECK(registry.cli.file("main", form.filename).value()->state == catalog::FileState::quarantined);
    CHECK(lifecycle::last_finished(registry.config.store / "scrub.json") > 0);
    CHECK(base::read_file(blob, base::mib).value() == bytes);
    const auto again = registry.send(form);
    CHECK(again.status == 200);
    CHECK(again.done.quarantined_because.empty());
    CHECK(again.done.serial == registry.cli.last_serial().value());  // the page is waited for
    CHECK(registry.store.is_intact(row.sha256));
    CHECK(registry.cli.file("main", form.filename).value()->state == catalog::FileState::active);
}

TEST_CASE(
    "the first upload into another index repairs the bytes, and the quarantine of verify ends there, too") {
    RegistryFixture registry;
    const Form form = Form::of(WheelWriter("six", "1.16.0"));
    REQUIRE(registry.send(form).status == 200);
    const auto row = registry.cli.file("main", form.filename).value().value();
    REQUIRE(base::remove_file(registry.store.path_of(row.sha256)));
    REQUIRE(registry.cli.set_file_state(
        {"main", form.filename}, catalog::FileState::quarantined,
        {"verify", std::string(lifecycle::verify_reason) + row.sha256 + " are missing",
         registry.clock.now()}));
    registry.token = registry.add_token({"other"}, {"*"}, "of the other");
    const auto done = registry.send(registry.head("other"), form.body());
    CHECK(done.status == 200);
    CHECK(done.done.serial == registry.cli.last_serial().value());
    CHECK(registry.cli.file("main", form.filename).value()->state == catalog::FileState::active);
}

TEST_CASE("a slow round ends with the server, and the next one continues it") {
    RegistryFixture registry;
    registry.config.scrub_mib_per_s = 1;
    for (int number = 0; number < 6; ++number)
        REQUIRE(
            registry.store.store_bytes(std::string(2 << 20, static_cast<char>('a' + number))).has_value());
    {
        const registry::Scrub scrub(registry.config, registry.databases, registry.store, registry.pages,
                                    always, {.first_ms = 0, .pause_ms = 1});
        CHECK(test_support::becomes_true(
            [&] { return std::filesystem::exists(registry.config.store / "scrub.json"); }));
    }
    // The round would take twelve seconds.
    CHECK(lifecycle::last_finished(registry.config.store / "scrub.json") == 0);
    registry.config.scrub_mib_per_s = 100'000;
    const registry::Scrub scrub(registry.config, registry.databases, registry.store, registry.pages, always,
                                {.first_ms = 0, .pause_ms = 3'600'000});
    CHECK(test_support::becomes_true([&] { return scrub.seen().rounds == 1; }));
    CHECK(scrub.seen().blobs == 6);  // counted over both runs, each blob once
}

TEST_CASE("a rate of 0 reads nothing") {
    RegistryFixture registry;
    registry.config.scrub_mib_per_s = 0;
    REQUIRE(registry.send(Form::of(WheelWriter("six", "1.16.0"))).status == 200);
    const registry::Scrub scrub(registry.config, registry.databases, registry.store, registry.pages, always,
                                {.first_ms = 0, .pause_ms = 1});
    registry::RegistryConfig with_rate = registry.config;
    with_rate.scrub_mib_per_s = 1'000;
    const registry::Scrub other(with_rate, registry.databases, registry.store, registry.pages, always,
                                {.first_ms = 0, .pause_ms = 1});
    CHECK(test_support::becomes_true([&] { return other.seen().rounds > 1; }));
    CHECK(scrub.seen().rounds == 0);
    CHECK(scrub.seen().blobs == 0);
}

TEST_CASE("of several nodes only the one whose round it is reads") {
    RegistryFixture registry;
    registry.config.scrub_mib_per_s = 1'000;
    REQUIRE(registry.send(Form::of(WheelWriter("six", "1.16.0"))).status == 200);
    std::atomic<int> asked = 0;
    const registry::Scrub other(registry.config, registry.databases, registry.store, registry.pages,
                                [&] {
                                    ++asked;
                                    return false;
                                },
                                {.first_ms = 0, .pause_ms = 1});
    CHECK(test_support::becomes_true([&] { return asked > 2; }));
    CHECK(other.seen().rounds == 0);
}
