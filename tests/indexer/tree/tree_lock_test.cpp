// The lock of a tree's writer is renewed in time, even if the clock steps back.
#include "indexer/tree/disk.hpp"

#include <doctest/doctest.h>

#include <chrono>

#include "indexer/tree/paths.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;
namespace fs = std::filesystem;

TEST_CASE("a lock is renewed after a quarter of its lifetime, or if the clock has stepped back") {
    constexpr base::UnixMicros noon = 1'790'000'000'000'000;
    constexpr base::UnixMicros quarter = lock_stale_after_ms * 1000 / 4;
    struct Row {
        base::UnixMicros now;
        bool is_renewed;
    };
    for (const Row row :
         {Row{noon, false}, Row{noon + quarter - 1, false}, Row{noon + quarter, true}, Row{noon - 1, true}}) {
        CAPTURE(row.now - noon);
        const auto tree = base::TempDir::make("tree-lock");
        REQUIRE(tree);
        REQUIRE(base::make_directories(state_folder(tree->path())));
        base::ManualClock clock(noon);
        auto lock = TreeLock::acquire(tree->path(), clock);
        REQUIRE(lock);
        const fs::path file = state_folder(tree->path()) / "lock";
        // Other processes check the file's own time (lib/base/files/lock_file.hpp).
        const auto before = fs::file_time_type::clock::now() - std::chrono::hours(1);
        fs::last_write_time(file, before);
        clock.set(row.now);
        REQUIRE(lock->renew());
        CHECK((fs::last_write_time(file) > before + std::chrono::minutes(30)) == row.is_renewed);
    }
}
