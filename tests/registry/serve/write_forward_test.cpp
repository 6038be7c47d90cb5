// What another node gets of a request, and what the client gets of its answer.
#include "registry/serve/write_forward.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <string>

#include "tests/support/loopback_server.hpp"

using namespace wheelyard;
using registry::WriteForward;
using testing::LoopbackServer;

namespace {

std::string url_without_slash(const LoopbackServer& server) {
    std::string url = server.url();
    url.pop_back();
    return url;
}

WriteForward forward_to(std::optional<nodes::WritingNode> place) {
    return {"own", [] { return false; }, [place] { return place; }, 5'000};
}

http::RequestHead upload_of(std::uint64_t bytes) {
    http::RequestHead head;
    head.method = "POST";
    head.target = "/main/legacy/?a=b";
    head.authorization = "Basic xyz";
    head.content_type = "multipart/form-data; boundary=b";
    head.content_length = bytes;
    head.host = "wheels.example.org";
    return head;
}

}  // namespace

TEST_CASE("the node that writes gets the credentials and the body, and its answer is the client's") {
    const LoopbackServer server([](const testing::LoopbackRequest&) {
        return testing::LoopbackAnswer{.status = 422,
                                       .body = "{}",
                                       .headers = {{"Content-Type", "application/problem+json"},
                                                   {"X-Request-Id", "of-the-writer"},
                                                   {"Access-Control-Allow-Origin", "*"}}};
    });
    WriteForward forward = forward_to(nodes::WritingNode{"1f", "a", url_without_slash(server)});
    CHECK(forward.writer() == http::ForwardService::Writer::elsewhere);
    auto request = forward.begin(upload_of(6), "192.0.2.7").value();
    CHECK(request->feed("abc"));
    CHECK(request->feed("def"));
    const http::Reply reply = request->finish();
    CHECK(reply.status == 422);
    CHECK(std::get<std::string>(reply.body) == "{}");
    CHECK(reply.field("Content-Type") == "application/problem+json");
    CHECK(reply.field("X-Request-Id").empty());  // this node gives its own
    CHECK(reply.field("Access-Control-Allow-Origin").empty());
    const auto seen = server.requests().at(0);
    CHECK(seen.target == "/main/legacy/?a=b");
    CHECK(seen.header("authorization") == "Basic xyz");
    CHECK(seen.header("content-type") == "multipart/form-data; boundary=b");
    CHECK(seen.header("x-wheelyard-forwarded") == "1f");
    CHECK(seen.header("x-wheelyard-client") == "192.0.2.7");
    CHECK(seen.body == "abcdef");
}

TEST_CASE("without a node that writes, or one that answers, the refusal says so and may pass") {
    for (const auto& place :
         {std::optional<nodes::WritingNode>(), std::optional(nodes::WritingNode{"1", "a", ""})}) {
        WriteForward nowhere = forward_to(place);
        CHECK(nowhere.writer() == http::ForwardService::Writer::unknown);
        CHECK(nowhere.begin(upload_of(1), "192.0.2.7").error().code == "node.no_writer");
    }
    WriteForward dead = forward_to(nodes::WritingNode{"1", "a", "http://127.0.0.1:1"});
    auto request = dead.begin(upload_of(1), "192.0.2.7").value();
    (void)request->feed("x");
    const http::Reply reply = request->finish();
    CHECK(reply.status == 503);
    CHECK_FALSE(reply.field("Retry-After").empty());
}

TEST_CASE("a request to a node that says nothing is given up when another one writes") {
    const LoopbackServer frozen(
        [](const testing::LoopbackRequest&) { return testing::LoopbackAnswer{.silent = true}; });
    std::atomic<int> asked = 0;
    WriteForward forward(
        "own", [] { return false; },
        [&] {
            return std::optional(nodes::WritingNode{asked++ < 2 ? "1" : "2", "a", url_without_slash(frozen)});
        },
        600'000);
    CHECK(forward.begin(upload_of(0), "192.0.2.7").value()->finish().status == 503);
}

TEST_CASE("a request is passed on once") {
    WriteForward forward = forward_to(nodes::WritingNode{"1", "a", "http://127.0.0.1:1"});
    http::RequestHead head = upload_of(1);
    head.is_from_node = true;
    CHECK(forward.begin(head, "192.0.2.7").error().status == 503);
}

TEST_CASE("of a request for a whole URL the other node gets the path") {
    const LoopbackServer server([](const testing::LoopbackRequest&) { return testing::LoopbackAnswer{}; });
    WriteForward forward = forward_to(nodes::WritingNode{"1", "a", url_without_slash(server)});
    http::RequestHead head = upload_of(0);
    head.target = "http://user@wheels.example.org/main/legacy/?a=b";
    CHECK(forward.begin(head, "192.0.2.7").value()->finish().status == 200);
    CHECK(server.requests().at(0).target == "/main/legacy/?a=b");
}
