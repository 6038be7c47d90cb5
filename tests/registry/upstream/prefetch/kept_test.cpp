// The records of what was prefetched: one for each name, read together.
#include "registry/upstream/prefetch/kept.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
using registry::Kept;

namespace {

Kept kept(const std::string& name, char hash) {
    return {.index = "base",
            .name = name,
            .made = 7,
            .targets = {"Python 3.12 on manylinux_2_28_aarch64"},
            .files = {{.filename = name + "-1.0-py3-none-any.whl",
                       .project = name,
                       .sha256 = std::string(64, hash),
                       .size_bytes = 3}}};
}

}  // namespace

TEST_CASE("all records count, a second run replaces its own, and a forgotten one is gone") {
    const auto dir = base::TempDir::make("kept").value();
    CHECK(registry::read_kept_hashes(dir.path())->empty());
    REQUIRE(registry::write_kept(dir.path(), kept("six", 'a')));
    REQUIRE(registry::write_kept(dir.path(), kept("torch", 'b')));
    REQUIRE(registry::write_kept(dir.path(), kept("six", 'c')));
    CHECK(registry::read_kept_hashes(dir.path()).value() ==
          std::set<std::string>{std::string(64, 'b'), std::string(64, 'c')});
    CHECK(registry::forget_kept(dir.path(), "base", "six").value());
    CHECK_FALSE(registry::forget_kept(dir.path(), "base", "six").value());
    CHECK(registry::read_kept_hashes(dir.path()).value() == std::set<std::string>{std::string(64, 'b')});
}

TEST_CASE("a record that cannot be read is an error, because what it keeps is unknown") {
    const auto dir = base::TempDir::make("kept").value();
    REQUIRE(registry::write_kept(dir.path(), kept("six", 'a')));
    for (const char* text : {"", "{}", R"({"format":"wheelyard.prefetch/1","files":[{"filename":"x"}]})"}) {
        CAPTURE(text);
        REQUIRE(base::replace_file(dir.path() / "prefetch" / "base" / "six.json", text));
        CHECK_FALSE(registry::read_kept_hashes(dir.path()).has_value());
    }
}
