// Which file of log-ins our programs read
#include "lib/io/http_client.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;

TEST_CASE("log-ins are read where pip reads them: $NETRC alone, or ~/.netrc, or ~/_netrc") {
    const auto home = *base::TempDir::make("netrc-file");
    const std::string path = home.path().native();
    const auto place = [](const std::map<std::string, std::string>& environment) {
        return io::other_netrc(environment).value_or("~/.netrc").native();
    };
    CHECK(place({}) == "~/.netrc");
    CHECK(place({{"HOME", path}}) == "~/.netrc");
    REQUIRE(base::replace_file(home.path() / "_netrc", ""));
    CHECK(place({{"HOME", path}}) == path + "/_netrc");
    REQUIRE(base::replace_file(home.path() / ".netrc", ""));
    CHECK(place({{"HOME", path}}) == "~/.netrc");
    CHECK(place({{"HOME", path}, {"NETRC", "/nowhere"}}) == "/nowhere");
    CHECK(place({{"HOME", path}, {"NETRC", ""}}).empty());
}
