// Locks: held, released, taken over from the dead, and never by two at once.
#include "lib/base/lock_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "lib/base/file.hpp"
#include "lib/base/temp_dir.hpp"

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

// A pid that no process has: of a child that is gone and waited for.
std::int64_t dead_pid() {
    const auto pid = ::fork();
    if (pid == 0) ::_exit(0);
    ::waitpid(pid, nullptr, 0);
    return pid;
}

// By the clock of the file system, that is the real one: seconds of a slow machine are nothing to it.
void set_age(const fs::path& file, std::chrono::minutes age) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - age);
}

}  // namespace

TEST_CASE("a claimant whose claim was swept away as that of a dead one is told to try again") {
    const Folder folder;
    // The lock that it finds is read from here, and while it reads its claim goes.
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

TEST_CASE("a lock whose release failed is not held by the process that tried") {
    const Folder folder;
    const ManualClock clock(start);
    std::string left;
    {
        const auto lock = LockFile::acquire(folder.lock, clock, stale_after_ms);
        REQUIRE(lock);
        left = read_file(folder.lock, 4096).value();
    }
    REQUIRE(replace_file(folder.lock, left));  // as an unlink(2) that fails with EIO leaves it
    const auto again = LockFile::acquire(folder.lock, clock, stale_after_ms);
    REQUIRE(again);
    CHECK_FALSE(LockFile::acquire(folder.lock, clock, stale_after_ms));
}

TEST_CASE("moving a lock moves the duty to release it") {
    const Folder folder;
    const ManualClock clock(start);
    auto first = LockFile::acquire(folder.lock, clock, stale_after_ms).value();
    {
        const LockFile second(std::move(first));
        CHECK(fs::exists(folder.lock));
    }
    CHECK_FALSE(fs::exists(folder.lock));
}

TEST_CASE("a living holder on this host is believed however old its stamp is") {
    const Folder folder;
    ManualClock clock(start);
    const auto lock = LockFile::acquire(folder.lock, clock, stale_after_ms);
    REQUIRE(lock);
    clock.sleep_ms(1000 * stale_after_ms);
    CHECK(LockFile::acquire(folder.lock, clock, stale_after_ms).error().code == "lock.held");
}

TEST_CASE("the lock of a killed process is taken over, and nothing is left beside it") {
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
        // Dead, though nobody has waited for it yet: a zombie holds nothing.
        CHECK(LockFile::acquire(folder.lock, clock, stale_after_ms));
    }
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    CHECK(folder.entries() == 0);
}

TEST_CASE("a pid that another process has got since is not the holder") {
    const Folder folder;
    const ManualClock clock(start);
    const auto self = static_cast<std::int64_t>(::getpid());
    REQUIRE(replace_file(folder.lock, claim_of(host_name(), self, process_start_time(self) + 1, start)));
    CHECK(LockFile::acquire(folder.lock, clock, stale_after_ms));
}

TEST_CASE(
    "another host's lock is believed until the file system says that it is stale, whatever its clock says") {
    struct Row {
        std::chrono::minutes age;
        bool is_held;
    };
    constexpr std::chrono::minutes year = std::chrono::hours(365 * 24);
    for (const Row row : {Row{std::chrono::minutes(0), true}, Row{std::chrono::minutes(30), true},
                          Row{std::chrono::minutes(61), false}, Row{year, false},
                          Row{-year, true}}) {  // before the file server's clock stepped back
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

TEST_CASE("refreshing renews the stamp and the file's own time for others to see") {
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

TEST_CASE("who has lost its lock learns it at the next refresh and leaves the new holder's alone") {
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

TEST_CASE("an heir that died while taking over is inherited from") {
    const Folder folder;
    const ManualClock clock(start);
    REQUIRE(replace_file(folder.lock, claim_of(host_name(), dead_pid(), 1, start)));
    auto heir = claim_of(host_name(), dead_pid(), 1, start);
    heir.replace(heir.find("deadbeef"), 8, "cafecafe");
    REQUIRE(replace_file(folder.dir.path() / ".agent.lock.heir.deadbeef", heir));
    CHECK(LockFile::acquire(folder.lock, clock, stale_after_ms));
    CHECK(folder.entries() == 0);
}

TEST_CASE("a living heir is left to finish, one of another host until it is stale") {
    const Folder folder;
    const ManualClock clock(start);
    REQUIRE(replace_file(folder.lock, claim_of(host_name(), dead_pid(), 1, start)));
    const fs::path heir = folder.dir.path() / ".agent.lock.heir.deadbeef";
    auto its_claim = claim_of("other-host", 1, 1, start);
    its_claim.replace(its_claim.find("deadbeef"), 8, "cafecafe");
    REQUIRE(replace_file(heir, its_claim));
    set_age(heir, std::chrono::minutes(30));
    CHECK(LockFile::acquire(folder.lock, clock, hour_ms).error().code == "lock.held");
    CHECK(read_file(folder.lock, 4096).value().find("deadbeef") != std::string::npos);
    set_age(heir, std::chrono::minutes(61));
    CHECK(LockFile::acquire(folder.lock, clock, hour_ms));
    CHECK(folder.entries() == 0);
}

TEST_CASE("a file that is no lock is not thrown away") {
    const Folder folder;
    const ManualClock clock(start);
    REQUIRE(replace_file(folder.lock, "something else\n"));
    CHECK(LockFile::acquire(folder.lock, clock, stale_after_ms).error().code == "lock.broken");
    CHECK(fs::exists(folder.lock));
    CHECK(LockFile::acquire(folder.dir.path() / "absent/lock", clock, stale_after_ms).error().code ==
          "os.ENOENT");
}

TEST_CASE("claims and heirs that were killed go with the next who takes the lock, living ones stay") {
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
        {".agent.lock.heir.dead", claim_of(host_name(), dead_pid(), 1, start), false},
        {".agent.lock.heir.far-stale", claim_of("other-host", 1, 1, start), false, old},
        {".agent.lock.heir.far-fresh", claim_of("other-host", 1, 1, start), true},
        {".agent.lock.heir.alive", claim_of(host_name(), parent, process_start_time(parent), start), true,
         old},
        {".other.lock.heir.dead", claim_of(host_name(), dead_pid(), 1, start), true},
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
    check(false);  // who does not hold the lock takes nothing away
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

TEST_CASE("of many who find a dead holder's lock, one at a time gets it") {
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

TEST_CASE("a process has a start time while it lives") {
    CHECK(process_start_time(::getpid()) > 0);
    CHECK(process_start_time(dead_pid()) == 0);
    CHECK(process_start_time(-1) == 0);
    CHECK_FALSE(host_name().empty());
}
