// The file of log-ins: only the entry that a log-in wrote ever changes, and the file is as private as pip and ssh want it.
#include "lib/simple/netrc.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

namespace wheelyard::simple {
namespace {

namespace fs = std::filesystem;

const std::string entry =
    "machine wheels.example.org login __token__ account wheelyard-login password wy_1_2";

std::string added(const std::string& netrc) {
    return with_login(netrc, "wheels.example.org", "wy_1_2").value_or("refused");
}

mode_t mode_of(const fs::path& file) {
    struct stat found {};
    REQUIRE(::stat(file.c_str(), &found) == 0);
    return found.st_mode & 07777U;
}

}  // namespace

TEST_CASE("an entry is added behind the others and before a default") {
    CHECK(added("") == entry + "\n");
    CHECK(added("machine a login b password c") == "machine a login b password c\n" + entry + "\n");
    CHECK(added("machine a password c\ndefault login x password y\n") ==
          "machine a password c\n" + entry + "\ndefault login x password y\n");
    // An empty line ends a macro; without one the entry would be part of it.
    CHECK(added("machine a password c macdef init\ncd /x\n") ==
          "machine a password c macdef init\ncd /x\n\n" + entry + "\n");
}

TEST_CASE("a log-in's own entry is replaced in its place, and no other byte") {
    const std::string old =
        "machine wheels.example.org\n  login __token__\n  account wheelyard-login\n  password wy_0_0";
    CHECK(added("# mine\nmachine a password c\n" + old + "\n\n# end\ndefault login x\n") ==
          "# mine\nmachine a password c\n" + entry + "\n\n# end\ndefault login x\n");
    CHECK(find_login(added(""), "wheels.example.org") == "wy_1_2");
    CHECK_FALSE(find_login(added(""), "example.org").has_value());
}

TEST_CASE("an entry that no log-in wrote is never touched") {
    for (const char* other : {"machine wheels.example.org login me password secret\n",
                              "machine Wheels.Example.org password \"a b\"\n",
                              "machine wheels.example.org login __token__ password wy_1_2\n"}) {
        CAPTURE(other);
        CHECK(with_login(other, "wheels.example.org", "wy_1_2").error().code == "netrc.other");
        CHECK(without_login(other, "wheels.example.org") == other);
        CHECK_FALSE(find_login(other, "wheels.example.org").has_value());
    }
}

TEST_CASE("words in values, comments and macros are no entries") {
    for (const std::string text :
         {"machine a login b password machine\n# machine wheels.example.org login x\n",
          "machine a password #machine\nmachine b password \"x \\\" machine y\"\n",
          "macdef init\nmachine wheels.example.org login x\n\nmachine a password b\n"}) {
        CAPTURE(text);
        CHECK(added(text).starts_with(text));
        CHECK(without_login(added(text), "wheels.example.org").starts_with(text));
        CHECK_FALSE(find_login(text, "wheels.example.org").has_value());
    }
}

TEST_CASE("a log-out takes the entry with its line away") {
    CHECK(without_login("machine a password c\n" + entry + "\nmachine b\n", "wheels.example.org") ==
          "machine a password c\nmachine b\n");
    CHECK(without_login(entry + " ", "wheels.example.org") == " ");
}

TEST_CASE("the file is the user's alone, and a link leads nowhere outside the home folder") {
    const auto folder = base::TempDir::make("netrc");
    REQUIRE(folder.has_value());
    const fs::path home = folder->path() / "home";
    fs::create_directory(home);
    CHECK(read_netrc(home) == std::string());
    REQUIRE(write_netrc(home, "one").has_value());
    CHECK(mode_of(home / ".netrc") == 0600);
    fs::permissions(home / ".netrc", fs::perms(0644));
    REQUIRE(write_netrc(home, "two").has_value());
    CHECK(mode_of(home / ".netrc") == 0600);

    fs::create_directory(home / "dots");
    fs::rename(home / ".netrc", home / "dots" / "netrc");
    fs::create_symlink("dots/netrc", home / ".netrc");
    REQUIRE(write_netrc(home, "three").has_value());
    CHECK(fs::is_symlink(home / ".netrc"));
    CHECK(base::read_file(home / "dots" / "netrc", 100) == std::string("three"));

    fs::rename(home / "dots" / "netrc", folder->path() / "outside");
    for (const char* target : {"../outside", "../home-of-another", "nothing"}) {
        CAPTURE(target);
        fs::remove(home / ".netrc");
        fs::create_symlink(target, home / ".netrc");
        CHECK(read_netrc(home).error().code == "netrc.link");
        CHECK(write_netrc(home, "four").error().code == "netrc.link");
    }
    CHECK(base::read_file(folder->path() / "outside", 100) == std::string("three"));
}

}  // namespace wheelyard::simple
