// The server over real sockets: what it answers, how it ends, and what it does not put up with.
#include <future>

#include "lib/base/files/file.hpp"
#include "tests/registry/server/server_fixture.hpp"
#include "tests/support/becomes_true.hpp"
#include "tests/support/sanitizers.hpp"

namespace wheelyard::http {

TEST_CASE("a page, a file, its metadata and a refusal come over one connection") {
    const Running running;
    RawClient client = running.connect();
    const RawAnswer page = client.ask(get("/site/simple/six/"));
    CHECK(page.status == 200);
    CHECK(page.body == "<!DOCTYPE html>six");
    CHECK(page.field("Content-Type") == "text/html; charset=utf-8");
    CHECK(page.field("Vary") == "Accept, Accept-Encoding");
    CHECK(page.field("X-Content-Type-Options") == "nosniff");
    CHECK(page.field("Content-Security-Policy").starts_with("default-src 'none'"));
    CHECK_FALSE(page.field("X-Request-Id").empty());
    CHECK_FALSE(page.field("Date").empty());
    const RawAnswer file = client.ask(get(file_url + "six-1.0%2Bcpu-py3-none-any.whl"));
    CHECK(file.status == 200);
    CHECK(file.body == "0123456789");
    CHECK(file.field("ETag") == "\"" + sha256 + "\"");
    CHECK(file.field("Cache-Control") == "public, max-age=31536000, immutable");
    CHECK(file.field("Accept-Ranges") == "bytes");
    CHECK(client.ask(get(file_url + "six-1.0+cpu-py3-none-any.whl.metadata")).body == "Name: six\n");
    const RawAnswer absent = client.ask(get("/site/simple/seven/"));
    CHECK(absent.status == 404);
    CHECK(absent.field("Content-Type") == "application/problem+json");
    CHECK(absent.body.find("no such project") != std::string::npos);
    CHECK(absent.body.find("see the index's page") != std::string::npos);
}

TEST_CASE("an upload reaches the service whole and its answer names the file") {
    Running running;
    const std::string body(3'000'001, 'x');
    RawClient client = running.connect();
    const RawAnswer answer = client.ask(post_sized(body));
    CHECK(answer.status == 200);
    CHECK(answer.body.find(base::sha256_hex(body) + "-3000001") != std::string::npos);
    CHECK(client.ask(get("/healthz")).status == 200);  // the connection lives on
    CHECK(running.uploads.undone == 0);
}

TEST_CASE("pipelined requests are answered in order, also many at once") {
    const Running running;
    RawClient client = running.connect();
    std::string requests;
    constexpr int count = 100;
    for (int i = 0; i < count; ++i)
        requests += get(i % 2 == 0 ? "/healthz" : "/site/simple/six/") + "\r\n";
    client.send(requests);
    for (int i = 0; i < count; ++i) {
        const auto answer = client.answer();
        REQUIRE(answer);
        CHECK(answer->body == (i % 2 == 0 ? "ok\n" : "<!DOCTYPE html>six"));
    }
}

TEST_CASE("a request that trickles in byte by byte is a request") {
    const Running running;
    RawClient client = running.connect();
    for (const char c : get("/healthz"))
        client.send(std::string(1, c));
    CHECK(client.answer()->status == 200);
}

TEST_CASE("HEAD answers as GET would, without the body") {
    const Running running;
    RawClient client = running.connect();
    const std::string url = file_url + "six-1.0+cpu-py3-none-any.whl";
    const RawAnswer head = client.ask("HEAD " + url + " HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\n\r\n");
    CHECK(head.status == 200);
    CHECK(head.field("Content-Length") == "10");
    CHECK(client.ask("HEAD /site/simple/ HTTP/1.1\r\nHost: a\r\n\r\n").status == 200);
    CHECK(client.ask(get("/healthz")).body == "ok\n");  // nothing was left over
}

TEST_CASE("a file is served in the part that was asked for") {
    const Running running;
    RawClient client = running.connect();
    const std::string url = file_url + "six-1.0+cpu-py3-none-any.whl";
    const RawAnswer part = client.ask(get(url, "Range: bytes=3-5\r\n"));
    CHECK(part.status == 206);
    CHECK(part.body == "345");
    CHECK(part.field("Content-Range") == "bytes 3-5/10");
    const RawAnswer past = client.ask(get(url, "Range: bytes=10-\r\n"));
    CHECK(past.status == 416);
    CHECK(past.field("Content-Range") == "bytes */10");
    CHECK(client.ask(get(url, "Range: bytes=0-1,4-5\r\n")).body == "0123456789");
    CHECK(client.ask(get(url, "Range: bytes=8-\r\nIf-Range: \"" + sha256 + "\"\r\n")).body == "89");
    CHECK(client.ask(get(url, "Range: bytes=8-\r\nIf-Range: \"other\"\r\n")).body == "0123456789");
    CHECK(client.ask(get(url, "If-None-Match: \"" + sha256 + "\"\r\n")).status == 304);
}

namespace {

// A store in which every file is the digits 0 to 9.
struct DigitStore final : RemoteFileService {
    std::optional<std::string> url_for(const RemoteFile& file) override {
        return url.empty() ? std::nullopt : std::optional(url + file.sha256 + "/" + file.filename);
    }
    void fetch(const RemoteFile& file, std::function<void(RemoteAnswer)> then) override {
        if (is_down)
            return then(
                {.problem = wire::make_problem("file.store", "Down", "It is down.", {}, "try again")});
        base::Fd bytes = base::open_read(digits).value();
        if (file.offset != 0) {  // a file of these bytes alone
            const auto part = folder.path() / std::to_string(file.offset);
            REQUIRE(
                base::replace_file(part, std::string_view("0123456789").substr(file.offset, file.length)));
            bytes = base::open_read(part).value();
        }
        auto arriving = std::make_shared<ArrivingFile>(std::move(bytes), file.length);
        then({.arriving = arriving});
        arriving->end(true);
    }
    base::TempDir folder = base::TempDir::make("digits").value();
    std::filesystem::path digits = folder.path() / "digits";
    std::string url = {};
    bool is_down = false;
};

}  // namespace

TEST_CASE("a file that the tree has a stand-in for comes from the store: by its URL, or through the server") {
    DigitStore store;
    REQUIRE(base::replace_file(store.digits, "0123456789"));
    const Running running([&](ServerSettings& settings) {
        settings.remote_files = &store;
        settings.accel_prefix = "/tree";
        settings.trusted_proxies = {"127.0.0.1"};
        settings.indexes = {{"site"}};
    });
    const std::string name = "far-1.0-py3-none-any.whl";
    REQUIRE(base::create_stand_in(running.tree.path() / (file_url.substr(1) + name), 10));
    RawClient client = running.connect();
    const RawAnswer through = client.ask(get(file_url + name));
    CHECK(through.status == 200);
    CHECK(through.body == "0123456789");
    CHECK(through.field("X-Accel-Redirect").empty());  // a proxy cannot read it
    const RawAnswer part = client.ask(get(file_url + name, "Range: bytes=3-5\r\n"));
    CHECK(part.status == 206);
    CHECK(part.body == "345");
    CHECK(part.field("Content-Range") == "bytes 3-5/10");
    CHECK(client.ask(get(file_url + name, "Range: bytes=10-\r\n")).status == 416);
    store.url = "https://downloads.example.org/";
    const RawAnswer redirect = client.ask(get(file_url + name));
    CHECK(redirect.status == 307);
    CHECK(redirect.field("Location") == store.url + sha256 + "/" + name);
    CHECK(redirect.field("Cache-Control") == "no-cache");
    CHECK(redirect.field("Access-Control-Allow-Origin") == "*");
    CHECK(redirect.body.empty());
    const RawAnswer head = client.ask("HEAD " + file_url + name + " HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(head.status == 200);
    CHECK(head.field("Content-Length") == "10");
    CHECK(client.ask(get(file_url + name, "If-None-Match: \"" + sha256 + "\"\r\n")).status == 304);
    CHECK(client.ask(get(file_url + "absent-1.0-py3-none-any.whl")).status == 404);
    store.url = {};
    store.is_down = true;
    const RawAnswer down = client.ask(get(file_url + name));
    CHECK(down.status == 503);
    CHECK(down.body.find("file.store") != std::string::npos);
    CHECK(client.ask(get("/site/simple/six/")).status == 200);
}

TEST_CASE("pages are negotiated, cached by tag and found under one address") {
    Running running;
    RawClient client = running.connect();
    const RawAnswer json =
        client.ask(get("/site/simple/six/", "Accept: application/vnd.pypi.simple.v1+json\r\n"));
    CHECK(json.field("Content-Type") == "application/vnd.pypi.simple.v1+json");
    CHECK(json.body == "{\"name\":\"six\"}");
    CHECK(json.field("Cache-Control") == "no-cache");  // an upload is visible to the next client, at once
    const RawAnswer same = client.ask(
        get("/site/simple/six/",
            "Accept: application/vnd.pypi.simple.v1+json\r\nIf-None-Match: " + json.field("ETag") + "\r\n"));
    CHECK(same.status == 304);
    CHECK(same.body.empty());
    CHECK(same.field("Vary") == "Accept, Accept-Encoding");
    // A page may change twice in the second that this names.
    CHECK(client.ask(get("/site/simple/six/", "If-Modified-Since: " + json.field("Last-Modified") + "\r\n"))
              .status == 200);
    CHECK(client.ask(get("/site/simple/six/", "Accept: image/png\r\n")).status == 406);
    CHECK(client.ask(get("/site/simple/six/index.json", "Accept: text/html\r\n")).body ==
          "{\"name\":\"six\"}");
    const RawAnswer moved = client.ask(get("/site/simple/Six"));
    CHECK(moved.status == 301);
    CHECK(moved.field("Location") == "six/");
    CHECK(client.ask(get("/site/simple/Six/index.json?a=b")).field("Location") == "../six/index.json?a=b");
    CHECK(client.ask(get("/site")).field("Location") == "site/");
    running.write("site/simple/six/index.json", "{\"name\":\"SIX\"}");
    const RawAnswer renewed = client.ask(get("/site/simple/six/index.json"));
    CHECK(renewed.body == "{\"name\":\"SIX\"}");
    CHECK(renewed.field("ETag") != json.field("ETag"));
}

TEST_CASE("a page too large to copy, or to keep in memory, is served all the same") {
    Running running;
    RawClient client = running.connect();
    for (const std::size_t size : {100'000u, 100'000u, 3'000'000u, 3'000'000u}) {
        const std::string large(size, 'p');
        running.write("site/simple/large/index.html", large);
        const RawAnswer answer = client.ask(get("/site/simple/large/"));
        CHECK(answer.body == large);
        CHECK(client.ask(get("/site/simple/large/", "If-None-Match: " + answer.field("ETag") + "\r\n"))
                  .status == 304);
    }
}

TEST_CASE("a link in the tree is not followed") {
    Running running;
    std::filesystem::create_symlink("/etc/passwd", running.tree.path() / "site/simple/six/link");
    std::filesystem::create_directories(running.tree.path() / "site/simple/linked");
    std::filesystem::create_symlink("/etc/passwd", running.tree.path() / "site/simple/linked/index.html");
    CHECK(running.ask(get("/site/simple/linked/")).status == 404);
}

TEST_CASE("each refusal has its status and says why as a problem") {
    const Running running;
    const std::string host = " HTTP/1.1\r\nHost: a\r\n\r\n";
    const std::vector<std::pair<std::string, int>> table{
        {get("/nowhere/simple/"), 404},
        {get("/site/simple/absent/"), 404},
        {get("/empty/simple/"), 404},
        {get(file_url + "absent.whl"), 404},
        {get("/site/simple/catalogue.txt"), 404},
        {get("/site/legacy/"), 405},
        {"POST /site/simple/" + host, 405},
        {"DELETE " + file_url + "x.whl" + host, 405},
        {"BREW /site/simple/" + host, 501},
        {"OPTIONS *" + host, 400},
        {"POST /nowhere/legacy/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", 404},
        {"POST /site/legacy/ HTTP/1.1\r\nHost: a\r\n\r\n", 411},
        {"POST /site/legacy/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", 401},
        {"GET / HTTP/3.0\r\n\r\n", 505},
        {"GET /" + std::string(20'000, 'a'), 414},
        {get("/" + std::string(5'000, 'a')), 414},
        {get("/", "X: " + std::string(20'000, 'a') + "\r\n"), 431},
        {std::string("\x16\x03\x01\x02\x00\x01", 6), 400},
    };
    for (const auto& [request, status] : table) {
        CAPTURE(request.substr(0, 80));
        const RawAnswer answer = running.ask(request);
        CHECK(answer.status == status);
        CHECK(answer.field("Content-Type") == "application/problem+json");
        CHECK(answer.body.find("\"code\":") != std::string::npos);
        CHECK((answer.field("Allow").empty() == (status != 405)));
        CHECK((answer.field("WWW-Authenticate").empty() == (status != 401)));
    }
}

TEST_CASE("after an ambiguous head nothing more is read as a request") {
    const Running running;
    const std::string smuggled = get("/healthz");
    for (const std::string& fields : {
             std::string("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
             std::string("Content-Length: 5\r\nContent-Length: 6\r\n"),
             std::string("Transfer-Encoding: xchunked\r\n"),
             std::string("Transfer-Encoding: chunked\r\n ,identity\r\n"),
         }) {
        CAPTURE(fields);
        RawClient client = running.connect();
        client.send("POST /site/legacy/ HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n0\r\n\r\n" + smuggled);
        const auto refusal = client.answer();
        REQUIRE(refusal);
        CHECK(refusal->status >= 400);
        CHECK(refusal->field("Connection") == "close");
        CHECK(client.ended());
    }
}

TEST_CASE("a body that no address wants ends the connection after the answer") {
    const Running running;
    RawClient client = running.connect();
    client.send("GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n" + get("/readyz"));
    CHECK(client.answer()->status == 200);
    CHECK(client.ended());
}

TEST_CASE("replaced indexes are served from the next request on, also on a connection that is open") {
    Running running;
    RawClient client = running.connect();
    CHECK(client.ask("GET /later/simple/ HTTP/1.1\r\nHost: t\r\n\r\n").status == 404);
    running.write("later/simple/index.html", "<!DOCTYPE html>");
    running.write("later/simple/index.json", "{}");
    running.server->replace_indexes({{"site"}, {.name = "later", .title = "The later one"}});
    CHECK(client.ask("GET /later/simple/ HTTP/1.1\r\nHost: t\r\n\r\n").status == 200);
    CHECK(client.ask("GET / HTTP/1.1\r\nHost: t\r\nAccept: text/html\r\n\r\n").body.find("The later one") !=
          std::string::npos);
    CHECK(client.ask("GET /empty/simple/ HTTP/1.1\r\nHost: t\r\n\r\n").status == 404);
}

TEST_CASE("an index that does not exist asks of the readers what a private one does, and no more") {
    struct Counting final : ReaderService {
        std::optional<wire::Problem> refuse_at_sight(const std::string& authorization) override {
            ++sightings;
            if (!authorization.empty()) return std::nullopt;
            return wire::Problem{401, "auth.missing", "Authentication required", "None was sent.", {}, {}};
        }
        Answered<Reader> may_read(const ReadRequest& request) override {
            ++checks;
            return Reader{request.index != "closed", "wy_1"};
        }
        std::vector<std::string> readable(const std::string&) override { return {}; }
        std::atomic<int> sightings = 0;
        std::atomic<int> checks = 0;
    } readers;
    CountingUploads uploads;
    ServerSettings settings;
    settings.listen.front().port = 0;
    const auto tree = std::move(*base::TempDir::make("server-test"));
    settings.published = tree.path();
    settings.indexes = {{"site"}, {.name = "closed", .is_private = true}};
    auto server = Server::start(settings, uploads, nullptr, nullptr, nullptr, &readers);
    REQUIRE(server);
    RawClient client(server->port());
    for (const char* rest :
         {"/simple/", "/simple/six/", "/simple", "/", "/simple/catalogue.txt", "/legacy/"}) {
        CAPTURE(rest);
        for (const std::string index : {"/closed", "/absent"}) {
            CAPTURE(index);
            readers.sightings = readers.checks = 0;
            const RawAnswer asked = client.ask(get(index + rest));
            CHECK(asked.status == 401);
            const bool names_public_ones =
                asked.body.find("the public indexes are site.") != std::string::npos;
            CHECK(names_public_ones == (rest != std::string_view("/legacy/")));
            CHECK(asked.body.find("closed") == std::string::npos);
            CHECK((readers.sightings == 1 && readers.checks == 0));
            const RawAnswer refused = client.ask(get(index + rest, "Authorization: good\r\n"));
            CHECK(refused.status == 404);
            CHECK(refused.body.find("or the token has no right to it") != std::string::npos);
            CHECK((readers.sightings == 2 && readers.checks == 1));
        }
    }
    CHECK(client.ask(get("/favicon.ico")).status == 404);
    server->replace_indexes({{"site"}});
    CHECK(client.ask(get("/absent/simple/")).status == 404);
}

TEST_CASE("the service of upstreams is told who asks, and through which registries") {
    struct Recording final : UpstreamService {
        bool serves(std::string_view index) const override { return index == "site"; }
        void note_use(std::string_view, const std::string&) override {}
        void find(const UpstreamRequest& request, std::function<void(UpstreamAnswer)> then) override {
            asked.set_value(request);
            then({.kind = UpstreamAnswer::Kind::problem, .problem = upstream_loop("new"), .via = "three"});
        }
        std::promise<UpstreamRequest> asked;
    };
    CountingUploads uploads;
    ServerSettings settings;
    settings.listen.front().port = 0;
    const auto tree = std::move(*base::TempDir::make("server-test"));
    settings.published = tree.path();
    settings.indexes = {{"site"}};
    for (const bool is_behind_proxy : {false, true}) {
        Recording upstream;
        if (is_behind_proxy) settings.trusted_proxies = {"127.0.0.1"};
        auto server = Server::start(settings, uploads, nullptr, nullptr, &upstream);
        REQUIRE(server);
        const RawAnswer answer = RawClient(server->port())
                                     .ask(get("/site/simple/new/",
                                              "X-Forwarded-For: 192.0.2.8\r\nWheelyard-Via: one\r\n"
                                              "Wheelyard-Via: two\r\n"));
        CHECK(answer.status == 508);
        CHECK(answer.field("Wheelyard-Via") == "three");
        const UpstreamRequest asked = upstream.asked.get_future().get();
        CHECK(asked.client == (is_behind_proxy ? "192.0.2.8" : "127.0.0.1"));
        CHECK(asked.via == "one, two");
    }
}

TEST_CASE("the pages of an index that moves are answered 503, and a preflight and its front page as ever") {
    Running running;
    running.server->replace_indexes({{.name = "site", .is_moving = true}});
    RawClient client = running.connect();
    for (const std::string& path :
         {std::string("/site/simple/"), std::string("/site/simple/six/"),
          file_url + "six-1.0%2Bcpu-py3-none-any.whl", std::string("/site/project/")}) {
        const RawAnswer answer = client.ask(get(path));
        CHECK(answer.status == 503);
        CHECK(answer.field("Retry-After") == "5");
        CHECK(answer.body.find("index.moving") != std::string::npos);
    }
    CHECK(client.ask(get("/site/")).status == 200);
    running.server->replace_indexes({{"site"}});
    CHECK(client.ask(get("/site/simple/six/")).status == 200);
}

TEST_CASE("readiness and liveness are reported separately") {
    Running running;
    CHECK(running.ask(get("/readyz")).status == 200);
    running.tree = std::move(*base::TempDir::make("other-tree"));
    CHECK(running.ask(get("/healthz")).status == 200);
    CHECK(running.ask(get("/readyz")).status == 503);
}

TEST_CASE("a head that does not come to its end is 408, a quiet connection just ends") {
    const Running hasty([](ServerSettings& settings) { settings.header_timeout_ms = 60; });
    const auto begin_head = [](RawClient& slow) { slow.send("GET /healthz HTTP/1.1\r\nHo"); };
    CHECK(answer_to(hasty, begin_head).status == 408);
    RawClient quiet = hasty.connect();
    CHECK(quiet.ended());
    const Running running([](ServerSettings& settings) { settings.idle_timeout_ms = 60; });
    RawClient idle = running.connect();
    CHECK(idle.ask(get("/healthz")).status == 200);
    CHECK(idle.ended());
}

TEST_CASE("beyond the limit a client gets 503, and a freed slot is reused") {
    const Running running([](ServerSettings& settings) {
        settings.max_connections = 1;
        settings.trusted_proxies = {"127.0.0.1"};  // which gives way to nobody
    });
    {
        RawClient first = running.connect();
        CHECK(first.ask(get("/healthz")).status == 200);
        const RawAnswer refused = running.ask(get("/healthz"));
        CHECK(refused.status == 503);
        CHECK(refused.field("Retry-After") == "5");
        CHECK(first.ask(get("/healthz")).status == 200);
    }
    CHECK(test_support::becomes_true([&] { return running.ask(get("/healthz")).status == 200; }));
}

TEST_CASE("beyond the file limit a download gets 503, and pages are still served") {
    Running running([](ServerSettings& settings) { settings.max_files = 1; });
    running.write(file_url.substr(1) + "large.whl", std::string(32 << 20, 'd'));
    const std::string small = get(file_url + "six-1.0+cpu-py3-none-any.whl");
    {
        RawClient loading(running.server->port(), 64 * 1024);
        loading.send(get(file_url + "large.whl"));
        REQUIRE_FALSE(loading.read_some().empty());
        RawClient other = running.connect();
        const RawAnswer refused = other.ask(small);
        CHECK(refused.status == 503);
        CHECK(refused.field("Retry-After") == "5");
        CHECK(refused.body.find("server.files") != std::string::npos);
        CHECK(other.ask(get("/site/simple/six/")).status == 200);
        CHECK(other.ask(get("/metrics")).body.find("wheelyard_files_in_progress 1\n") != std::string::npos);
        loading.reset();
    }
    const auto is_sent = [&] { return running.ask(small).status == 200; };
    CHECK(test_support::becomes_true(is_sent));
    CHECK(test_support::becomes_true(is_sent));  // a file that was sent gives its place back
}

TEST_CASE("the port of a running server cannot be taken by a second one") {
    Running running;
    ServerSettings settings = running.settings;
    settings.listen.front().port = running.server->port();
    const auto second = Server::start(settings, running.uploads);
    REQUIRE_FALSE(second);
    CHECK(second.error().code == "server.bind");
    settings.listen.front().address = "localhost.example";
    CHECK(Server::start(settings, running.uploads).error().code == "server.bind");
}

TEST_CASE("100-continue comes only once the upload is accepted") {
    Running running;
    const std::string body(100'000, 'b');
    const std::string expects = "Expect: 100-continue\r\nContent-Length: 100000\r\n";
    RawClient client = running.connect();
    client.send(post(expects, ""));
    const auto go_on = client.answer(true);
    REQUIRE(go_on);
    CHECK(go_on->head == "HTTP/1.1 100 Continue\r\n\r\n");
    CHECK(client.ask(body).status == 200);
    // The same with a body that does not wait.
    CHECK(client.ask(post(expects, "b") + body.substr(1)).status / 100 <= 2);

    RawClient refused = running.connect();
    refused.send("POST /site/legacy/ HTTP/1.1\r\nHost: a\r\nAuthorization: bad\r\n" + expects + "\r\n");
    const auto refusal = refused.answer();
    REQUIRE(refusal);
    CHECK(refusal->status == 403);
    CHECK(refusal->reason() == "Not??allowed ??");
    CHECK(refused.ended());
}

TEST_CASE("a refusal in the middle of a large body is read by a client that sends it all first") {
    Running running;
    running.uploads.refuse_after = 100'000;
    const std::string piece(1 << 20, 'x');
    RawClient client = running.connect();
    client.send(post("Content-Length: " + std::to_string(64 << 20) + "\r\n", ""));
    for (int i = 0; i < 64; ++i)
        CHECK(client.try_send(piece));
    const auto refusal = client.answer();
    REQUIRE(refusal);
    CHECK(refusal->status == 413);
    CHECK(refusal->field("Connection") == "close");
    CHECK(running.uploads.undone == 1);
}

TEST_CASE("a chunked upload arrives without its framing, and the next request follows it") {
    const Running running;
    const std::string data(300'000, 'c');
    RawClient client = running.connect();
    client.send(post("Transfer-Encoding: chunked\r\n",
                     "1\r\n!\r\n493E0\r\n" + data + "\r\n3;x=y\r\nend\r\n0\r\nT: v\r\n\r\n") +
                get("/healthz"));
    const auto answer = client.answer();
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(answer->body.find(base::sha256_hex("!" + data + "end") + "-300004") != std::string::npos);
    CHECK(client.answer()->body == "ok\n");

    RawClient broken = running.connect();
    CHECK(broken.ask(post("Transfer-Encoding: chunked\r\n", "5\r\nhello\r\nzz\r\n")).status == 400);
    CHECK(broken.ended());
}

TEST_CASE("a client that goes away in the middle of a body leaves nothing behind") {
    Running running;
    RawClient client = running.connect();
    client.send(post("Content-Length: 3000000\r\n", std::string(2'000'000, 'x')));
    REQUIRE(running.uploads.started.wait());
    client.reset();
    REQUIRE(running.uploads.destroyed.wait());
    CHECK(running.uploads.undone == 1);
}

TEST_CASE("a body that stops arriving is 408 and undone") {
    Running running([](ServerSettings& settings) { settings.stall_timeout_ms = 60; });
    CHECK(running.ask(post("Content-Length: 3000000\r\n", "x")).status == 408);
    REQUIRE(running.uploads.destroyed.wait());
    CHECK(running.uploads.undone == 1);
}

TEST_CASE("a slow disk is no stalled client") {
    Gate disk;
    Running running([](ServerSettings& settings) { settings.stall_timeout_ms = 40; });
    running.uploads.hold_finish = &disk;
    RawClient client = running.connect();
    client.send(post_sized("body"));
    REQUIRE(running.uploads.finishing.wait());
    // Ten idle deadlines of another connection pass meanwhile.
    for (int i = 0; i < 10; ++i)
        CHECK(running.ask(post("Content-Length: 2\r\n", "x")).status == 408);
    disk.open();
    CHECK(client.answer()->status == 200);
}

TEST_CASE("when all upload slots are taken, the next upload gets 503 before its body is read") {
    Gate release;
    Running running([](ServerSettings& settings) { settings.max_uploads = 1; });
    running.uploads.hold_finish = &release;
    RawClient first = running.connect();
    first.send(post_sized("first"));
    REQUIRE(running.uploads.finishing.wait());
    const RawAnswer busy = running.ask(post("Expect: 100-continue\r\nContent-Length: 5\r\n", ""));
    CHECK(busy.status == 503);
    CHECK(busy.field("Retry-After") == "5");
    CHECK(running.ask(get("/healthz")).status == 200);  // pages are served all the while
    release.open();
    CHECK(first.answer()->status == 200);
    CHECK(first.ask(post_sized("second")).status == 200);
}

TEST_CASE("a slow token leaves upload slots for the others") {
    Running running([](ServerSettings& settings) {
        settings.max_uploads = 3;
        settings.max_token_uploads = 2;
        settings.token_wait_ms = 0;
    });
    const std::string sized = "Expect: 100-continue\r\nContent-Length: 5\r\n";
    std::vector<RawClient> slow;
    for (int i = 0; i < 2; ++i) {
        slow.push_back(running.connect());
        REQUIRE(slow.back().ask(post(sized, "")).status == 100);
    }
    CHECK(running.ask(get("/metrics")).body.find("wheelyard_top_token_uploads 2\n") != std::string::npos);
    const RawAnswer busy = running.ask(post(sized, ""));
    CHECK(busy.status == 503);
    CHECK(busy.field("Retry-After") == "5");
    CHECK(busy.body.find("upload.token_busy") != std::string::npos);
    CHECK(running.ask(get("/metrics")).body.find("wheelyard_uploads_token_busy_total 1\n") !=
          std::string::npos);
    const std::string other =
        "POST /site/legacy/ HTTP/1.1\r\nHost: test\r\nAuthorization: good too\r\nContent-Length: "
        "5\r\n\r\nbytes";
    CHECK(running.ask(other).status == 200);
    slow.front().send("bytes");
    CHECK(slow.front().answer()->status == 200);
    CHECK(running.ask(post_sized("bytes")).status == 200);
}

TEST_CASE("a dozen uploads of one token at once wait for each other, without the slots of others") {
    Running running([](ServerSettings& settings) {
        settings.max_uploads = 13;
        settings.max_token_uploads = 2;
    });
    const std::string sized = "Expect: 100-continue\r\nContent-Length: 5\r\n";
    std::vector<RawClient> slow;
    for (int i = 0; i < 2; ++i) {
        slow.push_back(running.connect());
        REQUIRE(slow.back().ask(post(sized, "")).status == 100);
    }
    std::vector<RawClient> waiting;
    for (int i = 0; i < 10; ++i) {
        waiting.push_back(running.connect());
        waiting.back().send(post_sized("bytes"));
    }
    const std::string other =
        "POST /site/legacy/ HTTP/1.1\r\nHost: test\r\nAuthorization: good too\r\nContent-Length: "
        "5\r\n\r\nbytes";
    CHECK(running.ask(other).status == 200);
    for (RawClient& client : slow) {
        client.send("bytes");
        CHECK(client.answer()->status == 200);
    }
    for (RawClient& client : waiting)
        CHECK(client.answer()->status == 200);
}

TEST_CASE("strangers whose uploads are being refused take no place from who may upload") {
    Gate release;
    Running running([](ServerSettings& settings) {
        settings.max_uploads = 1;
        settings.upload_threads = 2;
    });
    running.uploads.hold_stranger = &release;
    RawClient stranger = running.connect();
    stranger.send("POST /site/legacy/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nx");
    REQUIRE(running.uploads.started.wait());
    CHECK(running.ask(post_sized("body")).status == 200);
    release.open();
    CHECK(stranger.answer()->status == 401);
}

TEST_CASE("a refused client that keeps its connection keeps no place for uploads") {
    Running running([](ServerSettings& settings) { settings.max_uploads = 1; });
    RawClient refused = running.connect();
    refused.send("POST /site/legacy/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nx");
    CHECK(refused.answer()->status == 401);
    CHECK(running.ask(post_sized("body")).status == 200);
    refused.send("y");
}

TEST_CASE("an upload of 64 MB does not grow the process") {
    // With the shadow of the touched memory under a sanitizer.
    constexpr long max_growth_kib =
        testing::address_sanitizer || testing::thread_sanitizer ? 32 * 1024 : 8 * 1024;
    const Running running;
    const std::string piece(1 << 20, 'm');
    const auto resident_kib = [] {  // on the stack: what it measures must not be itself
        std::array<char, 256> text{};
        const auto statm = base::open_read("/proc/self/statm");
        const ssize_t size = ::read(statm->get(), text.data(), text.size() - 1);
        const char* second = std::strchr(text.data(), ' ');
        return size > 0 && second != nullptr
                   ? std::strtol(second, nullptr, 10) * (::sysconf(_SC_PAGESIZE) / 1024)
                   : 0;
    };
    RawClient client = running.connect();
    client.send(post("Content-Length: " + std::to_string(64 << 20) + "\r\n", piece + piece + piece));
    const long before = resident_kib();
    long most = before;
    for (int i = 3; i < 64; ++i) {
        client.send(piece);
        most = std::max(most, resident_kib());
    }
    CHECK(client.answer()->status == 200);
    CHECK(before > 1024);
    MESSAGE("grew by " << most - before << " KiB");
    CHECK(most - before < max_growth_kib);
}

TEST_CASE("draining ends idle connections, lets a download finish and refuses new clients") {
    Running running([](ServerSettings& settings) { settings.drain_timeout_ms = 30'000; });
    const std::string large(32 << 20, 'd');
    running.write(file_url.substr(1) + "large.whl", large);
    RawClient idle = running.connect();
    CHECK(idle.ask(get("/healthz")).status == 200);
    RawClient loading(running.server->port(), 64 * 1024);
    loading.send(get(file_url + "large.whl"));
    std::string received = loading.read_some();
    std::thread drain([&] { running.server->drain(); });
    CHECK(idle.ended());
    for (std::string more = loading.read_some(); !more.empty(); more = loading.read_some())
        received += more;
    CHECK(received.ends_with("d"));
    CHECK(received.size() > large.size());
    drain.join();
    CHECK_THROWS((void)running.connect());
}

TEST_CASE("past the drain timeout connections are cut, but what is being committed gets its answer") {
    Gate release;
    Running running([](ServerSettings& settings) {
        settings.drain_timeout_ms = 20;
        settings.io_threads = 1;
    });
    running.uploads.hold_finish = &release;
    RawClient client = running.connect();
    client.send(post_sized("body"));
    REQUIRE(running.uploads.finishing.wait());
    RawClient stuck = running.connect();
    CHECK(stuck.ask(get("/healthz")).status == 200);
    stuck.send("GET /never");
    std::thread drain([&] { running.server->drain(); });
    CHECK(stuck.ended());
    release.open();
    const auto answer = client.answer();
    drain.join();
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(answer->field("Connection") == "close");
    CHECK(running.uploads.undone == 0);
}

TEST_CASE("draining gives up on a client that reads nothing") {
    Running running([](ServerSettings& settings) { settings.drain_timeout_ms = 50; });
    running.write(file_url.substr(1) + "large.whl", std::string(32 << 20, 'd'));
    RawClient loading(running.server->port(), 64 * 1024);
    loading.send(get(file_url + "large.whl"));
    CHECK_FALSE(loading.read_some().empty());
    running.server->drain();  // returns
}

TEST_CASE("a service that throws costs one answer, not the server") {
    struct Throwing final : UploadService {
        Answered<std::unique_ptr<UploadRequest>> begin(const UploadHead&) override {
            throw std::runtime_error("bug");
        }
    } throwing;
    ServerSettings settings;
    settings.listen.front().port = 0;
    settings.indexes = {{"site"}};
    auto server = Server::start(settings, throwing);
    REQUIRE(server);
    CHECK(RawClient(server->port()).ask(post_sized("x")).status == 500);
    CHECK(RawClient(server->port()).ask(get("/healthz")).status == 200);
}

}  // namespace wheelyard::http
