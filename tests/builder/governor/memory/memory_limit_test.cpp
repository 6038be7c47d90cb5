// Limits from recorded files of a Slurm job (version 2) and of a container (version 1), and of this machine.
#include "builder/governor/memory/memory_limit.hpp"

#include <doctest/doctest.h>

#include "builder/governor/memory/limits.hpp"
#include "tests/builder/governor/fake_root.hpp"

using namespace wheelyard::governor;
namespace base = wheelyard::base;

namespace {

constexpr double gibibyte = static_cast<double>(gib);
constexpr double mebibyte = static_cast<double>(mib);

void slurm_v2(const FakeRoot& root) {
    root.put("/proc/self/cgroup", "0::/system.slice/slurmstepd.scope/job_77/step_batch/user/task_0\n");
    root.put("/proc/self/mountinfo",
             "25 1 0:22 / /proc rw - proc proc rw\n"
             "30 24 0:26 / /sys/fs/cgroup rw,nosuid,nodev - cgroup2 cgroup2 rw,nsdelegate\n");
    const std::string job = "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_77";
    root.put(job + "/memory.max", "17179869184\n");
    root.put(job + "/memory.current", "3221225472\n");
    root.put(job + "/memory.stat",
             "anon 1073741824\nfile 2147483648\ninactive_file 1073741824\nactive_file 1073741824\n");
    root.put(job + "/memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 2\n");
    for (const char* below : {"/step_batch", "/step_batch/user", "/step_batch/user/task_0"}) {
        root.put(job + below + "/memory.max", "max\n");
        root.put(job + below + "/memory.current", "3221225472\n");
        root.put(job + below + "/memory.events", "oom_kill 2\n");
    }
    root.put("/sys/fs/cgroup/system.slice/memory.max", "max\n");
    root.put("/sys/fs/cgroup/system.slice/pids.max", "1000\n");
    root.put("/sys/fs/cgroup/system.slice/pids.current", "100\n");
    root.put(job + "/cpu.max", "1600000 100000\n");
}

void container_v1(const FakeRoot& root) {
    root.put("/proc/self/cgroup",
             "9:name=systemd:/x\n4:cpu,memory:/docker/abc/inner\n8:pids:/docker/abc\n0::/\n");
    root.put("/proc/self/mountinfo",
             "31 30 0:27 /docker/abc /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory\n"
             "32 30 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    const std::string top = "/sys/fs/cgroup/memory";
    root.put(top + "/memory.limit_in_bytes", "2147483648\n");
    root.put(top + "/memory.usage_in_bytes", "1073741824\n");
    root.put(top + "/memory.stat",
             "inactive_file 5\ntotal_inactive_file 268435456\ntotal_active_file 268435456\n");
    root.put(top + "/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
    root.put(top + "/inner/memory.limit_in_bytes", "9223372036854771712\n");  // no limit
    root.put(top + "/inner/memory.usage_in_bytes", "1073741824\n");
    root.put(top + "/inner/memory.oom_control", "oom_kill 0\n");
}

}  // namespace

TEST_CASE("version 2: the job's limit above our own unlimited group applies") {
    const FakeRoot root;
    slurm_v2(root);
    const LimitReader reader(root.path(), 0);
    REQUIRE(reader.cgroups().size() == 5);
    const auto limit = reader.read(0);
    CHECK(limit.tightest.cap_bytes == 16 * gibibyte);
    CHECK(limit.tightest.name == "cgroup /sys/fs/cgroup/system.slice/slurmstepd.scope/job_77");
    CHECK(limit.tightest.others_bytes == 1 * gibibyte);  // page cache is not counted
    CHECK(limit.tightest.room() == doctest::Approx(15 * gibibyte - reserve_of(16 * gibibyte)));
    CHECK(reader.oom_kills() == 4 * 2 + 3);
    CHECK(free_pids(root.path()) == 900);
    CHECK(cpu_quota(root.path()) == 16.0);
}

TEST_CASE("version 2: memory.high limits concurrent compiles; memory.max limits a compile that runs alone") {
    const FakeRoot root;
    slurm_v2(root);
    const std::string job = "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_77";
    struct Row {
        const char *high, *max;
        double together_gib, alone_gib;
    };
    for (const auto& row :
         {Row{"max\n", "17179869184\n", 16, 16}, Row{"8589934592\n", "17179869184\n", 8, 16},
          Row{"17179869184\n", "8589934592\n", 8, 8}, Row{"8589934592\n", "8589934592\n", 8, 8}}) {
        root.put(job + "/memory.high", row.high);
        root.put(job + "/memory.max", row.max);
        const auto limit = LimitReader(root.path(), 0).read(0);
        CHECK(limit.tightest.cap_bytes == row.together_gib * gibibyte);
        CHECK(limit.tightest_killing.cap_bytes == row.alone_gib * gibibyte);
        CHECK(limit.tightest_killing.kills);
        CHECK(limit.tightest_killing.others_bytes == 1 * gibibyte);
    }
    root.put(job + "/memory.high", "8589934592\n");
    root.put(job + "/memory.max", "max\n");
    const auto limit = LimitReader(root.path(), 0).read(0);
    CHECK(limit.tightest.name == "memory.high of " + job);
    CHECK(limit.tightest_killing.name == "free memory");
    // memory.high of an ancestor applies too. A killing limit below every memory.high is tightest in both.
    root.put("/sys/fs/cgroup/system.slice/memory.high", "4294967296\n");
    CHECK(LimitReader(root.path(), 0).read(0).tightest.cap_bytes == 4 * gibibyte);
    const auto set = LimitReader(root.path(), 2 * gib).read(0);
    CHECK(set.tightest.name == "--memory");
    CHECK(set.tightest_killing.name == "--memory");
}

TEST_CASE("memory of our own compiles does not reduce the room") {
    const FakeRoot root;
    slurm_v2(root);
    const LimitReader reader(root.path(), 0);
    CHECK(reader.read(0.75 * gibibyte).tightest.others_bytes == 0.25 * gibibyte);
    CHECK(reader.read(4 * gibibyte).tightest.others_bytes == 0);
}

TEST_CASE("version 1: a mount of a part of the hierarchy and the number for no limit are understood") {
    const FakeRoot root;
    container_v1(root);
    const LimitReader reader(root.path(), 0);
    REQUIRE(reader.cgroups().size() == 2);
    CHECK(reader.cgroups()[0].version == 1);
    const auto limit = reader.read(0);
    CHECK(limit.tightest.cap_bytes == 2 * gibibyte);
    CHECK(limit.tightest.others_bytes == 0.5 * gibibyte);
    CHECK(reader.oom_kills() == 4 + 3);
}

TEST_CASE("a limit that is lowered during the build takes effect") {
    const FakeRoot root;
    container_v1(root);
    const LimitReader reader(root.path(), 0);
    const double before = reader.read(0).tightest.room();
    root.put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1610612736\n");
    CHECK(reader.read(0).tightest.room() < before - 0.4 * gibibyte);
    root.put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1\n");
    CHECK(reader.read(0).tightest.room() == 0);
}

TEST_CASE("other processes' memory on the machine reduces the room") {
    const FakeRoot root;
    const LimitReader reader(root.path(), 0);
    CHECK(reader.read(0).tightest.name == "free memory");
    CHECK(reader.read(0).tightest.room() > 200 * gibibyte);
    root.put("/proc/meminfo", "MemTotal:       263000000 kB\nMemAvailable:   8388608 kB\n");
    CHECK(reader.read(0).tightest.room() < 8 * gibibyte);
    CHECK(reader.read(2 * gibibyte).tightest.room() ==
          doctest::Approx(reader.read(0).tightest.room() + 2 * gibibyte));
}

TEST_CASE("the limit of a batch job is a source like the others") {
    const FakeRoot root;
    slurm_v2(root);
    const auto limits = read_job_limits({{"SLURM_MEM_PER_NODE", "8192"}});
    const LimitReader reader(root.path(), 0, limits);
    CHECK(reader.read(0).tightest.name == "Slurm");
    const LimitReader set(root.path(), 4 * gib, limits);
    CHECK(set.read(0).tightest.text() == "4 GiB (--memory)");
    CHECK(LimitReader(root.path(), 0, {{"PBS", 3 * gib}}).read(0).tightest.text() == "3 GiB (PBS)");
}

TEST_CASE("sizes parse with and without units") {
    struct Row {
        const char* text;
        std::optional<std::uint64_t> bytes;
    };
    for (const auto& [text, bytes] :
         {Row{"8G", 8 * gib}, Row{"8GiB", 8 * gib}, Row{"1.5g", 3 * gib / 2}, Row{"300M", 300 * mib},
          Row{"123456", 123456}, Row{"2T", 2048 * gib}, Row{"0", std::nullopt}, Row{"", std::nullopt},
          Row{"G", std::nullopt}, Row{"-1G", std::nullopt}, Row{"1.2.3G", std::nullopt},
          Row{"8 G", std::nullopt}, Row{"99999999999T", std::nullopt}}) {
        CAPTURE(text);
        CHECK(parse_bytes(text) == bytes);
    }
}

TEST_CASE("a limit below 1 MiB is refused, with how it is meant") {
    CHECK(parse_limit("--memory", "1M") == mib);
    CHECK(parse_limit("--memory", "12G") == 12 * gib);
    for (const char* text : {"12", "1048575", "500K"}) {
        CAPTURE(text);
        const auto limit = parse_limit("--memory", text);
        REQUIRE_FALSE(limit);
        CHECK(limit.error().text().find("--memory is less than 1 MiB") != std::string::npos);
        CHECK(limit.error().text().find("e.g. 12G") != std::string::npos);
    }
    REQUIRE_FALSE(parse_limit("--disk", "G"));
    CHECK(parse_limit("--disk", "G").error().text().find("--disk is not a size") != std::string::npos);
}

TEST_CASE("the reserve is a fixed part of the limit, within bounds, and at most half of it") {
    CHECK(reserve_of(100 * gibibyte) == doctest::Approx(2 * gibibyte));
    CHECK(reserve_of(1000 * gibibyte) == 2 * gibibyte);
    CHECK(reserve_of(256 * mebibyte) == static_cast<double>(min_reserve_bytes));
    CHECK(reserve_of(10 * mebibyte) == 5 * mebibyte);
}

TEST_CASE("this machine has a known limit") {
    const LimitReader reader("", 0);
    const auto limit = reader.read(0);
    CHECK(limit.tightest.room() > 0);
    CHECK(limit.tightest.name != "unknown");
    CHECK(reader.cores() >= 1);
}

TEST_CASE("mountinfo escapes are decoded; malformed lines are ignored") {
    CHECK(mount_of("31 30 0:27 / /mnt/a\\040b rw - cgroup2 x rw", "")->mount_point == "/mnt/a b");
    CHECK_FALSE(mount_of("", ""));
    CHECK_FALSE(mount_of("31 - cgroup2", ""));
    CHECK_FALSE(mount_of("31 30 0:27 / /x rw - cgroup c rw,memoryless", "memory"));
    CHECK(group_of("4:cpu,memory:/a:b\n", "memory") == "/a:b");
    CHECK_FALSE(group_of("nonsense\n4:memory", "memory"));
    CHECK(field_of("oom 1\noom_kill 7\n", "oom_kill") == 7);
    CHECK_FALSE(field_of("oom_killer 7\n", "oom_kill"));
}
