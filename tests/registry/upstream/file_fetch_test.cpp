// What an upstream sent for a file against what its page promises.
#include "registry/upstream/file_fetch.hpp"

#include <doctest/doctest.h>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/store/blobs/folder/folder_blobs.hpp"
#include "tests/registry/upload_fixture.hpp"
#include "tests/support/loopback_server.hpp"

using namespace wheelyard;

TEST_CASE("bytes with another hash or size than the page promises are refused") {
    const base::TempDir dir = base::TempDir::make("fetch").value();
    const auto blobs = blobs::FolderBlobs::open(dir.path()).value();
    const std::string promised = "the bytes of a wheel";
    const auto code_of = [&](const std::string& sent, std::uint64_t size) {
        simple::FileLink link;
        link.sha256 = base::sha256_hex(promised);
        link.size_bytes = size;
        blobs::StagedBlob staged = blobs.stage().value();
        REQUIRE(staged.write(sent));
        const base::Status checked = registry::check_bytes(staged, link);
        if (!checked) CHECK(checked.error().kind == base::ErrorKind::conflict);  // an alarm
        return checked ? std::string() : checked.error().code;
    };
    CHECK(code_of(promised, promised.size()).empty());
    CHECK(code_of(promised, 0).empty());
    CHECK(code_of("the bytes of another", 0) == "upstream.hash");
    CHECK(code_of("THE bytes of a wheel", promised.size()) == "upstream.hash");
    CHECK(code_of("", 0) == "upstream.hash");
    CHECK(code_of(promised, promised.size() + 1) == "upstream.size");
    CHECK(code_of(promised + "!", promised.size()) == "upstream.size");
}

TEST_CASE("a download that was given up goes on from its last byte when the file is asked for again") {
    test_support::RegistryFixture fixture;
    test_support::WheelWriter writer("six", "1.16.0");
    writer.add("six/data", base::random_bytes(300'000));
    const std::string bytes = writer.bytes();
    const std::size_t cut = 100'000;
    bool is_whole = false;
    const testing::LoopbackServer server([&](const testing::LoopbackRequest& request) {
        const std::string range = request.header("range");
        const std::string total = std::to_string(bytes.size());
        testing::LoopbackAnswer answer;
        if (range.empty()) {  // the first bytes, and the connection ends
            answer.raw = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: " + total + "\r\n\r\n" +
                         bytes.substr(0, cut);
            return answer;
        }
        const std::size_t from = std::stoul(range.substr(range.find('=') + 1));
        answer.raw = "HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Range: bytes " +
                     std::to_string(from) + "-" + std::to_string(bytes.size() - 1) + "/" + total +
                     "\r\nContent-Length: " + std::to_string(bytes.size() - from) + "\r\n\r\n" +
                     (is_whole ? bytes.substr(from) : "");
        return answer;
    });
    registry::UpstreamConfig upstream;
    upstream.url = server.url();
    upstream.cache_index = "main.up";
    upstream.hosts = upstream.private_hosts = {"127.0.0.1:" + std::to_string(server.port())};
    registry::UpstreamFile file;
    file.link.filename = writer.filename();
    file.link.url = server.url("/" + writer.filename());
    file.link.sha256 = base::sha256_hex(bytes);
    const std::atomic<bool> stopping = false;
    registry::UpstreamClient client(upstream, stopping);
    std::counting_semaphore<> inspections(1);
    registry::CutDownloads cuts;
    const auto fetch = [&] {
        return registry::fetch_file({.config = fixture.config,
                                     .blobs = fixture.store,
                                     .writer = fixture.writer,
                                     .inspections = inspections,
                                     .cut = cuts,
                                     .file = "six",
                                     .clock = fixture.clock},
                                    client, fixture.config.indexes.front(), upstream, file);
    };
    REQUIRE_FALSE(fetch());
    const std::size_t asked = server.requests().size();
    SUBCASE("within an hour") {
        is_whole = true;
        const auto fetched = fetch();
        REQUIRE_MESSAGE(fetched.has_value(), (fetched ? "" : fetched.error().text()));
        CHECK(fetched->bytes == bytes.size());
        const auto requests = server.requests();
        REQUIRE(requests.size() == asked + 1);
        CHECK(requests.back().header("range") == "bytes=100000-");
        CHECK(requests.back().header("if-range") == "\"a\"");
        CHECK_FALSE(fetched->is_quarantined);
    }
    SUBCASE("a mark that comes before its last byte holds it back") {
        is_whole = true;
        REQUIRE(fixture.writer.run([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_TRY(catalog.set_file_state({upstream.cache_index, file.link.filename},
                                                 catalog::FileState::quarantined, {"anna", "malware", 1}));
            return {};
        }));
        const auto fetched = fetch();
        REQUIRE_MESSAGE(fetched.has_value(), (fetched ? "" : fetched.error().text()));
        CHECK(fetched->is_quarantined);
        CHECK(fetched->quarantined_because == "malware");
    }
    SUBCASE("later it begins again") {
        fixture.clock.sleep_ms(registry::cut_download_kept_s * 1000);
        REQUIRE_FALSE(fetch());
        CHECK(server.requests().at(asked).header("range").empty());
    }
}

TEST_CASE("of given-up downloads a bounded number is kept, the newest") {
    const base::TempDir dir = base::TempDir::make("fetch").value();
    const auto blobs = blobs::FolderBlobs::open(dir.path()).value();
    registry::CutDownloads cuts;
    const auto name = [](std::size_t i) { return "file " + std::to_string(i); };
    for (std::size_t i = 0; i <= registry::max_cut_downloads; ++i)
        cuts.keep(name(i), {blobs.stage().value()}, 1);
    CHECK_FALSE(cuts.take(name(0), 1).has_value());
    CHECK(cuts.take(name(1), 1).has_value());
    CHECK_FALSE(cuts.take(name(1), 1).has_value());  // it is the taker's
    CHECK(cuts.take(name(registry::max_cut_downloads), 1).has_value());
    cuts.clear();
    CHECK_FALSE(cuts.take(name(2), 1).has_value());
}
