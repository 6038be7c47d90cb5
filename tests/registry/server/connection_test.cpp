// Connections under clients that are slow, greedy or cunning, and what each representation of a page is
// called.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "lib/io/gzip.hpp"
#include "lib/io/json.hpp"
#include "lib/io/zstd.hpp"
#include "registry/server/limits.hpp"
#include "tests/registry/server/server_fixture.hpp"
#include "tests/support/becomes_true.hpp"
#include "tests/support/sanitizers.hpp"

namespace wheelyard::http {

namespace {

// A page that is worth compressing.
std::string long_page() {
    std::string page = "<!DOCTYPE html>";
    for (int i = 0; i < 200; ++i)
        page.append("<a href=\"x\">wheel ").append(std::to_string(i)).append("</a>");
    return page;
}

// Sends `piece` again and again until the server ends the connection or answers; false after a minute of
// neither.
bool is_given_up(RawClient& client, std::string_view piece) {
    const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < last) {
        if (!client.try_send(piece)) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
}

// Answers with what it was asked.
struct EchoingApi final : ApiService {
    Answered<Admission> admit(const ApiRequest& head) override {
        const registry::OperationRow* row = registry::find_row(head.operation);
        if (head.authorization.empty() && row != nullptr && !row->http.needs_token) return Admission{};
        if (head.authorization.empty())
            return tl::unexpected(wire::Problem{401, "auth.missing", "Credentials needed", "None.", {}, {}});
        if (head.authorization == "stranger") return Admission{};
        return Admission{.may_administer = !head.authorization.starts_with("tasks"),
                         .owner = head.authorization};
    }
    Answered<ApiReply> answer(const ApiRequest& request) override {
        std::string text(request.operation);
        for (const auto& [name, value] : request.parameters)
            text.append(" ").append(name).append("=").append(value);
        ApiReply reply{202, text + " ?" + request.query + " " + request.body};
        if (request.query == "tag") {
            reply.status = 200;
            reply.tag = "t1";
        }
        if (request.body == "hang") (void)provider.wait();
        if (request.body == "wait") {
            reply.if_not_visible = {503, "page.lags", "Not yet", "Not yet.", {}, {}};
            reply.when_visible = [this](std::function<void(bool)> then) {
                const std::lock_guard lock(mutex);
                waiting.push_back(std::move(then));
            };
        }
        return reply;
    }
    std::size_t count_waiting() {
        const std::lock_guard lock(mutex);
        return waiting.size();
    }
    Gate provider;
    std::mutex mutex;
    std::vector<std::function<void(bool)>> waiting;
};

// What the server logs meanwhile.
class LogOnFile {
  public:
    LogOnFile() { ::dup2(file_.get(), STDERR_FILENO); }
    ~LogOnFile() { ::dup2(before_.get(), STDERR_FILENO); }
    LogOnFile(const LogOnFile&) = delete;
    LogOnFile& operator=(const LogOnFile&) = delete;
    [[nodiscard]] bool contains(std::string_view word) const {
        std::array<char, 16 * 1024> text{};
        const ssize_t size = ::pread(file_.get(), text.data(), text.size(), 0);
        return size > 0 && std::string_view(text.data(), static_cast<std::size_t>(size)).find(word) !=
                               std::string_view::npos;
    }

  private:
    base::Fd file_{::memfd_create("log", MFD_CLOEXEC)};
    base::Fd before_{::dup(STDERR_FILENO)};
};

std::string api_post(std::string_view target, std::string_view fields, std::string_view body) {
    std::string request = "POST ";
    request.append(target).append(" HTTP/1.1\r\nHost: test\r\n").append(fields);
    return request.append("\r\n").append(body);
}

}  // namespace

TEST_CASE("the API gets its parameters decoded and its body whole, and the connection goes on") {
    EchoingApi api;
    const Running running({}, &api);
    RawClient client = running.connect();
    const std::string yank = "/api/v1/indexes/site/files/six-1.0%2Bcpu-py3-none-any.whl/yank";
    const std::string said = "yankFile filename=six-1.0+cpu-py3-none-any.whl index=site ?a=b {}";
    const RawAnswer sized =
        client.ask(api_post(yank + "?a=b", "Authorization: good\r\nContent-Length: 2\r\n", "{}"));
    CHECK(sized.status == 202);
    CHECK(sized.body == said);
    CHECK(sized.field("Content-Type") == "application/json");
    const RawAnswer chunked =
        client.ask(api_post(yank + "?a=b", "Authorization: good\r\nTransfer-Encoding: chunked\r\n",
                            "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"));
    CHECK(chunked.body == said);
    // Its body is not read, so the connection ends.
    CHECK(running.ask(api_post(yank, "Content-Length: 2\r\n", "{}")).status == 401);
    const RawAnswer wrong = client.ask(get(yank));
    CHECK(wrong.status == 405);
    CHECK(wrong.field("Allow") == "POST");
    CHECK(client.ask(get("/api/v1/nothing")).status == 404);
    const std::string too_long = std::to_string(max_api_body_bytes + 1);
    CHECK(client.ask(api_post(yank, "Content-Length: " + too_long + "\r\n", "")).status == 413);
    CHECK(Running().ask(api_post(yank, "Content-Length: 0\r\n", "")).status == 404);
}

TEST_CASE("a document of the API with a tag is sent again only when it changed, and no cache shares it") {
    EchoingApi api;
    const Running running({}, &api);
    const auto ask = [&](const std::string& fields, const std::string& query = "?tag") {
        return running.ask(get("/api/v1/indexes/site/files/six-1.0-py3-none-any.whl/sbom" + query,
                               "Authorization: good\r\n" + fields));
    };
    const RawAnswer whole = ask("");
    CHECK(whole.status == 200);
    CHECK(whole.field("ETag") == "W/\"t1\"");  // weak: of each content coding (RFC 9110, 8.8.1)
    CHECK(whole.field("Cache-Control") == "private, no-cache");
    for (const char* same : {"W/\"t1\"", "\"t1\"", "\"t0\", W/\"t1\"", "*"}) {
        CAPTURE(same);
        const RawAnswer again = ask("If-None-Match: " + std::string(same) + "\r\n");
        CHECK(again.status == 304);
        CHECK(again.body.empty());
        CHECK(again.field("ETag") == whole.field("ETag"));
    }
    CHECK(ask("If-None-Match: W/\"t0\"\r\n").body == whole.body);
    CHECK(ask("If-None-Match: *\r\n", "").status == 202);
    CHECK(ask("", "").field("Cache-Control") == "no-store");
}

namespace {

const std::string yank_six = "/api/v1/indexes/site/files/six-1.0-py3-none-any.whl/yank";

// Requests that hold their slots: their answers wait for a page.
struct HeldRequests {
    HeldRequests(EchoingApi& the_api, const Running& the_server) : api(the_api), running(the_server) {}
    ~HeldRequests() {
        for (const auto& then : api.waiting)
            if (then) then(true);
    }
    HeldRequests(const HeldRequests&) = delete;
    HeldRequests& operator=(const HeldRequests&) = delete;
    // True: it has a slot now. False: it was answered.
    bool hold(const std::string& request) {
        const std::size_t before = api.count_waiting();
        clients.push_back(std::make_unique<RawClient>(running.connect()));
        clients.back()->send(request);
        // The answer of a refused one comes at once.
        bool has_answer = false;
        const bool ended = test_support::becomes_true([&] {
            if (api.count_waiting() > before) return true;
            has_answer = clients.back()->has_input();
            return has_answer;
        });
        if (has_answer) last = clients.back()->answer().value().status;
        return ended && !has_answer;
    }
    bool hold(const std::string& target, const std::string& token, const std::string& address = "192.0.2.1") {
        return hold(api_post(
            target,
            "Authorization: " + token + "\r\nX-Forwarded-For: " + address + "\r\nContent-Length: 4\r\n",
            "wait"));
    }
    // The first one gets its answer.
    void end_first() {
        std::exchange(api.waiting.front(), {})(true);
        CHECK(clients.front()->answer().value().status == 202);
    }
    EchoingApi& api;
    const Running& running;
    std::vector<std::unique_ptr<RawClient>> clients;
    int last = 0;
};

void trust_loopback(ServerSettings& settings) {
    settings.trusted_proxies = {"127.0.0.1"};
    settings.strangers_wait_ms = 0;
}

}  // namespace

TEST_CASE("a rejected client takes no API slot, a permitted one gets 503 when all are taken") {
    EchoingApi api;
    const Running running({}, &api);
    std::vector<std::unique_ptr<RawClient>> clients;
    for (std::size_t i = 0; i < max_api_requests + 1; ++i) {
        clients.push_back(std::make_unique<RawClient>(running.connect()));
        clients.back()->send(api_post(yank_six, "Content-Length: 2\r\n", ""));
    }
    for (const auto& client : clients)
        CHECK(client->answer().value().status == 401);  // and its body is still to come
    HeldRequests held(api, running);
    for (std::size_t i = 0; i < max_api_requests; ++i)
        REQUIRE(held.hold(yank_six, "good"));
    CHECK_FALSE(held.hold(yank_six, "good"));
    CHECK(held.last == 503);
    held.end_first();
    CHECK(held.hold(yank_six, "good"));
}

TEST_CASE("a body that is still to come takes no API slot, of a token or of a stranger") {
    EchoingApi api;
    const Running running({}, &api);
    std::vector<std::unique_ptr<RawClient>> clients;
    const auto begin = [&](const std::string& target, const std::string& fields) {
        clients.push_back(std::make_unique<RawClient>(running.connect()));
        clients.back()->send(api_post(target, fields + "Expect: 100-continue\r\nContent-Length: 9\r\n", ""));
        REQUIRE(clients.back()->answer().value().status == 100);
        clients.back()->send("{");
    };
    for (std::size_t i = 0; i < max_api_requests / 2 + 1; ++i)
        begin(yank_six, "Authorization: tasks\r\n");
    for (const char* open : {"/_/oidc/mint-token", "/api/v1/agents/renew", "/api/v1/login/campus/begin"}) {
        for (std::size_t i = 0; i < max_api_requests_of_strangers + 1; ++i)
            begin(open, "");
        CAPTURE(open);
        CHECK(running.ask(api_post(open, "Content-Length: 2\r\n", "{}")).status == 202);
    }
    CHECK(running.ask(api_post(yank_six, "Authorization: tasks\r\nContent-Length: 2\r\n", "{}")).status ==
          202);
    clients.front()->send("12345678");
    CHECK(clients.front()->answer().value().status == 202);
}

TEST_CASE("a stranger has a few seconds for a body, however long a token has") {
    EchoingApi api;
    const Running running([](ServerSettings& settings) { settings.header_timeout_ms = 3'600'000; }, &api);
    const auto began = std::chrono::steady_clock::now();
    RawClient stranger = running.connect();
    stranger.send(api_post("/_/oidc/mint-token", "Content-Length: 100\r\n", "{"));
    CHECK(stranger.answer().value().status == 408);
    CHECK(std::chrono::steady_clock::now() - began >= std::chrono::milliseconds(strangers_body_timeout_ms));
}

TEST_CASE("one token that may not administer gets half of the API slots") {
    EchoingApi api;
    const Running running({}, &api);
    HeldRequests held(api, running);
    for (std::size_t i = 0; i < (max_api_requests - api_slots_of_administrators) / 2; ++i)
        REQUIRE(held.hold(yank_six, "tasks"));
    CHECK_FALSE(held.hold(yank_six, "tasks"));
    CHECK(held.last == 503);
    CHECK(held.hold(yank_six, "tasks of another"));
    CHECK(held.hold(yank_six, "administrator"));
    held.end_first();
    CHECK_FALSE(held.hold(yank_six, "tasks"));  // 27 of 29, and 27 are left
    CHECK(held.hold(yank_six, "tasks of another"));
}

TEST_CASE("a network without a token leaves half of the strangers' API slots to the others") {
    EchoingApi api;
    const Running running(trust_loopback, &api);
    HeldRequests held(api, running);
    for (std::size_t i = 0; i < max_api_requests_of_strangers / 2; ++i)
        REQUIRE(held.hold(yank_six, "stranger", "192.0.2." + std::to_string(i)));
    CHECK_FALSE(held.hold(yank_six, "stranger", "192.0.2.99"));
    CHECK(held.last == 503);
    CHECK(held.hold(yank_six, "stranger", "198.51.100.1"));
    CHECK(held.hold(yank_six, "tasks", "192.0.2.1"));  // who has a token has the limit of the token
    held.end_first();
    CHECK(held.hold(yank_six, "stranger", "192.0.2.1"));
}

TEST_CASE(
    "strangers of many networks at one door of the API leave the other doors and all tokens their slots") {
    EchoingApi api;
    const Running running(trust_loopback, &api);
    HeldRequests held(api, running);
    const std::string doors[] = {"/_/oidc/mint-token", "/api/v1/agents/renew", "/api/v1/login/campus/begin",
                                 yank_six};
    std::size_t network = 0;
    for (const std::string& door : doors) {
        CAPTURE(door);
        for (std::size_t i = 0; i < max_api_requests_of_strangers; ++i)
            REQUIRE(held.hold(door, "stranger", "10.0." + std::to_string(++network) + ".1"));
        CHECK_FALSE(held.hold(door, "stranger", "10.0." + std::to_string(++network) + ".1"));
        CHECK(held.last == 503);
        CHECK(held.hold(door, "tasks " + door, "10.0.1.1"));  // an agent that renews is known by its body
    }
}

TEST_CASE("a stranger who finds all places taken waits for one") {
    EchoingApi api;
    const Running running([](ServerSettings& settings) { settings.strangers_wait_ms = 60'000; }, &api);
    HeldRequests held(api, running);
    const std::string renew = "/api/v1/agents/renew";
    for (std::size_t i = 0; i < max_api_requests_of_strangers / 2; ++i)
        REQUIRE(held.hold(renew, "stranger"));
    RawClient late = running.connect();
    late.send(api_post(renew, "Authorization: stranger\r\nContent-Length: 2\r\n", "{}"));
    std::this_thread::sleep_for(std::chrono::milliseconds(4 * strangers_turn_ms));
    CHECK_FALSE(late.has_input());
    held.end_first();
    CHECK(late.answer().value().status == 202);
}

TEST_CASE("log-ins and jobs that wait for a provider keep no thread from uploads and the API") {
    EchoingApi api;
    const Running running([](ServerSettings& settings) { settings.upload_threads = 1; }, &api);
    std::vector<std::unique_ptr<RawClient>> hanging;
    for (const char* door : {"/_/oidc/mint-token", "/api/v1/login/campus/finish"}) {
        hanging.push_back(std::make_unique<RawClient>(running.connect()));
        hanging.back()->send(api_post(door, "Content-Length: 4\r\n", "hang"));
    }
    CHECK(running.ask(api_post(yank_six, "Authorization: good\r\nContent-Length: 2\r\n", "{}")).status ==
          202);
    CHECK(running.ask(post_sized("body")).status == 200);
    CHECK_FALSE(hanging.front()->has_input());
    api.provider.open();
    for (const auto& client : hanging)
        CHECK(client->answer().value().status == 202);
}

TEST_CASE("requests of the API that wait for a page keep no thread from others") {
    EchoingApi api;
    const Running running([](ServerSettings& settings) { settings.upload_threads = 1; }, &api);
    const std::string yank = "/api/v1/indexes/site/files/six-1.0-py3-none-any.whl/yank";
    const auto request = [&yank](const std::string& body) {
        return api_post(
            yank, "Authorization: good\r\nContent-Length: " + std::to_string(body.size()) + "\r\n", body);
    };
    RawClient shown = running.connect();
    RawClient failed = running.connect();
    shown.send(request("wait"));
    REQUIRE(test_support::becomes_true([&api] { return api.count_waiting() == 1; }));
    failed.send(request("wait"));
    REQUIRE(test_support::becomes_true([&api] { return api.count_waiting() == 2; }));
    CHECK(running.ask(request("{}")).status == 202);
    api.waiting[0](true);
    api.waiting[1](false);
    CHECK(shown.answer().value().status == 202);
    CHECK(failed.answer().value().status == 503);
}

TEST_CASE("the reply of a finished API change is sent after the drain timeout, once its page is published") {
    EchoingApi api;
    const Running running(
        [](ServerSettings& settings) {
            settings.drain_timeout_ms = 20;
            settings.io_threads = 1;
        },
        &api);
    RawClient client = running.connect();
    client.send(api_post("/api/v1/indexes/site/files/six-1.0-py3-none-any.whl/yank",
                         "Authorization: good\r\nContent-Length: 4\r\n", "wait"));
    REQUIRE(test_support::becomes_true([&api] { return api.count_waiting() == 1; }));
    RawClient stuck = running.connect();
    CHECK(stuck.ask(get("/healthz")).status == 200);
    stuck.send("GET /never");
    std::thread drain([&] { running.server->drain(); });
    CHECK(stuck.ended());  // cut by the same timeout
    api.waiting[0](true);
    const auto answer = client.answer();
    drain.join();
    REQUIRE(answer);
    CHECK(answer->status == 202);
}

TEST_CASE("every representation of a page has its own strong tag, and answers 304 to that one only") {
    Running running;
    running.write("site/simple/six/index.html", long_page());
    const std::string gzip = "Accept-Encoding: gzip\r\n";
    const std::string v1 = "Accept: application/vnd.pypi.simple.v1+html\r\n";
    const std::string zstd = "Accept-Encoding: zstd\r\n";
    const std::vector<std::string> asked{
        "", gzip, zstd, v1, v1 + gzip, v1 + zstd, "Accept: application/vnd.pypi.simple.v1+json\r\n"};
    std::vector<std::string> tags;
    for (const std::string& fields : asked) {
        const RawAnswer answer = running.ask(get("/site/simple/six/", fields));
        CHECK(answer.status == 200);
        CHECK(answer.field("Vary") == "Accept, Accept-Encoding");
        tags.push_back(answer.field("ETag"));
        CHECK(tags.back().starts_with('"'));
    }
    for (std::size_t i = 0; i < asked.size(); ++i) {
        for (std::size_t j = 0; j < tags.size(); ++j) {
            CAPTURE(asked[i]);
            CAPTURE(tags[j]);
            const RawAnswer answer =
                running.ask(get("/site/simple/six/", asked[i] + "If-None-Match: " + tags[j] + "\r\n"));
            CHECK(answer.status == (i == j ? 304 : 200));
        }
    }
}

TEST_CASE("a page is compressed for who asks, a wheel and a page of a few bytes for nobody") {
    Running running;
    running.write("site/simple/six/index.html", long_page());
    const std::map<std::string, std::string> bodies{
        {"", long_page()}, {"gzip", io::gzip(long_page()).value()}, {"zstd", io::zstd(long_page()).value()}};
    struct Row {
        const char* accept_encoding;
        const char* coding;
    };
    for (const Row row : {Row{"gzip", "gzip"}, Row{"zstd;q=0.9, gzip", "gzip"}, Row{"gzip, br, ZSTD", "zstd"},
                          Row{"*", "gzip"}, Row{"br", ""}, Row{"", ""}}) {
        CAPTURE(row.accept_encoding);
        const std::string field = std::string("Accept-Encoding: ") + row.accept_encoding + "\r\n";
        const RawAnswer page = running.ask(get("/site/simple/six/", field));
        CHECK(page.field("Content-Encoding") == row.coding);
        CHECK(page.body == bodies.at(row.coding));
        CHECK(running.ask(get("/site/simple/", field)).field("Content-Encoding").empty());
        const RawAnswer file = running.ask(get(file_url + "six-1.0+cpu-py3-none-any.whl", field));
        CHECK(file.field("Content-Encoding").empty());
        CHECK(file.body == "0123456789");
    }
    running.write("site/simple/six/index.html", long_page() + "new");
    CHECK(running.ask(get("/site/simple/six/", "Accept-Encoding: gzip\r\n")).body ==
          io::gzip(long_page() + "new").value());
    CHECK(running.ask(get("/site/simple/six/", "Accept-Encoding: zstd\r\n")).body ==
          io::zstd(long_page() + "new").value());
}

TEST_CASE("a page too large to be kept goes compressed where the tree has it so") {
    Running running;
    const std::string large(max_cached_page_bytes + 1, 'p');
    running.write("site/simple/six/index.html", large);
    const std::string both = "Accept-Encoding: zstd, gzip;q=0.5\r\n";
    CHECK(running.ask(get("/site/simple/six/", both)).field("Content-Encoding").empty());
    running.write("site/simple/six/index.html.gz", "packed");
    const RawAnswer packed = running.ask(get("/site/simple/six/", both));
    CHECK(packed.field("Content-Encoding") == "gzip");
    CHECK(packed.body == "packed");
    const RawAnswer plain = running.ask(get("/site/simple/six/", "Accept-Encoding: zstd\r\n"));
    CHECK(plain.field("Content-Encoding").empty());
    CHECK(plain.body == large);
    CHECK(plain.field("ETag") != packed.field("ETag"));
    running.write("site/simple/six/index.html.zst", "smaller");
    const RawAnswer smaller = running.ask(get("/site/simple/six/", both));
    CHECK(smaller.field("Content-Encoding") == "zstd");
    CHECK(smaller.body == "smaller");
    CHECK(smaller.field("ETag") != packed.field("ETag"));
    CHECK(running.ask(get("/site/simple/six/", both + "If-None-Match: " + packed.field("ETag") + "\r\n"))
              .status == 200);
    CHECK(running.ask(get("/site/simple/six/", both + "If-None-Match: " + smaller.field("ETag") + "\r\n"))
              .status == 304);
    CHECK(running.ask(get("/site/simple/six/", "If-None-Match: " + smaller.field("ETag") + "\r\n")).status ==
          200);
}

TEST_CASE("whatever is text is compressed, each representation with its own tag") {
    Running running;
    const std::vector<std::string> paths{"/",
                                         "/site/project/",
                                         "/site/project/six/",
                                         "/site/project/search.json",
                                         "/site/project/six/feed.xml",
                                         "/site/builds/",
                                         "/site/status.json",
                                         "/site/simple/catalogue.txt",
                                         "/site/simple/catalogue-delta.txt"};
    for (const std::string& path : paths)
        running.write((path + (path.ends_with('/') ? "index.html" : "")).substr(1), long_page() + path);
    for (const std::string& path : paths) {
        CAPTURE(path);
        std::set<std::string> tags;
        for (const char* coding : {"", "gzip", "zstd"}) {
            CAPTURE(coding);
            const std::string asked = std::string("Accept-Encoding: ") + coding + "\r\n";
            const RawAnswer answer = running.ask(get(path, asked));
            CHECK(answer.status == 200);
            CHECK(answer.field("Content-Encoding") == coding);
            CHECK(answer.field("Vary") == "Accept-Encoding");
            CHECK(answer.body == (*coding == '\0'  ? long_page() + path
                                  : *coding == 'g' ? io::gzip(long_page() + path).value()
                                                   : io::zstd(long_page() + path).value()));
            tags.insert(answer.field("ETag"));
            const RawAnswer same =
                running.ask(get(path, asked + "If-None-Match: " + answer.field("ETag") + "\r\n"));
            CHECK(same.status == 304);
            CHECK(same.field("Vary") == "Accept-Encoding");
        }
        CHECK(tags.size() == 3);
    }
    for (const char* path : {"/api/v1/", "/api/v1/openapi.json", "/metrics", "/site/"})
        CHECK_MESSAGE(running.ask(get(path, "Accept-Encoding: zstd\r\n")).field("Content-Encoding") == "zstd",
                      path);
}

TEST_CASE("no link in the tree is followed, at whatever depth") {
    const Running running;
    const auto outside = base::TempDir::make("outside").value();
    REQUIRE(base::make_directories(outside.path() / "simple"));
    REQUIRE(base::replace_file(outside.path() / "simple/index.html", "secret"));
    REQUIRE(base::make_directories(running.tree.path() / "empty"));
    std::filesystem::create_directory_symlink(outside.path() / "simple",
                                              running.tree.path() / "empty/simple");
    CHECK(running.ask(get("/empty/simple/")).status == 404);
    std::filesystem::remove_all(running.tree.path() / "empty");
    std::filesystem::create_directory_symlink(outside.path(), running.tree.path() / "empty");
    CHECK(running.ask(get("/empty/simple/")).status == 404);
    // Nor one that stays inside: nothing that publishes makes links.
    std::filesystem::create_directory_symlink("six", running.tree.path() / "site/simple/seven");
    CHECK(running.ask(get("/site/simple/six/")).status == 200);
    CHECK(running.ask(get("/site/simple/seven/")).status == 404);
}

TEST_CASE("a tree that was renamed and put back is found again") {
    const Running running([](ServerSettings& settings) { settings.io_threads = 1; });
    CHECK(running.ask(get("/site/simple/")).status == 200);
    const std::filesystem::path moved = running.tree.path().string() + ".tmp";
    std::filesystem::rename(running.tree.path(), moved);
    CHECK(running.ask(get(file_url + "six-1.0+cpu-py3-none-any.whl")).status == 200);  // still that folder
    std::filesystem::create_directory(running.tree.path());
    CHECK(running.ask(get("/site/simple/new/")).status == 404);
    std::filesystem::remove(running.tree.path());
    std::filesystem::rename(moved, running.tree.path());
    CHECK(running.ask(get("/site/simple/six/")).status == 200);
}

TEST_CASE("empty lines before a request do not put its deadline off") {
    const Running of_first([](ServerSettings& settings) { settings.header_timeout_ms = 200; });
    RawClient fresh = of_first.connect();
    CHECK(is_given_up(fresh, "\r\n"));
    const Running of_next([](ServerSettings& settings) { settings.idle_timeout_ms = 200; });
    RawClient used = of_next.connect();
    CHECK(used.ask(get("/healthz")).status == 200);
    CHECK(is_given_up(used, "\r\n"));
}

TEST_CASE("a body that trickles slower than any modem is given up, however steadily it comes") {
    Running running([](ServerSettings& settings) { settings.stall_timeout_ms = 200; });
    RawClient client = running.connect();
    client.send(post("Content-Length: 1000000\r\n", ""));
    CHECK(test_support::becomes_true([&] {
        static_cast<void>(client.try_send("x"));
        return running.uploads.undone == 1;
    }));
    CHECK(running.uploads.destroyed.wait());
}

TEST_CASE("the framing of chunks is no progress of a body") {
    Running running([](ServerSettings& settings) { settings.stall_timeout_ms = 200; });
    int given_up = 0;
    for (const std::string_view piece : {"1\r\nx\r\n", "1;padding-of-an-extension\r\nx\r\n"}) {
        CAPTURE(piece);
        RawClient client = running.connect();
        client.send(post("Transfer-Encoding: chunked\r\n", ""));
        ++given_up;
        CHECK(test_support::becomes_true([&] {
            static_cast<void>(client.try_send(piece));
            return running.uploads.undone == given_up;
        }));
    }
}

TEST_CASE("the body of an API request has the time of a head, at whatever speed it comes") {
    EchoingApi api;
    const Running running(
        [](ServerSettings& settings) {
            settings.header_timeout_ms = 300;
            settings.stall_timeout_ms = 3'600'000;
        },
        &api);
    const std::string yank = "/api/v1/indexes/site/files/six-1.0-py3-none-any.whl/yank";
    // Faster than min_body_bytes_per_s, so that only the time of the whole body ends it.
    const std::string chunk = "64\r\n" + std::string(100, 'x') + "\r\n";
    for (const auto& row : {std::pair("Content-Length: 60000\r\n", std::string(100, 'x')),
                            std::pair("Transfer-Encoding: chunked\r\n", chunk)}) {
        const char* const field = row.first;
        CAPTURE(field);
        const RawAnswer answer = answer_to(running, [&](RawClient& client) {
            client.send(api_post(yank, "Authorization: good\r\n" + std::string(field), ""));
            for (int sent = 0; sent < 50 && client.try_send(row.second); ++sent)
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
        });
        CHECK(answer.status == 408);
    }
}

TEST_CASE("tokens that may not administer leave slots of the API to those that may") {
    EchoingApi api;
    const Running running({}, &api);
    HeldRequests held(api, running);
    for (std::size_t i = 0; i < max_api_requests - api_slots_of_administrators; ++i)
        REQUIRE(held.hold(yank_six, "tasks " + std::to_string(i)));  // few tokens cannot take them alone
    CHECK_FALSE(held.hold(yank_six, "tasks"));
    CHECK(held.last == 503);
    CHECK(held.hold(yank_six, "good"));
}

TEST_CASE("after a shortage of descriptors the server accepts again") {
    // UBSan, which runs beside AddressSanitizer, checks a virtual call by opening a pipe to see whether the object's memory
    // is mapped: without descriptors every object looks broken. ThreadSanitizer's build runs this test.
    if (testing::address_sanitizer) return;
    const Running running;
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const LogOnFile log;
    // Last: the server closes its end later, whose number is above that of this end, which is free at once.
    CHECK(running.ask(get("/healthz")).status == 200);
    const int next = ::dup(STDERR_FILENO);
    ::close(next);
    rlimit one_more = before;
    one_more.rlim_cur = static_cast<rlim_t>(next) + 1;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &one_more) == 0);
    RawClient late = running.connect();  // takes the last descriptor: none is left for the server's end
    const bool sent = late.try_send(get("/healthz"));
    const bool failed = test_support::becomes_true([&] { return log.contains("server.accept_failed"); });
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(sent);
    CHECK(failed);
    const auto answer = late.answer();
    REQUIRE(answer.has_value());
    CHECK(answer->status == 200);
    CHECK(running.ask(get("/healthz")).status == 200);
}

TEST_CASE("a committed upload whose page does not come is 503, and keeps no thread of the pool") {
    Running running([](ServerSettings& settings) {
        settings.upload_threads = 1;
        settings.page_wait_ms = 300;
    });
    running.uploads.page = CountingUploads::Page::failed;
    const RawAnswer failed = running.ask(post_sized("wheel"));
    CHECK(failed.status == 503);
    CHECK(failed.body.find("upload.page_lags") != std::string::npos);
    running.uploads.page = CountingUploads::Page::never;
    const RawAnswer late = running.ask(post_sized("wheel"));
    CHECK(late.status == 503);
    CHECK(late.body.find("upload.page_lags") != std::string::npos);
    running.server->drain();
    running.uploads.kept(true);  // nobody is there any more, and nothing happens
}

TEST_CASE("what a retry would need is removed once the page is out, and stays when it is not") {
    Running running;
    running.uploads.page = CountingUploads::Page::failed;
    CHECK(running.ask(post_sized("a wheel")).status == 503);
    CHECK_FALSE(running.uploads.cleaned.is_open());
    running.uploads.page = CountingUploads::Page::out;
    CHECK(running.ask(post_sized("a wheel")).status == 200);
    CHECK(running.uploads.cleaned.is_open());  // before the answer
}

TEST_CASE("while one upload waits for its page another one is taken by the same thread") {
    Running running([](ServerSettings& settings) { settings.upload_threads = 1; });
    running.uploads.page = CountingUploads::Page::never;
    RawClient first = running.connect();
    first.send(post_sized("first"));
    CHECK(running.uploads.destroyed.wait());  // committed: what it held is gone
    std::function<void(bool)> of_first = std::move(running.uploads.kept);
    running.uploads.page = CountingUploads::Page::out;
    CHECK(running.ask(post_sized("second")).status == 200);
    of_first(true);
    const auto answer = first.answer();
    REQUIRE(answer.has_value());
    CHECK(answer->status == 200);
}

TEST_CASE("readiness is what the service says, too") {
    std::atomic<bool> lags = true;
    const Running running([&](ServerSettings& settings) {
        settings.service_state = [&lags] {
            ServiceState state{.samples = {{"serial_visible", 1}}};
            if (lags) state.not_ready = {NotReady::publish_lags, "publishing lags: serial 1 of 2 is out"};
            return state;
        };
    });
    const RawAnswer not_ready = running.ask(get("/readyz"));
    CHECK(not_ready.status == 503);
    CHECK(not_ready.body == "publishing lags: serial 1 of 2 is out\n");
    CHECK(running.ask(get("/metrics")).body.find("\nwheelyard_ready 0\n") != std::string::npos);
    CHECK(running.ask(get("/metrics")).body.find("\nwheelyard_not_ready{reason=\"publish_lags\"} 1\n") !=
          std::string::npos);
    lags = false;
    CHECK(running.ask(get("/readyz")).status == 200);
    CHECK(running.ask(get("/metrics")).body.find("\nwheelyard_ready 1\n") != std::string::npos);
}

TEST_CASE("what was answered is counted by route and status") {
    const Running running;
    CHECK(running.ask(get("/site/simple/six/")).status == 200);
    CHECK(running.ask(get("/site/simple/six/")).status == 200);
    CHECK(running.ask(get("/site/simple/seven/")).status == 404);
    CHECK(running.ask(post_sized("wheel")).status == 200);
    CHECK(running.ask(get("/metrics")).field("Content-Type") == metrics_content_type);
    // Counted when it is sent: its client may ask again before that.
    for (const std::string line :
         {"wheelyard_requests_total{route=\"page\",status=\"200\"} 2",
          "wheelyard_requests_total{route=\"page\",status=\"404\"} 1",
          "wheelyard_requests_total{route=\"upload\",status=\"200\"} 1",
          "wheelyard_request_duration_seconds_count{route=\"page\"} 3", "wheelyard_uploads_in_progress 0"}) {
        CAPTURE(line);
        CHECK(test_support::becomes_true(
            [&] { return running.ask(get("/metrics")).body.find("\n" + line + "\n") != std::string::npos; }));
    }
}

TEST_CASE("the page of an index names the server as it was reached, or as it calls itself") {
    struct Row {
        std::vector<std::string> trusted;
        std::string public_url;
        std::string fields;
        const char* url;
        std::vector<std::string> set = ServerSettings{}.trusted_fields;
    };
    const std::string forwarded = "X-Forwarded-Proto: https\r\nX-Forwarded-Host: wheels.example.org\r\n";
    const std::vector<Row> rows{
        {{}, "", "", "http://test/site/simple/"},
        {{}, "", forwarded, "http://test/site/simple/"},
        {{"192.0.2.1"}, "", forwarded, "http://test/site/simple/"},
        {{"127.0.0.1"}, "", forwarded, "https://wheels.example.org/site/simple/"},
        {{"127.0.0.1"},
         "",
         "X-Forwarded-Proto: javascript\r\nX-Forwarded-Host: a\"b\r\n",
         "http://test/site/simple/"},
        {{"127.0.0.1"}, "https://here.example.org", forwarded, "https://here.example.org/site/simple/"},
        // A proxy that does not set these passes on a client's.
        {{"127.0.0.1"},
         "",
         forwarded + "X-Forwarded-Prefix: /a/b\r\n",
         "https://wheels.example.org/site/simple/"},
        {{"127.0.0.1"}, "", "Forwarded: host=h.example;proto=https\r\n", "http://test/site/simple/"},
        {{"127.0.0.1"},
         "",
         "X-Forwarded-Host: h.example\r\nX-Forwarded-Prefix: /a/b\r\n",
         "http://test/a/b/site/simple/",
         {"X-Forwarded-Prefix"}},
        {{}, "", "X-Forwarded-Prefix: /a/b\r\n", "http://test/site/simple/"},
        {{}, "https://here.example.org/a", "", "https://here.example.org/a/site/simple/"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.fields);
        const Running running([&](ServerSettings& settings) {
            settings.trusted_proxies = row.trusted;
            settings.trusted_fields = row.set;
            settings.public_url = row.public_url;
        });
        CHECK(running.ask(get("/site/", row.fields)).body.find(row.url) != std::string::npos);
    }
}

TEST_CASE("an upload to a wrong address is answered with the right one, in the reason phrase") {
    const Running running;
    const auto post = [&](const std::string& path) {
        return running.ask("POST " + path + " HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n{}");
    };
    for (const char* path : {"/site/", "/site", "/site/simple/", "/site/simple", "/site/simple/six/"}) {
        CAPTURE(path);
        const RawAnswer answer = post(path);
        CHECK(answer.status == 405);
        CHECK(answer.head.find("Uploads go to http://test/site/legacy/\r\n") != std::string::npos);
    }
    CHECK(post("/").head.find("Uploads go to http://test/<index>/legacy/\r\n") != std::string::npos);
    CHECK(post("/nosuch/").status == 404);
    const Running one([](ServerSettings& settings) { settings.indexes = {{"site"}}; });
    CHECK(one.ask("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n")
              .head.find("Uploads go to http://test/site/legacy/\r\n") != std::string::npos);
}

TEST_CASE("web pages of other origins may read pages and files, without credentials") {
    const Running running;
    for (const std::string& path :
         {std::string("/site/simple/"), std::string("/site/simple/six/"), std::string("/site/simple/absent/"),
          file_url + "six-1.0%2Bcpu-py3-none-any.whl"}) {
        CAPTURE(path);
        const RawAnswer answer = running.ask(get(path));
        CHECK(answer.field("Access-Control-Allow-Origin") == "*");
        CHECK(answer.field("Access-Control-Allow-Credentials") == "");
        const RawAnswer preflight =
            running.ask("OPTIONS " + path + " HTTP/1.1\r\nHost: test\r\nOrigin: http://x\r\n\r\n");
        CHECK(preflight.status == 204);
        CHECK(preflight.field("Access-Control-Allow-Methods") == "GET, HEAD");
        CHECK(preflight.field("Access-Control-Allow-Origin") == "*");
    }
    CHECK(running.ask(get("/")).field("Access-Control-Allow-Origin") == "");
    CHECK(running.ask("OPTIONS /site/legacy/ HTTP/1.1\r\nHost: test\r\n\r\n")
              .field("Access-Control-Allow-Origin") == "");
}

TEST_CASE("what is no index is 404 without a redirect, as HTML for a browser") {
    const Running running;
    for (const char* path : {"/favicon.ico", "/nosuch", "/nosuch/simple"}) {
        CAPTURE(path);
        const RawAnswer answer =
            running.ask(get(path, "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n"));
        CHECK(answer.status == 404);
        CHECK(answer.field("Content-Type") == "text/html; charset=utf-8");
        CHECK(answer.body.find("<!DOCTYPE html>") == 0);
        CHECK(running.ask(get(path)).field("Content-Type") == "application/problem+json");
    }
    CHECK(running.ask(get("/site")).status == 301);
}

TEST_CASE("a program gets the list of indexes as JSON") {
    const Running running;
    const RawAnswer answer = running.ask(get("/", "Accept: application/json\r\n"));
    CHECK(answer.field("Content-Type") == "application/json");
    CHECK(answer.body.find(R"({"name":"site","title":"","url":"http://test/site/simple/"})") !=
          std::string::npos);
    CHECK(running.ask(get("/site/", "Accept: application/json\r\n")).body.find("\"empty\"") ==
          std::string::npos);
    CHECK(running.ask(get("/")).field("Content-Type") == "text/html; charset=utf-8");
}

TEST_CASE("a page has the links of the tree, whatever its form and size") {
    Running running;
    for (const std::size_t filling : {std::size_t{0}, max_cached_page_bytes}) {
        const std::string more(filling, ' ');
        const std::string json = R"({"files":[{"url":"../../files/aa/x.whl"}]})" + more;
        const std::string html = R"(<a href="../../files/aa/x.whl">x</a>)" + more;
        running.write("site/simple/six/index.json", json);
        running.write("site/simple/six/index.html", html);
        CHECK(running.ask(get("/site/simple/six/index.json")).body == json);
        CHECK(running.ask(get("/site/simple/six/index.html")).body == html);
    }
}

TEST_CASE("a mirror learns of changes by the serial of the index's last event") {
    Running running;
    running.write("site/simple/index.json",
                  R"({"meta":{"api-version":"1.4"},"projects":[{"name":"six"},{"name":"torch"}]})");
    const auto root = [&] { return running.ask(get("/site/simple/index.json")); };
    CHECK(root().body.find("_last-serial") == std::string::npos);  // no record yet
    const std::string before = root().field("ETag");
    running.write(".wheelyard/published.json", R"({"serial":40,"serials":{"other":40,"site":12}})");
    const RawAnswer answer = root();
    CHECK(answer.body ==
          R"({"meta":{"_last-serial":12,"api-version":"1.4"},"projects":[{"_last-serial":12,"name":"six"},)"
          R"({"_last-serial":12,"name":"torch"}]})");
    CHECK(answer.field("ETag") != before);
    running.write(".wheelyard/published.json", R"({"serial":130,"serials":{"other":40,"site":130}})");
    CHECK(root().body.find("\"_last-serial\":130") != std::string::npos);
    // A large page, too.
    running.write("site/simple/index.json", R"({"meta":{"api-version":"1.4"},"projects":[{"name":"six"})" +
                                                std::string(max_cached_page_bytes, ' ') + "]}");
    CHECK(root().body.starts_with(R"({"meta":{"_last-serial":130,)"));
    CHECK(root().field("ETag") != answer.field("ETag"));
    CHECK(running.ask(get("/site/simple/index.html")).body.find("130") == std::string::npos);
}

TEST_CASE("a project in PyPI's JSON form has its files under /packages, which serves them") {
    Running running;
    running.write(".wheelyard/published.json", R"({"serial":12,"serials":{"site":12}})");
    running.write("site/simple/six/index.json",
                  R"({"name":"six","files":[{"filename":"six-0.9-py3-none-any.whl","url":"../../files/)" +
                      sha256.substr(0, 2) + "/" + sha256 +
                      R"(/six-0.9-py3-none-any.whl","hashes":{"sha256":"aa"},"yanked":"broken"},)"
                      R"({"filename":"six-1.0+cpu-py3-none-any.whl","url":"../../files/)" +
                      sha256.substr(0, 2) + "/" + sha256 +
                      R"(/six-1.0%2Bcpu-py3-none-any.whl","hashes":{"sha256":")" + sha256 +
                      R"("},"size":10,"upload-time":"2026-11-20T12:00:00.000000Z","yanked":false,)"
                      R"("requires-python":">=3.8"}]})");
    running.write(file_url.substr(1) + "six-1.0+cpu-py3-none-any.whl.metadata",
                  "Metadata-Version: 2.1\nName: Six\nVersion: 1.0+cpu\nSummary: two and three\n"
                  "Classifier: A\nClassifier: B\n\nThe text.\n");
    const RawAnswer answer = running.ask(get("/site/pypi/Six/json"));
    CHECK(answer.status == 200);
    CHECK(answer.field("X-PyPI-Last-Serial") == "12");
    CHECK(answer.field("Access-Control-Allow-Origin") == "*");
    const auto json = io::parse_json(answer.body);
    REQUIRE(json);
    const io::Json& info = *json->find("info");
    CHECK(info.string_or("name", {}) == "Six");
    CHECK(info.string_or("version", {}) == "1.0+cpu");
    CHECK(info.string_or("summary", {}) == "two and three");
    CHECK(info.texts("classifiers") == std::vector<std::string>{"A", "B"});
    CHECK(info.string_or("description", {}) == "The text.\n");
    CHECK(json->int_or("last_serial", 0) == 12);
    CHECK(json->find("releases")->as_object()->size() == 2);
    const io::Json& file = json->items("urls").at(0);
    CHECK(file.find("digests")->string_or("sha256", {}) == sha256);
    CHECK(file.string_or("upload_time", {}) == "2026-11-20T12:00:00");
    CHECK(file.string_or("requires_python", {}) == ">=3.8");
    CHECK(file.string_or("python_version", {}) == "py3");
    const std::string url = file.string_or("url", {});
    CHECK(url == "http://test/packages/site/" + file_url.substr(12) + "six-1.0%2Bcpu-py3-none-any.whl");
    CHECK(running.ask(get(url.substr(11))).body == "0123456789");

    const auto older = io::parse_json(running.ask(get("/site/pypi/six/0.9/json")).body);
    REQUIRE(older);
    CHECK(older->items("urls").at(0).string_or("yanked_reason", {}) == "broken");
    CHECK(older->find("info")->bool_or("yanked", false));
    for (const char* absent : {"/site/pypi/six/3/json", "/site/pypi/seven/json", "/site/pypi/six/one/json",
                               "/site/pypi/six/", "/nosuch/pypi/six/json"}) {
        CAPTURE(absent);
        CHECK(running.ask(get(absent)).status == 404);
    }
}

TEST_CASE("the attestations of a file are where PyPI has them, as the media type that is asked for") {
    Running running;
    const std::string folder = R"("../../files/)" + sha256.substr(0, 2) + "/" + sha256;
    running.write("site/simple/six/index.json",
                  R"({"name":"six","files":[{"filename":"six-1.0+cpu-py3-none-any.whl","url":)" + folder +
                      R"(/six-1.0%2Bcpu-py3-none-any.whl","_wheelyard_attestations":{"sha256":"aa"}},)"
                      R"({"filename":"six-0.9-py3-none-any.whl","url":)" +
                      folder + R"(/six-0.9-py3-none-any.whl"}]})");
    const std::string document = R"({"version":1,"attestation_bundles":[]})";
    running.write(file_url.substr(1) + "six-1.0+cpu-py3-none-any.whl.pep740", document);
    const std::string url = "/site/integrity/Six/1.0+cpu/six-1.0%2Bcpu-py3-none-any.whl/provenance";
    const RawAnswer answer = running.ask(get(url));
    CHECK(answer.status == 200);
    CHECK(answer.body == document);
    CHECK(answer.field("Content-Type") == "application/vnd.pypi.integrity.v1+json");
    CHECK(answer.field("Vary").starts_with("Accept"));
    const RawAnswer plain = running.ask(get(url, "Accept: application/json\r\n"));
    CHECK(plain.field("Content-Type") == "application/json");
    CHECK(plain.field("ETag") != answer.field("ETag"));
    CHECK(running.ask(get(url, "If-None-Match: " + answer.field("ETag") + "\r\n")).status == 304);
    for (const char* absent :
         {"/site/integrity/six/0.9/six-0.9-py3-none-any.whl/provenance",
          "/site/integrity/six/1.0/six-1.0%2Bcpu-py3-none-any.whl/provenance",
          "/site/integrity/six/0.9/six-1.0%2Bcpu-py3-none-any.whl/provenance",
          "/site/integrity/six/one/six-0.9-py3-none-any.whl/provenance",
          "/site/integrity/seven/1.0/seven-1.0-py3-none-any.whl/provenance",
          "/site/integrity/six/0.9/six-0.9-py3-none-any.whl/", "/site/integrity/six/0.9/"}) {
        CAPTURE(absent);
        CHECK(running.ask(get(absent)).status == 404);
    }
}

TEST_CASE("a proxy that sends files itself gets their encoded path and no body, and who is none the bytes") {
    const Running direct([](ServerSettings& settings) { settings.accel_prefix = "/wheelyard-files"; });
    const RawAnswer bytes = direct.ask(get(file_url + "six-1.0%2Bcpu-py3-none-any.whl"));
    CHECK(bytes.field("X-Accel-Redirect").empty());
    CHECK_FALSE(bytes.body.empty());
    const Running running([](ServerSettings& settings) {
        settings.accel_prefix = "/wheelyard-files";
        settings.trusted_proxies = {"127.0.0.1"};
    });
    const RawAnswer answer =
        running.ask(get(file_url + "six-1.0%2Bcpu-py3-none-any.whl", "Range: bytes=0-1\r\n"));
    CHECK(answer.status == 200);
    CHECK(answer.body.empty());
    CHECK(answer.field("X-Accel-Redirect") ==
          "/wheelyard-files" + file_url + "six-1.0%2Bcpu-py3-none-any.whl");
    CHECK(answer.field("ETag") == "\"" + sha256 + "\"");
    CHECK(running.ask(get(file_url + "absent.whl")).status == 404);
    CHECK(running.ask(get("/site/simple/")).body.starts_with("<!DOCTYPE html>"));
}

}  // namespace wheelyard::http
