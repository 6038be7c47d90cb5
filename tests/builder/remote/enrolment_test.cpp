// What an agent that enrols writes and sends, and that no crash, refusal or second process costs it the enrolment.
#include "builder/remote/enrolment.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/files/lock_file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/problem.hpp"
#include "tests/support/loopback_server.hpp"

namespace wheelyard::builder {
namespace {

constexpr base::UnixMicros enrolment_start = 1'795'000'000'000'000;
constexpr std::int64_t hour_ms = 3600 * 1000;

std::string text_of(char digit) {
    return "wy_" + std::string(12, digit) + "_" + std::string(64, digit);
}

struct EnrolledSite {
    base::TempDir folder = *base::TempDir::make("enrolment");
    std::filesystem::path token = folder.path() / "bede.token";
    base::ManualClock clock{enrolment_start};
    io::HttpClient http;
    std::string site = "bede";
    Failpoints failpoints;
    std::vector<io::Json> sent;             // the bodies of requests
    std::vector<std::string> file_at_send;  // what TOKEN.renewal said when a request came
    std::function<void()> at_send = [] {};  // when a request came
    ::wheelyard::testing::LoopbackAnswer answer = good('a');
    ::wheelyard::testing::LoopbackServer server{[this](const ::wheelyard::testing::LoopbackRequest& asked) {
        if (asked.target == "/api/v1/openapi.json")
            return ::wheelyard::testing::LoopbackAnswer{200, R"({"openapi":"3.1.0"})"};
        return ::wheelyard::testing::LoopbackAnswer{
            .after_body = [this](const ::wheelyard::testing::LoopbackRequest& request) {
                sent.push_back(io::parse_json(request.body).value_or(io::Json()));
                file_at_send.push_back(base::read_file(renewal_file(token), 4096).value_or(""));
                at_send();
                return answer;
            }};
    }};
    RegistrySettings registry{server.url(""), "main", token};
    EnrolmentParts parts{http, clock, registry, site, failpoints};

    static ::wheelyard::testing::LoopbackAnswer good(char digit) {
        return {200, R"({"format":"wheelyard.token/1","name":"agent:bede","token":")" + text_of(digit) +
                         R"(","expires":")" + base::render_rfc3339(enrolment_start + 12 * hour_ms * 1000) +
                         R"(","actions":["upload"],"indexes":["main"],"projects":["torch"]})"};
    }
    static ::wheelyard::testing::LoopbackAnswer refusal(int status, const std::string& code) {
        return {status, wire::render_problem(wire::make_problem(wire::Refusal::coded(status, code),
                                                                "It fails", "It fails.", "v", "do this"))};
    }
    [[nodiscard]] std::string token_text() const {
        return std::string(base::trim(base::read_file(token, 4096).value_or("")));
    }
    // A member of the file of the renewal.
    [[nodiscard]] std::string kept(const std::string& member) const {
        const auto text = base::read_file(renewal_file(token), 4096);
        return text ? io::parse_json(*text)->string_or(member, "") : "no file";
    }
    void enrolled() {
        REQUIRE(enrol(parts, text_of('c')).has_value());
        sent.clear();
        file_at_send.clear();
    }
};

mode_t mode_of(const std::filesystem::path& file) {
    struct stat info = {};
    REQUIRE(::stat(file.c_str(), &info) == 0);
    return info.st_mode & 07777;
}

TEST_CASE("a code becomes a token and a renewal that only the owner reads; neither is told") {
    EnrolledSite one;
    const auto told = enrol(one.parts, text_of('c'));
    REQUIRE(told.has_value());
    REQUIRE(one.sent.size() == 1);
    CHECK(one.sent[0].string_or("format", "") == "wheelyard.agent_renewal/1");
    CHECK(one.sent[0].string_or("site", "") == "bede");
    CHECK(one.sent[0].string_or("credential", "") == text_of('c'));
    CHECK(one.token_text() == text_of('a'));
    CHECK(one.kept("renewal") == one.sent[0].string_or("next", "-"));
    CHECK(one.kept("next").empty());
    CHECK(mode_of(one.token) == 0600);
    CHECK(mode_of(renewal_file(one.token)) == 0600);
    CHECK(told->find("agent:bede") != std::string::npos);
    for (const std::string& secret : {text_of('a'), text_of('c'), one.kept("renewal")})
        CHECK(told->find(secret) == std::string::npos);
    // Nothing else stays, such as the file of a code that is being exchanged.
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(one.folder.path()))
        ++files;
    CHECK(files == 2);
}

TEST_CASE("an operator's token that an enrolment replaces is named, so that it can be revoked") {
    EnrolledSite one;
    REQUIRE(base::replace_file(one.token, text_of('d') + "\n"));
    CHECK(enrol(one.parts, text_of('c'))->find("token revoke wy_dddddddddddd") != std::string::npos);
    CHECK(enrol(one.parts, text_of('e'))->find("token revoke") == std::string::npos);
}

TEST_CASE("after a lost answer the same code is sent with the same next renewal") {
    const std::vector<::wheelyard::testing::LoopbackAnswer> failures = {
        EnrolledSite::refusal(503, "lifecycle.busy"),
        EnrolledSite::refusal(500, "lifecycle.busy"),
        EnrolledSite::refusal(429, "lifecycle.busy"),
        {200, "{}"},
        {200, EnrolledSite::good('a').body.substr(0, 100)},
        {403, "<html>"},
        {413, ""},
        EnrolledSite::refusal(403, "request.other_site")};
    for (const auto& failure : failures) {
        CAPTURE(failure.status);
        EnrolledSite one;
        one.answer = failure;
        CHECK_FALSE(enrol(one.parts, text_of('c')).has_value());
        one.answer = one.good('a');
        CHECK(enrol(one.parts, text_of('c')).has_value());
        CHECK(one.sent.at(0).string_or("next", "") == one.sent.at(1).string_or("next", "-"));
        CHECK(one.kept("renewal") == one.sent.at(1).string_or("next", "-"));
    }
}

TEST_CASE(
    "a refused code leaves the token and the renewal that are there; another code has another next renewal") {
    EnrolledSite one;
    one.enrolled();
    const std::string renewal = one.kept("renewal");
    one.answer = one.refusal(403, "agent.code_used");
    CHECK(enrol(one.parts, text_of('b')).error().code == "agent.code_used");
    CHECK(one.token_text() == text_of('a'));
    CHECK(one.kept("renewal") == renewal);
    one.answer = one.refusal(503, "lifecycle.busy");
    CHECK_FALSE(enrol(one.parts, text_of('e')).has_value());
    one.answer = one.good('f');
    CHECK(enrol(one.parts, text_of('b')).has_value());
    CHECK(one.sent.at(1).string_or("next", "") != one.sent.at(2).string_or("next", ""));
}

TEST_CASE("what is no code, and an address on which it could be read, is refused before anything is sent") {
    EnrolledSite one;
    for (const std::string& code : {std::string(), std::string("wy_1"), text_of('c') + " ", text_of('C'),
                                    "xy" + text_of('c').substr(2)})
        CHECK(enrol(one.parts, code).error().code == "enrol.code");
    one.registry.url = "http://wheels.example.org";
    CHECK(enrol(one.parts, text_of('c')).error().code == "enrol.address");
    CHECK(one.sent.empty());
}

TEST_CASE("a token is renewed when half its life has passed, and not before; without an enrolment never") {
    EnrolledSite one;
    CHECK(renew_token(one.parts).has_value());
    REQUIRE(base::replace_file(one.token, text_of('d') + "\n"));  // an operator's
    one.clock.sleep_ms(100 * hour_ms);
    CHECK(renew_token(one.parts).has_value());
    CHECK(one.sent.empty());
    CHECK(one.token_text() == text_of('d'));

    EnrolledSite other;
    other.enrolled();
    other.clock.sleep_ms(6 * hour_ms - 1);
    CHECK(renew_token(other.parts).has_value());
    CHECK(other.sent.empty());
    const std::string renewal = other.kept("renewal");
    other.clock.sleep_ms(1);
    other.answer = other.good('b');
    CHECK(renew_token(other.parts).has_value());
    REQUIRE(other.sent.size() == 1);
    CHECK(other.sent[0].string_or("credential", "") == renewal);
    CHECK(other.token_text() == text_of('b'));
    CHECK(other.kept("renewal") == other.sent[0].string_or("next", "-"));
}

TEST_CASE("the next renewal is on disk before it is sent, and is sent again after any failure") {
    EnrolledSite one;
    one.enrolled();
    one.clock.sleep_ms(7 * hour_ms);
    const std::vector<::wheelyard::testing::LoopbackAnswer> failures = {one.refusal(503, "lifecycle.busy"),
                                                                        {200, "{}"},
                                                                        {200, "not json"},
                                                                        {404, "<html>"},
                                                                        one.refusal(403, "agent.ended")};
    for (const auto& failure : failures) {
        one.answer = failure;
        CHECK_FALSE(renew_token(one.parts).has_value());
        CHECK(one.token_text() == text_of('a'));
        CHECK(one.file_at_send.back().find(one.sent.back().string_or("next", "-")) != std::string::npos);
    }
    one.answer = one.good('b');
    CHECK(renew_token(one.parts).has_value());
    for (const io::Json& body : one.sent) {
        CHECK(body.string_or("next", "") == one.sent[0].string_or("next", "-"));
        CHECK(body.string_or("credential", "") == one.sent[0].string_or("credential", "-"));
    }
    CHECK(one.kept("renewal") == one.sent[0].string_or("next", "-"));
    CHECK(one.kept("next").empty());
}

TEST_CASE("while another process renews, nothing is sent and nothing fails; an enrolment says so") {
    EnrolledSite one;
    one.enrolled();
    one.clock.sleep_ms(7 * hour_ms);
    const auto held = base::LockFile::acquire(one.token.string() + ".lock", one.clock, 600'000);
    REQUIRE(held.has_value());
    CHECK(renew_token(one.parts).has_value());
    CHECK(enrol(one.parts, text_of('c')).error().code == "lock.held");
    CHECK(one.sent.empty());
}

TEST_CASE("what comes after another process has taken the lock over is not written") {
    EnrolledSite one;
    one.enrolled();
    const std::filesystem::path lock = one.token.string() + ".lock";
    std::optional<base::LockFile> other;
    one.at_send = [&] {
        other.reset();
        std::filesystem::remove(lock);
        if (auto taken = base::LockFile::acquire(lock, one.clock, 600'000)) other.emplace(*std::move(taken));
    };
    one.answer = one.good('b');
    CHECK(enrol(one.parts, text_of('d')).error().code == "lock.lost");
    other.reset();
    one.clock.sleep_ms(7 * hour_ms);
    CHECK(renew_token(one.parts).error().code == "lock.lost");
    CHECK(one.token_text() == text_of('a'));
    // What was sent is still known: the next tick sends it again.
    CHECK(one.kept("next") == one.sent.back().string_or("next", "-"));
}

TEST_CASE("a file of a renewal that is no such file is an error that names it") {
    EnrolledSite one;
    for (const std::string text : {"", "{}", "[]", R"({"format":"wheelyard.renewal/2"})"}) {
        REQUIRE(base::replace_file(renewal_file(one.token), text));
        CHECK(renew_token(one.parts).error().code == "enrol.file");
    }
    CHECK(one.sent.empty());
}

}  // namespace
}  // namespace wheelyard::builder
