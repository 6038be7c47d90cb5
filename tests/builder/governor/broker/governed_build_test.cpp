// The broker's side of the protocol, over socket pairs. tests/system/governor_*.py have real compiles.
#include "builder/governor/broker/governed_build.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "builder/governor/launch/message.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "tests/builder/governor/fake_root.hpp"

namespace wheelyard::governor {
namespace {

BrokerPlan plan_of(const base::TempDir& folder, unsigned cores) {
    BrokerPlan plan;
    plan.json = folder.path() / "report.json";
    plan.cores = cores;
    plan.quiet = true;
    return plan;
}

struct Build {
    base::TempDir folder = base::TempDir::make("governed-build").value();
    BrokerPlan plan;
    CompileGroups groups;
    GovernedBuild build;

    explicit Build(unsigned cores = 2, const std::string& root = {})
        : plan(plan_of(folder, cores)), build(plan, groups, root) {}

    // The launcher's end of a new connection.
    base::Fd connect(TryId id) {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
        build.on_connect(id, base::Fd(ends[0]), ::getsid(0));
        return base::Fd(ends[1]);
    }
    void send(TryId id, const base::Fd& launcher, const std::vector<std::string>& message) {
        REQUIRE(send_message(launcher.get(), message));
        build.on_message(id);
    }
    void ask(TryId id, const base::Fd& launcher) {
        send(id, launcher, {"ask", "source" + std::to_string(id) + ".c", "-O2", "/usr/bin/cc", "c", "", "1"});
    }
    // Whether the report of the build has this member.
    bool reports(const std::string& member) {
        REQUIRE(build.finish() == 0);
        return base::read_file(plan.json, 1 << 20)->find(member) != std::string::npos;
    }
};

using Message = std::vector<std::string>;

}  // namespace

TEST_CASE("a compile starts after it asked, and is counted when it has ended") {
    Build build;
    const base::Fd launcher = build.connect(10);
    build.build.start_what_fits();
    CHECK_FALSE(build.build.is_busy());
    build.ask(10, launcher);
    build.build.start_what_fits();
    CHECK(receive_message(launcher.get(), true) == Message{"run", ""});
    CHECK(build.build.is_busy());
    build.send(10, launcher, {"ended", "0", "1000", "0", "1"});
    CHECK_FALSE(build.build.is_busy());
    CHECK(build.reports("\"compiles\": 1"));
    CHECK(build.reports("\"cache_hits\": 0"));
}

TEST_CASE("what a compiler cache had is no compile, whether or not the broker was asked") {
    Build build;
    const base::Fd asked = build.connect(10), silent = build.connect(11);
    build.ask(10, asked);
    build.build.start_what_fits();
    build.send(10, asked, {"ended", "0", "1000", "0", "0"});
    build.send(11, silent, {"hit"});
    CHECK(build.reports("\"compiles\": 0"));
    CHECK(build.reports("\"cache_hits\": 2"));
}

TEST_CASE("without a number of cores, a build has those that it may use, and as many compiles at once") {
    Build build(0);
    const unsigned cores = LimitReader("", 0, {}).cores();
    CHECK(build.reports("\"cores\": " + std::to_string(cores)));
    const base::Fd first = build.connect(10), second = build.connect(11);
    build.ask(10, first);
    build.ask(11, second);
    build.build.start_what_fits();
    CHECK(build.reports("\"max_running\": " + std::to_string(cores > 1 ? 2 : 1)));
}

TEST_CASE("a message that is not of the protocol ends the connection, and what it held is free") {
    for (const Message& wrong :
         {Message{"nonsense"}, Message{"started"}, Message{"ended", "0"}, Message{"ask", "a.c"}}) {
        Build build;
        const base::Fd launcher = build.connect(10);
        build.ask(10, launcher);
        build.build.start_what_fits();
        REQUIRE(receive_message(launcher.get(), true) == Message{"run", ""});
        build.send(10, launcher, wrong);
        CHECK(receive_message(launcher.get(), true).empty());
        CHECK_FALSE(build.build.is_busy());
        CHECK(build.reports("\"lost\": 1"));
    }
}

TEST_CASE("after a stop no compile starts, and who waits or comes later is asked to end") {
    Build build;
    const base::Fd before = build.connect(10), after = build.connect(11);
    build.ask(10, before);
    build.build.stop();
    build.ask(11, after);
    build.build.start_what_fits();
    CHECK(receive_message(before.get(), true) == Message{"quit"});
    CHECK(receive_message(after.get(), true) == Message{"quit"});
    CHECK_FALSE(build.build.is_busy());
}

TEST_CASE("a compile that fails by itself is not tried again") {
    Build build;
    const base::Fd launcher = build.connect(10);
    build.ask(10, launcher);
    build.build.start_what_fits();
    REQUIRE(receive_message(launcher.get(), true) == Message{"run", ""});
    build.send(10, launcher, {"ended", "256", "1000", "0", "1"});
    CHECK(receive_message(launcher.get(), true) == Message{"done"});
    CHECK(build.reports("\"failed\": 1"));
}

TEST_CASE("a compile that was killed without a sign of pressure is tried once more, alone") {
    Build build;
    const base::Fd launcher = build.connect(10);
    build.ask(10, launcher);
    for (const Message& answer : {Message{"again"}, Message{"done"}}) {
        build.build.start_what_fits();
        REQUIRE(receive_message(launcher.get(), true) == Message{"run", ""});
        build.send(10, launcher, {"ended", "9", "1000", "1", ""});
        CHECK(receive_message(launcher.get(), true) == answer);
    }
    CHECK(build.reports("\"unexplained\": 1"));
}

TEST_CASE("a compile that fails while the kernel kills for memory is repeated alone, whatever it printed") {
    const FakeRoot root;
    Build build(2, root.path());
    const base::Fd killed = build.connect(10), other = build.connect(11);
    build.ask(10, killed);
    build.ask(11, other);
    build.build.start_what_fits();
    for (const base::Fd* launcher : {&killed, &other})
        REQUIRE(receive_message(launcher->get(), true) == Message{"run", ""});
    root.put("/proc/vmstat", "oom_kill 4\n");
    build.send(10, killed, {"ended", "256", "1000", "0", "1"});  // exit status 1, and no word of a kill
    CHECK(receive_message(killed.get(), true) == Message{"again"});
    build.build.start_what_fits();
    CHECK(receive_message(killed.get(), false).empty());  // alone: it waits for the other
    build.send(11, other, {"ended", "0", "1000", "0", "1"});
    build.build.start_what_fits();
    REQUIRE(receive_message(killed.get(), true) == Message{"run", ""});
    build.send(10, killed,
               {"ended", "256", "1000", "0", "1"});  // the kernel killed nothing more: its own error
    CHECK(receive_message(killed.get(), true) == Message{"done"});
    CHECK(build.reports("\"unexplained\": 1"));
}

TEST_CASE(
    "a compile that fails alone while the kernel kills for memory was killed; one that began later was not") {
    const FakeRoot root;
    Build build(1, root.path());
    const base::Fd launcher = build.connect(10);
    build.ask(10, launcher);
    build.build.start_what_fits();
    REQUIRE(receive_message(launcher.get(), true) == Message{"run", ""});
    root.put("/proc/vmstat", "oom_kill 4\n");
    build.send(10, launcher, {"ended", "256", "1000", "0", "1"});
    CHECK(receive_message(launcher.get(), true) == Message{"again"});
    build.build.start_what_fits();
    REQUIRE(receive_message(launcher.get(), true) == Message{"run", ""});
    build.send(10, launcher, {"ended", "256", "1000", "0", "1"});
    CHECK(receive_message(launcher.get(), true) == Message{"done"});
    CHECK(build.reports("\"oom_kills\": 1"));
    CHECK(build.reports("\"unexplained\": 0"));
}

}  // namespace wheelyard::governor
