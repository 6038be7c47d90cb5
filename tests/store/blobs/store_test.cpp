// What every kind of blob store does, and nothing that only one of them does.
#include "lib/store/blobs/store.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "lib/base/files/temp_dir.hpp"
#include "lib/store/blobs/folder/folder_blobs.hpp"
#include "lib/store/blobs/s3/s3_blobs.hpp"
#include "tests/store/blobs/memory_blobs.hpp"
#include "tests/store/blobs/s3/s3_double.hpp"

using namespace wheelyard;
using blobs::ReadFrom;
using blobs::StoredBlob;
namespace fs = std::filesystem;

namespace {

// One new store of a kind, and the means to damage what it has stored.
struct Tried {
    const blobs::BlobStore& blobs;
    std::function<void(const std::string& sha256, const std::string& bytes)> damage;
    fs::path folder;  // for other files of the test
};

void for_each_kind(const std::function<void(const Tried&)>& test) {
    auto in_memory = base::TempDir::make("blobs", "/dev/shm");  // these tests do not test the disk
    const auto dir = in_memory ? std::move(*in_memory) : base::TempDir::make("blobs").value();
    {
        INFO("a folder");
        const auto store = blobs::FolderBlobs::open(dir.path() / "folder").value();
        const auto damage = [&](const std::string& sha256, const std::string& bytes) {
            const fs::path file = store.path_of(sha256);
            const auto time = fs::last_write_time(file);
            fs::permissions(file, fs::perms::owner_all);
            std::ofstream(file) << bytes;
            fs::last_write_time(file, time);
        };
        test({store, damage, dir.path()});
    }
    {
        INFO("memory");
        const auto store = blobs::MemoryBlobs::open(dir.path() / "memory").value();
        test({store,
              [&](const std::string& sha256, const std::string& bytes) { store.damage(sha256, bytes); },
              dir.path()});
    }
    {
        INFO("an S3 bucket");
        testing::S3Double bucket;
        const auto store = bucket.open(dir.path() / "s3");
        const auto damage = [&](const std::string& sha256, const std::string& bytes) {
            bucket.objects().at("some/prefix/" + blobs::key_of(sha256)).bytes = bytes;
        };
        test({*store, damage, dir.path()});
    }
}

StoredBlob found(const blobs::BlobStore& blobs, const std::string& sha256) {
    return blobs.find(sha256).value().value();
}

base::UnixMicros now() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

// Stores the same bytes until that counts as later: the time of a file has the kernel's steps.
void store_later(const blobs::BlobStore& blobs, const std::string& bytes, const StoredBlob& before) {
    do {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        REQUIRE(blobs.store_bytes(bytes).value() == before.sha256);
    } while (found(blobs, before.sha256).stored == before.stored);
}

}  // namespace

TEST_CASE("any store: staged bytes come under their own SHA-256, with their size and the time") {
    for_each_kind([](const Tried& tried) {
        constexpr base::UnixMicros second = 1'000'000;
        const base::UnixMicros before = now() - second;
        auto staged = tried.blobs.stage().value();
        REQUIRE(staged.write("whe"));
        CHECK(staged.read()->size() == 3);
        REQUIRE(staged.write("el"));
        const std::string sha256 = base::sha256_hex("wheel");
        CHECK(staged.finish() == sha256);
        CHECK_FALSE(tried.blobs.contains(sha256));
        CHECK(tried.blobs.store(std::move(staged)).value() == sha256);
        const StoredBlob blob = found(tried.blobs, sha256);
        CHECK(blob.sha256 == sha256);
        CHECK(blob.size_bytes == 5);
        CHECK(blob.stored >= before);
        CHECK(blob.stored <= now() + second);
        CHECK(tried.blobs.is_intact(sha256));
        CHECK(tried.blobs.read_bytes(sha256, 5).value() == "wheel");
        CHECK(tried.blobs.read_bytes(sha256, 4).error().code == "file.too_large");
        CHECK(fs::is_empty(tried.folder / "folder" / "staging"));
    });
}

TEST_CASE("any store: storing the same bytes again changes nothing but the time") {
    for_each_kind([](const Tried& tried) {
        const std::string sha256 = tried.blobs.store_bytes("same").value();
        const StoredBlob before = found(tried.blobs, sha256);
        CHECK_FALSE(tried.blobs.has_changed(before).value());
        store_later(tried.blobs, "same", before);
        CHECK(found(tried.blobs, sha256).stored > before.stored);
        CHECK(tried.blobs.has_changed(before).value());
        CHECK(tried.blobs.list(sha256.substr(0, 2))->size() == 1);
        CHECK(tried.blobs.read_bytes(sha256, 4).value() == "same");
    });
}

TEST_CASE("any store: a reader gives any range, and no byte behind the end") {
    for_each_kind([](const Tried& tried) {
        const std::string sha256 = tried.blobs.store_bytes("0123456789").value();
        const std::string nothing = tried.blobs.store_bytes("").value();
        for (const ReadFrom from : {ReadFrom::cache, ReadFrom::medium}) {
            const auto reader = tried.blobs.open(sha256, from).value();
            CHECK(reader->size() == 10);
            for (const std::size_t begin : {0U, 1U, 9U, 10U}) {
                for (std::size_t length = 0; length <= 10 - begin; ++length) {
                    std::string part(length, '\0');
                    REQUIRE(reader->read_at(begin, part.data(), length));
                    CHECK(part == std::string("0123456789").substr(begin, length));
                }
                std::string more(11 - begin, '\0');
                CHECK_FALSE(reader->read_at(begin, more.data(), more.size()));
            }
            CHECK(tried.blobs.open(nothing, from).value()->size() == 0);
        }
    });
}

TEST_CASE("any store: what was never stored is nowhere, and taking it away is no error") {
    for_each_kind([](const Tried& tried) {
        const std::string absent(64, 'a');
        CHECK(tried.blobs.find(absent).value() == std::nullopt);
        CHECK_FALSE(tried.blobs.contains(absent));
        CHECK_FALSE(tried.blobs.is_intact(absent));
        CHECK(tried.blobs.open(absent, ReadFrom::cache).error().os_error == ENOENT);
        CHECK(tried.blobs.open(absent, ReadFrom::medium).error().os_error == ENOENT);
        CHECK(tried.blobs.list("aa")->empty());
        CHECK_FALSE(tried.blobs.remove_if_stored_before(absent, now()).value());
        CHECK(tried.blobs.has_changed({absent, 1, now()}).value());
        const auto linked = tried.blobs.link_into(absent, AT_FDCWD, (tried.folder / "link").c_str());
        REQUIRE_FALSE(linked);
        CHECK((linked.error().os_error == ENOENT || linked.error().os_error == EOPNOTSUPP));
    });
}

TEST_CASE("any store: its identity is the last one that was written, and no blob") {
    for_each_kind([](const Tried& tried) {
        CHECK(tried.blobs.read_identity().error().os_error == ENOENT);
        REQUIRE(tried.blobs.write_identity("{\"of\":\"another one\"}"));
        REQUIRE(tried.blobs.write_identity("{}"));
        CHECK(tried.blobs.read_identity().value() == "{}");
        REQUIRE(blobs::for_each_two_digits([&](const std::string& digits) -> base::Status {
            CHECK(tried.blobs.list(digits)->empty());
            return {};
        }));
    });
}

TEST_CASE("any store: a name that is no SHA-256 is a bug of the caller") {
    for_each_kind([](const Tried& tried) {
        for (const std::string& name :
             {std::string("../../etc/passwd"), std::string(64, 'A'), std::string()}) {
            CHECK_THROWS(static_cast<void>(tried.blobs.find(name)));
            CHECK_THROWS(static_cast<void>(tried.blobs.open(name, ReadFrom::cache)));
            CHECK_THROWS(static_cast<void>(tried.blobs.remove_if_stored_before(name, now())));
        }
    });
}

TEST_CASE("any store: blobs are listed by the first two digits of their hash, in the order of the hashes") {
    for_each_kind([](const Tried& tried) {
        const std::string digits = base::sha256_hex("0").substr(0, 2);
        std::vector<std::string> stored;
        for (int number = 0; stored.size() < 4; ++number) {
            const std::string bytes = std::to_string(number);
            if (base::sha256_hex(bytes).starts_with(digits))
                stored.push_back(tried.blobs.store_bytes(bytes).value());
        }
        const std::string other = tried.blobs.store_bytes("1").value();
        std::sort(stored.begin(), stored.end());
        std::vector<std::string> listed;
        const auto some_blobs = tried.blobs.list(digits).value();
        for (const StoredBlob& blob : some_blobs) {
            listed.push_back(blob.sha256);
            CHECK(blob.stored == found(tried.blobs, blob.sha256).stored);
            CHECK(blob.size_bytes == found(tried.blobs, blob.sha256).size_bytes);
        }
        CHECK(listed == stored);
        std::size_t all = 0;
        REQUIRE(blobs::for_each_two_digits([&](const std::string& some) -> base::Status {
            all += tried.blobs.list(some)->size();
            return {};
        }));
        CHECK(all == 5);
        CHECK(other.substr(0, 2) != digits);
    });
}

TEST_CASE("any store: a blob is removed by the time at which its bytes were stored last") {
    for_each_kind([](const Tried& tried) {
        const std::string sha256 = tried.blobs.store_bytes("wheel").value();
        const StoredBlob first = found(tried.blobs, sha256);
        CHECK_FALSE(
            tried.blobs.remove_if_stored_before(sha256, first.stored).value());  // at the bound it stays
        CHECK(tried.blobs.contains(sha256));
        store_later(tried.blobs, "wheel", first);
        CHECK_FALSE(tried.blobs.remove_if_stored_before(sha256, first.stored + 1).value());
        CHECK(tried.blobs.is_intact(sha256));
        CHECK(tried.blobs.remove_if_stored_before(sha256, found(tried.blobs, sha256).stored + 1).value());
        CHECK_FALSE(tried.blobs.contains(sha256));
        CHECK_FALSE(tried.blobs.remove_if_stored_before(sha256, now()).value());
        CHECK(tried.blobs.store_bytes("wheel").value() == sha256);
        CHECK(tried.blobs.is_intact(sha256));
    });
}

TEST_CASE("any store: a reader goes on to the end of a blob that is removed meanwhile") {
    for_each_kind([](const Tried& tried) {
        const std::string sha256 = tried.blobs.store_bytes("wheel").value();
        const auto reader = tried.blobs.open(sha256, ReadFrom::cache).value();
        REQUIRE(tried.blobs.remove_if_stored_before(sha256, now() + 1'000'000).value());
        std::string bytes(5, '\0');
        REQUIRE(reader->read_at(0, bytes.data(), bytes.size()));
        CHECK(bytes == "wheel");
    });
}

TEST_CASE("any store: damaged bytes are found, and repaired by an upload of the right ones") {
    for_each_kind([](const Tried& tried) {
        const std::string sha256 = tried.blobs.store_bytes("wheel").value();
        for (const char* damaged : {"whel", "wheal", "wheels", ""}) {
            tried.damage(sha256, damaged);
            CHECK(tried.blobs.contains(sha256));
            CHECK_FALSE(tried.blobs.is_intact(sha256));
            CHECK(tried.blobs.store_bytes("wheel").value() == sha256);
            CHECK(tried.blobs.is_intact(sha256));
        }
    });
}

TEST_CASE("any store: a blob is linked, or the store says that it has no files to link to") {
    for_each_kind([](const Tried& tried) {
        const std::string sha256 = tried.blobs.store_bytes("wheel").value();
        const fs::path link = tried.folder / "link";
        const auto linked = tried.blobs.link_into(sha256, AT_FDCWD, link.c_str());
        if (linked) {
            CHECK(base::read_file(link, 10).value() == "wheel");
            CHECK(tried.blobs.link_into(sha256, AT_FDCWD, link.c_str()).error().os_error == EEXIST);
            const auto folder = base::open_read(tried.folder).value();
            REQUIRE(tried.blobs.link_into(sha256, folder.get(), "other link"));
            CHECK(fs::equivalent(tried.folder / "other link", link));
            fs::remove(link);
        } else {
            CHECK(linked.error().os_error == EOPNOTSUPP);
            CHECK_FALSE(fs::exists(link));
        }
    });
}

TEST_CASE("any store: the same bytes stored at once by several are one blob") {
    for_each_kind([](const Tried& tried) {
        const std::string bytes(100'000, 'x');
        std::atomic<int> right = 0;
        std::vector<std::thread> writers;
        for (int writer = 0; writer < 4; ++writer) {
            writers.emplace_back([&] {
                for (int round = 0; round < 10; ++round) {
                    const auto stored = tried.blobs.store_bytes(bytes);
                    if (stored && tried.blobs.is_intact(*stored)) ++right;
                }
            });
        }
        for (std::thread& writer : writers)
            writer.join();
        CHECK(right == 40);
        CHECK(tried.blobs.list(base::sha256_hex(bytes).substr(0, 2))->size() == 1);
    });
}

TEST_CASE("any store: what was staged and not stored goes with its owner") {
    for_each_kind([](const Tried& tried) {
        {
            auto staged = tried.blobs.stage().value();
            REQUIRE(staged.write("half"));
            const blobs::StagedBlob moved = std::move(staged);
        }
        CHECK_FALSE(tried.blobs.contains(base::sha256_hex("half")));
        for (const char* store : {"folder", "memory", "s3"}) {
            if (fs::exists(tried.folder / store)) CHECK(fs::is_empty(tried.folder / store / "staging"));
        }
    });
}
