#include "builder/workplace/log_sender.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

TEST_CASE("how much of each log was sent survives a restart") {
    SentLogs sent{.since = 1'795'000'000'000'000, .logs = {{"w1", {4'096, -1}}, {"w2", {-1, 17}}}};
    const SentLogs read = parse_sent_logs(render_sent_logs(sent));
    CHECK(read.since == sent.since);
    REQUIRE(read.logs.size() == 2);
    CHECK(read.logs.at("w1").sent == 4'096);
    CHECK(read.logs.at("w1").login_bytes == -1);
    CHECK(read.logs.at("w2").sent == -1);
    CHECK(read.logs.at("w2").login_bytes == 17);
    // Damaged or of another program: the agent asks the registry.
    for (const char* text :
         {"", "{", "[]", "{}", R"({"format":"wheelyard.sent_logs/2","logs":{"w1":{"sent":1}}})",
          R"({"format":"wheelyard.sent_logs/1","logs":5})"})
        CHECK(parse_sent_logs(text).logs.empty());
    CHECK(parse_sent_logs(R"({"format":"wheelyard.sent_logs/1","logs":{"w1":5}})").logs.at("w1").sent == -1);
}

}  // namespace
}  // namespace wheelyard::builder
