// A folder that others can change is refused; one that the agent makes is not.
#include "builder/site/site_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/files/temp_dir.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a folder that its group or others may write is refused, and says how to change it") {
    const auto folder = *base::TempDir::make("work");
    for (const auto mode : {0700U, 0755U, 0750U, 02750U}) {
        CAPTURE(mode);
        REQUIRE(::chmod(folder.path().c_str(), mode) == 0);
        CHECK(check_is_private(folder.path()).has_value());
    }
    for (const auto mode : {0770U, 0775U, 0777U, 01777U, 0702U}) {
        CAPTURE(mode);
        REQUIRE(::chmod(folder.path().c_str(), mode) == 0);
        const auto checked = check_is_private(folder.path());
        REQUIRE(!checked.has_value());
        CHECK(checked.error().code == "work.shared");
        CHECK(checked.error().advice == "run: chmod go-w " + folder.path().string());
    }
    CHECK(check_is_private(folder.path() / "absent").has_value());
}

TEST_CASE("a folder of another user is refused") {
    // The superuser may give folders away; /proc/sys belongs to it, for everybody else.
    const auto folder = *base::TempDir::make("work");
    const fs::path other = ::geteuid() == 0 ? folder.path() : fs::path("/proc/sys");
    if (::geteuid() == 0) REQUIRE(::chown(other.c_str(), 65534, 65534) == 0);
    const auto checked = check_is_private(other);
    REQUIRE(!checked.has_value());
    CHECK(checked.error().code == "work.shared");
    CHECK(checked.error().sentence.find("belongs to another user") != std::string::npos);
}

TEST_CASE("a new folder is writable for its owner only, whatever the umask") {
    const auto folder = *base::TempDir::make("work");
    const mode_t before = ::umask(0002);
    const auto made = make_private_folder(folder.path() / "a/work");
    ::umask(before);
    REQUIRE(made.has_value());
    CHECK(check_is_private(folder.path() / "a/work").has_value());
}

}  // namespace
}  // namespace wheelyard::builder
