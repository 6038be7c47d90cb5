// The state of a local job for every situation that its claim can be in.
#include "builder/schedule/local_scheduler.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "builder/attempt/limits.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

std::string boot_id() {
    return std::string(base::trim(testing::read("/proc/sys/kernel/random/boot_id")));
}

std::string owner(const std::string& host, const std::string& boot, std::int64_t pid, std::uint64_t start) {
    return "{\"host\":\"" + host + "\",\"boot\":\"" + boot + "\",\"pid\":" + std::to_string(pid) +
           ",\"start\":" + std::to_string(start) + "}";
}

struct Scene {
    base::TempDir folder = *base::TempDir::make("job");
    base::SystemClock clock;
    LocalScheduler scheduler{clock};
    AttemptFolder attempt{folder.path() / "w1"};
    JobState look() { return scheduler.poll({{"w1", attempt}}).at("w1").state; }
    void own(const std::string& text) const { testing::write(attempt.owner(), text); }
};

TEST_CASE("the state of a job follows from its claim, and is unknown where it cannot be determined") {
    Scene scene;
    const std::uint64_t start = base::process_start_time(::getpid());
    CHECK(scene.look() == JobState::unclaimed);
    testing::must(base::make_directories(scene.attempt.claim()));
    CHECK(scene.look() == JobState::unknown);
    scene.own("{");
    CHECK(scene.look() == JobState::unknown);
    scene.own(owner(base::host_name(), boot_id(), ::getpid(), start));
    CHECK(scene.look() == JobState::running);
    scene.own(
        owner(base::host_name(), boot_id(), ::getpid(), start + 1));  // the pid was given to another process
    CHECK(scene.look() == JobState::vanished);
    scene.own(owner(base::host_name(), "before-the-restart", ::getpid(), start));
    CHECK(scene.look() == JobState::vanished);
    CHECK(scene.scheduler.poll({{"w1", scene.attempt}}).at("w1").end->cause == EndCause::node_failure);
    scene.own(owner("another-login-node", boot_id(), 4711, 1));
    CHECK(scene.look() == JobState::unknown);
}

TEST_CASE("a claim that stays without an owner belongs to a job that died while starting") {
    Scene scene;
    testing::must(base::make_directories(scene.attempt.claim()));
    base::ManualClock later(scene.clock.now() + 2 * claim_grace_ms * 1000);
    LocalScheduler scheduler(later);
    CHECK(scheduler.poll({{"w1", scene.attempt}}).at("w1").state == JobState::vanished);
}

TEST_CASE("cancel kills only processes of this job") {
    Scene scene;
    CHECK(scene.scheduler.cancel("w1", scene.attempt).has_value());  // nothing there
    // A live process with the same pid but another start time. If it were killed, this test would be too.
    scene.own(owner(base::host_name(), boot_id(), ::getsid(0), base::process_start_time(::getsid(0)) + 1));
    CHECK(scene.scheduler.cancel("w1", scene.attempt).has_value());
}

}  // namespace
}  // namespace wheelyard::builder
