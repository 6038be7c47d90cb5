#include "lib/inspect/truth/promise.hpp"

#include "lib/inspect/elf/elf_identity.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::inspect {

bool Promise::has_machine(std::string_view machine) const {
    const auto promised = [this](std::string_view name) { return machines.count(std::string(name)) != 0; };
    return promised(machine) || (machine == "armv7l" && (promised("armv6l") || promised("armv8l")));
}

Promise read_promise(const wheel::WheelFilename& filename) {
    Promise promise;
    for (const std::string& text : filename.platforms) {
        const wheel::Platform platform = wheel::parse_platform(text);
        if (platform.kind == wheel::PlatformKind::any) {
            promise.any = true;
            continue;
        }
        if (platform.kind == wheel::PlatformKind::other || !is_known_machine(platform.machine)) {
            promise.not_judged.push_back(text);
            continue;
        }
        promise.linux = true;
        promise.machines.insert(platform.machine);
        promise.musllinux = promise.musllinux || platform.kind == wheel::PlatformKind::musllinux;
        promise.plain_linux = promise.plain_linux || platform.kind == wheel::PlatformKind::linux;
        if (platform.kind != wheel::PlatformKind::manylinux) continue;
        promise.manylinux = true;
        const std::pair glibc{platform.libc_major, platform.libc_minor};
        if (!promise.lowest_manylinux || glibc < *promise.lowest_manylinux) {
            promise.lowest_manylinux = glibc;
            promise.lowest_manylinux_tag = text;
        }
    }
    return promise;
}

}  // namespace wheelyard::inspect
