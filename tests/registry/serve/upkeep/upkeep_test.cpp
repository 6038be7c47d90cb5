// What `serve` looks after: a commit that cannot be made is seen, the reserve comes back, usage is counted.
#include "registry/serve/upkeep/upkeep.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/files/fd.hpp"
#include "lib/store/engine/sqlite/sqlite.hpp"
#include "tests/registry/upload_fixture.hpp"
#include "tests/support/becomes_true.hpp"

using namespace wheelyard;
using test_support::Form;
using test_support::RegistryFixture;
using test_support::WheelWriter;

namespace {

struct UpkeepFixture : RegistryFixture {
    UpkeepFixture() { config.min_free_bytes = base::mib; }
    std::unique_ptr<tasks::TaskStore> tasks = databases.tasks({}, clock).value();
};

// A process that may read the file holds a read lock on SQLite's write lock (byte 120 of the -shm file).
pid_t lock_from_outside(const std::filesystem::path& shm) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    const int file = ::open(shm.c_str(), O_RDONLY);
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = 120;
    lock.l_len = 1;
    if (file < 0 || ::fcntl(file, F_SETLKW, &lock) != 0) ::_exit(1);  // waits for a commit
    ::pause();
    ::_exit(0);
}

}  // namespace

TEST_CASE("a lock that stops every commit is seen without an upload, and so is its end") {
    UpkeepFixture registry;
    REQUIRE(registry.send(Form::of(WheelWriter("six", "1.16.0"))).status == 200);
    const registry::Upkeep upkeep(registry.config, registry.writer, *registry.tasks, 20);
    CHECK(upkeep.seen().write_failure.empty());
    for (const auto& [database, failure] :
         {std::pair{registry.config.store / "catalog.sqlite", "the catalog cannot be written"},
          std::pair{registry.config.store / "tasks.sqlite", "the tasks cannot be written"}}) {
        CAPTURE(database.string());
        const pid_t child = lock_from_outside(database.string() + "-shm");
        CHECK(test_support::becomes_true([&] { return upkeep.seen().write_failure.starts_with(failure); }));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        CHECK(test_support::becomes_true([&] { return upkeep.seen().write_failure.empty(); }));
    }
}

TEST_CASE("a trial write is a commit that changes nothing") {
    RegistryFixture registry;
    REQUIRE(registry.send(Form::of(WheelWriter("six", "1.16.0"))).status == 200);
    const auto beside =
        sqlite::Database::open(registry.config.store / "catalog.sqlite", sqlite::Database::Mode::read_only)
            .value();
    const auto version = beside.integer("PRAGMA data_version").value();
    const auto changes = registry.cli.change_count().value();
    REQUIRE(registry.writer.run([](catalog::Catalog& catalog) { return catalog.try_write(); }).has_value());
    CHECK(beside.integer("PRAGMA data_version").value() != version);
    CHECK(registry.cli.change_count().value() == changes);
    CHECK(registry.cli.last_serial().value() == 1);
    CHECK(registry.cli.faults().value().empty());
}

TEST_CASE("the reserve is there from the start and comes back after it was given") {
    UpkeepFixture registry;
    const registry::Upkeep upkeep(registry.config, registry.writer, *registry.tasks, 20);
    CHECK(upkeep.seen().has_reserve);
    REQUIRE(registry.config.room().give_back());
    CHECK(test_support::becomes_true([&] { return registry.config.room().has_reserve(); }));
}

TEST_CASE("usage is counted for indexes with quotas, in all and of the token with the most bytes") {
    UpkeepFixture registry;
    registry.config.indexes.front().token_quota.files = 10;
    const WheelWriter wheel("six", "1.16.0");
    REQUIRE(registry.send(Form::of(wheel)).status == 200);
    const registry::Upkeep upkeep(registry.config, registry.writer, *registry.tasks);
    const auto usage = upkeep.seen().usage;
    REQUIRE(usage.size() == 1);
    CHECK(usage[0].index == "main");
    CHECK(usage[0].all.files == 1);
    CHECK(usage[0].all.bytes == wheel.bytes().size());
    CHECK(usage[0].top_token.uploaded_by == "tester");
    CHECK(usage[0].top_token.files == 1);
}
