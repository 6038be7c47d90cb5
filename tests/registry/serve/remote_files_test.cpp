// Bytes of a blob store on their way through the server.
#include "registry/serve/remote_files.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <future>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/limits.hpp"
#include "tests/store/blobs/memory_blobs.hpp"

using namespace wheelyard;
using registry::RemoteFiles;

namespace {

struct Fixture {
    base::TempDir dir = base::TempDir::make("remote").value();
    blobs::MemoryBlobs blobs = blobs::MemoryBlobs::open(dir.path()).value();

    blobs::DiskRoom room{dir.path(), 0};

    http::RemoteAnswer fetch(RemoteFiles& files, const http::RemoteFile& file) const {
        std::promise<http::RemoteAnswer> come;
        files.fetch(file, [&](http::RemoteAnswer answer) { come.set_value(std::move(answer)); });
        return come.get_future().get();
    }
    // Everything that arrives; empty if it breaks.
    static std::string read(http::ArrivingFile& file) {
        for (std::uint64_t have = 0; file.progress().state == http::ArrivingFile::State::arriving;) {
            std::promise<void> more;
            file.call_when_past(have, [&] { more.set_value(); });
            more.get_future().wait();
            have = file.progress().readable_bytes;
        }
        if (file.progress().state == http::ArrivingFile::State::broken) return {};
        std::string bytes(static_cast<std::size_t>(file.size_bytes()), '\0');
        CHECK(::pread(file.file(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
        return bytes;
    }
};

}  // namespace

TEST_CASE("a file or a part of it arrives, and leaves nothing behind") {
    const Fixture fixture;
    std::string bytes(3'000'000, 'x');
    bytes[1'000'000] = 'y';
    const std::string sha256 = fixture.blobs.store_bytes(bytes).value();
    const std::string nothing = fixture.blobs.store_bytes("").value();
    {
        RemoteFiles files(fixture.blobs, fixture.dir.path(), fixture.room);
        CHECK(Fixture::read(*fixture.fetch(files, {sha256, "a.whl", 0, bytes.size()}).arriving) == bytes);
        CHECK(Fixture::read(*fixture.fetch(files, {sha256, "a.whl", 999'999, 3}).arriving) == "xyx");
        const auto empty = fixture.fetch(files, {nothing, "b.whl", 0, 0});
        REQUIRE(empty.arriving);
        CHECK(empty.arriving->progress().state != http::ArrivingFile::State::broken);
        CHECK(files.url_for({sha256, "a.whl", 0, 1}) == std::nullopt);
    }
    CHECK(std::distance(std::filesystem::directory_iterator(fixture.dir.path()), {}) == 1);  // staging
}

TEST_CASE("what the store does not have is a problem, and a file that is shorter than promised breaks") {
    const Fixture fixture;
    RemoteFiles files(fixture.blobs, fixture.dir.path(), fixture.room);
    const auto absent = fixture.fetch(files, {std::string(64, 'a'), "a.whl", 0, 10});
    CHECK_FALSE(absent.arriving);
    CHECK(absent.problem.code == "file.store");
    CHECK(absent.problem.status == 503);
    std::string bytes(3 * base::mib, 'x');
    const std::string sha256 = fixture.blobs.store_bytes(bytes).value();
    const auto longer = fixture.fetch(files, {sha256, "a.whl", 0, bytes.size() + 1});
    REQUIRE(longer.arriving);
    CHECK(Fixture::read(*longer.arriving).empty());
}

namespace {

// Its client goes after the first piece.
struct LeftBlobs : blobs::MemoryBlobs {
    explicit LeftBlobs(blobs::MemoryBlobs store) : blobs::MemoryBlobs(std::move(store)) {}
    base::Status stream(std::string_view, std::uint64_t, std::uint64_t length,
                        const blobs::TakeBytes& take) const override {
        const std::string piece(1000, 'x');
        base::Status taken = take(piece);
        gone.get_future().wait();
        for (std::uint64_t at = piece.size(); taken && at < length; at += piece.size())
            taken = take(piece);
        ended.set_value(taken.has_value());
        return taken;
    }
    mutable std::promise<void> gone;
    mutable std::promise<bool> ended;
};

}  // namespace

TEST_CASE("a file whose client has gone is not fetched to its end") {
    const Fixture fixture;
    const LeftBlobs blobs(blobs::MemoryBlobs::open(fixture.dir.path()).value());
    RemoteFiles files(blobs, fixture.dir.path(), fixture.room);
    CHECK(fixture.fetch(files, {std::string(64, 'a'), "a.whl", 0, 100'000}).arriving);
    blobs.gone.set_value();
    CHECK_FALSE(blobs.ended.get_future().get());
}

TEST_CASE("no file is passed on that would leave less room on the disk than commits need") {
    const Fixture fixture;
    const std::string sha256 = fixture.blobs.store_bytes("wheel").value();
    RemoteFiles files(fixture.blobs, fixture.dir.path(), {fixture.dir.path(), std::uint64_t{1} << 62});
    const auto refused = fixture.fetch(files, {sha256, "a.whl", 0, 5});
    CHECK_FALSE(refused.arriving);
    CHECK(refused.problem.status == 503);
}
