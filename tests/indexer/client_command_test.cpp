// How places are recognised: an index on a server, an index in a folder, a folder of wheels.
#include "indexer/commands.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/url.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

// The output of `--kind pip` for the place, or the error.
std::string pip_conf_of(const std::string& place) {
    std::ostringstream out, err;
    ClientOptions options;
    options.nodes = {"here=" + place};
    options.kind = "pip";
    const int status = run_client_config(options, out, err);
    CHECK((status == 0) == err.str().empty());
    return out.str() + err.str();
}

}  // namespace

TEST_CASE("an index in a folder is recognised for every spelling of the folder") {
    const auto folder = base::TempDir::make("client").value();
    const std::string tree = folder.path().native(), index = tree + "/main";
    REQUIRE(base::make_directories(index + "/simple"));
    REQUIRE(base::make_directories(index + "/find-links"));
    REQUIRE(base::replace_file(index + "/simple/index.html", "<!DOCTYPE html>"));
    const std::string expected = "[global]\nindex-url = " + base::file_url(index) + "/simple/\n";
    for (const auto& place : {base::file_url(index) + "/simple/", base::file_url(index) + "/simple",
                              index + "/simple/", index + "/simple", index + "/", index})
        CHECK_MESSAGE(pip_conf_of(place) == expected, place);
    // A path that does not exist on this machine.
    CHECK(pip_conf_of("/not/here/my wheels/simple") ==
          "[global]\nindex-url = file:///not/here/my%20wheels/simple/\n");
    CHECK(pip_conf_of(index + "/find-links") ==
          "[global]\nno-index = true\nfind-links = " + index + "/find-links\n");
    CHECK(pip_conf_of("file://elsewhere/simple/").find("a file URL or an absolute path") !=
          std::string::npos);
}

TEST_CASE("a kind of file is printed for each node, and a node of a token must be one of the nodes") {
    std::ostringstream out, err;
    ClientOptions options;
    options.nodes = {"one=http://one.example/main/simple/", "two=http://two.example/main/simple/"};
    options.machines = {"one=aarch64"};
    options.kind = "pip";
    CHECK(run_client_config(options, out, err) == 0);
    for (const char* part :
         {"index-url = http://one.example/main/simple/", "index-url = http://two.example/main/simple/"})
        CHECK_MESSAGE(out.str().find(part) != std::string::npos, out.str());
    CHECK(out.str().find("uv") == std::string::npos);
    options.with_token = {"three"};
    CHECK(run_client_config(options, out, err) != 0);
    CHECK(err.str().find("There is no --node with this name") != std::string::npos);
    options.with_token = {"two"};
    CHECK(run_client_config(options, out, err) == 0);
}

TEST_CASE("a condition is that of the node that it names") {
    std::ostringstream out, err;
    ClientOptions options;
    options.nodes = {"one=http://one.example/main/simple/", "two=http://two.example/main/simple/",
                     "three=http://three.example/main/simple/"};
    options.machines = {"two=x86_64", "one=aarch64"};
    options.hosts = {"two=gpu*"};
    options.kind = "tcl";
    CHECK(run_client_config(options, out, err) == 0);
    CHECK(err.str() == "");
    const auto choice = out.str().substr(0, out.str().find("setenv"));
    const auto of_one = choice.find("\"aarch64\"");
    const auto of_two = choice.find("\"x86_64\" && [string match \"gpu*\" [info hostname]]");
    CHECK_MESSAGE(of_one < choice.find("set kind \"one\""), choice);
    CHECK_MESSAGE(choice.find("set kind \"one\"") < of_two, choice);
    CHECK_MESSAGE(of_two < choice.find("set kind \"two\""), choice);
    CHECK_MESSAGE(choice.find("else {\n    set kind \"three\"") != std::string::npos, choice);
}
