// Git sources with a real git: cloned once, checked before each use.
#include "builder/sources/git_source.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/process/process.hpp"
#include "tests/builder/patiently.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

const base::KeepAlive no_hurry = [] { return base::Status(); };

std::vector<std::string> texts(const std::vector<wheel::Version>& versions) {
    std::vector<std::string> all;
    for (const auto& version : versions)
        all.push_back(version.text());
    return all;
}

TEST_CASE("tags that match the pattern are versions, others are not") {
    const std::string listing =
        "aa\trefs/tags/v2.4.0\nbb\trefs/tags/v2.5.0-rc1\ncc\trefs/tags/ciflow/v1\ndd\trefs/tags/"
        "2.0\nnonsense\n";
    CHECK(texts(versions_of_tags(listing, "v{version}")) == std::vector<std::string>{"2.4.0", "2.5.0rc1"});
    CHECK(texts(versions_of_tags("aa\trefs/tags/rel-1.0-final\n", "rel-{version}-final")) ==
          std::vector<std::string>{"1.0"});
    CHECK(versions_of_tags("", "v{version}").empty());
    CHECK(versions_of_tags(listing, "main").empty());  // of one version
}

TEST_CASE("a branch precedes a tag, and an annotated tag is dereferenced") {
    const std::string listing =
        "aa\trefs/heads/main\nbb\trefs/tags/v1\ncc\trefs/tags/v1^{}\ndd\trefs/tags/main\n";
    CHECK(commit_in(listing, "main") == "aa");
    CHECK(commit_in(listing, "v1") == "cc");
    CHECK(commit_in("bb\trefs/tags/v1\n", "v1") == "bb");
    CHECK(commit_in(listing, "v").empty());
    CHECK(commit_in("nonsense", "v1").empty());
}

void shell(const fs::path& folder, const std::string& script) {
    base::Command command;
    command.argv = {"/bin/bash", "-eu", "-c", script};
    command.directory = folder;
    const auto finished = base::run_command(command);
    REQUIRE(finished.has_value());
    REQUIRE_MESSAGE(finished->exit_code == 0, finished->err);
}

TEST_CASE("a tag is cloned once, and cloned again when the clone was changed") {
    const auto folder = base::TempDir::make("git");
    REQUIRE(folder.has_value());
    shell(folder->path(),
          "mkdir repository && cd repository && git init -q && echo 1 > file && git add file && "
          "git -c user.name=t -c user.email=t@t commit -q -m x && git tag v1.0");
    base::SystemClock clock;
    GitSource git(folder->path() / "sources", base::current_environment(), clock);
    Recipe recipe = default_recipe("demo");
    recipe.source = SourceKind::git;
    recipe.url = "file://" + (folder->path() / "repository").string();
    recipe.tag = "v{version}";
    CHECK(texts(*git.versions(recipe)) == std::vector<std::string>{"1.0"});

    const auto fetch = [&] {
        return testing::patiently(clock, [&] { return git.fetch(recipe, "1.0+label", no_hurry); });
    };
    const auto source = fetch();
    REQUIRE_MESSAGE(source.has_value(), source.error().text());
    CHECK(source->sha256.size() == 64);
    CHECK(fetch()->sha256 == source->sha256);
    REQUIRE(git.unpack(*source, folder->path() / "tree", no_hurry).has_value());
    CHECK(*base::read_file(folder->path() / "tree/file", 10) == "1\n");

    REQUIRE(base::replace_file(folder->path() / "sources/git" / source->filename / "tree/file", "2\n")
                .has_value());
    const auto changed = git.unpack(*source, folder->path() / "again", no_hurry);
    REQUIRE(!changed.has_value());
    CHECK(changed.error().code == "source.cache");
    CHECK(changed.error().kind == base::ErrorKind::missing);
    CHECK(fetch()->sha256 == source->sha256);
    CHECK(git.unpack(*source, folder->path() / "again", no_hurry).has_value());

    shell(folder->path() / "repository",
          "echo 3 > file && git -c user.name=t -c user.email=t@t commit -q -a -m y && "
          "git -c user.name=t -c user.email=t@t tag -f -a -m z v1.0");
    const auto moved = fetch();
    REQUIRE_MESSAGE(moved.has_value(), moved.error().text());
    CHECK(moved->sha256 != source->sha256);
    REQUIRE(git.unpack(*moved, folder->path() / "moved", no_hurry).has_value());
    CHECK(*base::read_file(folder->path() / "moved/file", 10) == "3\n");
    CHECK(fetch()->sha256 == moved->sha256);
    fs::rename(folder->path() / "repository", folder->path() / "away");
    CHECK(fetch()->sha256 == moved->sha256);  // the remote does not answer: the existing clone is used
    fs::rename(folder->path() / "away", folder->path() / "repository");

    fs::remove_all(folder->path() / "sources/git");
    const auto gone = git.unpack(*source, folder->path() / "and again", no_hurry);
    REQUIRE(!gone.has_value());
    CHECK(gone.error().code == "source.cache");
    CHECK(gone.error().may_pass());
}

}  // namespace
}  // namespace wheelyard::builder
