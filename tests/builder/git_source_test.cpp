// Git sources with a real git: cloned once, checked before each use; and the steps that run beside the agent.
#include "builder/git_source.hpp"

#include <doctest/doctest.h>

#include "builder/login_step.hpp"
#include "lib/base/file.hpp"
#include "lib/base/process.hpp"
#include "lib/base/temp_dir.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> texts(const std::vector<wheel::Version>& versions) {
    std::vector<std::string> all;
    for (const auto& version : versions)
        all.push_back(version.text());
    return all;
}

TEST_CASE("tags of the pattern are versions, others are not") {
    const std::string listing =
        "aa\trefs/tags/v2.4.0\nbb\trefs/tags/v2.5.0-rc1\ncc\trefs/tags/ciflow/v1\ndd\trefs/tags/"
        "2.0\nnonsense\n";
    CHECK(texts(versions_of_tags(listing, "v{version}")) == std::vector<std::string>{"2.4.0", "2.5.0rc1"});
    CHECK(texts(versions_of_tags("aa\trefs/tags/rel-1.0-final\n", "rel-{version}-final")) ==
          std::vector<std::string>{"1.0"});
    CHECK(versions_of_tags("", "v{version}").empty());
}

void shell(const fs::path& folder, const std::string& script) {
    base::Command command;
    command.argv = {"/bin/bash", "-eu", "-c", script};
    command.directory = folder;
    const auto finished = base::run_command(command);
    REQUIRE(finished.has_value());
    REQUIRE_MESSAGE(finished->exit_code == 0, finished->err);
}

// On a slow machine a step is still at work when the first look ends.
template <class Call>
auto patiently(base::Clock& clock, Call call) {
    constexpr int most_looks = 60;
    auto result = call();
    for (int look = 0; look < most_looks && !result && result.error().code == "source.fetching"; ++look) {
        clock.sleep_ms(1000);
        result = call();
    }
    return result;
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

    const auto fetch = [&] { return patiently(clock, [&] { return git.fetch(recipe, "1.0+label"); }); };
    const auto source = fetch();
    REQUIRE_MESSAGE(source.has_value(), source.error().text());
    CHECK(source->sha256.size() == 64);
    CHECK(fetch()->sha256 == source->sha256);
    REQUIRE(git.unpack(*source, folder->path() / "tree").has_value());
    CHECK(*base::read_file(folder->path() / "tree/file", 10) == "1\n");

    REQUIRE(base::replace_file(folder->path() / "sources/git" / source->filename / "tree/file", "2\n")
                .has_value());
    const auto changed = git.unpack(*source, folder->path() / "again");
    REQUIRE(!changed.has_value());
    CHECK(changed.error().code == "source.cache");
    CHECK(fetch()->sha256 == source->sha256);
    CHECK(git.unpack(*source, folder->path() / "again").has_value());
}

TEST_CASE("a step that fails says its last words, and the next call tries again") {
    const auto folder = base::TempDir::make("step");
    REQUIRE(folder.has_value());
    base::SystemClock clock;
    const auto run = [&](const std::string& script) {
        return patiently(clock, [&] {
            return advance_login_step({folder->path(), "it", script, base::current_environment(), "a test"},
                                      clock);
        });
    };
    const auto failed = run("echo it is broken >&2; false | cat");
    REQUIRE(!failed.has_value());
    CHECK(failed.error().code == "source.step");
    CHECK(failed.error().sentence.find("it is broken") != std::string::npos);
    CHECK(run("echo well").has_value());
    CHECK(run("exit 1").has_value());  // it is over: it does not run again
}

}  // namespace
}  // namespace wheelyard::builder
