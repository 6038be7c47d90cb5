// The store: bytes under their hash, durable and read-only; what dead runs leave goes, what living ones write
// stays.
#include "lib/store/blobs/folder/folder_blobs.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
namespace fs = std::filesystem;

namespace {

struct Folder {
    base::TempDir dir = base::TempDir::make("blobs").value();
    [[nodiscard]] const fs::path& path() const { return dir.path(); }
    [[nodiscard]] std::vector<std::string> staged() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(path() / "staging"))
            names.push_back(entry.path().filename());
        return names;
    }
    [[nodiscard]] std::size_t stored() const {
        std::size_t count = 0;
        for (const auto& entry : fs::recursive_directory_iterator(path() / "blobs"))
            count += entry.is_regular_file() ? 1u : 0u;
        return count;
    }
};

// What a killed process leaves: a file in staging that nobody has locked.
void leave(const fs::path& file, std::string_view bytes) {
    std::ofstream(file) << bytes;
}

}  // namespace

TEST_CASE("stored bytes lie under their SHA-256, read-only, and staging is empty") {
    const Folder folder;
    const auto store = blobs::FolderBlobs::open(folder.path());
    REQUIRE(store.has_value());
    auto staged = store->stage();
    REQUIRE(staged.has_value());
    REQUIRE(staged->write("whe").has_value());
    REQUIRE(staged->write("el").has_value());
    CHECK(staged->size() == 5);
    CHECK(staged->finish() == base::sha256_hex("wheel"));
    const auto hash = store->store(std::move(*staged));
    REQUIRE(hash.has_value());
    CHECK(*hash == base::sha256_hex("wheel"));
    const fs::path path = store->path_of(*hash);
    CHECK(path == folder.path() / "blobs" / "sha256" / hash->substr(0, 2) / *hash);
    CHECK(base::read_file(path, 100).value() == "wheel");
    CHECK((fs::status(path).permissions() & fs::perms::mask) == static_cast<fs::perms>(0444));
    CHECK(store->contains(*hash));
    CHECK_FALSE(store->contains(std::string(64, '0')));
    CHECK(folder.staged().empty());
}

TEST_CASE("the same bytes are stored once, and the first file stays") {
    const Folder folder;
    const auto store = blobs::FolderBlobs::open(folder.path()).value();
    const std::string hash = store.store_bytes("same").value();
    struct stat before {};
    REQUIRE(::stat(store.path_of(hash).c_str(), &before) == 0);
    CHECK(store.store_bytes("same").value() == hash);
    struct stat after {};
    REQUIRE(::stat(store.path_of(hash).c_str(), &after) == 0);
    CHECK(before.st_ino == after.st_ino);
    CHECK(folder.stored() == 1);
    CHECK(folder.staged().empty());
}

TEST_CASE("no bytes at all are a blob too") {
    const Folder folder;
    const auto store = blobs::FolderBlobs::open(folder.path()).value();
    CHECK(store.store_bytes("").value() == base::sha256_hex(""));
}

TEST_CASE("storing the right bytes repairs a stored file that has changed, and its hard links with it") {
    const std::string right = std::string(3 << 20, 'a') + "end";
    std::string flipped = right;
    flipped[2 << 20] ^= 1;
    for (const std::string& damaged : {flipped, right + "more", right.substr(0, 1 << 20), std::string()}) {
        CAPTURE(damaged.size());
        const Folder folder;
        const auto store = blobs::FolderBlobs::open(folder.path()).value();
        const std::string hash = store.store_bytes(right).value();
        const fs::path published = folder.path() / "published";
        fs::create_hard_link(store.path_of(hash), published);
        fs::permissions(store.path_of(hash), fs::perms::owner_all);
        leave(store.path_of(hash), damaged);
        CHECK_FALSE(store.is_intact(hash));
        CHECK(store.store_bytes(right).value() == hash);
        CHECK(store.is_intact(hash));
        CHECK(base::read_file(published, 1 << 30).value() == right);
        CHECK((fs::status(published).permissions() & fs::perms::mask) == static_cast<fs::perms>(0444));
    }
}

TEST_CASE(
    "what is not a file in the place of a blob is damage that nothing waits for, and an upload ends it") {
    const Folder folder;
    const auto store = blobs::FolderBlobs::open(folder.path()).value();
    const std::string hash = store.store_bytes("lost").value();
    fs::remove(store.path_of(hash));
    REQUIRE(::mkfifo(store.path_of(hash).c_str(), 0600) == 0);
    CHECK_FALSE(store.is_intact(hash));
    CHECK(store.store_bytes("lost").value() == hash);
    CHECK(store.is_intact(hash));
}

TEST_CASE("storing the right bytes brings a lost file back") {
    const Folder folder;
    const auto store = blobs::FolderBlobs::open(folder.path()).value();
    const std::string hash = store.store_bytes("lost").value();
    fs::remove(store.path_of(hash));
    CHECK_FALSE(store.is_intact(hash));
    CHECK(store.store_bytes("lost").value() == hash);
    CHECK(store.is_intact(hash));
}

TEST_CASE("folders of a store are for its owner only, those of an older store from the next opening on") {
    const Folder folder;
    for (const char* name : {"blobs", "staging", "collecting"}) {
        fs::create_directories(folder.path() / name);
        fs::permissions(folder.path() / name, static_cast<fs::perms>(0755));
    }
    REQUIRE(blobs::FolderBlobs::open(folder.path()).has_value());
    for (const char* name : {"blobs", "staging", "collecting"}) {
        CAPTURE(name);
        CHECK((fs::status(folder.path() / name).permissions() & fs::perms::mask) ==
              static_cast<fs::perms>(0700));
    }
}

TEST_CASE("what was staged and not stored goes with its owner") {
    const Folder folder;
    const auto store = blobs::FolderBlobs::open(folder.path()).value();
    {
        auto staged = store.stage().value();
        REQUIRE(staged.write("half").has_value());
        const blobs::StagedBlob moved = std::move(staged);
        CHECK(folder.staged().size() == 1);
    }
    CHECK(folder.staged().empty());
    CHECK(folder.stored() == 0);
}

TEST_CASE("two staged blobs never share a file") {
    const Folder folder;
    const auto store = blobs::FolderBlobs::open(folder.path()).value();
    const auto a = store.stage().value();
    const auto b = store.stage().value();
    CHECK(folder.staged().size() == 2);
}

TEST_CASE("opening removes what dead runs left in staging, and leaves what living ones write") {
    const Folder folder;
    const auto first = blobs::FolderBlobs::open(folder.path()).value();
    auto living = first.stage().value();
    REQUIRE(living.write("on its way").has_value());
    const std::vector<std::string> theirs = folder.staged();
    REQUIRE(theirs.size() == 1);
    leave(folder.path() / "staging" / "0123456789abcdef0123456789abcdef", "half a wheel");
    const auto second = blobs::FolderBlobs::open(folder.path());
    REQUIRE(second.has_value());
    CHECK(folder.staged() == theirs);
    CHECK(first.store(std::move(living)).value() == base::sha256_hex("on its way"));
}

TEST_CASE("the staged file of a killed process is removed by the next run") {
    const Folder folder;
    { const auto made = blobs::FolderBlobs::open(folder.path()).value(); }
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const auto store = blobs::FolderBlobs::open(folder.path());
        auto staged = store->stage();
        static_cast<void>(staged->write("half a wheel"));
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    CHECK(folder.staged().size() == 1);
    const auto next = blobs::FolderBlobs::open(folder.path());
    CHECK(next.has_value());
    CHECK(folder.staged().empty());
}

TEST_CASE("a run that died between linking a blob and unlinking its staging name leaves the blob") {
    const Folder folder;
    const auto store = blobs::FolderBlobs::open(folder.path()).value();
    const std::string hash = store.store_bytes("linked").value();
    fs::create_hard_link(store.path_of(hash), folder.path() / "staging" / "leftover");
    const auto next = blobs::FolderBlobs::open(folder.path());
    REQUIRE(next.has_value());
    CHECK(folder.staged().empty());
    CHECK(base::read_file(next->path_of(hash), 100).value() == "linked");
}

TEST_CASE("a store whose folder cannot be made says which") {
    const Folder folder;
    leave(folder.path() / "file", "");
    const auto store = blobs::FolderBlobs::open(folder.path() / "file" / "store");
    REQUIRE_FALSE(store.has_value());
    CHECK(store.error().code.starts_with("os."));
    CHECK(store.error().text().find((folder.path() / "file").string()) != std::string::npos);
}

TEST_CASE("blobs on another file system than what is received are refused before the first upload") {
    const Folder folder;
    const base::TempDir elsewhere = base::TempDir::make("blobs", "/dev/shm").value();
    struct stat here {};
    struct stat there {};
    REQUIRE(::stat(folder.path().c_str(), &here) == 0);
    REQUIRE(::stat(elsewhere.path().c_str(), &there) == 0);
    fs::create_directory_symlink(elsewhere.path(), folder.path() / "blobs");
    const auto store = blobs::FolderBlobs::open(folder.path());
    CHECK(store.has_value() == (here.st_dev == there.st_dev));
    if (!store) CHECK(store.error().code == "blobs.other_file_system");
}

TEST_CASE("a name that is no SHA-256 is a bug of the caller") {
    const Folder folder;
    const auto store = blobs::FolderBlobs::open(folder.path()).value();
    CHECK_THROWS(static_cast<void>(store.path_of("../../etc/passwd")));
    CHECK_THROWS(static_cast<void>(store.contains(std::string(64, 'A'))));
}
