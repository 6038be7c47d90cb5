// Bounded reads, atomic replacement, readers for untrusted bytes.
#include "lib/base/files/file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard::base;

namespace {

std::size_t count_entries(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

struct Folder {
    TempDir dir = TempDir::make("file-test").value();
    [[nodiscard]] fs::path operator/(const char* name) const { return dir.path() / name; }
};

}  // namespace

TEST_CASE("a read returns the whole file; one byte beyond the limit is an error") {
    const Folder folder;
    REQUIRE(replace_file(folder / "f", "12345"));
    CHECK(read_file(folder / "f", 5) == "12345");
    CHECK(read_file(folder / "f", UINT64_MAX) == "12345");
    CHECK(read_file(folder / "f", 4).error().code == "file.too_large");
    REQUIRE(replace_file(folder / "empty", ""));
    CHECK(read_file(folder / "empty", 0) == "");
    CHECK(read_file(folder / "absent", 10).error().code == "os.ENOENT");
    CHECK(read_file(folder.dir.path(), 10).error().code == "os.EISDIR");
    const std::string large(300'000, 'x');
    REQUIRE(replace_file(folder / "large", large));
    CHECK(read_file(folder / "large", 1 << 20) == large);
}

TEST_CASE("files with a reported size of zero are read completely") {
    CHECK(read_file("/proc/self/stat", 4096).value().size() > 10);
    CHECK(read_file("/dev/zero", 1000).error().code == "file.too_large");
}

TEST_CASE("creating a file fails if it exists") {
    const Folder folder;
    CHECK(create_new(folder / "f"));
    CHECK(create_new(folder / "f").error().code == "os.EEXIST");
    CHECK(create_new(folder / "absent/f").error().code == "os.ENOENT");
}

TEST_CASE("closing a file closes it and reports errors") {
    const Folder folder;
    auto file = create_new(folder / "f");
    REQUIRE(file);
    const int number = file->get();
    CHECK(close_file(std::move(*file), "f"));
    CHECK(::fcntl(number, F_GETFD) == -1);
    CHECK(close_file(Fd(number), "f").error().code == "os.EBADF");
}

TEST_CASE("a full disk is reported as os.ENOSPC") {
    const Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    REQUIRE(full);
    const auto status = write_all(full.get(), "x");
    REQUIRE_FALSE(status);
    CHECK(status.error().code == "os.ENOSPC");
    CHECK(write_all(full.get(), ""));
}

TEST_CASE("replacing a file writes the new bytes and leaves no temporary file") {
    const Folder folder;
    REQUIRE(replace_file(folder / "f", "old"));
    REQUIRE(replace_file(folder / "f", "new", 0600));
    CHECK(read_file(folder / "f", 10) == "new");
    CHECK(count_entries(folder.dir.path()) == 1);
    struct stat status {};
    REQUIRE(::stat((folder / "f").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK(replace_file(folder / "absent/f", "x").error().code == "os.ENOENT");
}

TEST_CASE("a replacement is invisible before its commit and undone without one") {
    const Folder folder;
    REQUIRE(replace_file(folder / "f", "old"));
    {
        auto replacement = FileReplacement::begin(folder / "f").value();
        REQUIRE(replacement.write("ne"));
        CHECK(read_file(folder / "f", 10) == "old");
        FileReplacement moved(std::move(replacement));
        REQUIRE(moved.write("w"));
        CHECK(count_entries(folder.dir.path()) == 2);
    }
    CHECK(count_entries(folder.dir.path()) == 1);
    CHECK(read_file(folder / "f", 10) == "old");
    {
        auto replacement = FileReplacement::begin(folder / "f").value();
        FileReplacement moved(std::move(replacement));
        REQUIRE(moved.write("new"));
        REQUIRE(moved.commit());
        CHECK(moved.commit().error().code == "file.committed");
    }
    CHECK(read_file(folder / "f", 10) == "new");
    CHECK(count_entries(folder.dir.path()) == 1);
}

TEST_CASE("a replacement that cannot be committed leaves no temporary file") {
    const Folder folder;
    REQUIRE(make_directories(folder / "f/inner"));  // rename cannot replace a folder that is not empty
    {
        auto replacement = FileReplacement::begin(folder / "f").value();
        REQUIRE(replacement.write("new"));
        CHECK_FALSE(replacement.commit());
    }
    CHECK(count_entries(folder.dir.path()) == 1);
}

TEST_CASE("a file with the longest possible name can be replaced") {
    const Folder folder;
    const std::string longest(255, 'n');
    CHECK(replace_file(folder / longest.c_str(), "x"));
    CHECK(read_file(folder / longest.c_str(), 1) == "x");
}

TEST_CASE("folders are created with their parents; a file in the way is an error") {
    const Folder folder;
    CHECK(make_directories(folder / "a/b/c"));
    CHECK(make_directories(folder / "a/b/c/"));
    CHECK(make_directories(folder / "d/e/"));
    CHECK(fs::is_directory(folder / "d/e"));
    REQUIRE(replace_file(folder / "f", ""));
    CHECK(make_directories(folder / "f").error().code == "os.EEXIST");
    CHECK(make_directories(folder / "f/g").error().code.starts_with("os."));
}

TEST_CASE("files are renamed and removed") {
    const Folder folder;
    REQUIRE(replace_file(folder / "f", "x"));
    CHECK(rename_durably(folder / "f", folder / "g"));
    CHECK(rename_durably(folder / "f", folder / "h").error().code == "os.ENOENT");
    CHECK(wheelyard::base::file_size(folder / "g") == 1u);
    CHECK(remove_file(folder / "g"));
    CHECK(remove_file(folder / "g"));
    CHECK_FALSE(fs::exists(folder / "g"));
    CHECK(wheelyard::base::file_size(folder.dir.path()).error().code == "file.not_regular");
    CHECK(wheelyard::base::file_size(folder / "g").error().code == "os.ENOENT");
}

TEST_CASE("a reader returns exactly the requested bytes, or reports that there are fewer") {
    const Folder folder;
    REQUIRE(replace_file(folder / "f", "0123456789"));
    const auto file = FileReader::open(folder / "f").value();
    const MemoryReader memory("0123456789");
    for (const Reader* reader : {static_cast<const Reader*>(&file), static_cast<const Reader*>(&memory)}) {
        CHECK(reader->size() == 10);
        char into[16] = {};
        REQUIRE(reader->read_at(3, into, 4));
        CHECK(std::string_view(into, 4) == "3456");
        CHECK(reader->read_at(10, into, 0));
        CHECK(reader->read_at(0, into, 10));
        CHECK(reader->read_at(7, into, 4).error().code == "file.truncated");
        CHECK(reader->read_at(11, into, 0).error().code == "file.truncated");
        CHECK(reader->read_at(UINT64_MAX, into, 2).error().code == "file.truncated");
    }
    CHECK(FileReader::open(folder.dir.path()).error().code == "file.not_regular");
}

TEST_CASE("pieces cover a source in order; the first error stops") {
    for (const std::size_t size : {0u, 1u, 7u, 8u, 9u, 16u, 17u}) {
        CAPTURE(size);
        std::string bytes;
        for (std::size_t i = 0; i < size; ++i)
            bytes += static_cast<char>('a' + i);
        std::string seen;
        std::size_t largest = 0;
        CHECK(for_each_piece(MemoryReader(bytes), 8, [&](std::string_view piece) -> Status {
            seen += piece;
            largest = std::max(largest, piece.size());
            return {};
        }));
        CHECK(seen == bytes);
        CHECK(largest == std::min<std::size_t>(size, 8));
    }
    int taken = 0;
    const auto stopped = for_each_piece(MemoryReader("0123456789"), 4, [&](std::string_view) -> Status {
        return ++taken == 2 ? Status(fail("test.enough", "enough")) : Status();
    });
    CHECK(stopped.error().code == "test.enough");
    CHECK(taken == 2);
}

TEST_CASE("a file that shrinks while it is read is an error, not a crash") {
    const Folder folder;
    REQUIRE(replace_file(folder / "f", "0123456789"));
    const auto file = FileReader::open(folder / "f").value();
    fs::resize_file(folder / "f", 4);
    char into[16] = {};
    CHECK(file.read_at(0, into, 4));
    CHECK(file.read_at(0, into, 10).error().code == "file.truncated");
}
