// A lock as uv wrote it, the rules of the specification of pylock.toml, and locks that break them.
#include "lib/simple/lock.hpp"

#include <doctest/doctest.h>

#include "lib/wheel/filename.hpp"

using namespace wheelyard;
using namespace wheelyard::simple;

namespace {

// data/pylock.toml: `uv export --format pylock.toml` of uv 0.13.9, for a project in this folder that requires
// tomli==2.0.1; python_version < '3.11', colorama==0.4.6; sys_platform == 'win32', six==1.17.0, docopt==0.6.2 (which has
// no wheel) and mistune==0.8.4.
Lock lock_of_uv() {
    auto lock = read_lock(WHEELYARD_TEST_DATA "/simple/data/pylock.toml");
    REQUIRE_MESSAGE(lock.has_value(), lock.error().text());
    return *std::move(lock);
}

Lock lock_of(const std::string& text) {
    auto lock = parse_lock(text, "pylock.toml");
    REQUIRE_MESSAGE(lock.has_value(), lock.error().text());
    return *std::move(lock);
}

base::Error error_of(const std::string& text) {
    const auto lock = parse_lock(text, "pylock.toml");
    REQUIRE_MESSAGE(!lock.has_value(), text);
    return lock.error();
}

const std::string head = "lock-version = \"1.0\"\ncreated-by = \"x\"\n";
const std::string hash(64, 'a');

}  // namespace

TEST_CASE("a lock of uv has its packages with versions, sources and the hashes of their wheels") {
    const Lock lock = lock_of_uv();
    CHECK(lock.created_by == "uv");
    CHECK(lock.requires_python.text() == ">=3.9");
    CHECK(lock.warning == "");
    REQUIRE(lock.packages.size() == 6);
    const auto& docopt = lock.packages[1];
    CHECK(docopt.name + docopt.exact.text() == "docopt==0.6.2");
    CHECK(docopt.source == LockSource::sdist);
    CHECK(docopt.sha256s.empty());
    CHECK(lock.packages[2].source == LockSource::directory);
    CHECK_FALSE(lock.packages[2].version.has_value());
    const auto& six = lock.packages[4];
    CHECK(six.source == LockSource::wheels);
    CHECK(six.version->text() == "1.17.0");
    CHECK(six.has_all_hashes);
    CHECK(six.sha256s ==
          std::set<std::string>{"4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274"});
}

TEST_CASE("each source of a package is known, and wheels may stand beside an sdist only") {
    struct Row {
        const char* keys;
        LockSource source;
    };
    const Row rows[] = {{"vcs = { type = \"git\", url = \"u\", commit-id = \"1\" }", LockSource::vcs},
                        {"directory = { path = \".\" }", LockSource::directory},
                        {"archive = { url = \"u\", hashes = {} }", LockSource::archive},
                        {"sdist = { url = \"u\", hashes = {} }", LockSource::sdist},
                        {"wheels = []\nsdist = { url = \"u\", hashes = {} }", LockSource::wheels},
                        {"", LockSource::none}};
    for (const Row& row : rows) {
        CAPTURE(row.keys);
        CHECK(lock_of(head + "[[packages]]\nname = \"a\"\n" + row.keys + "\n").packages[0].source ==
              row.source);
    }
    for (const char* keys : {"wheels = []\nvcs = {}", "sdist = {}\ndirectory = {}", "vcs = {}\narchive = {}",
                             "wheels = []\nsdist = {}\nvcs = {}"}) {
        CAPTURE(keys);
        const auto error = error_of(head + "[[packages]]\nname = \"a\"\n" + keys + "\n");
        CHECK(error.text().find("pylock.toml:4:8") != std::string::npos);
        CHECK(error.text().find("several sources") != std::string::npos);
    }
}

TEST_CASE("the wheels of a lock have the names that installers find them by") {
    struct Row {
        const char* keys;
        const char* filename;
    };
    // As packaging.pylock.PackageWheel.filename says of them (packaging 26.4).
    const Row rows[] = {
        {"name = \"a-1.5-py3-none-any.whl\", url = \"https://h/x/other.whl\"", "a-1.5-py3-none-any.whl"},
        {"path = \"wheels/a-1.5-py3-none-any.whl\"", "a-1.5-py3-none-any.whl"},
        {"path = 'wheels\\a-1.5-py3-none-any.whl'", "a-1.5-py3-none-any.whl"},
        {"url = \"https://h/x/a-1.5%2Bcpu-py3-none-any.whl?y=1#z\"", "a-1.5+cpu-py3-none-any.whl"}};
    for (const Row& row : rows) {
        CAPTURE(row.keys);
        const Lock lock =
            lock_of(head + "[[packages]]\nname = \"a\"\nwheels = [{ " + row.keys +
                    ", hashes = { sha256 = \"" + hash + "\" } }, { path = \"a-1.6-py3-none-any.whl\" }]\n");
        CHECK(lock.packages[0].wheels ==
              std::map<std::string, std::string>{{wheel::spelling_key(row.filename), hash},
                                                 {wheel::spelling_key("a-1.6-py3-none-any.whl"), ""}});
    }
}

TEST_CASE("what pip refuses a lock for is a warning where the lock says enough for an answer") {
    const std::string good =
        "wheels = [{ name = \"a_b-1.5-py3-none-any.whl\", url = \"u\", hashes = { sha256 = \"" + hash +
        "\" } }]\n";
    CHECK(lock_of(head + "[[packages]]\nname = \"a-b\"\n" + good).warning == "");
    const Lock named = lock_of(head + "[[packages]]\nname = \"A_b\"\n" + good);
    CHECK(named.warning ==
          "pylock.toml:4:1: A_b is not the normalized name a-b; pip refuses this lock (PEP "
          "751)");
    const Lock without = lock_of(head +
                                 "[[packages]]\nname = \"a-b\"\nwheels = [{ name = "
                                 "\"a_b-1.5-py3-none-any.whl\", url = \"u\", hashes = {} }]\n");
    CHECK(without.warning == "pylock.toml:5:59: there is no hash; pip refuses this lock (PEP 751)");
    CHECK(without.packages[0].version->text() == "1.5");
}

TEST_CASE("a version that only an sdist's name has counts") {
    for (const char* sdist :
         {"name = \"a_b-1.5.tar.gz\"", "url = \"https://h/x/a-b-1.5.zip\"", "path = \"../a.b-1.5.tar.gz\""}) {
        CAPTURE(sdist);
        const auto package =
            lock_of(head + "[[packages]]\nname = \"A.B\"\nsdist = { " + sdist + " }\n").packages[0];
        CHECK(package.source == LockSource::sdist);
        REQUIRE(package.version.has_value());
        CHECK(package.exact.text() == "==1.5");
    }
    CHECK_FALSE(
        lock_of(head + "[[packages]]\nname = \"a\"\nsdist = { path = \"src\" }\n").packages[0].version);
}

TEST_CASE("a version that only the wheels' names have counts") {
    for (const char* wheel :
         {"name = \"a-1.5-py3-none-any.whl\"", "url = \"https://h/x/a-1.5-py3-none-any.whl\"",
          "path = \"wheels/a-1.5-py3-none-any.whl\""}) {
        CAPTURE(wheel);
        const Lock lock = lock_of(head + "[[packages]]\nname = \"a\"\nwheels = [{ " + wheel + " }]\n");
        CHECK(lock.packages[0].version->text() == "1.5");
        CHECK(lock.packages[0].exact.text() == "==1.5");
        CHECK_FALSE(lock.packages[0].has_all_hashes);
    }
}

TEST_CASE(
    "a lock of another major version is an error, and a newer minor version warns of keys that it ignores") {
    const auto error = error_of("lock-version = \"2.0\"\npackages = []\n");
    CHECK(error.code == "lock.version");
    CHECK(error.sentence.starts_with("pylock.toml:1:"));
    for (const char* version : {"1", "x", "1.x", "0.9", "1.0.0"}) {
        CAPTURE(version);
        CHECK(error_of("lock-version = \"" + std::string(version) + "\"\npackages = []\n").code ==
              "lock.version");
    }
    const std::string newer = "lock-version = \"1.3\"\nsize = 3\n[[packages]]\nname = \"a\"\nglow = true\n";
    CHECK(lock_of(newer).warning ==
          "pylock.toml is a lock of version 1.3, newer than 1.0, which is known here; "
          "ignored: glow, size");
    CHECK(lock_of("lock-version = \"1.3\"\npackages = []\n").warning.find("ignored") == std::string::npos);
    CHECK(lock_of(head + "size = 3\npackages = []\n[tool.x]\ny = 1\n").warning == "");
}

TEST_CASE("the lock of one tool's own format is named, with the command that writes one that is read") {
    const std::vector<std::pair<std::string, std::string>> advices{{"uv.lock", "uv export -o pylock.toml"},
                                                                   {"poetry.lock", "poetry export -o"},
                                                                   {"pdm.lock", "pdm export -o"}};
    for (const auto& [name, advice] : advices) {
        const auto lock = simple::parse_lock("version = 1\n[[package]]\nname = \"a\"\n", "folder/" + name);
        REQUIRE(!lock);
        CHECK(lock.error().code == "lock.other_format");
        CHECK(lock.error().advice.find(advice) != std::string::npos);
    }
    CHECK(simple::parse_lock("lock-version = \"1.0\"\npackages = []\n", "uv.lock"));
    for (const char* name : {"requirements.txt", "dev.in", "app/pyproject.toml"})
        CHECK(simple::parse_lock("numpy<1.23\n", name).error().code == "lock.none");
}

TEST_CASE("a lock is known by its name") {
    CHECK(is_lock("site/pylock.toml"));
    CHECK(is_lock("pylock.gpu.toml"));
    CHECK_FALSE(is_lock("pylock.a.b.toml"));  // PEP 751: ^pylock\.([^.]+)\.toml$
    CHECK_FALSE(is_lock("pylock..toml"));
    CHECK_FALSE(is_lock("pylock.atoml"));
    CHECK_FALSE(is_lock("pyproject.toml"));
    CHECK_FALSE(is_lock("requirements.txt"));
}

TEST_CASE("names are normalised, and markers are evaluated for a machine") {
    const Lock lock = lock_of(head +
                              "[[packages]]\nname = \"Yard_Torch\"\nversion = \"2.6.0\"\n"
                              "marker = \"platform_machine == 'aarch64'\"\n");
    CHECK(lock.packages[0].name == "Yard_Torch");
    CHECK(lock.packages[0].project == "yard-torch");
    CHECK(lock.packages[0].marker->evaluate({{"platform_machine", "aarch64"}}));
}

TEST_CASE("every fault of a lock is reported with its line") {
    struct Row {
        const char* text;  // after the two lines of the head
        const char* place;
    };
    const Row rows[] = {
        {"requires-python = \"three\"\npackages = []\n", "pylock.toml:3:"},
        {"environments = [\"=\"]\npackages = []\n", "pylock.toml:3:"},
        {"packages = 3\n", "pylock.toml:3:"},
        {"[[packages]]\nversion = \"1\"\n", "pylock.toml:3:"},
        {"[[packages]]\nname = \"-\"\n", "pylock.toml:4:"},
        {"[[packages]]\nname = \"\"\n", "pylock.toml:4:"},
        {"[[packages]]\nname = \"a\"\nversion = \"\"\n", "pylock.toml:5:"},
        {"[[packages]]\nname = \"a\"\nmarker = \"\"\n", "pylock.toml:5:"},
        {"[[packages]]\nname = \"a\"\nversion = \"x y\"\n", "pylock.toml:5:"},
        {"[[packages]]\nname = \"a\"\nversion = 1\n", "pylock.toml:5:"},
        {"[[packages]]\nname = \"a\"\nmarker = \"=\"\n", "pylock.toml:5:"},
        {"[[packages]]\nname = \"a\"\nrequires-python = \"=\"\n", "pylock.toml:5:"},
        {"[[packages]]\nname = \"a\"\n[[packages.wheels]]\nhashes = { sha256 = \"abc\" }\n",
         "pylock.toml:6:"},
        {"", "pylock.toml:1:"},  // no packages
        {"x = [", "pylock.toml:3:"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(error_of(head + row.text).text().find(row.place) != std::string::npos);
    }
    CHECK(error_of("packages = []\n").text().find("`lock-version` is missing") != std::string::npos);
    CHECK(error_of("\nlock-version = \"\"\npackages = []\n").text().find("pylock.toml:2:") !=
          std::string::npos);
    CHECK(error_of(head + "[[packages]]\nname = \"-\"\n[[packages]]\nname = \"a\"\nmarker = \"=\"\n")
              .text()
              .find("pylock.toml:7:") != std::string::npos);
}
