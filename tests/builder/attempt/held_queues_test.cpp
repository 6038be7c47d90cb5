// Which job probes a queue that refuses, and when.
#include "builder/attempt/held_queues.hpp"

#include <doctest/doctest.h>

#include "builder/attempt/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

namespace wheelyard::builder {
namespace {

constexpr base::UnixMicros began = 1'790'000'000'000'000;

struct Scene {
    base::TempDir folder = *base::TempDir::make("held");
    HeldQueues held = HeldQueues::read(folder.path());
};

TEST_CASE("a refusal holds its queue alone, for a wait that grows; the state of both is on disk") {
    Scene scene;
    CHECK(scene.held.may_submit("main", "w1", began));
    CHECK(scene.held.refuse("main", "w1", "in maintenance", began).value());
    CHECK_FALSE(scene.held.may_submit("main", "w1", began));
    CHECK(scene.held.may_submit("gpu", "w1", began));
    CHECK(scene.held.may_submit("main", "w1", began + 2 * wait_first_ms * 1000));
    base::UnixMicros last_wait = 0;
    for (int tries = 0; tries < 5; ++tries) {
        const base::UnixMicros now = scene.held.find("main")->not_before;
        CHECK_FALSE(scene.held.refuse("main", "w1", "in maintenance", now).value());
        const base::UnixMicros wait = scene.held.find("main")->not_before - now;
        CHECK(wait > last_wait);
        CHECK(wait <= max_wait_ms * 1250);
        last_wait = wait;
    }
    CHECK(scene.held.refuse("main", "w1", "no free connections", began).value());  // a new reason

    const HeldQueues again = HeldQueues::read(scene.folder.path());
    REQUIRE(again.find("main") != nullptr);
    CHECK(again.find("main")->reason == "no free connections");
    CHECK(again.find("main")->since == began);
    CHECK(again.find("main")->tries == 7);
    CHECK(scene.held.accept("main").has_value());
    CHECK(HeldQueues::read(scene.folder.path()).list().empty());
    CHECK_FALSE(std::filesystem::exists(scene.folder.path() / "held_queues.json"));
}

TEST_CASE("the probe is the attempt whose refusal is longest ago, and no other submits") {
    Scene scene;
    const std::vector<std::string> waiting = {"w1", "w2", "w3"};
    const base::UnixMicros late = began + max_wait_ms * 2000;
    const auto probe = [&] {
        scene.held.choose_probe("main", waiting);
        std::string chosen;
        for (const auto& attempt : waiting) {
            if (scene.held.may_submit("main", attempt, late)) chosen += attempt;
        }
        return chosen;
    };
    CHECK(scene.held.refuse("main", "w1", "no", began));
    CHECK(probe() == "w2");
    CHECK(scene.held.refuse("main", "w2", "no", began));
    CHECK(probe() == "w3");
    CHECK(scene.held.refuse("main", "w3", "no", began));
    CHECK(probe() == "w1");
    scene.held.choose_probe("main", {});  // nothing waits: whoever comes first
    CHECK(scene.held.may_submit("main", "w9", late));
}

TEST_CASE("a queue without a name is the default one, and a damaged file holds nothing") {
    Scene scene;
    CHECK(scene.held.refuse("", "w1", "no", began));
    REQUIRE(HeldQueues::read(scene.folder.path()).find("") != nullptr);
    CHECK(describe(*scene.held.find("")).starts_with("The default queue takes no jobs since 2026-"));
    for (const char* text :
         {"", "{", "{\"format\":\"wheelyard.held_queues/2\",\"queues\":[{\"queue\":\"main\"}]}"}) {
        REQUIRE(base::replace_file(scene.folder.path() / "held_queues.json", text));
        CHECK(HeldQueues::read(scene.folder.path()).list().empty());
    }
}

}  // namespace
}  // namespace wheelyard::builder
