// Where credentials come from, and that no error shows them.
#include "lib/store/blobs/s3/credentials.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "tests/support/loopback_server.hpp"

using namespace wheelyard;
using namespace wheelyard::blobs;

TEST_CASE("two lines, or a profile of Amazon's file") {
    for (const char* text : {"key\nsecret\n", "  key \r\n\r\n secret", "# ours\nkey\nsecret"}) {
        const auto found = parse_credentials(text, "default");
        REQUIRE(found);
        CHECK(found->access_key == "key");
        CHECK(found->secret_key == "secret");
    }
    constexpr std::string_view file =
        "[default]\naws_access_key_id = a\naws_secret_access_key=b=c\n"
        "[farm]\nregion = x\nAWS_ACCESS_KEY_ID=d\naws_secret_access_key = e\naws_session_token = f\n";
    CHECK(parse_credentials(file, "default")->secret_key == "b=c");
    CHECK(parse_credentials(file, "farm")->access_key == "d");
    CHECK(parse_credentials(file, "farm")->session_token == "f");
    CHECK_FALSE(parse_credentials(file, "other"));
}

TEST_CASE("an error about credentials shows none of them") {
    for (const char* text :
         {"", "only-secret", "a\nsecret\nsecret", "[default]\naws_secret_access_key = secret"}) {
        const auto found = parse_credentials(text, "default");
        REQUIRE_FALSE(found);
        CHECK(found.error().code == "s3.credentials");
        CHECK(found.error().text().find("only-secret") == std::string::npos);
        CHECK(found.error().text().find("secret\n") == std::string::npos);
    }
}

namespace {

constexpr base::UnixMicros minute_us = 60'000'000;

// For as long as it lives; what was set before is not there for the test.
class Environment {
  public:
    using Values = std::vector<std::pair<const char*, std::string>>;
    explicit Environment(const Values& values) {
        for (const char* name : names)
            ::unsetenv(name);
        for (const auto& [name, value] : values)
            ::setenv(name, value.c_str(), 1);
    }
    ~Environment() {
        for (const char* name : names)
            ::unsetenv(name);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    static constexpr std::array names{"AWS_ACCESS_KEY_ID",
                                      "AWS_SECRET_ACCESS_KEY",
                                      "AWS_SESSION_TOKEN",
                                      "AWS_PROFILE",
                                      "AWS_SHARED_CREDENTIALS_FILE",
                                      "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                      "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                                      "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                                      "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
                                      "AWS_EC2_METADATA_SERVICE_ENDPOINT",
                                      "AWS_EC2_METADATA_DISABLED"};
};

std::string service_answer(const std::string& key, base::UnixMicros end) {
    return R"({"Code":"Success","LastUpdated":"2012-04-26T16:39:16Z","Type":"AWS-HMAC","AccessKeyId":")" +
           key + R"(","SecretAccessKey":"hidden","Token":"session","Expiration":")" +
           base::render_rfc3339(end) + "\"}";
}

// The metadata service of an instance, version 2: nothing without the token of a PUT. And that of a container, at /role.
class Services {
  public:
    [[nodiscard]] std::string url(const std::string& path = {}) const {
        return "http://127.0.0.1:" + std::to_string(server_.port()) + path;
    }
    [[nodiscard]] std::size_t asked() const { return server_.requests().size(); }
    std::atomic<base::UnixMicros> end = 0;
    std::atomic<int> given = 0;
    std::atomic<bool> fails = false;

  private:
    testing::LoopbackAnswer answer(const testing::LoopbackRequest& request) {
        const std::string folder = "/latest/meta-data/iam/security-credentials/";
        if (fails) return {.status = 500};
        if (request.target == "/role")
            return request.header("authorization") == "let me in" ? give()
                                                                  : testing::LoopbackAnswer{.status = 401};
        if (request.target == "/latest/api/token")
            return request.method == "PUT" && request.header("x-aws-ec2-metadata-token-ttl-seconds") != ""
                       ? testing::LoopbackAnswer{.body = "ticket"}
                       : testing::LoopbackAnswer{.status = 405};
        if (request.header("x-aws-ec2-metadata-token") != "ticket") return {.status = 401};
        if (request.target == folder) return {.body = "farm-role"};
        if (request.target == folder + "farm-role") return give();
        return {.status = 404};
    }
    testing::LoopbackAnswer give() { return {.body = service_answer("key" + std::to_string(++given), end)}; }
    testing::LoopbackServer server_{
        [this](const testing::LoopbackRequest& request) { return answer(request); }};
};

}  // namespace

TEST_CASE(
    "a file comes before the environment, the environment before Amazon's file, and that before services") {
    const auto dir = base::TempDir::make("credentials").value();
    std::ofstream(dir.path() / "two") << "file-key\nfile-secret\n";
    const auto key_of = [](const std::filesystem::path& file) {
        return (*find_credentials(file))->at(0)->access_key;
    };
    {
        const Environment set(
            Environment::Values{{"AWS_ACCESS_KEY_ID", "env-key"}, {"AWS_SECRET_ACCESS_KEY", "env-secret"}});
        CHECK(key_of(dir.path() / "two") == "file-key");
        CHECK(key_of({}) == "env-key");
    }
    Services services;
    const Environment set(Environment::Values{{"AWS_ACCESS_KEY_ID", "without its secret"},
                                              {"AWS_SHARED_CREDENTIALS_FILE", (dir.path() / "two").string()},
                                              {"AWS_CONTAINER_CREDENTIALS_FULL_URI", services.url("/role")}});
    CHECK(key_of({}) == "file-key");
    CHECK(services.asked() == 0);
    CHECK(find_credentials(dir.path() / "missing").error().kind == base::ErrorKind::unauthorized);
}

TEST_CASE("without any credentials, the error says what to set") {
    const Environment set(Environment::Values{{"AWS_EC2_METADATA_DISABLED", "true"}});
    const auto found = find_credentials({});
    REQUIRE_FALSE(found);
    CHECK(found.error().code == "s3.credentials");
    CHECK(found.error().advice.find("blobs_credentials_file") != std::string::npos);
}

TEST_CASE("a file that was replaced is read again, and one that is damaged changes nothing") {
    const auto dir = base::TempDir::make("credentials").value();
    const auto file = dir.path() / "key";
    REQUIRE(base::replace_file(file, "old\nsecret\n"));
    const auto source = find_credentials(file).value();
    CHECK(source->at(0)->access_key == "old");
    REQUIRE(base::replace_file(
        file, "[default]\naws_access_key_id = new\naws_secret_access_key = s\naws_session_token = t\n"));
    CHECK(source->at(0)->access_key == "new");
    CHECK(source->at(0)->session_token == "t");
    REQUIRE(base::replace_file(file, "half"));
    CHECK(source->at(0)->access_key == "new");
    REQUIRE(base::remove_file(file));
    CHECK(source->at(0)->access_key == "new");
}

TEST_CASE("an instance's credentials are asked for with a token of version 2, and again before they end") {
    Services services;
    const Environment set(Environment::Values{{"AWS_EC2_METADATA_SERVICE_ENDPOINT", services.url("/")}});
    const base::UnixMicros now = base::SystemClock().now();
    services.end = now + 60 * minute_us;
    const auto source = find_credentials({}).value();
    CHECK(source->at(now)->access_key == "key1");
    CHECK(source->at(now)->session_token == "session");
    CHECK(source->at(now + 49 * minute_us)->access_key == "key1");
    CHECK(source->for_url(now + 49 * minute_us)->access_key == "key1");
    CHECK_FALSE(source->for_url(now + 51 * minute_us));  // a URL would end with them
    CHECK(services.asked() == 3);
    services.end = now + 120 * minute_us;
    CHECK(source->at(now + 51 * minute_us)->access_key == "key2");
    CHECK(source->at(now + 52 * minute_us)->access_key == "key2");
    CHECK(services.asked() == 6);
    // While the service fails, the old ones are used to their end, and it is asked twice a minute.
    services.fails = true;
    CHECK(source->at(now + 111 * minute_us)->access_key == "key2");
    CHECK(source->at(now + 111 * minute_us + 1)->access_key == "key2");
    CHECK(services.asked() == 7);
    const auto ended = source->at(now + 120 * minute_us);
    REQUIRE_FALSE(ended);
    CHECK(ended.error().code == "s3.credentials");
    CHECK(ended.error().text().find("hidden") == std::string::npos);
    services.fails = false;
    services.end = now + 240 * minute_us;
    CHECK(source->at(now + 122 * minute_us)->access_key == "key3");
}

TEST_CASE("a container's credentials are asked for with its token, and only on this machine or over TLS") {
    Services services;
    const auto dir = base::TempDir::make("credentials").value();
    std::ofstream(dir.path() / "token") << "let me in\n";
    const base::UnixMicros now = base::SystemClock().now();
    services.end = now + 60 * minute_us;
    {
        const Environment set(
            Environment::Values{{"AWS_CONTAINER_CREDENTIALS_FULL_URI", services.url("/role")},
                                {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", (dir.path() / "token").string()}});
        CHECK(find_credentials({}).value()->at(now)->access_key == "key1");
    }
    {
        const Environment set(
            Environment::Values{{"AWS_CONTAINER_CREDENTIALS_FULL_URI", services.url("/role")},
                                {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "wrong"}});
        const auto refused = find_credentials({}).value()->at(now);  // the server starts
        REQUIRE_FALSE(refused);
        CHECK(refused.error().text().find("401") != std::string::npos);
        CHECK(refused.error().text().find("wrong") == std::string::npos);
    }
    const Environment set(
        Environment::Values{{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://credentials.example.org/role"}});
    CHECK(find_credentials({}).error().code == "s3.credentials");
}

TEST_CASE("the answer of a service that lacks a part, or has ended, is refused without being shown") {
    for (const char* text : {"", "{}", "[]", R"({"AccessKeyId":"secret"})",
                             R"({"AccessKeyId":"a","SecretAccessKey":"secret","Expiration":"soon"})"}) {
        const auto parsed = parse_service_answer(text);
        REQUIRE_FALSE(parsed);
        CHECK(parsed.error().text().find("secret") == std::string::npos);
    }
    Services services;
    const base::UnixMicros now = base::SystemClock().now();
    services.end = now - minute_us;
    const Environment set(Environment::Values{{"AWS_EC2_METADATA_SERVICE_ENDPOINT", services.url()}});
    CHECK(find_credentials({}).error().code == "s3.credentials");
}
