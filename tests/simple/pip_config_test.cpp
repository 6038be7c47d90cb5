// pip's precedence, with tables and by comparison with a real pip on the same files.
#include "lib/simple/pip_config.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::simple {
namespace {

namespace fs = std::filesystem;

Ini ini(std::string_view text) {
    const auto parsed = parse_ini(text, "test");
    REQUIRE(parsed.has_value());
    return *parsed;
}

TEST_CASE(
    "the environment takes precedence over files, [download] over [global], later files over earlier ones") {
    const PipFile global{"global", "/etc/pip.conf"};
    const PipFile user{"user", "/home/u/.config/pip/pip.conf"};
    const std::vector<std::pair<PipFile, Ini>> files = {
        {global, ini("[global]\nindex-url = https://global/\ntimeout = 1\n[download]\nproxy = http://p/\n")},
        {user, ini("[global]\nindex-url = https://user/\nproxy = http://q/\n")}};
    const PipConfig quiet = resolve_pip_config({{"HOME", "/home/u"}}, files);
    CHECK(quiet.index_url() == "https://user/");
    CHECK(quiet.origin("index-url") == "/home/u/.config/pip/pip.conf [global]");
    CHECK(quiet.value("proxy") == "http://p/");
    CHECK(quiet.value("timeout") == "1");
    const PipConfig loud =
        resolve_pip_config({{"PIP_INDEX_URL", "https://environment/"}, {"PIP_DEFAULT_TIMEOUT", "9"}}, files);
    CHECK(loud.index_url() == "https://environment/");
    CHECK(loud.origin("index-url") == "PIP_INDEX_URL");
    CHECK(loud.http_settings().connect_timeout_ms == 9000);
    CHECK(loud.http_settings().proxy == "http://p/");
}

TEST_CASE("an empty value counts as absent, as in pip") {
    const std::vector<std::pair<PipFile, Ini>> files = {
        {{"user", "u"}, ini("[global]\nindex-url = https://user/\n")}};
    CHECK(resolve_pip_config({{"PIP_INDEX_URL", ""}}, files).index_url() == "https://user/");
}

TEST_CASE("lists are split at white space, including line breaks") {
    const PipConfig config = resolve_pip_config(
        {{"PIP_FIND_LINKS", "/a  /b"}, {"PIP_EXTRA_INDEX_URL", "https://x/\nhttps://y/"}}, {});
    CHECK(config.find_links() == std::vector<std::string>{"/a", "/b"});
    CHECK(config.extra_index_urls() == std::vector<std::string>{"https://x/", "https://y/"});
}

TEST_CASE("no-index disables every index") {
    const PipConfig config = resolve_pip_config(
        {{"PIP_NO_INDEX", "1"}, {"PIP_INDEX_URL", "https://x/"}, {"PIP_EXTRA_INDEX_URL", "https://y/"}}, {});
    CHECK(config.no_index());
    CHECK(config.index_url().empty());
    CHECK(config.extra_index_urls().empty());
    CHECK(!resolve_pip_config({{"PIP_NO_INDEX", "false"}}, {}).no_index());
}

TEST_CASE("the files are those of pip, depending on PIP_CONFIG_FILE") {
    const auto paths = [](const Environment& environment, bool exists) {
        std::vector<std::string> found;
        for (const auto& file : pip_files(environment, "/py", exists))
            found.push_back(file.path.string());
        return base::join(found, " ");
    };
    CHECK(paths({{"HOME", "/h"}}, false) ==
          "/etc/xdg/pip/pip.conf /etc/pip.conf /h/.pip/pip.conf /h/.config/pip/pip.conf /py/pip.conf");
    CHECK(paths({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/c"}, {"XDG_CONFIG_DIRS", "/x:/y"}}, false) ==
          "/x/pip/pip.conf /y/pip/pip.conf /etc/pip.conf /h/.pip/pip.conf /c/pip/pip.conf /py/pip.conf");
    CHECK(paths({{"HOME", "/h"}, {"PIP_CONFIG_FILE", "/my.conf"}}, true) ==
          "/etc/xdg/pip/pip.conf /etc/pip.conf /py/pip.conf /my.conf");
    CHECK(paths({{"HOME", "/h"}, {"PIP_CONFIG_FILE", "/dev/null"}}, true).empty());
}

TEST_CASE("the default index is parsed from pip's help, however it is wrapped") {
    CHECK(parse_default_index(
              "  -i, --index-url <url>       Base URL of the Python Package Index (default\n"
              "                              https://index.test/simple). This should point to a\n") ==
          "https://index.test/simple");
    CHECK(parse_default_index("--index-url <url> Base URL (default https://a.test/s).")
              .starts_with("https://a.test/s"));
    CHECK(parse_default_index("--index-url <url> Base URL").empty());
    CHECK(parse_default_index("--index-url <url> Base URL (default nothing at all)").empty());
    CHECK(parse_default_index("").empty());
}

// `pip config list` prints every effective value as "section.option='value'".
std::string real_pip_says(const Environment& environment, const std::string& key) {
    const auto python = base::find_program("python3");
    REQUIRE(python.has_value());
    base::Command command;
    command.argv = {python->string(), "-m", "pip", "config", "list"};
    command.environment = environment;
    const auto answer = base::run_command(command);
    REQUIRE(answer.has_value());
    REQUIRE_MESSAGE(answer->exit_code == 0, answer->err);
    for (const auto line : base::split_lines(answer->out)) {
        if (line.starts_with(key + "='") && line.ends_with("'")) {
            return std::string(line.substr(key.size() + 2, line.size() - key.size() - 3));
        }
    }
    return "(absent)";
}

TEST_CASE("a real pip reads the same values from the same files and environment") {
    const auto home = base::TempDir::make("pip-config");
    REQUIRE(home.has_value());
    const fs::path file = home->path() / ".config" / "pip" / "pip.conf";
    REQUIRE(base::make_directories(file.parent_path()).has_value());
    REQUIRE(base::replace_file(
                file,
                "[global]\nIndex_URL = https://user.test/simple\n# comment\nproxy: http://proxy.test:3128\n"
                "extra-index-url = https://extra.test/simple # not a comment\n")
                .has_value());
    Environment environment = base::current_environment();
    std::erase_if(environment, [](const auto& item) {
        return item.first.starts_with("PIP_") || item.first.starts_with("XDG_");
    });
    environment["HOME"] = home->path().string();
    environment["PIP_TRUSTED_HOST"] = "trusted.test";
    const auto ours = read_pip_config(environment, {});
    REQUIRE_MESSAGE(ours.has_value(), ours.error().text());
    for (const char* option : {"index-url", "proxy", "extra-index-url"}) {
        CAPTURE(option);
        CHECK(real_pip_says(environment, std::string("global.") + option) == ours->value(option));
        CHECK(ours->origin(option) == file.string() + " [global]");
    }
    CHECK(real_pip_says(environment, ":env:.trusted-host") == ours->value("trusted-host"));
    REQUIRE(base::replace_file(file, "[global]\nbroken\n").has_value());
    CHECK(!read_pip_config(environment, {}).has_value());
}

TEST_CASE("a rendered pip.conf has the configuration's values, limited to options for finding packages") {
    PipConfig config;
    config.values = {{"index-url", {"https://me:hunter2@h/simple", "x"}},
                     {"extra-index-url", {"https://a/\nhttps://b/", "x"}},
                     {"no-index", {"1", "x"}},
                     {"target", {"/elsewhere", "x"}}};
    const PipConfig read = resolve_pip_config({}, {{{"env", "/pip.conf"}, ini(render_pip_conf(config, {}))}});
    CHECK(read.value("index-url") == "https://me:hunter2@h/simple");
    CHECK(read.value("extra-index-url") == "https://a/\nhttps://b/");
    CHECK(read.no_index());
    CHECK(read.value("target").empty());
    CHECK(ini(render_pip_conf({}, {})).contains("global"));
}

TEST_CASE("a proxy with a password appears only in pip's configuration") {
    const Environment secret = {{"https_proxy", "http://me:hunter2@proxy:3128"}};
    CHECK(render_pip_conf({}, secret).find("proxy = http://me:hunter2@proxy:3128\n") != std::string::npos);
    CHECK(render_pip_conf({}, {{"https_proxy", "http://proxy:3128"}}).find("proxy") == std::string::npos);
    for (const char* url : {"http://me:p@h:1", "me@h", "me:p@h/x"})
        CHECK(holds_credentials(url));
    for (const char* url : {"http://h:1", "h:1", "", "http://h/a@b"})
        CHECK(!holds_credentials(url));
}

}  // namespace
}  // namespace wheelyard::simple
