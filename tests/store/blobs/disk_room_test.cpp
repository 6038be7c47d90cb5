// The reserve on the disk: allocated, given back when it is low, and back again later.
#include "lib/store/blobs/disk_room.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "lib/base/files/temp_dir.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"

using namespace wheelyard;

namespace {

struct stat stat_of(const std::filesystem::path& file) {
    struct stat info {};
    static_cast<void>(::stat(file.c_str(), &info));
    return info;
}

base::Status full_disk() {
    return base::fail({.code = "os.ENOSPC", .sentence = "full", .os_error = ENOSPC});
}

}  // namespace

TEST_CASE("the reserve takes its room on the disk, is its owner's alone, and is given back once") {
    const auto dir = base::TempDir::make("room").value();
    const blobs::DiskRoom room(dir.path(), base::mib);
    CHECK_FALSE(room.has_reserve());
    REQUIRE(room.keep_reserve().has_value());
    CHECK(room.has_reserve());
    const struct stat info = stat_of(dir.path() / "reserve");
    CHECK(info.st_size == static_cast<off_t>(base::mib));
    CHECK(info.st_blocks * 512 >= static_cast<off_t>(base::mib));  // no hole
    CHECK((info.st_mode & 07777) == 0600);
    CHECK_FALSE(room.give_back_if_low());  // there is enough
    CHECK(room.give_back());
    CHECK_FALSE(room.give_back());
}

TEST_CASE("room is what is free beyond the minimum, and no number overflows") {
    const auto dir = base::TempDir::make("room").value();
    const std::uint64_t all = blobs::free_bytes_of(dir.path());
    REQUIRE(all > base::gib);
    CHECK(blobs::DiskRoom(dir.path(), base::mib).check(base::mib).has_value());
    for (const std::uint64_t more : {2 * all, UINT64_MAX, UINT64_MAX - base::mib}) {
        const auto refused = blobs::DiskRoom(dir.path(), base::mib).check(more);
        REQUIRE_FALSE(refused.has_value());
        CHECK(blobs::is_disk_full(refused.error()));
        CHECK(refused.error().value.starts_with(base::render_bytes(more) + " to store, "));
    }
    const blobs::DiskRoom low(dir.path(), 2 * all);
    REQUIRE_FALSE(low.check(0).has_value());
    CHECK(low.check(0).error().sentence.find("less than its minimum") != std::string::npos);
    CHECK(low.keep_reserve().has_value());  // no room for one is no error
    CHECK_FALSE(low.has_reserve());
}

TEST_CASE(
    "work on a low disk gets the reserve first; work that fails for lack of space gets a second try with "
    "it") {
    const auto dir = base::TempDir::make("room").value();
    const blobs::DiskRoom room(dir.path(), base::mib);
    REQUIRE(room.keep_reserve().has_value());
    int tries = 0;
    CHECK(blobs::with_reserve(room, [&]() -> base::Status {
              return ++tries == 1 ? full_disk() : base::Status();
          }).has_value());
    CHECK(tries == 2);
    CHECK_FALSE(room.has_reserve());
    CHECK_FALSE(blobs::with_reserve(room, [&]() -> base::Status {
                    ++tries;
                    return full_disk();
                }).has_value());
    CHECK(tries == 3);  // nothing more to give
    REQUIRE(room.keep_reserve().has_value());
    CHECK_FALSE(blobs::with_reserve(room, []() -> base::Status {
                    return base::fail("other", "another failure");
                }).has_value());
    CHECK(room.has_reserve());
    // The same file as the reserve of a larger minimum that the disk no longer has.
    const blobs::DiskRoom low(dir.path(), 2 * blobs::free_bytes_of(dir.path()));
    CHECK(blobs::with_reserve(low, []() -> base::Status { return {}; }).has_value());
    CHECK_FALSE(room.has_reserve());
}
