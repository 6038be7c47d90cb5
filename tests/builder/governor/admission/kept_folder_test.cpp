// Where the governor keeps its history and its shims, on nodes with and without a home.
#include "builder/governor/admission/history.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "tests/support/variable.hpp"

namespace wheelyard::governor {
namespace {

namespace fs = std::filesystem;
using test_support::Variable;

constexpr uid_t somebody = 65534;

unsigned mode_of(const fs::path& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_mode & 07777;
}

TEST_CASE(
    "the folder is in the cache, else in the home, else private to the user, whichever can be written") {
    const auto made = base::TempDir::make("kept");
    REQUIRE(made);
    const std::string root = made->path().string();
    const std::string cache = root + "/cache", home = root + "/home", file = root + "/file";
    REQUIRE(base::make_directories(home));
    REQUIRE(base::replace_file(file, ""));
    const std::string own = private_folder();
    struct Row {
        const char *cache, *home;
        std::string folder;
    };
    for (const auto& row : {
             Row{cache.c_str(), home.c_str(), cache + "/wheelyard/governor"},
             Row{nullptr, home.c_str(), home + "/.cache/wheelyard/governor"},
             Row{"", home.c_str(), home + "/.cache/wheelyard/governor"},
             Row{"c", home.c_str(), home + "/.cache/wheelyard/governor"},
             Row{file.c_str(), home.c_str(), home + "/.cache/wheelyard/governor"},
             Row{"/dev/null/home", home.c_str(), home + "/.cache/wheelyard/governor"},
             Row{nullptr, "h", own},
             Row{nullptr, "", own},
             Row{nullptr, nullptr, own},
             Row{nullptr, file.c_str(), own},
             Row{nullptr, "/dev/null/home", own},
         }) {
        CAPTURE(row.folder);
        const Variable a("XDG_CACHE_HOME", row.cache), b("HOME", row.home);
        CHECK(kept_folder() == row.folder);
        CHECK(default_history_file() == row.folder + "/history");
    }
    CHECK(own == "/tmp/wheelyard-" + std::to_string(::geteuid()));
}

TEST_CASE("what no build has used for a month is removed, of the given names, and what is in use stays") {
    const auto made = base::TempDir::make("kept");
    REQUIRE(made);
    const fs::path root = made->path(), target = root / "program";
    REQUIRE(base::replace_file(target, ""));
    for (const char* name : {"shim-old", "shim-used", "other"}) {
        REQUIRE(base::make_directories(root / name));
        fs::create_symlink(target, root / name / "gcc");
    }
    fs::create_symlink(target, root / "shim-link");
    const timespec old[2] = {{std::time(nullptr) - 31 * 24 * 60 * 60, 0},
                             {std::time(nullptr) - 31 * 24 * 60 * 60, 0}};
    for (const char* name : {"shim-old", "shim-used", "shim-link", "other"})
        REQUIRE(::utimensat(AT_FDCWD, (root / name).c_str(), old, AT_SYMLINK_NOFOLLOW) == 0);
    mark_used(root / "shim-used");
    remove_unused(root, "shim-");
    CHECK_FALSE(fs::exists(root / "shim-old"));
    CHECK_FALSE(fs::is_symlink(root / "shim-link"));
    CHECK(fs::exists(root / "shim-used" / "gcc"));
    CHECK(fs::exists(root / "other" / "gcc"));
    CHECK(fs::exists(target));  // the links go, not what they name
    remove_unused(root / "absent", "");
}

TEST_CASE("a private folder is only the user's; one that others could fill is refused") {
    const auto made = base::TempDir::make("kept");
    REQUIRE(made);
    const fs::path root = made->path(), folder = root / "own";
    REQUIRE(make_private_folder(folder));
    CHECK(mode_of(folder) == 0700);
    CHECK(make_private_folder(folder));
    REQUIRE(::chmod(folder.c_str(), 0755) == 0);
    CHECK(make_private_folder(folder));
    CHECK(mode_of(folder) == 0700);

    fs::path others = "/proc/1";
    if (::geteuid() == 0) {
        others = root / "others";
        fs::create_directory(others);
        REQUIRE(::chown(others.c_str(), somebody, somebody) == 0);
    }
    fs::create_symlink(folder, root / "link");
    fs::create_directory(root / "writable");
    REQUIRE(::chmod((root / "writable").c_str(), 0777) == 0);
    REQUIRE(base::replace_file(root / "file", ""));
    for (const fs::path& refused : {others, root / "link", root / "writable", root / "file"}) {
        CAPTURE(refused);
        const auto status = make_private_folder(refused);
        REQUIRE_FALSE(status);
        CHECK(status.error().code == "governor.folder");
    }
    CHECK(mode_of(root / "writable") == 0777);
}

TEST_CASE("only what lies in the private folder needs it") {
    const auto made = base::TempDir::make("kept");
    REQUIRE(made);
    CHECK(prepare_kept(made->path() / "history"));
    CHECK(prepare_kept("history"));
    CHECK(prepare_kept(private_folder().string() + "0/history"));
    CHECK_FALSE(fs::exists(private_folder().string() + "0"));
}

}  // namespace
}  // namespace wheelyard::governor
