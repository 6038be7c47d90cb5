// The METADATA of a wheel by .metadata, by ranges, and from a folder.
#include "builder/pairs/wheel_metadata.hpp"

#include <doctest/doctest.h>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "tests/builder/pairs/recorded_index.hpp"
#include "tests/support/wheel_writer.hpp"

namespace wheelyard::builder {
namespace {

using wheelyard::testing::LoopbackAnswer;
using wheelyard::testing::LoopbackRequest;
using wheelyard::testing::LoopbackServer;

test_support::WheelWriter demo_wheel() {
    test_support::WheelWriter wheel("demo", "1.0");
    wheel.metadata_line("Requires-Dist: torch==2.0.1");
    return wheel;
}

simple::FileLink link_to(const std::string& url, const std::string& filename = "demo-1.0-py3-none-any.whl") {
    simple::FileLink link;
    link.filename = filename;
    link.url = url;
    return link;
}

// A large wheel, so that no single range has all of it.
std::string large_wheel() {
    std::string noise;
    std::uint32_t state = 1;
    for (int at = 0; at < 300'000; ++at)
        noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    return demo_wheel().add("demo/data.bin", noise).bytes();
}

TEST_CASE("ranges read the metadata of a wheel without most of its bytes") {
    const std::string wheel = large_wheel();
    std::size_t sent = 0;
    LoopbackServer server([&](const LoopbackRequest& request) {
        auto answer = testing::answer_range(request, wheel);
        sent += answer.body.size();
        return answer;
    });
    io::HttpClient http;
    simple::FileLink link = link_to(server.url("/demo.whl"));
    const auto text = metadata_of(http, link, {});
    REQUIRE_MESSAGE(text.has_value(), text.error().text());
    CHECK(text->find("Requires-Dist: torch==2.0.1\n") != std::string::npos);
    CHECK(sent <= 2 * range_bytes);
    CHECK(wheel.size() > 4 * range_bytes);
}

TEST_CASE("a server without ranges is an error that says so, not a download") {
    const std::string wheel = large_wheel();
    LoopbackServer server([&](const LoopbackRequest&) -> LoopbackAnswer { return {.body = wheel}; });
    io::HttpClient http;
    simple::FileLink link = link_to(server.url("/demo.whl"));
    const auto text = metadata_of(http, link, {});
    REQUIRE(!text.has_value());
    CHECK((text.error().code == "pairs.no_ranges" || text.error().code == "http.too_large"));
}

TEST_CASE("a .metadata file that the page promises is used if it has the promised digest, else the wheel") {
    const std::string wheel = demo_wheel().bytes();
    const std::string metadata = "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n";
    LoopbackServer server([&](const LoopbackRequest& request) -> LoopbackAnswer {
        if (request.target.ends_with(".metadata")) return {.body = metadata};
        return testing::answer_range(request, wheel);
    });
    io::HttpClient http;
    simple::FileLink link = link_to(server.url("/demo.whl"));
    link.has_metadata = true;
    link.metadata_sha256 = base::sha256_hex(metadata);
    CHECK(metadata_of(http, link, {}).value() == metadata);
    link.metadata_sha256 = base::sha256_hex("other");
    CHECK(metadata_of(http, link, {}).value().find("torch==2.0.1") != std::string::npos);
}

TEST_CASE("a wheel in a folder is read there, and what is no wheel is an error") {
    const auto folder = *base::TempDir::make("pairs");
    REQUIRE(base::replace_file(folder.path() / "demo.whl", demo_wheel().bytes()).has_value());
    REQUIRE(base::replace_file(folder.path() / "short.whl", std::string(10, 'x')).has_value());
    REQUIRE(base::replace_file(folder.path() / "damaged.whl", demo_wheel().truncated(30)).has_value());
    io::HttpClient http;
    CHECK(metadata_of(http, link_to("", "demo.whl"), folder.path()).value().find("torch==2.0.1") !=
          std::string::npos);
    CHECK(metadata_of(http, link_to("", "short.whl"), folder.path()).error().code == "pairs.no_metadata");
    CHECK(metadata_of(http, link_to("", "damaged.whl"), folder.path()).error().code == "pairs.no_metadata");
}

}  // namespace
}  // namespace wheelyard::builder
