// Locks as uv writes them, and locks that cannot be prefetched.
#include "registry/prefetch/pylock.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;
using registry::parse_pylock;

namespace {

const std::string hash(64, 'a');

}  // namespace

TEST_CASE("a lock's packages have normalised names, versions, markers and the hashes of their wheels") {
    const auto packages = parse_pylock(
        "lock-version = \"1.0\"\ncreated-by = \"uv\"\nrequires-python = \">=3.12\"\n"
        "[[packages]]\nname = \"Yard_Torch\"\nversion = \"2.6.0\"\n"
        "marker = \"platform_machine == 'aarch64'\"\n"
        "wheels = [{ url = \"https://w.example/t.whl\", upload-time = "
        "2026-01-01T00:00:00Z, size = 3, hashes = { sha256 = \"" +
            hash + "\" } }]\n[[packages]]\nname = \"six\"\nversion = \"1\"\n",
        "pylock.toml");
    REQUIRE_MESSAGE(packages.has_value(), packages.error().text());
    REQUIRE(packages->size() == 2);
    CHECK(packages->at(0).project == "yard-torch");
    CHECK(packages->at(0).version.text() == "2.6.0");
    CHECK(packages->at(0).marker->evaluate({{"platform_machine", "aarch64"}}));
    CHECK(packages->at(0).sha256s == std::set<std::string>{hash});
    CHECK_FALSE(packages->at(1).marker.has_value());
    CHECK(packages->at(1).sha256s.empty());
}

TEST_CASE("a package of a folder, without a version, or with a wrong hash or marker is refused") {
    const std::string six = "[[packages]]\nname = \"six\"\n";
    for (const std::string& text :
         {six, six + "directory = { path = \".\" }\n", six + "version = \"x y\"\n",
          std::string("[[packages]]\n"), six + "version = \"1\"\nmarker = \"=\"\n",
          six + "version = \"1\"\nwheels = [{ url = \"u\" }]\n",
          six + "version = \"1\"\nwheels = [{ hashes = { sha256 = \"abc\" } }]\n"}) {
        CAPTURE(text);
        CHECK(parse_pylock(text, "pylock.toml").error().code == "prefetch.lock");
    }
    CHECK(parse_pylock("packages = ", "pylock.toml").error().code == "config.syntax");
}

TEST_CASE("a lock is known by its name") {
    CHECK(registry::is_pylock("site/pylock.toml"));
    CHECK(registry::is_pylock("pylock.gpu.toml"));
    CHECK_FALSE(registry::is_pylock("pyproject.toml"));
    CHECK_FALSE(registry::is_pylock("requirements.txt"));
}
