// Copies of folders: what is copied, and that a copy calls `keep_alive`, which refreshes locks or aborts the copy.
#include "builder/sources/source_cache.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "builder/attempt/held_queues.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

struct Folders {
    base::TempDir place = *base::TempDir::make("copy");
    fs::path from = place.path() / "from";
    fs::path to = place.path() / "to";
    int calls = 0;

    Folders() { testing::must(base::make_directories(from)); }
    void add(const std::string& name, const std::string& text, mode_t mode = 0644) const {
        testing::write(from / name, text, mode);
    }
    // `keep_alive` fails at the call of this number; 0: never.
    base::Status copy(int failing_call = 0) {
        calls = 0;
        return copy_source(from, to, [this, failing_call]() -> base::Status {
            if (++calls == failing_call)
                return base::fail_as(base::ErrorKind::lost, base::Recovery::never,
                                     {"lock.lost", "taken over"});
            return {};
        });
    }
    [[nodiscard]] std::size_t copied() const {
        const fs::recursive_directory_iterator entries(to);
        return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
    }
};

TEST_CASE("a copy has the files, folders and links of its source, unchanged") {
    Folders at;
    at.add("setup.py", "x = 1\n");
    at.add("bin/run", "#!/bin/sh\n", 0755);
    at.add(".git/objects/read-only", "object", 0444);
    at.add("empty", "");
    fs::create_directories(at.from / "nothing/in/it");
    fs::create_symlink("bin", at.from / "folder-link");
    fs::create_symlink("../nowhere", at.from / "dangling");
    std::string large(2 * copy_piece_bytes + 7, 'a');
    std::generate(large.begin(), large.end(), [n = 0]() mutable { return static_cast<char>(n++ % 251); });
    at.add("large", large);
    REQUIRE(at.copy().has_value());
    CHECK(testing::read(at.to / "setup.py") == "x = 1\n");
    CHECK(testing::read(at.to / "large") == large);
    CHECK(testing::read(at.to / ".git/objects/read-only") == "object");
    CHECK(testing::read(at.to / "empty").empty());
    for (const char* name : {"bin/run", ".git/objects/read-only", "setup.py", "nothing/in/it"}) {
        CAPTURE(name);
        CHECK(fs::status(at.to / name).permissions() == fs::status(at.from / name).permissions());
    }
    CHECK(fs::read_symlink(at.to / "folder-link") == "bin");
    CHECK(fs::read_symlink(at.to / "dangling") == "../nowhere");
    CHECK(fs::is_empty(at.to / "nothing/in/it"));
    CHECK(at.copied() == 13);
    CHECK(at.calls >= 13 + 3);  // at least once for each entry, and for each piece of the large file
}

TEST_CASE("a copy ends as soon as `keep_alive` fails, also within a file") {
    Folders at;
    at.add("large", std::string(4 * copy_piece_bytes, 'x'));
    const auto ended = at.copy(3);
    REQUIRE(!ended.has_value());
    CHECK(ended.error().code == "lock.lost");
    CHECK(at.calls == 3);
    CHECK(fs::file_size(at.to / "large") == 2 * copy_piece_bytes);
}

TEST_CASE("the error names the entry that cannot be copied") {
    Folders at;
    const fs::path odd = at.from / "odd";
    fs::path named = odd;
    SUBCASE("a pipe, without blocking") {
        REQUIRE(::mkfifo(odd.c_str(), 0644) == 0);
    }
    SUBCASE("a missing folder") {
        fs::remove(at.from);
        named = at.from;
    }
    SUBCASE("a file that already exists") {
        at.add("odd", "");
        testing::write(at.to / "odd", "of somebody else");
        named = at.to / "odd";
    }
    const auto failed = at.copy();
    REQUIRE(!failed.has_value());
    CHECK(failed.error().code == "source.unreadable");
    CHECK(failed.error().value == named.string());
}

TEST_CASE("errors of the source are final, errors of the disk or the moment may pass") {
    for (const int number :
         {EACCES, EPERM, ENOENT, ENOTDIR, EEXIST, EINVAL, EISDIR, ELOOP, ENAMETOOLONG, EFBIG}) {
        CAPTURE(number);
        const base::Error error = copy_error(base::fail_errno("open", "/x", number).value());
        CHECK(error.code == "source.unreadable");
        CHECK(!error.may_pass());
    }
    for (const int number :
         {ENOSPC, EDQUOT, EIO, ESTALE, ETIMEDOUT, EROFS, ENOTCONN, ESHUTDOWN, EMFILE, ENOMEM}) {
        CAPTURE(number);
        const base::Error refusal = base::fail_errno("write", "/x", number).value();
        const base::Error error = copy_error(refusal);
        CHECK(error.code == refusal.code);
        CHECK(error.may_pass());
        CHECK(error.sentence == "A source cannot be copied: " + refusal.sentence);
        CHECK(error.value == "/x");
        CHECK(error.advice == refusal.advice);
    }
    CHECK(!copy_error({"file.not_regular", "s"}).may_pass());
    CHECK(copy_error(base::fail_for_now("file.truncated", "s").value())
              .may_pass());  // the file was being written
}

TEST_CASE("a copy that runs out of file descriptors reports that and the file") {
    Folders at;
    at.add("setup.py", "x = 1\n");
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    // One for the folder and one for the source file; none for the destination file.
    const base::Fd next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const rlimit few{static_cast<rlim_t>(next.get()) + 2 + 1, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    const auto failed = at.copy();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    REQUIRE(!failed.has_value());
    CHECK(failed.error().code == "os.EMFILE");
    CHECK(failed.error().sentence.starts_with("A source cannot be copied: "));
    CHECK(failed.error().value == (at.to / "setup.py").string());
    fs::remove_all(at.to);
    CHECK(at.copy().has_value());
}

}  // namespace
}  // namespace wheelyard::builder
