// Replies as heads: framing, connection, and no way to inject a line.
#include "registry/http/reply.hpp"

#include <doctest/doctest.h>

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

TEST_CASE("a problem's title is the reason phrase, as one line of ASCII") {
    const Reply reply = reply_problem(
        {409, "upload.name_taken", "File already exists\r\nSet-Cookie: \xc3\xa9", "d", "v", "a"});
    CHECK(head_of(reply).starts_with("HTTP/1.1 409 File already exists??Set-Cookie: ??\r\nDate: "));
    CHECK(head_of(reply).find("\r\nContent-Type: application/problem+json\r\n") != std::string::npos);
    CHECK(reply_problem({409, "c", std::string(5000, 'x'), "", "", ""}).reason.size() == 200);
}

TEST_CASE("401 asks for credentials, 503 says when to come back, 405 what is allowed") {
    CHECK(reply_problem({401, "c", "t", "", "", ""})
              .fields.find("WWW-Authenticate: Basic realm=\"wheelyard\"\r\n") != std::string::npos);
    CHECK(reply_problem({503, "c", "t", "", "", ""}).fields.find("Retry-After: 5\r\n") != std::string::npos);
    CHECK(reply_method_not_allowed("DELETE", "GET, HEAD").fields.find("Allow: GET, HEAD\r\n") !=
          std::string::npos);
}

}  // namespace wheelyard::http
