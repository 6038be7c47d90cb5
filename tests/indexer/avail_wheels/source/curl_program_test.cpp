#include "indexer/avail_wheels/source/curl_program.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/process/process.hpp"
#include "tests/support/loopback_server.hpp"

using namespace wheelyard;

TEST_CASE("the program curl reads the log-ins that $NETRC names, and no others") {
    if (!base::find_program("curl")) return;
    const auto folder = *base::TempDir::make("curl-program");
    const std::string named = (folder.path() / "named").native();
    REQUIRE(base::replace_file(named, "machine 127.0.0.1 login me password secret\n", 0600));
    const testing::LoopbackServer server([](const testing::LoopbackRequest& request) {
        return testing::LoopbackAnswer{.body = request.header("authorization")};
    });
    const auto sent = [&](const char* netrc) {
        ::setenv("NETRC", netrc, 1);
        const auto answer = avail_wheels::get_by_curl_program(server.url(), {}, 1000);
        ::unsetenv("NETRC");
        return answer ? answer->body : answer.error().code;
    };
    ::setenv("no_proxy", "*", 1);
    CHECK(sent(named.c_str()) == "Basic bWU6c2VjcmV0");
    CHECK(sent("/nowhere").empty());
    CHECK(sent("").empty());
}
