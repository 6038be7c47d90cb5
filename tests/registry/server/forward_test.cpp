// A server that is one of several nodes: without a lease it answers no page, and what writes goes to the node that writes.
#include "registry/http/forward.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>

#include "tests/registry/server/server_fixture.hpp"

namespace wheelyard::http {
namespace {

// Records what it is given to pass on.
struct RecordingForward final : ForwardService {
    struct Request final : ForwardedRequest {
        Request(RecordingForward& the_service, RequestHead the_head)
            : service(the_service), head(std::move(the_head)) {}
        Answered<void> feed(std::string_view bytes) override {
            body += bytes;
            return {};
        }
        bool wants_more() const override { return body.size() < service.wanted_bytes; }
        Reply finish() override {
            service.passed_on = body.size();
            service.seen += head.method + " " + head.target + " " + head.authorization + " " +
                            std::to_string(body.size()) + "\n";
            Reply reply{202};
            reply.add("X-From", "writer");
            reply.body = std::string("of the writer");
            return reply;
        }
        RecordingForward& service;
        const RequestHead head;
        std::string body;
    };
    Writer writer() const override { return where; }
    const std::string& id() const override { return own_id; }
    Answered<std::unique_ptr<ForwardedRequest>> begin(const RequestHead& head,
                                                      const std::string& client) override {
        clients += client + "\n";
        if (where == Writer::unknown) return tl::unexpected(no_writer("None."));
        return std::make_unique<Request>(*this, head);
    }
    std::atomic<Writer> where = Writer::elsewhere;
    std::size_t wanted_bytes = SIZE_MAX;
    const std::string own_id = "0123456789abcdef";
    std::size_t passed_on = 0;
    std::string seen;
    std::string clients;
};

std::string asked(std::string_view method, std::string_view target) {
    return std::string(method) + " " + std::string(target) +
           " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
}

}  // namespace

TEST_CASE("a node without a lease answers no page and no file, but its health and its numbers") {
    std::atomic<bool> has_lease = false;
    const Running running(
        [&](ServerSettings& settings) { settings.may_answer = [&] { return has_lease.load(); }; });
    const std::string pages[] = {"/",
                                 "/site/",
                                 "/site/simple/",
                                 "/site/simple/six/",
                                 file_url + "six-1.0+cpu-py3-none-any.whl",
                                 "/site/status.json"};
    for (const std::string& page : pages) {
        CAPTURE(page);
        const RawAnswer refused = running.ask(asked("GET", page));
        CHECK(refused.status == 503);
        CHECK(refused.body.find("node.no_lease") != std::string::npos);
        CHECK(refused.head.find("Retry-After: ") != std::string::npos);
    }
    CHECK(running.ask(asked("GET", "/healthz")).status == 200);
    CHECK(running.ask(asked("GET", "/metrics")).status == 200);
    has_lease = true;
    CHECK(running.ask(asked("GET", "/site/simple/six/")).status == 200);
}

TEST_CASE("a node that reads without the database says so in each answer, and takes no change") {
    RecordingForward forward;
    std::string times = "2026-11-28T10:00:00.000000Z until 2026-11-28T11:00:00.000000Z";
    bool may_answer = true;
    const Running running(
        [&](ServerSettings& settings) {
            settings.may_answer = [&] { return may_answer; };
            settings.reading_only = [&] { return times; };
        },
        nullptr, &forward);
    const std::string field = "X-Wheelyard-Reading-Only: " + times + "\r\n";
    for (const char* page : {"/", "/site/simple/six/", "/healthz"}) {
        const RawAnswer answer = running.ask(asked("GET", page));
        CHECK(answer.status == 200);
        CHECK(answer.head.find(field) != std::string::npos);
    }
    const std::string changes[] = {post_sized("x"), asked("DELETE", "/site/uploads/abc"),
                                   asked("POST", "/api/v1/gc")};
    for (const std::string& change : changes) {
        const RawAnswer answer = running.ask(change);
        CHECK(answer.status == 503);
        CHECK(answer.body.find("node.reads_only") != std::string::npos);
        CHECK(answer.head.find("Retry-After: ") != std::string::npos);
    }
    CHECK(forward.seen.empty());
    may_answer = false;  // its time is over
    const RawAnswer over = running.ask(asked("GET", "/"));
    CHECK(over.body.find("node.no_lease") != std::string::npos);
    CHECK(over.head.find("X-Wheelyard-Reading-Only") == std::string::npos);
    times.clear();
    may_answer = true;
    CHECK(running.ask(asked("GET", "/")).head.find("X-Wheelyard-Reading-Only") == std::string::npos);
    CHECK(running.ask(post_sized("x")).status == 202);
}

TEST_CASE("a node asks for its lease at each request of a connection") {
    std::atomic<bool> has_lease = true;
    const Running running(
        [&](ServerSettings& settings) { settings.may_answer = [&] { return has_lease.load(); }; });
    RawClient client = running.connect();
    const std::string kept = "GET /site/simple/six/ HTTP/1.1\r\nHost: test\r\n\r\n";
    CHECK(client.ask(kept).status == 200);
    has_lease = false;
    CHECK(client.ask(kept).status == 503);
}

TEST_CASE("uploads, resumable uploads and changes go to the node that writes, and its answer comes back") {
    RecordingForward forward;
    const Running running({}, nullptr, &forward);
    const std::string body(3'000'000, 'x');
    const RawAnswer answer = running.ask(post_sized(body));
    CHECK(answer.status == 202);
    CHECK(answer.body == "of the writer");
    CHECK(answer.head.find("X-From: writer") != std::string::npos);
    CHECK(running.ask(asked("DELETE", "/site/uploads/abc")).status == 202);
    CHECK(running.ask(asked("POST", "/api/v1/gc")).status == 202);
    CHECK(running.ask(asked("GET", "/api/v1/indexes/site/projects/six/explain")).status == 202);
    CHECK(forward.seen ==
          "POST /site/legacy/ good 3000000\nDELETE /site/uploads/abc  0\nPOST /api/v1/gc  0\nGET "
          "/api/v1/indexes/site/projects/six/explain  0\n");
    CHECK(running.uploads.begun == 0);
    CHECK(running.ask(asked("GET", "/site/simple/six/")).status == 200);  // its own
}

TEST_CASE("the node that writes answers itself, and while none does, changes are refused for a moment") {
    RecordingForward forward;
    const Running running({}, nullptr, &forward);
    forward.where = ForwardService::Writer::here;
    CHECK(running.ask(post_sized("x")).status == 200);
    CHECK(running.uploads.begun == 1);
    forward.where = ForwardService::Writer::unknown;
    const RawAnswer refused = running.ask(post_sized("x"));
    CHECK(refused.status == 503);
    CHECK(refused.body.find("node.no_writer") != std::string::npos);
    CHECK(forward.seen.empty());
}

TEST_CASE(
    "an upload that the writer has answered before its end is answered, and the rest is not passed on") {
    RecordingForward forward;
    forward.wanted_bytes = 1;
    const Running running({}, nullptr, &forward);
    const std::string body(50'000'000, 'x');
    RawClient client = running.connect();
    const RawAnswer answer = client.ask(post_sized(body));
    CHECK(answer.status == 202);
    CHECK(answer.body == "of the writer");
    CHECK(forward.passed_on < 5'000'000);
}

TEST_CASE("a client is counted by the address that a node says, and a stranger who says one by its own") {
    struct Clients final : ApiService {
        Answered<Admission> admit(const ApiRequest&) override { return Admission{}; }
        Answered<ApiReply> answer(const ApiRequest& request) override {
            seen += request.client + "\n";
            return ApiReply{};
        }
        std::string seen;
    };
    RecordingForward forward;
    Clients api;
    const Running running({}, &api, &forward);
    const auto ask = [&](const std::string& fields) {
        return running.ask("POST /api/v1/gc HTTP/1.1\r\nHost: test\r\n" + fields +
                           "Connection: close\r\n\r\n");
    };
    forward.where = ForwardService::Writer::here;
    ask("X-Wheelyard-Forwarded: 0123456789abcdef\r\nX-Wheelyard-Client: 192.0.2.7\r\n");
    ask("X-Wheelyard-Forwarded: 1\r\nX-Wheelyard-Client: 192.0.2.7\r\n");
    ask("X-Wheelyard-Client: 192.0.2.7\r\n");
    ask("X-Wheelyard-Forwarded:\r\nX-Wheelyard-Client: 192.0.2.7\r\n");
    CHECK(api.seen == "192.0.2.7\n127.0.0.1\n127.0.0.1\n127.0.0.1\n");
    forward.where = ForwardService::Writer::elsewhere;
    ask("");
    CHECK(forward.clients == "127.0.0.1\n");
}

TEST_CASE("a request without a good token is refused before it takes one of the few slots") {
    struct GoodTokens final : ApiService {
        Answered<Admission> admit(const ApiRequest& head) override {
            if (head.authorization == "good") return Admission{};
            return wire::refuse("auth.missing", "Authentication required", "None.", {}, "send one");
        }
        Answered<ApiReply> answer(const ApiRequest&) override { return ApiReply{}; }
    };
    RecordingForward forward;
    GoodTokens api;
    const Running running({}, &api, &forward);
    CHECK(running.ask(asked("DELETE", "/site/uploads/abc")).status == 401);
    CHECK(running.ask(asked("POST", "/api/v1/gc")).status == 401);
    CHECK(forward.seen.empty());
    CHECK(running.ask(post_sized("x")).status == 202);
}

}  // namespace wheelyard::http
