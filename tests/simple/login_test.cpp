// Log-in from a shell against a registry that this test plays (docs/reference/api.md, "Log-in").
#include "lib/simple/login.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::simple {
namespace {

using io::Json;

constexpr const char* pending = R"({"format":"wheelyard.device_login/1","is_pending":true,"interval_s":7})";
constexpr const char* granted =
    R"({"id":"wy_0123456789ab","token":"wy_0123456789ab_secret","shown_name":"Anna","actions":["read","task"],)"
    R"("indexes":["lab"],"projects":["*"],"expires":"2026-12-04T10:00:00.000000Z"})";

io::HttpAnswer answered(int status, const std::string& body) {
    io::HttpAnswer answer;
    answer.status = status;
    answer.body = body;
    return answer;
}

struct PlayedRegistry {
    io::HttpAnswer listed = answered(200, R"({"format":"wheelyard.logins/1","identities":[)"
                                          R"({"name":"campus","is_ready":true,"has_device_code":true}]})");
    std::deque<base::Result<io::HttpAnswer>> polls;
    io::HttpAnswer revoked = answered(200, "{}");
    std::vector<std::string> posted;  // addresses
    std::vector<std::string> bodies;
    std::string shown;
    base::ManualClock clock{*base::parse_rfc3339("2026-11-27T10:00:00Z")};
    base::TempDir folder = *base::TempDir::make("login");
    std::string registry = "https://wheels.example.org:8443";
    std::optional<std::filesystem::path> other_netrc;

    io::HttpAnswer answer(const std::string& url) {
        const std::string device =
            R"({"format":"wheelyard.device_login/1","state":"s","user_code":"ABCD-EFGH","url":"https://idp/device",)"
            R"("complete_url":"https://idp/device?c=ABCD-EFGH","interval_s":5,"until":"2026-11-27T10:10:00.000000Z"})";
        if (url.ends_with("/device")) return answered(200, device);
        return revoked;
    }

    LoginWorld world() {
        return {.get = [this](const std::string&, const io::HttpHeaders&,
                              const io::BodyLimit&) -> base::Result<io::HttpAnswer> { return listed; },
                .post = [this](const std::string& url, const std::string& body,
                               const io::HttpHeaders&) -> base::Result<io::HttpAnswer> {
                    posted.push_back(url);
                    bodies.push_back(body);
                    if (!url.ends_with("/poll")) return answer(url);
                    auto next = polls.front();
                    if (polls.size() > 1) polls.pop_front();
                    return next;
                },
                .show = [this](const std::string& text) { shown += text; },
                .clock = clock,
                .home = folder.path(),
                .other_netrc = other_netrc,
                .program = "avail_wheels",
                .arguments = registry};
    }
    void poll_is(int status, const std::string& body) { polls.emplace_back(answered(status, body)); }
    std::string netrc() { return base::read_file(folder.path() / ".netrc", 1000).value_or(""); }
    std::string said(const std::string& identity = {}) {
        const auto done = log_in(world(), registry, identity);
        return done ? *done : done.error().code;
    }
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a log-in waits for the code as slowly as it is told, and keeps the token in .netrc") {
    PlayedRegistry farm;
    farm.poll_is(200, pending);
    farm.poll_is(503, "");  // an answer that is lost ends no log-in
    farm.polls.emplace_back(base::fail("http.cut", "cut"));
    farm.poll_is(200, granted);
    const auto begin = farm.clock.now();
    const std::string told = farm.said();
    CHECK(farm.clock.now() - begin == (5 + 7 + 7 + 7) * 1'000'000);
    CHECK(farm.netrc() ==
          "machine wheels.example.org login __token__ account wheelyard-login password "
          "wy_0123456789ab_secret\n");
    for (const char* part : {"Anna", "read, task", "lab", "2026-12-04", "without its port",
                             "avail_wheels logout https://wheels.example.org:8443"})
        CHECK_MESSAGE(contains(told, part), part);
    CHECK_FALSE(contains(told, "secret"));
    for (const char* part : {"https://idp/device ", "ABCD-EFGH", "asked for yourself"})
        CHECK_MESSAGE(contains(farm.shown, part), part);
    // One secret, of the program's own, from the first request to the last.
    const std::string secret = io::parse_json(farm.bodies.front())->string_or("secret", "");
    CHECK(secret.size() == 64);
    CHECK(io::parse_json(farm.bodies.back())->string_or("secret", "") == secret);
}

TEST_CASE("nobody enters a code for a token that pip and uv would not find") {
    PlayedRegistry farm;
    farm.poll_is(200, granted);
    const std::string own = (farm.folder.path() / ".netrc").native();
    for (const std::string& elsewhere :
         {std::string(), std::string("/dev/null"), std::string("~/.netrc"), own + "x"}) {
        CAPTURE(elsewhere);
        farm.other_netrc = elsewhere;
        CHECK(farm.said() == "netrc.elsewhere");
    }
    farm.other_netrc = farm.folder.path() / "_netrc";  // a new ~/.netrc would hide it
    const auto refused = log_in(farm.world(), farm.registry, "");
    REQUIRE_FALSE(refused);
    CHECK(contains(refused.error().advice, "rename it"));
    CHECK(farm.posted.empty());
    CHECK(farm.netrc().empty());
    farm.other_netrc = own;  // is not there yet
    CHECK(contains(farm.said(), "logged in as Anna"));
    std::filesystem::create_symlink(own, farm.folder.path() / "link");
    farm.other_netrc = (farm.folder.path() / "link").native();
    CHECK(contains(farm.said(), "logged in as Anna"));
}

TEST_CASE("a code that nobody enters ends the wait, and a refusal is told with its reason") {
    PlayedRegistry farm;
    farm.poll_is(200, pending);
    CHECK(farm.said() == "login.late");
    farm.polls.clear();
    farm.poll_is(403, R"({"code":"login.no_rights","detail":"None of your groups may do anything here."})");
    const auto refused = log_in(farm.world(), farm.registry, "");
    CHECK(refused.error().code == "login.no_rights");
    CHECK(contains(refused.error().sentence, "None of your groups"));
    CHECK(farm.netrc().empty());
}

TEST_CASE("nobody enters a code in vain: what cannot be kept is said before") {
    PlayedRegistry farm;
    REQUIRE(base::replace_file(farm.folder.path() / ".netrc", "machine wheels.example.org password x\n")
                .has_value());
    CHECK(farm.said() == "netrc.other");
    CHECK(farm.posted.empty());
    farm.registry = "http://wheels.example.org";  // a token would travel readable
    CHECK(farm.said() == "login.address");
}

TEST_CASE("a provider is chosen by name where there are several") {
    PlayedRegistry farm;
    farm.poll_is(200, granted);
    CHECK(farm.said("other") == "login.unknown");
    farm.listed.body =
        R"({"format":"wheelyard.logins/1","identities":[{"name":"a","is_ready":true,"has_device_code":true},)"
        R"({"name":"b","is_ready":true,"has_device_code":true},{"name":"c","is_ready":true,"has_device_code":false}]})";
    CHECK(farm.said() == "login.several");
    CHECK(farm.said("c") == "login.unknown");
    CHECK(contains(farm.said("b"), "Anna"));
    CHECK(contains(farm.posted.front(), "/api/v1/login/b/device"));
    farm.listed.body = R"({"format":"wheelyard.logins/1","identities":[]})";
    CHECK(farm.said() == "login.none");
    farm.listed = answered(404, "");
    CHECK(farm.said() == "registry.address");
}

TEST_CASE("a token that would change the file's form is refused") {
    PlayedRegistry farm;
    farm.poll_is(200, R"({"token":"a\nmachine other password b"})");
    CHECK(farm.said() == "login.answer");
    CHECK(farm.netrc().empty());
}

TEST_CASE("a log-out revokes the token, and keeps it where the registry does not say so") {
    PlayedRegistry farm;
    farm.poll_is(200, granted);
    (void)farm.said();
    farm.revoked = answered(500, "{}");
    CHECK_FALSE(log_out(farm.world(), farm.registry).has_value());
    CHECK(contains(farm.netrc(), "wy_0123456789ab_secret"));
    farm.revoked = answered(401, R"({"code":"auth.login_ended"})");
    CHECK(contains(log_out(farm.world(), farm.registry).value_or(""), "had ended before"));
    CHECK(farm.netrc().empty());
    CHECK(farm.posted.back() == "https://wheels.example.org:8443/api/v1/tokens/wy_0123456789ab/revoke");
    CHECK(contains(log_out(farm.world(), farm.registry).value_or(""), "not logged in"));
}

}  // namespace wheelyard::simple
