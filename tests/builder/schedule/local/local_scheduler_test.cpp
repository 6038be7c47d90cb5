// The state of a local job for every situation that its claim can be in.
#include "builder/schedule/local/local_scheduler.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "builder/attempt/limits.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

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

// Whether the process ends within a minute. A zombie counts as ended.
bool ends(std::int64_t pid) {
    base::SystemClock clock;
    for (int look = 0; look < 600; ++look) {
        const auto words = base::read_file("/proc/" + std::to_string(pid) + "/cmdline", 4096);
        if (!words || words->empty()) return true;
        clock.sleep_ms(100);
    }
    return false;
}

// Starts a job whose build leaves a daemon: a process in a session of its own whose parents have ended. Its pid.
std::int64_t start_with_daemon(Scene& scene, const std::string& rest) {
    testing::write(
        scene.attempt.script(),
        "#!/bin/bash\nmkdir claim\n"
        "printf '{\"host\":\"%s\",\"boot\":\"%s\",\"pid\":%d,\"start\":%d}' \"$(uname -n)\" "
        "\"$(cat /proc/sys/kernel/random/boot_id)\" $$ \"$(cut -d ' ' -f 22 /proc/$$/stat)\" > claim/owner\n"
        "setsid --fork bash -c 'echo $$ > daemon.new; mv daemon.new daemon; exec sleep 10000'\n"
        "until test -e daemon; do sleep 0.05; done\n" +
            rest);
    testing::must(scene.scheduler.submit({"w1", scene.attempt, base::current_environment()}));
    for (int look = 0; look < 600 && !fs::exists(scene.attempt.root / "daemon"); ++look)
        scene.clock.sleep_ms(100);
    const auto pid = base::parse_decimal(base::trim(testing::read(scene.attempt.root / "daemon")));
    REQUIRE(pid.has_value());
    return static_cast<std::int64_t>(*pid);
}

TEST_CASE("a daemon that a build left behind ends with the job") {
    Scene scene;
    SUBCASE("the job ends by itself") {
        CHECK(ends(start_with_daemon(scene, "exit 0\n")));
    }
    SUBCASE("the job is cancelled") {
        const std::int64_t daemon = start_with_daemon(scene, "exec sleep 10000\n");
        CHECK(scene.look() == JobState::running);
        testing::must(scene.scheduler.cancel("w1", scene.attempt));
        CHECK(ends(daemon));
        CHECK(scene.look() == JobState::vanished);
    }
}

}  // namespace
}  // namespace wheelyard::builder
