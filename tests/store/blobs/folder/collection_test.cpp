// Blobs are listed and removed; a concurrent store of the same bytes keeps them.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/store/blobs/folder/folder_blobs.hpp"

using namespace wheelyard;
namespace fs = std::filesystem;

namespace {

constexpr base::UnixMicros long_ago = 1'000'000'000'000'000;  // 2001
constexpr base::UnixMicros later = 1'100'000'000'000'000;     // 2004

struct Store {
    base::TempDir dir = base::TempDir::make("blobs").value();
    blobs::FolderBlobs blobs = blobs::FolderBlobs::open(dir.path()).value();
    // As if it had been stored long ago.
    [[nodiscard]] std::string store_old(std::string_view bytes) const {
        const std::string hash = blobs.store_bytes(bytes).value();
        const struct timespec times[2] = {{long_ago / 1'000'000, 0}, {long_ago / 1'000'000, 0}};
        REQUIRE(::utimensat(AT_FDCWD, blobs.path_of(hash).c_str(), times, 0) == 0);
        return hash;
    }
};

}  // namespace

TEST_CASE("blobs are listed by the beginning of their hash, with size and time; foreign files are not") {
    const Store store;
    const std::string hash = store.store_old("wheel");
    const std::string digits = hash.substr(0, 2);
    REQUIRE(base::replace_file(store.blobs.path_of(hash).parent_path() / "README", "not a blob"));
    const auto listed = store.blobs.list(digits).value();
    REQUIRE(listed.size() == 1);
    CHECK(listed[0].sha256 == hash);
    CHECK(listed[0].size_bytes == 5);
    CHECK(listed[0].stored == long_ago);
    CHECK(store.blobs.list(digits == "00" ? "01" : "00").value().empty());
}

TEST_CASE("an old blob is removed, a fresh one stays, and storing again makes it fresh") {
    const Store store;
    const std::string hash = store.store_old("wheel");
    CHECK_FALSE(store.blobs.remove_if_stored_before(hash, long_ago).value());  // at the bound it stays
    CHECK(store.blobs.contains(hash));
    REQUIRE(store.blobs.store_bytes("wheel"));
    CHECK_FALSE(store.blobs.remove_if_stored_before(hash, later).value());
    CHECK(base::read_file(store.blobs.path_of(hash), 100).value() == "wheel");
    const std::string other = store.store_old("other");
    CHECK(store.blobs.remove_if_stored_before(other, later).value());
    CHECK_FALSE(store.blobs.contains(other));
    CHECK_FALSE(store.blobs.remove_if_stored_before(other, later).value());
    CHECK(fs::is_empty(store.dir.path() / "collecting"));
}

TEST_CASE("what a killed collection took out is put back by the next open, unless it is there again") {
    const Store store;
    const std::string hash = store.store_old("wheel");
    fs::create_directories(store.dir.path() / "collecting");
    fs::rename(store.blobs.path_of(hash), store.dir.path() / "collecting" / hash);
    REQUIRE(blobs::FolderBlobs::open(store.dir.path()));
    CHECK(base::read_file(store.blobs.path_of(hash), 100).value() == "wheel");
    CHECK(fs::is_empty(store.dir.path() / "collecting"));
    fs::create_hard_link(store.blobs.path_of(hash), store.dir.path() / "collecting" / hash);
    REQUIRE(blobs::FolderBlobs::open(store.dir.path()));
    CHECK(store.blobs.contains(hash));
    CHECK(fs::is_empty(store.dir.path() / "collecting"));
}

TEST_CASE("what is not a file in the place of a blob is never removed, and the same bytes take its place") {
    const Store store;
    const std::string hash = store.store_old("wheel");
    const fs::path place = store.blobs.path_of(hash);
    for (const char* target : {"", "/etc/passwd"}) {
        fs::remove(place);
        if (*target == 0) fs::create_directory(place);
        if (*target != 0) fs::create_symlink(target, place);
        CHECK_FALSE(
            store.blobs.remove_if_stored_before(hash, std::numeric_limits<base::UnixMicros>::max()).value());
        CHECK(fs::symlink_status(place).type() != fs::file_type::not_found);
        REQUIRE(blobs::FolderBlobs::open(store.dir.path()));
        CHECK(store.blobs.store_bytes("wheel").value() == hash);
        CHECK(base::read_file(place, 10).value() == "wheel");
    }
}

TEST_CASE("uploads that store while a collection removes always end with their bytes in place") {
    const Store store;
    const std::string hash = base::sha256_hex("contended");
    std::atomic<bool> is_over = false;
    std::atomic<int> collected = 0;
    std::thread collector([&] {
        while (!is_over) {
            // Only what looks old may go: the uploads below make it look so, and then fresh.
            if (store.blobs.remove_if_stored_before(hash, later).value_or(false)) ++collected;
        }
    });
    // At least 200 rounds, and on until the collector has met some (it may be slow to start).
    for (int round = 0; round < 200 || (collected == 0 && round < 1'000'000); ++round) {
        const auto stored = store.blobs.store_bytes("contended");
        REQUIRE(stored.has_value());
        // From here a row would be committed: the blob is there, or on its way back from a collector's look.
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!store.blobs.contains(hash) && std::chrono::steady_clock::now() < deadline)
            std::this_thread::yield();
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        const struct timespec times[2] = {{long_ago / 1'000'000, 0}, {long_ago / 1'000'000, 0}};
        ::utimensat(AT_FDCWD, store.blobs.path_of(hash).c_str(), times, 0);
    }
    is_over = true;
    collector.join();
    CHECK(collected > 0);
}
