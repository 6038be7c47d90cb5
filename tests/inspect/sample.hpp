// The sample wheels of these tests and the check that they share.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "lib/inspect/inspect.hpp"
#include "tests/support/elf_writer.hpp"
#include "tests/support/wheel_writer.hpp"

namespace wheelyard::inspect_test {

using test_support::ElfImage;
using test_support::WheelWriter;
using test_support::write_elf;

struct Wheel {
    std::string bytes;
    std::string filename;
};

// A valid wheel with two files.
inline WheelWriter valid_wheel() {
    WheelWriter wheel("six", "1.16.0");
    wheel.add("six.py", "print('six')\n").add("six_data/table.txt", std::string(1000, 'x'));
    return wheel;
}

// Added to every wheel unless empty: small wheels are checked with one thread.
inline std::string ballast;

inline Wheel pack(const WheelWriter& wheel) {
    if (ballast.empty()) return {wheel.bytes(), wheel.filename()};
    WheelWriter heavy = wheel;
    test_support::ZipEntry member;
    member.name = "six_data/ballast.bin";
    member.data = ballast;
    member.deflate = false;
    heavy.add_entry(std::move(member));
    return {heavy.bytes(), heavy.filename()};
}

// A wheel with tags `tags` and one extension module.
inline std::function<Wheel()> with_elf(
    std::string tags, ElfImage image, std::string path = "six/_six.so", std::string version = "1.16.0",
    std::function<void(WheelWriter&)> edit = [](WheelWriter&) {}) {
    return [=] {
        WheelWriter wheel("six", version);
        wheel.tag(tags).add(path, write_elf(image));
        edit(wheel);
        return pack(wheel);
    };
}
// variant.json with one namespace, and the text of `variants`.
inline std::string variant_json(const std::string& name_space, const std::string& variants) {
    return R"({"$schema":"https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json","default-priorities":{"namespace":[")" +
           name_space + R"("]},"variants":{)" + variants + "}}";
}
inline const std::string linux_311 = "cp311-cp311-linux_x86_64";

inline inspect::Inspection checked(const Wheel& wheel, const inspect::InspectOptions& options = {}) {
    const base::MemoryReader reader(wheel.bytes);
    auto inspection = inspect::inspect_wheel(reader, wheel.filename, options);
    REQUIRE_MESSAGE(inspection, inspection.error().text());
    return std::move(*inspection);
}

}  // namespace wheelyard::inspect_test
