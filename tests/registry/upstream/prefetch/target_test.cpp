// Which wheel of a page a kind of node gets.
#include "registry/upstream/prefetch/target.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;
using registry::make_target;

namespace {

simple::ProjectPage page_of(const std::vector<std::string>& filenames) {
    simple::ProjectPage page;
    for (const std::string& filename : filenames) {
        simple::FileLink link;
        link.filename = filename;
        page.files.push_back(link);
    }
    return page;
}

std::string chosen(const std::vector<std::string>& filenames, const std::string& version = "1.0") {
    const auto target = make_target("3.12", "manylinux_2_28_aarch64").value();
    const auto page = page_of(filenames);
    const auto* link = registry::choose_wheel(page, wheel::Version::parse(version).value(), target);
    return link == nullptr ? "none" : link->filename;
}

}  // namespace

TEST_CASE("of each label of a version the best wheel that runs there is one more") {
    const auto target = make_target("3.12", "manylinux_2_28_aarch64").value();
    const auto version = wheel::Version::parse("1.0").value();
    auto page = page_of({"a-1.0-py3-none-any-sm_90.whl", "a-1.0-cp312-cp312-manylinux_2_28_aarch64-sm_90.whl",
                         "a-1.0-cp312-cp312-manylinux_2_28_x86_64-v3.whl", "a-1.0-py3-none-any.whl",
                         "a-1.1-py3-none-any-null.whl"});
    const auto chosen_variants = [&](const std::set<std::string>* locked) {
        std::vector<std::string> names;
        for (const auto* link : registry::choose_variants(page, version, target, locked))
            names.push_back(link->filename);
        return names;
    };
    const std::vector<std::string> best{"a-1.0-cp312-cp312-manylinux_2_28_aarch64-sm_90.whl"};
    CHECK(chosen_variants(nullptr) == best);
    page.files[1].sha256 = std::string(64, 'b');
    const std::set<std::string> others{std::string(64, 'a')};
    const std::set<std::string> its{std::string(64, 'b')};
    CHECK(chosen_variants(&others).empty());
    CHECK(chosen_variants(&its) == best);
    CHECK(registry::choose_wheel(page, version, target)->filename == "a-1.0-py3-none-any.whl");
    CHECK(registry::choose_wheel(page, version, target, "sm_90")->filename ==
          "a-1.0-cp312-cp312-manylinux_2_28_aarch64-sm_90.whl");
    CHECK(registry::choose_wheel(page, version, target, "v3") == nullptr);
}

TEST_CASE("a target is a version of Python and a manylinux platform") {
    const auto target = make_target("3.12", "manylinux_2_28_aarch64").value();
    CHECK(target.markers.at("platform_machine") == "aarch64");
    CHECK(make_target("3.9", "manylinux2014_x86_64").has_value());
    for (const char* python : {"", "3", "3.", "3.x", "2.7", "3.12.1", "3.-1", "cp312"})
        CHECK(make_target(python, "manylinux_2_28_aarch64").error().code == "prefetch.python");
    for (const char* platform : {"", "linux", "any", "linux_aarch64", "aarch64-manylinux_2_28", "win_amd64"})
        CHECK(make_target("3.12", platform).error().code == "prefetch.platform");
}

TEST_CASE("the best tag wins, then the higher build number; what does not run there never does") {
    CHECK(chosen({"a-1.0-py3-none-any.whl", "a-1.0-cp312-cp312-manylinux_2_28_aarch64.whl"}) ==
          "a-1.0-cp312-cp312-manylinux_2_28_aarch64.whl");
    CHECK(chosen({"a-1.0-cp39-abi3-manylinux2014_aarch64.whl", "a-1.0-py3-none-any.whl"}) ==
          "a-1.0-cp39-abi3-manylinux2014_aarch64.whl");
    CHECK(chosen({"a-1.0-2-py3-none-any.whl", "a-1.0-10-py3-none-any.whl", "a-1.0-py3-none-any.whl"}) ==
          "a-1.0-10-py3-none-any.whl");
    CHECK(
        chosen({"a-1.0-cp312-cp312-manylinux_2_34_aarch64.whl", "a-1.0-cp312-cp312-manylinux_2_28_x86_64.whl",
                "a-1.0-cp311-cp311-manylinux_2_28_aarch64.whl", "a-1.0.tar.gz", "a-1.1-py3-none-any.whl"}) ==
        "none");
    CHECK(chosen({"a-1.0.tar.gz", "a-0.9-py3-none-any.whl", "a-1.0-cp312-cp312-manylinux_2_34_aarch64.whl",
                  "a-1.0-py3-none-any.whl", "a-1.0-py2.py3-none-any.whl",
                  "a-1.0-cp312-cp312-manylinux_2_28_aarch64.whl"}) ==
          "a-1.0-cp312-cp312-manylinux_2_28_aarch64.whl");
    CHECK(chosen({"a-1.0-cp312-none-any.whl", "a-1.0-py3-none-any.whl",
                  "a-1.0-cp312-cp312-manylinux2014_aarch64.whl"}) ==
          "a-1.0-cp312-cp312-manylinux2014_aarch64.whl");
    CHECK(chosen({"a-1.0+cu126-py3-none-any.whl"}) == "none");
    CHECK(chosen({"a-1.0+cu126-py3-none-any.whl"}, "1.0+cu126") == "a-1.0+cu126-py3-none-any.whl");
}

TEST_CASE("a lock's packages are chosen by their markers and the lock's default groups") {
    const auto target = make_target("3.12", "manylinux_2_28_aarch64").value();
    const auto lock = simple::parse_lock(
        "lock-version = \"1.0\"\ncreated-by = \"uv\"\ndefault-groups = [\"gpu\"]\n"
        "[[packages]]\nname = \"a\"\nversion = \"1\"\nmarker = \"platform_machine == 'aarch64'\"\n"
        "[[packages]]\nname = \"b\"\nversion = \"1\"\nmarker = \"platform_machine == 'x86_64'\"\n"
        "[[packages]]\nname = \"c\"\nversion = \"1\"\nmarker = \"'gpu' in dependency_groups\"\n"
        "[[packages]]\nname = \"d\"\nversion = \"1\"\nmarker = \"'docs' in dependency_groups\"\n",
        "pylock.toml");
    REQUIRE_MESSAGE(lock.has_value(), lock.error().text());
    std::vector<std::string> names;
    const auto packages = registry::packages_for(*lock, "pylock.toml", target).value();
    for (const simple::LockedPackage* package : packages)
        names.push_back(package->name);
    CHECK(names == std::vector<std::string>{"a", "c"});
}

TEST_CASE("a lock with a package without a version, or a wheel without a SHA-256, is not prefetched") {
    const auto target = make_target("3.12", "manylinux_2_28_aarch64").value();
    for (const char* package :
         {"directory = { path = \".\" }\n", "", "version = \"1\"\nwheels = [{ url = \"u\" }]\n"}) {
        CAPTURE(package);
        const auto lock = simple::parse_lock(
            std::string("lock-version = \"1.0\"\ncreated-by = \"x\"\n[[packages]]\nname = \"six\"\n") +
                package,
            "pylock.toml");
        REQUIRE_MESSAGE(lock.has_value(), lock.error().text());
        CHECK(registry::packages_for(*lock, "pylock.toml", target).error().code == "prefetch.lock");
    }
}
