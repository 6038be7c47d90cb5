// HTTP over a real socket: answers, redirects, limits, broken connections, uploads.
#include "lib/io/http_client.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "lib/base/clock.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/gzip.hpp"
#include "tests/support/loopback_server.hpp"

using namespace wheelyard::io;
using wheelyard::testing::LoopbackAnswer;
using wheelyard::testing::LoopbackRequest;
using wheelyard::testing::LoopbackServer;
namespace base = wheelyard::base;
namespace fs = std::filesystem;

namespace {

HttpClient client_without_proxy() {
    ::setenv("no_proxy", "*", 1);
    return HttpClient();
}

LoopbackServer::Handler always(LoopbackAnswer answer) {
    return [answer](const LoopbackRequest&) { return answer; };
}

struct Folder {
    base::TempDir dir = base::TempDir::make("http-test").value();
    fs::path file = dir.path() / "file";
};

// The URL of a closed port: that of a server that has stopped.
std::string closed_url() {
    return LoopbackServer(always({})).url();
}

TEST_CASE("one table says which statuses are temporary") {
    for (const int status : {408, 425, 429, 500, 501, 502, 503, 504, 507})
        CHECK(is_temporary_status(status));
    for (const int status : {200, 301, 400, 401, 403, 404, 409, 410, 412, 413, 422})
        CHECK_FALSE(is_temporary_status(status));
}

TEST_CASE("an https request is never redirected to http") {
    CHECK(redirect_protocols("https://h/x") == "https");
    CHECK(redirect_protocols("HTTPS://h/x") == "https");
    CHECK(redirect_protocols("http://h/x") == "http,https");
    CHECK(redirect_protocols("") == "http,https");
}

}  // namespace

TEST_CASE("the log-ins that $NETRC names are sent, but not to a server that is not trusted") {
    const Folder folder;
    REQUIRE(base::replace_file(folder.file, "machine 127.0.0.1 login me password secret\n", 0600));
    const LoopbackServer server([](const LoopbackRequest& request) {
        return LoopbackAnswer{.body = request.header("authorization")};
    });
    const auto sent = [&](const std::string& netrc, bool uses_environment) {
        ::setenv("NETRC", netrc.c_str(), 1);
        HttpClient client({.uses_environment = uses_environment});
        ::unsetenv("NETRC");
        const auto answer = client.get(server.url());
        return answer ? answer->body : answer.error().code;
    };
    ::setenv("no_proxy", "*", 1);
    CHECK(sent(folder.file.native(), true) == "Basic bWU6c2VjcmV0");
    CHECK(sent(folder.file.native(), false).empty());
    CHECK(sent("/nowhere", true).empty());
    CHECK(sent("", true).empty());
}

TEST_CASE("an answer has status, reason, headers and body; an error status is an answer too") {
    const LoopbackServer server([](const LoopbackRequest& request) -> LoopbackAnswer {
        if (request.target == "/no") return {.status = 404, .body = "absent"};
        return {.body = "hello", .headers = {{"X-Serial", " 12 "}, {"Content-Type", "text/plain"}}};
    });
    auto client = client_without_proxy();
    const auto answer = client.get(server.url("/a?b=c"), {{"Accept", "text/plain"}}).value();
    CHECK(answer.status == 200);
    CHECK(answer.reason == "Scripted");
    CHECK(answer.body == "hello");
    CHECK(answer.header("x-serial") == "12");
    CHECK(answer.header("X-Serial") == "12");
    CHECK(answer.header("absent").empty());
    CHECK(answer.final_url == server.url("/a?b=c"));
    const auto refusal = client.get(server.url("/no")).value();
    CHECK(refusal.status == 404);
    CHECK(refusal.body == "absent");
    const auto requests = server.requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].method == "GET");
    CHECK(requests[0].target == "/a?b=c");
    CHECK(requests[0].header("accept") == "text/plain");
    CHECK(requests[0].header("user-agent").starts_with("wheelyard/"));
}

TEST_CASE("HEAD requests headers only, and the client can send a GET afterwards") {
    const LoopbackServer server(always({.body = "hello"}));
    auto client = client_without_proxy();
    const auto answer = client.head(server.url()).value();
    CHECK(answer.status == 200);
    CHECK(answer.body.empty());
    CHECK(answer.header("content-length") == "5");
    CHECK(client.get(server.url()).value().body == "hello");
    CHECK(server.requests().at(0).method == "HEAD");
    CHECK(server.requests().at(1).method == "GET");
}

TEST_CASE("redirects are followed within their limit, and only to http") {
    const LoopbackServer server([](const LoopbackRequest& request) -> LoopbackAnswer {
        if (request.target == "/a")
            return {.status = 302, .body = "moved", .headers = {{"Location", "/b"}, {"X-Old", "1"}}};
        if (request.target == "/loop") return {.status = 302, .headers = {{"Location", "/loop"}}};
        if (request.target == "/file")
            return {.status = 302, .headers = {{"Location", "file:///etc/passwd"}}};
        return {.body = "there"};
    });
    auto client = client_without_proxy();
    const auto answer = client.get(server.url("/a")).value();
    CHECK(answer.status == 200);
    CHECK(answer.body == "there");
    CHECK(answer.final_url == server.url("/b"));
    CHECK(answer.header("x-old").empty());
    CHECK(client.get(server.url("/loop")).error().code == "http.redirects");
    CHECK(client.get(server.url("/file")).error().code == "http.url");
    CHECK(client.get("file:///etc/passwd").error().code == "http.url");
    CHECK(client.get("gopher://x/").error().code == "http.url");
}

TEST_CASE("a body beyond the limit stops the transfer") {
    const LoopbackServer server(always({.body = std::string(1000, 'x')}));
    auto client = client_without_proxy();
    CHECK(client.get(server.url(), {}, 1000).value().body.size() == 1000);
    const auto error = client.get(server.url(), {}, 999).error();
    CHECK(error.code == "http.too_large");
    CHECK(error.value == server.url());
}

TEST_CASE("the limit counts decoded bytes while they arrive, and a sink gets none of them beyond it") {
    const std::string packed = gzip(std::string(8 << 20, ' ')).value();
    CHECK(packed.size() < 10'000);
    const LoopbackServer server(always({.body = packed, .headers = {{"Content-Encoding", "gzip"}}}));
    auto client = client_without_proxy();
    std::size_t taken = 0;
    const HttpSink sink = [&taken](std::string_view bytes) {
        taken += bytes.size();
        return base::Status{};
    };
    CHECK(client.get(server.url(), {}, {1 << 20, &sink}).error().code == "http.too_large");
    CHECK(taken <= 1 << 20);
    taken = 0;
    CHECK(client.get(server.url(), {}, {8 << 20, &sink}).value().body.empty());
    CHECK(taken == 8 << 20);
}

TEST_CASE("too many header bytes stop the transfer") {
    std::string raw = "HTTP/1.1 200 OK\r\n";
    for (int i = 0; i < 100; ++i)
        raw += "X-" + std::to_string(i) + ": " + std::string(4000, 'h') + "\r\n";
    const LoopbackServer server(always({.raw = raw + "\r\n"}));
    auto client = client_without_proxy();
    const auto read = client.get(server.url());
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().value == server.url());
    CHECK(read.error().advice.find("proxy") != std::string::npos);
}

TEST_CASE("each transport failure has its own code") {
    auto client = client_without_proxy();
    CHECK(client.get(closed_url()).error().code == "http.connect");
    CHECK(client.get("http://host.invalid/").error().code == "http.resolve");
    CHECK(client.get("http://").error().code == "http.url");
    const LoopbackServer cut(always({.raw = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"}));
    CHECK(client.get(cut.url()).error().code == "http.cut");
    const LoopbackServer plain(always({.raw = "this is not TLS\n"}));
    CHECK(client.get(base::replace_all(plain.url(), "http:", "https:")).error().code == "http.tls");
}

TEST_CASE("a silent server runs into the stall timeout") {
    const LoopbackServer server(always({.silent = true}));
    ::setenv("no_proxy", "*", 1);
    HttpClient client({.stall_timeout_ms = 1'000});
    CHECK(client.get(server.url()).error().code == "http.timeout");
}

TEST_CASE("a completed upload waits longer for its answer than a stalled one") {
    const LoopbackServer server(always({.silent = true}));
    const Folder folder;
    CHECK(base::replace_file(folder.file, "wheel").has_value());
    ::setenv("no_proxy", "*", 1);
    HttpClient client({.stall_timeout_ms = 60'000, .answer_timeout_ms = 300});
    const auto answer = client.upload_form(server.url(), {}, folder.file, "x.whl", "u", "p");
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().code == "http.timeout");
    CHECK(answer.error().sentence.find("did not answer") != std::string::npos);
}

TEST_CASE("no error shows the credentials in a URL") {
    auto client = client_without_proxy();
    const auto url = base::replace_all(closed_url(), "http://", "http://user:secret@");
    CHECK(client.get(url).error().text().find("secret") == std::string::npos);
    CHECK(client.get("ftp://user:secret@host/").error().text().find("secret") == std::string::npos);
}

TEST_CASE("a header value cannot inject another header") {
    const LoopbackServer server(always({}));
    auto client = client_without_proxy();
    CHECK(client.get(server.url(), {{"X-A", "1\r\nX-B: 2"}}).error().code == "http.header");
    CHECK(server.requests().empty());
}

TEST_CASE("a download writes the answer's bytes to a file and reports progress") {
    const Folder folder;
    const std::string bytes(3'000'000, 'w');
    const LoopbackServer server(always({.body = bytes}));
    auto client = client_without_proxy();
    std::uint64_t done = 0, total = 0;
    const auto answer =
        client.download(server.url(), folder.file, bytes.size(), [&](std::uint64_t now, std::uint64_t all) {
            done = now;
            total = all;
            return true;
        });
    REQUIRE(answer);
    CHECK(answer->body.empty());
    CHECK(base::read_file(folder.file, bytes.size()) == bytes);
    CHECK(done == bytes.size());
    CHECK(total == bytes.size());
    CHECK(client.download(server.url(), folder.file, bytes.size()).error().code == "os.EEXIST");
    CHECK(base::read_file(folder.file, bytes.size()) == bytes);
}

TEST_CASE("a failed download leaves no file") {
    const Folder folder;
    auto client = client_without_proxy();
    const LoopbackServer large(always({.body = std::string(1000, 'x')}));
    CHECK(client.download(large.url(), folder.file, 999).error().code == "http.too_large");
    CHECK_FALSE(fs::exists(folder.file));
    const LoopbackServer cut(always({.raw = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"}));
    CHECK(client.download(cut.url(), folder.file, 999).error().code == "http.cut");
    CHECK_FALSE(fs::exists(folder.file));
    CHECK(client.download(large.url(), folder.file, 1000, [](auto, auto) { return false; }).error().code ==
          "http.stopped");
    CHECK_FALSE(fs::exists(folder.file));
    const LoopbackServer absent(always({.status = 404, .body = "no such wheel"}));
    const auto answer = client.download(absent.url(), folder.file, 1).value();
    CHECK(answer.status == 404);
    CHECK(answer.body == "no such wheel");
    CHECK_FALSE(fs::exists(folder.file));
    CHECK(client.download(large.url(), folder.dir.path() / "absent/file", 1000).error().code == "os.ENOENT");
}

TEST_CASE("an empty download creates an empty file") {
    const Folder folder;
    const LoopbackServer server(always({}));
    auto client = client_without_proxy();
    REQUIRE(client.download(server.url(), folder.file, 10));
    CHECK(base::read_file(folder.file, 10) == "");
}

TEST_CASE("an upload sends its fields, then the file, with Basic authentication") {
    const Folder folder;
    const std::string bytes = "PK" + std::string(2'000'000, '\0');
    REQUIRE(base::replace_file(folder.file, bytes));
    const LoopbackServer server(always({.body = "{}"}));
    auto client = client_without_proxy();
    std::uint64_t done = 0;
    const auto answer = client.upload_form(
        server.url("/legacy/"), {{":action", "file_upload"}, {"name", "six"}}, folder.file,
        "six-1.16.0-py3-none-any.whl", "agent", "token", [&](std::uint64_t now, std::uint64_t) {
            done = now;
            return true;
        });
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(done >= bytes.size());
    const auto request = server.requests().at(0);
    CHECK(request.method == "POST");
    CHECK(request.header("authorization") == "Basic " + base::encode_base64("agent:token"));
    CHECK(request.header("content-type").starts_with("multipart/form-data; boundary="));
    CHECK(base::parse_decimal(request.header("content-length")) == request.body.size());
    const auto action = request.body.find("name=\":action\"\r\n\r\nfile_upload\r\n");
    const auto name = request.body.find("name=\"name\"\r\n\r\nsix\r\n");
    const auto content = request.body.find("name=\"content\"; filename=\"six-1.16.0-py3-none-any.whl\"\r\n");
    REQUIRE(content != std::string::npos);
    CHECK(action < name);
    CHECK(name < content);
    CHECK(request.body.find(bytes) > content);
    CHECK(request.body.find(bytes) != std::string::npos);
    // The next request has neither the form nor the password.
    REQUIRE(client.get(server.url()));
    CHECK(server.requests().at(1).method == "GET");
    CHECK(server.requests().at(1).header("authorization").empty());
}

TEST_CASE("an upload is not redirected, so its credentials stay on their host") {
    const Folder folder;
    REQUIRE(base::replace_file(folder.file, "x"));
    const LoopbackServer elsewhere(always({}));
    const LoopbackServer server(always({.status = 307, .headers = {{"Location", elsewhere.url()}}}));
    auto client = client_without_proxy();
    CHECK(client.upload_form(server.url(), {}, folder.file, "x.whl", "u", "p").value().status == 307);
    CHECK(elsewhere.requests().empty());
}

TEST_CASE("an error answer before the whole body was read is returned as that answer") {
    const Folder folder;
    REQUIRE(base::replace_file(folder.file, std::string(20'000'000, 'x')));
    const LoopbackServer server(always({.status = 403, .body = "no", .read_body = false}));
    auto client = client_without_proxy();
    const auto answer = client.upload_form(server.url(), {}, folder.file, "x.whl", "u", "wrong");
    REQUIRE(answer);
    CHECK(answer->status == 403);
}

TEST_CASE("uploading a missing file sends no request") {
    const Folder folder;
    const LoopbackServer server(always({}));
    auto client = client_without_proxy();
    CHECK(client.upload_form(server.url(), {}, folder.file, "x.whl", "", "").error().code == "os.ENOENT");
    CHECK(server.requests().empty());
}

TEST_CASE("credentials in a URL do not follow a redirect to another host") {
    const LoopbackServer elsewhere(always({.body = "x"}));
    const auto other_host = base::replace_all(elsewhere.url(), "127.0.0.1", "localhost");
    const LoopbackServer server(always({.status = 302, .headers = {{"Location", other_host}}}));
    auto client = client_without_proxy();
    const auto url = base::replace_all(server.url(), "http://", "http://user:pw@");
    REQUIRE(client.get(url, {{"Authorization", "Bearer x"}}));
    CHECK_FALSE(server.requests().at(0).header("authorization").empty());
    CHECK(elsewhere.requests().at(0).header("authorization").empty());
}

TEST_CASE("one client reuses its connections") {
    const LoopbackServer server(always({.body = "x"}));
    auto first = client_without_proxy();
    REQUIRE(first.get(server.url()));
    HttpClient second(std::move(first));
    REQUIRE(second.get(server.url()));
    CHECK(server.requests().size() == 2);
    CHECK(server.connections() == 1);
}

TEST_CASE("a posted body arrives with its headers and is answered; redirects are not followed") {
    const LoopbackServer server([](const LoopbackRequest& request) -> LoopbackAnswer {
        if (request.target == "/moved") return {.status = 307, .headers = {{"Location", "/change"}}};
        CHECK(request.method == "POST");
        CHECK(request.header("content-type") == "application/json");
        return {.status = 409, .body = "refused"};
    });
    auto client = client_without_proxy();
    const auto answer =
        client.post(server.url("/change"), R"({"a":1})", {{"Content-Type", "application/json"}}).value();
    CHECK(answer.status == 409);
    CHECK(answer.body == "refused");
    CHECK(server.requests().at(0).body == R"({"a":1})");
    CHECK(client.post(server.url("/moved"), "{}", {})->status == 307);
    CHECK(client.post(server.url("/change"), "", {{"Content-Type", "application/json"}})->status == 409);
    CHECK(server.requests().at(2).body.empty());
    CHECK(client.post(closed_url(), "{}", {}).error().code == "http.connect");
}

TEST_CASE("a body is streamed from any offset with the given headers") {
    const LoopbackServer server(always({.status = 204, .headers = {{"Upload-Offset", "10"}}}));
    ::setenv("no_proxy", "*", 1);
    HttpClient client;
    const std::string text = "0123456789";
    const base::MemoryReader body(text);
    struct Row {
        std::uint64_t offset;
        const char* sent;
    };
    for (const Row& row : {Row{0, "0123456789"}, Row{4, "456789"}, Row{10, ""}}) {
        const auto answer =
            client.send("PATCH", server.url("/u"), {{"Upload-Offset", "4"}}, body, row.offset).value();
        CHECK(answer.status == 204);
        CHECK(answer.header("upload-offset") == "10");
        const auto request = server.requests().back();
        CHECK(request.method == "PATCH");
        CHECK(request.header("upload-offset") == "4");
        CHECK(request.header("content-length") == std::to_string(std::string(row.sent).size()));
        CHECK(request.body == row.sent);
    }
    CHECK(client.get(server.url()).value().status == 204);  // has no remains of the upload
    CHECK(server.requests().back().method == "GET");
}

TEST_CASE("a body that cannot be read stops the transfer with the reader's own error") {
    struct Broken final : base::Reader {
        [[nodiscard]] std::uint64_t size() const override { return 100; }
        [[nodiscard]] base::Status read_at(std::uint64_t, char*, std::size_t) const override {
            return base::fail("os.EIO", "reading failed");
        }
    };
    const LoopbackServer server(always({}));
    auto client = client_without_proxy();
    CHECK(client.send("PATCH", server.url(), {}, Broken(), 0).error().code == "os.EIO");
}

TEST_CASE("the answer to an empty body may take as long as that to an upload") {
    const LoopbackServer server(always({.silent = true}));
    ::setenv("no_proxy", "*", 1);
    const base::MemoryReader body("");
    HttpClient client({.stall_timeout_ms = 60'000, .answer_timeout_ms = 300});
    CHECK(client.send("PATCH", server.url(), {}, body, 0).error().code == "http.timeout");
}
