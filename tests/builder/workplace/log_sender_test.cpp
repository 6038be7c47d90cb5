#include "builder/workplace/log_sender.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/builder/fake_farm.hpp"
#include "tests/support/loopback_server.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;
using ::wheelyard::testing::LoopbackAnswer;
using ::wheelyard::testing::LoopbackRequest;
using ::wheelyard::testing::LoopbackServer;

// A registry that keeps one log, and a workplace whose attempts have their logs on the disk.
struct LogFarm {
    std::mutex mutex = {};
    std::string log = {};  // as the registry has it
    std::size_t max_log = 1'000;
    std::string refusal = {};  // a problem's code
    int requests = 0;
    base::UnixMicros ended = 0;  // of the attempt
    LoopbackServer server{[this](const LoopbackRequest&) {
        return LoopbackAnswer{
            .after_body = [this](const LoopbackRequest& request) { return answer(request); }};
    }};
    base::TempDir folder = *base::TempDir::make("log-sender");
    std::unique_ptr<Workplace> place = open();
    io::HttpClient http{{}};

    LoopbackAnswer answer(const LoopbackRequest& request) {
        const std::lock_guard lock(mutex);
        ++requests;
        if (!refusal.empty()) return problem(404, refusal);
        const std::size_t offset = std::stoul(request.target.substr(request.target.rfind('=') + 1));
        if (offset > log.size()) return problem(409, "build.log_gap");
        if (offset + request.body.size() > max_log) return problem(413, "build.log_full");
        log += request.body.substr(std::min(log.size() - offset, request.body.size()));
        return {.body =
                    R"({"format":"wheelyard.build_log/1","log_bytes":)" + std::to_string(log.size()) + "}"};
    }
    static LoopbackAnswer problem(int status, const std::string& code) {
        return {.status = status,
                .body = R"({"type":"about:blank","status":)" + std::to_string(status) +
                        R"(,"title":"t","detail":"d","code":")" + code + "\"}"};
    }
    [[nodiscard]] std::unique_ptr<Workplace> open() const {
        testing::must(base::make_directories(folder.path() / "recipes"));
        testing::write(
            folder.path() / "recipes" / "demo.toml",
            "config_version = 1\npackage = \"demo\"\n[source]\nkind = \"path\"\npath = \"demo\"\n");
        testing::write(folder.path() / "token", "wy_secret\n", 0600);
        testing::write(
            folder.path() / "site.toml",
            "config_version = 1\nname = \"t\"\nrecipes = [\"recipes\"]\n[state]\ndirectory = \"state\"\n"
            "[work]\ndirectory = \"work\"\n[registry]\nurl = \"" +
                server.url("") +
                "\"\nindex = \"main\"\ntoken_file = \"token\"\n[[python]]\nversion = \"3.11\"\n"
                "executable = \"python3\"\n[governor]\nuse = false\n[[want]]\npackage = \"demo\"\n"
                "versions = [\"1.0\"]\n");
        auto opened = Workplace::open(folder.path() / "site.toml");
        REQUIRE_MESSAGE(opened.has_value(), opened.error().text());
        testing::must(base::make_directories((*opened)->site().state_directory));
        return *std::move(opened);
    }
    [[nodiscard]] AttemptFolder files() const { return place->folder_of(attempt(State::running)); }
    [[nodiscard]] Attempt attempt(State state) const {
        Attempt made;
        made.id = "w1";
        made.state = state;
        made.changed = ended;
        return made;
    }
    // What a process sends: of two in a row, the second one knows what the first one wrote to the disk.
    void send(LogSender& sender, State state = State::running) {
        testing::must(sender.send({attempt(state)}, {"wy_secret"}));
    }
    void send_anew(State state = State::running) {
        LogSender sender(*place, http);
        send(sender, state);
    }
};

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

TEST_CASE("an agent that was killed goes on where the registry's log ends") {
    LogFarm farm;
    testing::write(farm.files().login_log(), "fetch\n");
    testing::write(farm.files().log(), "one\ntoken wy_secret\ntw");
    farm.send_anew();
    CHECK(farm.log == "fetch\none\ntoken *********\n");
    const fs::path note = farm.place->site().state_directory / "sent_logs.json";
    const std::string before = testing::read(note);
    testing::write(farm.files().log(), "one\ntoken wy_secret\ntwo\nthree");
    SUBCASE("it was killed before it noted what it had sent") {
        farm.send_anew();
        testing::write(note, before);
    }
    SUBCASE("it has no note") {
        farm.send_anew();
        testing::must(base::remove_file(note));
    }
    SUBCASE("the registry came back from a backup") {
        farm.log.resize(9);
        farm.send_anew();  // the gap tells
    }
    farm.send_anew();
    CHECK(farm.log == "fetch\none\ntoken *********\ntwo\n");
    farm.ended = farm.place->clock().now();
    farm.send_anew(State::done);
    CHECK(farm.log == "fetch\none\ntoken *********\ntwo\nthree");
    farm.requests = 0;
    farm.send_anew(State::done);
    CHECK(farm.requests == 0);  // all of it is there
}

TEST_CASE("an older registry is left alone, and a full log is not sent again") {
    LogFarm farm;
    LogSender sender(*farm.place, farm.http);
    testing::write(farm.files().log(), "one\n");
    SUBCASE("it has no address for logs") {
        farm.refusal = "request.not_found";
        farm.send(sender);
        farm.send(sender);
        CHECK(farm.requests == 1);
        farm.refusal.clear();  // it was replaced, and the agent, too
        farm.ended = farm.place->clock().now();
        farm.send_anew(State::done);
        CHECK(farm.log == "one\n");
    }
    SUBCASE("no report has named the build yet") {
        farm.refusal = "build.unknown";
        farm.send(sender);
        farm.refusal.clear();
        farm.send(sender);
        CHECK(farm.log == "one\n");
    }
    SUBCASE("the log is full") {
        farm.max_log = 2;
        farm.send(sender);
        farm.requests = 0;
        farm.send(sender);
        farm.send_anew();
        CHECK(farm.requests == 0);
        farm.send_anew(State::done);
        CHECK(farm.requests == 0);
    }
}

}  // namespace
}  // namespace wheelyard::builder
