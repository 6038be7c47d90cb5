// Commits of other processes beside a server.
#include "registry/serve/other_commits.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "lib/base/files/temp_dir.hpp"
#include "tests/store/catalog/row_fixture.hpp"

using namespace wheelyard;

TEST_CASE("what another process commits is published without a request, and each commit once") {
    const auto folder = base::TempDir::make("commits").value();
    const database::Store store(folder.path());
    const auto other = store.writer().value();
    REQUIRE(other);
    const std::shared_ptr<const catalog::Catalog> reader = store.reader().value();
    std::mutex mutex;
    std::condition_variable ran;
    catalog::Serial visible = -1;
    int runs = 0;
    registry::PublishQueue pages([&](registry::RootPages) -> base::Result<registry::Published> {
        const std::lock_guard lock(mutex);
        visible = reader->last_serial().value();
        ++runs;
        ran.notify_all();
        return registry::Published(visible);
    });
    const auto following = registry::OtherCommits::follow(store, pages, true).value();
    for (int round = 0; round <= 3; ++round) {
        // First the empty catalog, which has pages, too.
        const catalog::Serial committed =
            round == 0 ? 0
                       : other->add_file(catalog::row_of("main", "six", std::to_string(round) + ".0"))
                             .value()
                             .serial;
        std::unique_lock lock(mutex);
        CHECK(ran.wait_for(lock, std::chrono::seconds(30), [&] { return visible >= committed; }));
    }
    const std::lock_guard lock(mutex);
    CHECK(runs == 4);
}
