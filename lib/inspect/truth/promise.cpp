#include "lib/inspect/truth/promise.hpp"

#include "lib/wheel/tags.hpp"

namespace wheelyard::inspect {

Promise read_promise(const wheel::WheelFilename& filename) {
    Promise promise;
    for (const std::string& text : filename.platforms) {
        const wheel::Platform platform = wheel::parse_platform(text);
        if (platform.kind == wheel::PlatformKind::any) promise.any = true;
        if (platform.kind == wheel::PlatformKind::other) promise.other = true;
        if (platform.kind == wheel::PlatformKind::any || platform.kind == wheel::PlatformKind::other)
            continue;
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
