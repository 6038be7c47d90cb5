// Where credentials come from, and that no error shows them.
#include "registry/blobs/s3/credentials.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "lib/base/files/temp_dir.hpp"

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

TEST_CASE("a file comes before the environment, and the environment before Amazon's file") {
    const auto dir = base::TempDir::make("credentials").value();
    std::ofstream(dir.path() / "two") << "file-key\nfile-secret\n";
    ::unsetenv("AWS_SHARED_CREDENTIALS_FILE");
    ::setenv("AWS_ACCESS_KEY_ID", "env-key", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "env-secret", 1);
    CHECK(find_credentials(dir.path() / "two")->access_key == "file-key");
    CHECK(find_credentials({})->access_key == "env-key");
    ::unsetenv("AWS_SECRET_ACCESS_KEY");
    CHECK(find_credentials({}).error().code == "s3.credentials");
    ::setenv("AWS_SHARED_CREDENTIALS_FILE", (dir.path() / "two").c_str(), 1);
    CHECK(find_credentials({})->access_key == "file-key");
    ::unsetenv("AWS_SHARED_CREDENTIALS_FILE");
    ::unsetenv("AWS_ACCESS_KEY_ID");
    CHECK(find_credentials(dir.path() / "missing").error().kind == base::ErrorKind::unauthorized);
}
