// Replies as heads: framing, connection, and no way to inject a line.
#include "registry/http/reply.hpp"

#include <doctest/doctest.h>

#include "registry/http/compression.hpp"

namespace wheelyard::http {
namespace {

std::string head_of(const Reply& reply, bool http_1_1 = true, bool keep_alive = true) {
    return render_reply_head(reply, {"Fri, 20 Nov 2026 07:47:35 GMT", "id-1", http_1_1, keep_alive});
}

}  // namespace

TEST_CASE("a reply carries date, request id and length") {
    CHECK(head_of(reply_text(200, "ok\n")) ==
          "HTTP/1.1 200 OK\r\nDate: Fri, 20 Nov 2026 07:47:35 GMT\r\nX-Request-Id: id-1\r\nContent-Length: "
          "3\r\n"
          "Content-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\nX-Content-Type-Options: "
          "nosniff\r\n\r\n");
}

TEST_CASE("Connection says what happens next where the version does not") {
    CHECK(head_of({}, true, false).find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(head_of({}, false, true).find("\r\nConnection: keep-alive\r\n") != std::string::npos);
    CHECK(head_of({}, true, true).find("Connection") == std::string::npos);
}

TEST_CASE("304 has no length of its own") {
    Reply reply;
    reply.status = 304;
    CHECK(head_of(reply).find("Content-Length") == std::string::npos);
}

TEST_CASE("a problem's title and value are the reason phrase, as one line of ASCII") {
    const Reply reply = reply_problem(
        {409, "upload.name_taken", "File already exists\r\nSet-Cookie: \xc3\xa9", "d", "v", "a"});
    CHECK(head_of(reply).starts_with("HTTP/1.1 409 File already exists??Set-Cookie: ??: v\r\nDate: "));
    CHECK(head_of(reply).find("\r\nContent-Type: application/problem+json\r\n") != std::string::npos);
    CHECK(reply_problem({409, "c", std::string(5000, 'x'), "", "", ""}).reason.size() == 200);
    CHECK(reply_problem({400, "c", "t (v)", "", "v", ""}).reason == "t (v)");
    CHECK(reply_problem({400, "c", "t", "", "", ""}).reason == "t");
}

TEST_CASE("401 asks for credentials, 503 says when to come back, 405 what is allowed") {
    CHECK(reply_problem({401, "c", "t", "", "", ""}).field("WWW-Authenticate") ==
          "Basic realm=\"wheelyard\"");
    CHECK(reply_problem({503, "c", "t", "", "", ""}).field("Retry-After") == "5");
    CHECK(reply_method_not_allowed("DELETE", "GET, HEAD").field("Allow") == "GET, HEAD");
}

TEST_CASE("a reply for some callers is kept from shared caches, whatever it said before") {
    for (const auto& [before, after] :
         {std::pair("public, max-age=60", "private, max-age=60"), std::pair("no-cache", "private, no-cache"),
          std::pair("", "private, no-store")}) {
        Reply reply;
        if (*before != '\0') reply.add("Cache-Control", before);
        reply.add("Vary", "Accept");
        keep_private(reply);
        const std::string head = head_of(reply);
        CHECK(reply.field("Cache-Control") == after);
        CHECK(head.find("public") == std::string::npos);
        CHECK(head.find("\r\nVary: Authorization, Cookie\r\n") != std::string::npos);
    }
}

TEST_CASE("what another node has kept private, or compressed, stays as it is") {
    Reply reply;
    reply.add("cache-control", "private, max-age=60");
    reply.add("content-encoding", "gzip");
    reply.add("content-type", "text/html");
    reply.body = std::string(5'000, 'x');
    const std::string before = head_of(reply);
    keep_private(reply);
    RequestHead head;
    head.accept_encoding = "gzip";
    compress_reply(reply, head);
    CHECK(head_of(reply) == before);
    Reply open;
    open.add("cache-control", "public, max-age=60");
    keep_private(open);
    CHECK(head_of(open).find("public") == std::string::npos);
}

TEST_CASE("a quarantined upload looks like no success, and its reason begins with that") {
    UploadDone done{.serial = 3, .filename = "six-1.16.0-py3-none-any.whl"};
    CHECK(reply_uploaded(done).status == 200);
    done.quarantined_because = "record.hash_mismatch: six.py";
    const Reply reply = reply_uploaded(done);
    CHECK(reply.status == 422);
    CHECK(reply.reason == "kept in quarantine: record.hash_mismatch: six.py");
    const auto problem = wire::parse_problem(std::get<std::string>(reply.body));
    REQUIRE(problem);
    CHECK(problem->code == "upload.quarantined");
    CHECK(problem->detail == "record.hash_mismatch: six.py");
}

TEST_CASE("a browser gets an error as HTML, a program as JSON") {
    CHECK(is_for_browsers("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
    for (const char* program :
         {"", "*/*", "application/json", "application/vnd.pypi.simple.v1+json, text/html; q=0.01"}) {
        CAPTURE(program);
        CHECK_FALSE(is_for_browsers(program));
    }
    Reply reply =
        reply_problem({404, "file.not_found", "Not found", "This index has no <page>.", "six", "look"});
    show_in_browser({}, "../../", reply);
    CHECK(reply.status == 404);
    CHECK(reply.field("Content-Type") == "text/html; charset=utf-8");
    CHECK(head_of(reply).find("problem+json") == std::string::npos);
    const auto& page = std::get<std::string>(reply.body);
    CHECK(page.find("This index has no &lt;page&gt;.") != std::string::npos);
    CHECK(page.find("<title>404 Not found</title>") != std::string::npos);
    CHECK(page.find("<a href=\"../../\">All indexes</a>") != std::string::npos);
    CHECK(page.find("=\"/") == std::string::npos);
    Reply good = reply_text(200, "ok");
    show_in_browser({}, "./", good);
    CHECK(std::get<std::string>(good.body) == "ok");
}

}  // namespace wheelyard::http
