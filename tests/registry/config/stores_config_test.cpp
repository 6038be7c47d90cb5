// [stores]: what each key means, and that a password never stands in the configuration.

#include <doctest/doctest.h>

#include <string>

#include "lib/store/engine/place.hpp"
#include "registry/config/config.hpp"

using namespace wheelyard;

namespace {

base::Result<registry::RegistryConfig> parse_stores(const std::string& stores) {
    return registry::parse_config("config_version = 1\n[stores]\n" + stores + "[[index]]\nname = \"main\"\n",
                                  "/etc/wheelyard/registry.toml");
}

}  // namespace

TEST_CASE("without [stores] everything is in the data folder") {
    const auto config = parse_stores("");
    REQUIRE(config.has_value());
    CHECK(config->database().folder == "/etc/wheelyard/data");
    CHECK(config->database().url.empty());
    CHECK(config->stores.blobs.empty());
}

TEST_CASE("every key of [stores] is read") {
    const auto config = parse_stores(
        "database = \"postgres://farm@a:1,b:2/wheels?target_session_attrs=read-write\"\n"
        "database_password_file = \"secrets/database\"\nblobs = \"s3://wheels/farm\"\n"
        "blobs_endpoint = \"https://s3.example.org\"\nblobs_public_endpoint = \"https://files.example.org\"\n"
        "blobs_region = \"eu\"\nblobs_path_style = true\nblobs_credentials_file = \"/run/s3\"\n");
    REQUIRE_MESSAGE(config.has_value(), config.error().text());
    CHECK(config->database().url == "postgres://farm@a:1,b:2/wheels?target_session_attrs=read-write");
    CHECK(config->database().password_file == "/etc/wheelyard/secrets/database");
    CHECK(config->stores.blobs == "s3://wheels/farm");
    CHECK(config->stores.blobs_endpoint == "https://s3.example.org");
    CHECK(config->stores.blobs_public_endpoint == "https://files.example.org");
    CHECK(config->stores.blobs_region == "eu");
    CHECK(config->stores.blobs_path_style);
    CHECK(config->stores.blobs_credentials_file == "/run/s3");
}

TEST_CASE("a database is a URL or parameters of libpq, without a password") {
    for (const char* good :
         {"", "postgres://db.example.org/wheels", "postgresql://farm@[::1]:5432/wheels?sslmode=verify-full",
          "postgres:///wheels?host=/run/postgresql", "service=wheelyard", "host=db dbname=wheels",
          "host=db passfile=/etc/pgpass", "postgres://a:5432,b:5432/wheels"})
        CHECK_MESSAGE(database::fault_of_url(good).empty(), good);
    for (const char* bad : {"mysql://db/wheels", "db.example.org", "postgres://farm:secret@db/wheels",
                            "postgres://farm@db/wheels?password=secret", "host=db password=secret",
                            "host=db password = secret"})
        CHECK_MESSAGE(!database::fault_of_url(bad).empty(), bad);
}

TEST_CASE("a complaint about [stores] names its line and shows no password") {
    const auto config = parse_stores(
        "database = \"postgres://farm:hunter2@db/wheels\"\nblobs = \"wheels\"\nblobs_endpoint = "
        "\"s3:9000\"\n");
    REQUIRE_FALSE(config.has_value());
    const std::string text = config.error().text();
    for (const char* place : {"registry.toml:3:12", "registry.toml:4:9", "registry.toml:5:18"})
        CHECK_MESSAGE(text.find(place) != std::string::npos, text);
    CHECK(text.find("hunter2") == std::string::npos);
}
