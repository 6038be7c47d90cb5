// Regular files are read; nothing else is, and nothing is waited for.
#include "lib/base/files/untrusted_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cerrno>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard::base;

TEST_CASE("a regular file is read up to the limit") {
    const auto folder = TempDir::make("untrusted").value();
    REQUIRE(replace_file(folder.path() / "file", "text"));
    CHECK(read_untrusted_file(folder.path() / "file", 4) == "text");
    CHECK(read_untrusted_file(folder.path() / "file", 3).error().code == "file.too_large");
    CHECK(read_untrusted_file(folder.path() / "absent", 3).error().os_error == ENOENT);
}

TEST_CASE("a FIFO, a link, a folder and a device are refused at once") {
    const auto folder = TempDir::make("untrusted").value();
    REQUIRE(replace_file(folder.path() / "file", "text"));
    REQUIRE(::mkfifo((folder.path() / "fifo").c_str(), 0600) == 0);
    fs::create_symlink("file", folder.path() / "link");
    for (const fs::path& path : {folder.path() / "fifo", folder.path() / "link", folder.path(),
                                 fs::path("/dev/null"), fs::path("/dev/ptmx")}) {
        CAPTURE(path.native());
        const auto text = read_untrusted_file(path, 100);
        REQUIRE(!text.has_value());
        CHECK(text.error().code == "file.not_regular");
    }
}

TEST_CASE("a reader of a file refuses a FIFO without waiting for its writer") {
    const auto folder = TempDir::make("untrusted").value();
    REQUIRE(::mkfifo((folder.path() / "fifo").c_str(), 0600) == 0);
    CHECK(FileReader::open(folder.path() / "fifo").error().code == "file.not_regular");
}
