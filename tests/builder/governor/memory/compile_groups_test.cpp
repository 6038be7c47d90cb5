// Groups in a directory that imitates a cgroup file system; governor_groups_test.py uses real ones.
#include "builder/governor/memory/compile_groups.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "builder/governor/memory/limits.hpp"
#include "lib/base/files/fd.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

namespace wheelyard::governor {
namespace {

namespace fs = std::filesystem;

struct FakeGroups {
    base::TempDir folder = base::TempDir::make("groups").value();
    std::string root = folder.path().string();

    void write(const std::string& path, const std::string& text) const {
        fs::create_directories(fs::path(root + path).parent_path());
        REQUIRE(base::replace_file(root + path, text));
    }
};

TEST_CASE("a group's peak excludes the page cache present at its end") {
    struct Row {
        CgroupUsage usage;
        std::uint64_t used, peak;
    };
    for (const auto& row :
         {Row{{900, 2000, 300}, 600, 1700}, Row{{100, 200, 300}, 0, 0}, Row{{5, 5, 0}, 5, 5}}) {
        CHECK(row.usage.used() == row.used);
        CHECK(row.usage.peak_without_cache() == row.peak);
    }
}

TEST_CASE("a group's use is read from the files of both versions") {
    const FakeGroups fake;
    fake.write("/one/memory.usage_in_bytes", "1000\n");
    fake.write("/one/memory.max_usage_in_bytes", "5000\n");
    fake.write("/one/memory.stat", "inactive_file 1\ntotal_inactive_file 100\ntotal_active_file 200\n");
    fake.write("/two/memory.current", "1000\n");
    fake.write("/two/memory.stat", "inactive_file 100\nactive_file 200\n");
    const auto first = Cgroup{1, "/one"}.usage(fake.root);
    REQUIRE(first);
    CHECK((first->used() == 700 && first->peak_without_cache() == 4700));
    const auto second = Cgroup{2, "/two"}.usage(fake.root);  // Linux before 5.19 has no memory.peak
    REQUIRE(second);
    CHECK((second->used() == 700 && second->peak_without_cache() == 700));
    CHECK_FALSE(Cgroup{2, "/three"}.usage(fake.root));
}

TEST_CASE("no group is made where compiles would escape the limit or cannot join") {
    const FakeGroups fake;
    fake.write("/flat/memory.use_hierarchy", "0\n");
    fake.write("/plain/memory.use_hierarchy", "1\n");
    for (const char* own : {"/flat", "/plain", "/absent"}) {
        const auto groups = CompileGroups::make(fake.root, {{1, own}}, 4711);
        CHECK_MESSAGE(!groups.usable(), own);
        CHECK(!fs::exists(fake.root + own + "/wheelyard-governor.4711"));
    }
    CHECK_FALSE(CompileGroups::make(fake.root, {}, 4711).usable());
}

TEST_CASE("version 2: a group shared with other processes stays unchanged") {
    const FakeGroups fake;
    fake.write("/own/cgroup.procs", "1\n" + std::to_string(::getpid()) + "\n");
    fake.write("/own/cgroup.subtree_control", "\n");
    CHECK_FALSE(CompileGroups::make(fake.root, {{2, "/own"}}, 4711).usable());
    CHECK(base::read_file(fake.root + "/own/cgroup.subtree_control", 100).value() == "\n");
    CHECK(!fs::exists(fake.root + "/own/wheelyard-governor.4711"));
}

TEST_CASE("groups of dead governors are removed; groups of live governors and other directories stay") {
    const FakeGroups fake;
    const std::string mine = "/own/wheelyard-governor." + std::to_string(::getpid());
    // Above the largest number that a process can have (proc(5), pid_max).
    for (const std::string& folder :
         {std::string("/own/wheelyard-governor.4194305/0"), mine + "/0",
          std::string("/own/wheelyard-governor.x/0"), std::string("/own/other/0")})
        fs::create_directories(fake.root + folder);
    remove_stale_groups(fake.root, {{1, "/own"}});
    CHECK(!fs::exists(fake.root + "/own/wheelyard-governor.4194305"));
    CHECK(fs::exists(fake.root + mine + "/0"));
    CHECK(fs::exists(fake.root + "/own/wheelyard-governor.x/0"));
    CHECK(fs::exists(fake.root + "/own/other/0"));
}

TEST_CASE("stale groups in parent groups are removed with their children") {
    const FakeGroups fake;
    const std::string left = "/scope/wheelyard-governor.4194305";
    for (const char* below : {"/build/wheelyard-governor.4194306/0", "/0", "/1"})
        fs::create_directories(fake.root + left + below);
    fs::create_directories(fake.root + "/scope/job");
    remove_stale_groups(fake.root, {{2, "/scope/job"}, {2, "/scope"}, {2, "/absent"}});
    CHECK(!fs::exists(fake.root + left));
    CHECK(fs::exists(fake.root + "/scope/job"));
}

// Uses the kernel's version 2 groups where this process may create some, with or without a memory controller.
TEST_CASE("version 2, real: a dead governor's group is removed once it holds no process") {
    const auto mountinfo = base::read_file("/proc/self/mountinfo", mib);
    REQUIRE(mountinfo);
    const auto mount = mount_of(*mountinfo, "");
    const std::string scope =
        mount ? mount->mount_point + "/wheelyard-test." + std::to_string(::getpid()) : std::string();
    if (!mount || ::mkdir(scope.c_str(), 0755) != 0) {
        MESSAGE("no version 2 group can be made here");
        return;
    }
    const std::string left = scope + "/wheelyard-governor.4194305", child = left + "/build";
    fs::create_directories(child);
    const pid_t process = ::fork();
    if (process == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (true)
            ::pause();
    }
    const base::Fd procs(::open((child + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    const std::string number = std::to_string(process);
    const bool entered = ::write(procs.get(), number.data(), number.size()) > 0;
    remove_stale_groups("", {{2, scope}});
    CHECK(entered);
    CHECK(fs::exists(child));
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    remove_stale_groups("", {{2, scope}});
    CHECK(!fs::exists(left));
    ::rmdir(child.c_str());
    ::rmdir(left.c_str());
    CHECK(::rmdir(scope.c_str()) == 0);
}

// Creates a group of version 1 below `parent` and reports whether a child process can join it; nullopt if no
// group can be created. Uses none of the code under test.
std::optional<bool> can_join_a_new_group(const std::string& parent) {
    const std::string group = parent + "/wheelyard-test." + std::to_string(::getpid());
    if (::mkdir(group.c_str(), 0755) != 0) return std::nullopt;
    const pid_t child = ::fork();
    if (child == 0) {
        const int fd = ::open((group + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
        ::_exit(fd >= 0 && ::write(fd, "0", 1) == 1 ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ::rmdir(group.c_str());
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("version 1, real: a group is usable if and only if the kernel lets a process join it") {
    const auto own = find_memory_cgroups("");
    // A new cpuset group has no CPUs, so the kernel refuses every process.
    std::vector<std::string> parents{"/sys/fs/cgroup/cpuset"};
    if (!own.empty() && own.front().version == 1) parents.push_back(own.front().path);
    for (const auto& parent : parents) {
        CAPTURE(parent);
        const auto joinable = can_join_a_new_group(parent);
        if (!joinable) {
            MESSAGE("no version 1 group can be made here: " << parent);
            continue;
        }
        CHECK(CompileGroups::make("", {{1, parent}}, ::getpid()).usable() == *joinable);
        CHECK_FALSE(fs::exists(parent + "/wheelyard-governor." + std::to_string(::getpid())));
    }
}

}  // namespace
}  // namespace wheelyard::governor
