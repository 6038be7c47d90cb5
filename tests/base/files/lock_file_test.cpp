// Locks: acquired, released, taken over from dead holders, never held twice.
#include "lib/base/files/lock_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard::base;

namespace {

constexpr std::int64_t stale_after_ms = 60'000;
constexpr std::int64_t hour_ms = 3'600'000;
constexpr UnixMicros start = 1'700'000'000'000'000;
constexpr UnixMicros day = 86'400'000'000;

struct Folder {
    TempDir dir = TempDir::make("lock-test").value();
    fs::path lock = dir.path() / "agent.lock";
    [[nodiscard]] std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()));
    }
};

std::string claim_of(const std::string& host, std::int64_t pid, std::uint64_t process_start,
                     UnixMicros refreshed) {
    return "wheelyard-lock 1\nhost " + host + "\npid " + std::to_string(pid) + "\nprocess_start " +
           std::to_string(process_start) + "\nrefreshed " + render_rfc3339(refreshed) + "\ntoken deadbeef\n";
}

// A pid that no process has: that of a reaped child.
std::int64_t dead_pid() {
    const auto pid = ::fork();
    if (pid == 0) ::_exit(0);
    ::waitpid(pid, nullptr, 0);
    return pid;
}

// Uses the real clock, like the file system: a few seconds of a slow machine do not matter.
void set_age(const fs::path& file, std::chrono::minutes age) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - age);
}

}  // namespace

TEST_CASE("a claimant whose claim was swept as that of a dead process is advised to try again") {
    const Folder folder;
    // The claimant reads the lock from this FIFO; its claim is removed during the read.
    REQUIRE(::mkfifo(folder.lock.c_str(), 0644) == 0);
    const std::string dead = claim_of(host_name(), dead_pid(), 1, start);
    std::thread sweeper([&] {
        const Fd lock(::open(folder.lock.c_str(), O_WRONLY | O_CLOEXEC));
        for (const auto& entry : fs::directory_iterator(folder.dir.path())) {
            if (entry.path().filename().native().starts_with(".agent.lock.claim."))
                CHECK(remove_file(entry.path()));
        }
        CHECK(write_all(lock.get(), dead));
    });
    const auto lock = LockFile::acquire(folder.lock, ManualClock(start), stale_after_ms);
    sweeper.join();
    REQUIRE_FALSE(lock);
    CHECK(lock.error().code == "lock.held");
    CHECK(lock.error().kind == ErrorKind::busy);
    CHECK(lock.error().may_pass());
    CHECK(lock.error().advice == "try again later");
}

TEST_CASE("a lock is held once, even within one process, and again after its release") {
    const Folder folder;
    const ManualClock clock(start);
    {
        const auto lock = LockFile::acquire(folder.lock, clock, stale_after_ms);
        REQUIRE(lock);
        const auto second = LockFile::acquire(folder.lock, clock, stale_after_ms);
        REQUIRE_FALSE(second);
        CHECK(second.error().code == "lock.held");
        CHECK(second.error().sentence.find(host_name()) != std::string::npos);
        CHECK(second.error().sentence.find(std::to_string(::getpid())) != std::string::npos);
        CHECK(second.error().sentence.find("2023-11-14T22:13:20") != std::string::npos);
    }
    CHECK(folder.entries() == 0);
    CHECK(LockFile::acquire(folder.lock, clock, stale_after_ms));
    CHECK(folder.entries() == 0);
}

TEST_CASE("a lock whose release failed does not count as held by this process") {
    const Folder folder;
    const ManualClock clock(start);
    std::string left;
    {
        const auto lock = LockFile::acquire(folder.lock, clock, stale_after_ms);
        REQUIRE(lock);
        left = read_file(folder.lock, 4096).value();
    }
    REQUIRE(replace_file(folder.lock, left));  // the state after unlink(2) failed with EIO
    const auto again = LockFile::acquire(folder.lock, clock, stale_after_ms);
    REQUIRE(again);
    CHECK_FALSE(LockFile::acquire(folder.lock, clock, stale_after_ms));
}

TEST_CASE("moving a lock moves the responsibility to release it") {
    const Folder folder;
    const ManualClock clock(start);
    auto first = LockFile::acquire(folder.lock, clock, stale_after_ms).value();
    {
        const LockFile second(std::move(first));
        CHECK(fs::exists(folder.lock));
    }
    CHECK_FALSE(fs::exists(folder.lock));
}

TEST_CASE("a live holder on this host is valid however old its timestamp is") {
    const Folder folder;
    ManualClock clock(start);
    const auto lock = LockFile::acquire(folder.lock, clock, stale_after_ms);
    REQUIRE(lock);
    clock.sleep_ms(1000 * stale_after_ms);
    CHECK(LockFile::acquire(folder.lock, clock, stale_after_ms).error().code == "lock.held");
}

TEST_CASE("a holder of another user whom /proc does not show is alive until the lock is stale") {
    if (::geteuid() != 0) {
        MESSAGE("not root: no user can be hidden from another one");
        return;
    }
    const Folder folder;
    REQUIRE(::chmod(folder.dir.path().c_str(), 0777) == 0);
    const SystemClock clock;
    const auto held = LockFile::acquire(folder.lock, clock, stale_after_ms);
    REQUIRE(held);
    REQUIRE(::chmod(folder.lock.c_str(), 0644) == 0);
    constexpr int taken = 0, refused = 1, cannot = 2;
    const auto try_as_somebody = [&] {
        const auto child = ::fork();
        if (child == 0) {
            constexpr uid_t somebody = 65534;
            const bool is_apart = ::unshare(CLONE_NEWNS) == 0 &&
                                  ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                                  ::mount("proc", "/proc", "proc", 0, "hidepid=2") == 0 &&
                                  ::setgroups(0, nullptr) == 0 &&
                                  ::setresgid(somebody, somebody, somebody) == 0 &&
                                  ::setresuid(somebody, somebody, somebody) == 0;
            if (!is_apart || process_start_time(::getppid()) != 0) ::_exit(cannot);
            const auto lock = LockFile::acquire(folder.lock, clock, stale_after_ms);
            ::_exit(lock ? taken : refused);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    };
    const int first = try_as_somebody();
    if (first == cannot) {
        MESSAGE("no mount namespace can be made here");
        return;
    }
    CHECK(first == refused);
    set_age(folder.lock, std::chrono::minutes(10));
    CHECK(try_as_somebody() == taken);
}

TEST_CASE("the lock of a killed process is taken over without leftover files") {
    const Folder folder;
    const ManualClock clock(start);
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const auto child = ::fork();
    if (child == 0) {
        const auto lock = LockFile::acquire(folder.lock, clock, stale_after_ms);
        const char answer = lock ? 'y' : 'n';
        static_cast<void>(!::write(ready[1], &answer, 1));
        for (;;)
            ::pause();
    }
    char answer = 0;
    REQUIRE(::read(ready[0], &answer, 1) == 1);
    REQUIRE(answer == 'y');
    CHECK(LockFile::acquire(folder.lock, clock, stale_after_ms).error().code == "lock.held");
    REQUIRE(::kill(child, SIGKILL) == 0);
    siginfo_t info{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
    {
        // Dead but not yet reaped: a zombie holds no lock.
        CHECK(LockFile::acquire(folder.lock, clock, stale_after_ms));
    }
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    CHECK(folder.entries() == 0);
}

TEST_CASE("a process that reuses the holder's pid is not the holder") {
    const Folder folder;
    const ManualClock clock(start);
    const auto self = static_cast<std::int64_t>(::getpid());
    REQUIRE(replace_file(folder.lock, claim_of(host_name(), self, process_start_time(self) + 1, start)));
    CHECK(LockFile::acquire(folder.lock, clock, stale_after_ms));
}

TEST_CASE(
    "a lock of another host is valid until it is stale on the file system's clock, whatever its own clock "
    "says") {
    struct Row {
        std::chrono::minutes age;
        bool is_held;
    };
    constexpr std::chrono::minutes year = std::chrono::hours(365 * 24);
    for (const Row row : {Row{std::chrono::minutes(0), true}, Row{std::chrono::minutes(30), true},
                          Row{std::chrono::minutes(61), false}, Row{year, false},
                          Row{std::chrono::minutes(-30), true}, Row{std::chrono::minutes(-61), false},
                          Row{-year, false}}) {  // before the file server's clock was set back
        for (const UnixMicros refreshed : {start - 365 * day, start, start + 365 * day}) {
            CAPTURE(row.age.count());
            CAPTURE(refreshed);
            const Folder folder;
            REQUIRE(replace_file(folder.lock, claim_of("other-host", 1, 1, refreshed)));
            set_age(folder.lock, row.age);
            const auto lock = LockFile::acquire(folder.lock, ManualClock(start), hour_ms);
            REQUIRE(lock.has_value() != row.is_held);
            if (!lock) CHECK(lock.error().code == "lock.held");
        }
    }
}

TEST_CASE("refreshing updates the timestamp and the file's modification time") {
    const Folder folder;
    ManualClock clock(start);
    auto lock = LockFile::acquire(folder.lock, clock, stale_after_ms).value();
    set_age(folder.lock, std::chrono::hours(2));
    const auto before = fs::last_write_time(folder.lock);
    clock.sleep_ms(5'000);
    REQUIRE(lock.refresh(clock));
    CHECK(read_file(folder.lock, 4096).value().find(render_rfc3339(clock.now())) != std::string::npos);
    CHECK(fs::last_write_time(folder.lock) - before > std::chrono::hours(1));
}

TEST_CASE("a lost lock is reported at the next refresh, which leaves the new holder's lock alone") {
    const Folder folder;
    const ManualClock clock(start);
    {
        auto lock = LockFile::acquire(folder.lock, clock, stale_after_ms).value();
        REQUIRE(replace_file(folder.lock, claim_of("other-host", 1, 1, start)));
        CHECK(lock.refresh(clock).error().code == "lock.lost");
    }
    CHECK(fs::exists(folder.lock));
    REQUIRE(remove_file(folder.lock));
    auto lock = LockFile::acquire(folder.lock, clock, stale_after_ms).value();
    REQUIRE(remove_file(folder.lock));
    CHECK(lock.refresh(clock).error().code == "lock.lost");
}

TEST_CASE("the takeover claim of a process that died during a takeover is taken over") {
    const Folder folder;
    const ManualClock clock(start);
    REQUIRE(replace_file(folder.lock, claim_of(host_name(), dead_pid(), 1, start)));
    auto takeover_claim = claim_of(host_name(), dead_pid(), 1, start);
    takeover_claim.replace(takeover_claim.find("deadbeef"), 8, "cafecafe");
    REQUIRE(replace_file(folder.dir.path() / ".agent.lock.takeover.deadbeef", takeover_claim));
    CHECK(LockFile::acquire(folder.lock, clock, stale_after_ms));
    CHECK(folder.entries() == 0);
}

TEST_CASE("a live takeover claim is respected, one of another host until it is stale") {
    const Folder folder;
    const ManualClock clock(start);
    REQUIRE(replace_file(folder.lock, claim_of(host_name(), dead_pid(), 1, start)));
    const fs::path takeover_claim = folder.dir.path() / ".agent.lock.takeover.deadbeef";
    auto its_claim = claim_of("other-host", 1, 1, start);
    its_claim.replace(its_claim.find("deadbeef"), 8, "cafecafe");
    REQUIRE(replace_file(takeover_claim, its_claim));
    set_age(takeover_claim, std::chrono::minutes(30));
    CHECK(LockFile::acquire(folder.lock, clock, hour_ms).error().code == "lock.held");
    CHECK(read_file(folder.lock, 4096).value().find("deadbeef") != std::string::npos);
    set_age(takeover_claim, std::chrono::minutes(61));
    CHECK(LockFile::acquire(folder.lock, clock, hour_ms));
    CHECK(folder.entries() == 0);
}

TEST_CASE("a file that is not a lock is never removed") {
    const Folder folder;
    const ManualClock clock(start);
    REQUIRE(replace_file(folder.lock, "something else\n"));
    CHECK(LockFile::acquire(folder.lock, clock, stale_after_ms).error().code == "lock.broken");
    CHECK(fs::exists(folder.lock));
    CHECK(LockFile::acquire(folder.dir.path() / "absent/lock", clock, stale_after_ms).error().code ==
          "os.ENOENT");
}

TEST_CASE(
    "the next holder removes claims and takeover claims of killed processes and keeps those of live ones") {
    const Folder folder;
    const ManualClock clock(start);
    const auto parent = static_cast<std::int64_t>(::getppid());
    constexpr std::chrono::minutes old{61};
    const struct {
        const char* name;
        std::string text;
        bool stays;
        std::chrono::minutes age = {};
    } claims[]{
        {".agent.lock.claim.dead", claim_of(host_name(), dead_pid(), 1, start), false},
        {".agent.lock.claim.pid-again", claim_of(host_name(), parent, process_start_time(parent) + 1, start),
         false},
        {".agent.lock.claim.far-stale", claim_of("other-host", 1, 1, start), false, old},
        {".agent.lock.claim.half-old", "wheelyard-lock 1\nhost", false, old},
        {".agent.lock.claim.alive", claim_of(host_name(), parent, process_start_time(parent), start), true,
         old},
        {".agent.lock.claim.far-fresh", claim_of("other-host", 1, 1, start), true},
        {".agent.lock.claim.half-new", "", true},
        {".other.lock.claim.dead", claim_of(host_name(), dead_pid(), 1, start), true},
        {".agent.lock.takeover.dead", claim_of(host_name(), dead_pid(), 1, start), false},
        {".agent.lock.takeover.far-stale", claim_of("other-host", 1, 1, start), false, old},
        {".agent.lock.takeover.far-fresh", claim_of("other-host", 1, 1, start), true},
        {".agent.lock.takeover.alive", claim_of(host_name(), parent, process_start_time(parent), start), true,
         old},
        {".other.lock.takeover.dead", claim_of(host_name(), dead_pid(), 1, start), true},
    };
    for (const auto& claim : claims) {
        REQUIRE(replace_file(folder.dir.path() / claim.name, claim.text));
        set_age(folder.dir.path() / claim.name, claim.age);
    }
    const auto check = [&](bool swept) {
        for (const auto& claim : claims) {
            CAPTURE(claim.name);
            CHECK(fs::exists(folder.dir.path() / claim.name) == (claim.stays || !swept));
        }
    };
    REQUIRE(replace_file(folder.lock, claim_of("other-host", 1, 1, start)));
    CHECK_FALSE(LockFile::acquire(folder.lock, clock, hour_ms));
    check(false);  // only the holder removes files
    SUBCASE("a free lock") {
        REQUIRE(remove_file(folder.lock));
        CHECK(LockFile::acquire(folder.lock, clock, hour_ms));
    }
    SUBCASE("a dead holder's lock") {
        REQUIRE(replace_file(folder.lock, claim_of(host_name(), dead_pid(), 1, start)));
        CHECK(LockFile::acquire(folder.lock, clock, hour_ms));
    }
    check(true);
}

TEST_CASE("of many claimants of a dead holder's lock, one at a time acquires it") {
    const Folder folder;
    const ManualClock clock(start);
    const auto dead = dead_pid();
    constexpr int rounds = 20, claimants = 6;
    for (int round = 0; round < rounds; ++round) {
        REQUIRE(replace_file(folder.lock, claim_of(host_name(), dead, 1, start)));
        std::atomic<int> holders = 0, acquired = 0, most = 0;
        std::vector<std::thread> threads;
        for (int i = 0; i < claimants; ++i) {
            threads.emplace_back([&] {
                const auto lock = LockFile::acquire(folder.lock, clock, stale_after_ms);
                if (!lock) return;
                const int now = ++holders;
                if (now > most) most = now;
                ++acquired;
                std::this_thread::yield();
                --holders;
            });
        }
        for (auto& thread : threads)
            thread.join();
        CHECK(most == 1);
        CHECK(acquired >= 1);
        CHECK(folder.entries() == 0);
    }
}

TEST_CASE("a process has a start time while it runs") {
    CHECK(process_start_time(::getpid()) > 0);
    CHECK(process_start_time(dead_pid()) == 0);
    CHECK(process_start_time(-1) == 0);
    CHECK_FALSE(host_name().empty());
}
