// Shortages of memory that a build has to notice, from files as the kernel writes them.
#include "builder/governor/memory/memory_watch.hpp"

#include <doctest/doctest.h>

#include "builder/governor/memory/limits.hpp"
#include "tests/builder/governor/fake_root.hpp"

namespace wheelyard::governor {
namespace {

constexpr const char* own_child = "/sys/fs/cgroup/job/wheelyard-governor.77";
constexpr const char* whole = "/sys/fs/cgroup/job";

struct Scene {
    Scene() {
        root.put("/proc/self/cgroup", "0::/job/wheelyard-governor.77\n");
        root.put("/proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        for (const char* group : {whole, own_child}) {
            root.put(std::string(group) + "/memory.max", group == whole ? "1000000000\n" : "max\n");
            root.put(std::string(group) + "/memory.current", "0\n");
        }
    }
    // Whether `watch` sees pressure after tasks of `group` stalled for the whole time since the last look.
    bool stall(MemoryWatch& watch, const std::string& group) {
        now_ms += 2 * stall_window_ms;
        root.put(group + "/memory.pressure", "full total=" + std::to_string(now_ms * 1000) + "\n");
        return watch.is_stalled(now_ms);
    }
    FakeRoot root;
    std::int64_t now_ms = 0;
};

TEST_CASE("pressure is that of the whole build's group, not of the child that the governor made for itself") {
    Scene scene;
    MemoryWatch watch(LimitReader(scene.root.path(), 0));
    CHECK_FALSE(scene.stall(watch, own_child));
    CHECK_FALSE(scene.stall(watch, own_child));
    CHECK_FALSE(watch.was_short(scene.now_ms));
    CHECK_FALSE(scene.stall(watch, whole));  // the first read has no predecessor to compare with
    CHECK(scene.stall(watch, whole));
    CHECK(watch.was_short(scene.now_ms));
    CHECK(watch.was_short(scene.now_ms + pressure_memory_ms - 1));
    CHECK_FALSE(watch.was_short(scene.now_ms + pressure_memory_ms));
}

TEST_CASE("use near the limit is a shortage, and the limits are read again") {
    Scene scene;
    MemoryWatch watch(LimitReader(scene.root.path(), 0));
    watch.read(0, 0);
    const double near = watch.room().shared * pressure_above;
    CHECK_FALSE(watch.note_use(near, 1));
    CHECK_FALSE(watch.was_short(1));
    scene.root.put(std::string(whole).append("/memory.max"), "500000000\n");
    CHECK(watch.note_use(near + 1, 2));
    CHECK(watch.was_short(2));
    CHECK(watch.limit().tightest.cap_bytes == 500'000'000);
    CHECK_FALSE(watch.is_due(1 + reread_limits_ms));
    CHECK(watch.is_due(2 + reread_limits_ms));
}

}  // namespace
}  // namespace wheelyard::governor
