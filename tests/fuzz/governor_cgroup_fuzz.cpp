// The governor's parsers for /proc, cgroups and PBS: any input is safe, and results are parts of it.
#include <cstdlib>

#include "builder/governor/memory/cgroup.hpp"
#include "builder/governor/memory/memory_limit.hpp"
#include "builder/governor/memory/memory_watch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::governor;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const char* controller : {"memory", "pids", ""}) {
        if (const auto group = group_of(text, controller);
            group && text.find(*group) == std::string_view::npos)
            std::abort();
        if (const auto mount = mount_of(text, controller);
            mount && (mount->mount_point.size() > size || mount->mount_root.size() > size))
            std::abort();
    }
    (void)field_of(text, "oom_kill");
    (void)full_stall_us(text);
    (void)parse_bytes(text.substr(0, 64));
    (void)pbs_limit_bytes(text, "node7");
    return 0;
}
