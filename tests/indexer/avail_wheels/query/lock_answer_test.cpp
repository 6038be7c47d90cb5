// What of a lock is here: the bytes of the lock, other bytes, wheels that do not run, none.
#include "indexer/avail_wheels/query/lock_answer.hpp"

#include <doctest/doctest.h>

#include "tests/indexer/avail_wheels/sample_wheels.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

const std::string locked_hash(64, 'a');
const std::string built_hash(64, 'b');

Candidate judged(const std::string& filename, const std::string& sha256, const std::string& runs = "yes",
                 const std::string& code = {}, const std::string& why = {}) {
    Candidate candidate = make_candidate(filename);
    candidate.link.sha256 = sha256;
    candidate.runs = runs;
    candidate.why_code = code;
    candidate.why = why;
    return candidate;
}

Lock uv_lock() {
    auto lock = simple::read_lock(WHEELYARD_TEST_DATA "/simple/data/pylock.toml");
    REQUIRE_MESSAGE(lock.has_value(), lock.error().text());
    return *std::move(lock);
}

Lock lock_with(const std::string& rest) {
    auto lock = simple::parse_lock("lock-version = \"1.0\"\ncreated-by = \"x\"\n" + rest, "pylock.toml");
    REQUIRE_MESSAGE(lock.has_value(), lock.error().text());
    return *std::move(lock);
}

std::vector<std::string> marked_names(const Lock& lock, const std::string& python,
                                      const std::string& machine = "x86_64") {
    std::vector<std::string> names;
    for (const LockedPackage* package : packages_for(lock, {make_pythons({python}), machine}))
        names.push_back(package->name);
    return names;
}

using Names = std::vector<std::string>;

Lock locked(const std::string& rest, const std::string& before = {}) {
    return lock_with(before + "[[packages]]\nname = \"demo\"\n" + rest);
}

const std::string with_hash =
    "version = \"1.5\"\nwheels = [{ name = \"demo-1.5-py3-none-any.whl\", hashes = { sha256 = \"" +
    locked_hash + "\" } }]\n";

struct Compared {
    LockState state;
    std::string wheel;
    std::string why;
    bool may_be_built;
    bool operator==(const Compared&) const = default;
};

Compared compare(const Lock& lock, const std::vector<Candidate>& wheels,
                 const std::vector<Candidate>& others = {}) {
    const LockTarget place{make_pythons({"3.11"}), "x86_64"};
    const auto found = compare_lock(packages_for(lock, place), place, wheels, others);
    REQUIRE(found.size() == 1);
    return {found[0].state, found[0].wheel == nullptr ? "" : found[0].wheel->link.filename, found[0].why,
            found[0].may_be_built};
}

constexpr const char* any = "demo-1.5-py3-none-any.whl";
constexpr const char* built = "demo-1.5-cp311-cp311-linux_x86_64.whl";

}  // namespace

TEST_CASE("a wheel with the lock's bytes is here, also where one with others runs, too") {
    CHECK(compare(locked(with_hash), {judged(built, built_hash), judged(any, locked_hash)}) ==
          Compared{LockState::here, any, "", false});
    CHECK(compare(locked(with_hash), {judged(built, built_hash),
                                      judged(any, locked_hash, "unknown", "library", "needs libx.so")}) ==
          Compared{LockState::here, any, "whether it runs is unknown: needs libx.so", false});
}

TEST_CASE("a wheel of the version with other bytes is told from the lock's, and whether a farm built it") {
    Candidate ours = judged(built, built_hash);
    ours.facts = R"({"built":{"cpu":"baseline"}})";
    CHECK(compare(locked(with_hash), {ours}) == Compared{LockState::other_bytes, built,
                                                         "built here: demo-1.5-cp311-cp311-linux_x86_64.whl",
                                                         false});
    CHECK(compare(locked(with_hash), {judged(built, built_hash)}).why ==
          "another wheel of this version is here: demo-1.5-cp311-cp311-linux_x86_64.whl");
    // One that does not run has the lock's bytes.
    CHECK(compare(locked(with_hash), {ours, judged(any, locked_hash, "no", "gpu", "no")}).state ==
          LockState::other_bytes);
    CHECK(compare(locked("version = \"1.5\"\nsdist = { url = \"u\", hashes = {} }\n"), {ours}).why ==
          "the lock has only an sdist; built here: demo-1.5-cp311-cp311-linux_x86_64.whl");
}

TEST_CASE("where the lock or the source has no hash, a wheel is here and its bytes are not compared") {
    CHECK(compare(locked(with_hash), {judged(any, "")}) ==
          Compared{LockState::here, any, "its bytes are not compared: no hash of them is known here", false});
    CHECK(
        compare(locked("version = \"1.5\"\nwheels = [{ name = \"demo-1.5-py3-none-any.whl\" }]\n"),
                {judged(any, built_hash)}) ==
        Compared{LockState::here, any, "its bytes are not compared: the lock has no SHA-256 of them", false});
}

TEST_CASE("a wheel of the version that the lock does not name is another one, whatever has no hash") {
    const Lock windows =
        locked("version = \"1.5\"\nwheels = [{ name = \"demo-1.5-cp311-cp311-win_amd64.whl\" }]\n");
    for (const std::string& hash : {std::string(), built_hash}) {
        CHECK(compare(windows, {judged(any, hash)}) ==
              Compared{LockState::other_bytes, any,
                       "another wheel of this version is here: " + std::string(any), false});
        const std::string local = "demo-1.5+site-py3-none-any.whl";
        CHECK(compare(
                  locked("version = \"1.5\"\nwheels = [{ url = \"https://h/demo-1.5-py3-none-any.whl\" }]\n"),
                  {judged(local, hash)}) == Compared{LockState::other_bytes, local,
                                                     "another wheel of this version is here: " + local,
                                                     false});
    }
    CHECK(compare(locked(with_hash), {judged(any, built_hash)}).state == LockState::other_bytes);
    // The same bytes and the same name in another spelling are the lock's.
    CHECK(compare(locked(with_hash), {judged(built, locked_hash)}).state == LockState::here);
    CHECK(compare(locked(with_hash), {judged("Demo-1.5.0-py3-none-any.whl", "")}).state == LockState::here);
}

TEST_CASE("of wheels that do not run, the one that comes closest says why, and a build helps or does not") {
    const auto other_machine =
        judged("demo-1.5-cp311-cp311-linux_aarch64.whl", built_hash, "no", "machine", "m");
    const auto other_python =
        judged("demo-1.5-cp312-cp312-linux_x86_64.whl", built_hash, "no", "python", "p");
    const auto module = judged(built, built_hash, "no", "module", "needs the module x");
    CHECK(compare(locked(with_hash), {other_machine, other_python}) ==
          Compared{LockState::does_not_run, other_python.link.filename, "p", true});
    CHECK(compare(locked(with_hash), {other_machine, module, other_python}) ==
          Compared{LockState::does_not_run, built, "needs the module x", false});
}

TEST_CASE("a missing package names the versions that are here") {
    CHECK(compare(locked(with_hash), {}) == Compared{LockState::missing, "", "no wheel of it is here", true});
    const auto others = make_candidates({"demo-1.9-py3-none-any.whl", "demo-1.8-py3-none-any.whl",
                                         "demo-1.8-cp39-cp39-linux_x86_64.whl", "demo-1.7-py3-none-any.whl",
                                         "demo-1.6-py3-none-any.whl", "other-1.5-py3-none-any.whl"});
    CHECK(compare(locked(with_hash), {}, others).why == "here are 1.9, 1.8, 1.7 and 1 more");
    CHECK(compare(locked(with_hash), {judged("demo-1.9-py3-none-any.whl", locked_hash)}, {others[0]}).why ==
          "here is 1.9");
    CHECK(compare(locked("version = \"1.5\"\nsdist = { url = \"u\", hashes = {} }\n"), {}) ==
          Compared{LockState::missing, "", "the lock has only an sdist", true});
}

TEST_CASE("repositories, folders and archives are of no index") {
    const std::pair<const char*, const char*> rows[] = {
        {"vcs", "the lock has a revision of a repository"},
        {"directory", "the lock has a folder"},
        {"archive", "the lock has the address of an archive"}};
    for (const auto& [key, why] : rows)
        CHECK(compare(locked(std::string(key) + " = {}\n"), {judged(any, built_hash)}) ==
              Compared{LockState::not_of_an_index, "", why, false});
}

TEST_CASE("a package for other Pythons does not run, and a build does not help") {
    CHECK(compare(locked(with_hash + "requires-python = \">=3.12\"\n"), {judged(any, locked_hash)}) ==
          Compared{LockState::does_not_run, "", "the lock says Python >=3.12, here is 3.11", false});
}

TEST_CASE("what installers refuse of a whole lock is said") {
    const LockTarget place{make_pythons({"3.11"}), "x86_64"};
    const auto refusals = [&](const Lock& lock) {
        return refusals_of_lock(lock, packages_for(lock, place), place);
    };
    using Texts = std::vector<std::string>;
    CHECK(refusals(locked(with_hash, "requires-python = \">=3.9\"\n")).empty());
    CHECK(refusals(locked(with_hash, "requires-python = \">=3.12\"\n")) ==
          Texts{"it is for Python >=3.12, here is 3.11"});
    CHECK(refusals(locked(with_hash + "requires-python = \">=3.12\"\n")) ==
          Texts{"its demo is for Python >=3.12, here is 3.11"});
    CHECK(refusals(locked(with_hash + "requires-python = \">=3.12\"\nmarker = \"sys_platform == 'win32'\"\n"))
              .empty());
    CHECK(refusals(locked(with_hash,
                          "environments = [\"sys_platform == 'win32'\", \"sys_platform == 'linux'\"]\n"))
              .empty());
    CHECK(refusals(locked(with_hash, "environments = [\"sys_platform == 'win32'\"]\n")).size() == 1);
    CHECK(refusals(locked(with_hash + "[[packages]]\nname = \"demo\"\nversion = \"1.6\"\n")) ==
          Texts{"it has several entries of demo"});
    CHECK(
        refusals(locked(with_hash + "[[packages]]\nname = \"demo\"\nmarker = \"sys_platform == 'win32'\"\n"))
            .empty());
}

TEST_CASE("the summary counts what is here, and what is left out") {
    const Lock lock = locked(with_hash);
    const LockTarget place{make_pythons({"3.11"}), "x86_64"};
    const auto found = compare_lock(packages_for(lock, place), place, {}, {});
    CHECK(summary_of_lock("pylock.toml", found, 0) == "1 package of pylock.toml is for this node: 1 missing");
    CHECK(summary_of_lock("pylock.toml", found, 2) ==
          "1 package of pylock.toml is for this node: 1 missing; 2 are not, by markers, extras or groups");
}

TEST_CASE("packages whose markers do not hold for the node and its Python are left out") {
    const Lock lock = uv_lock();
    CHECK(marked_names(lock, "3.11") == Names{"docopt", "lockme", "mistune", "six"});
    CHECK(marked_names(lock, "3.10") == Names{"docopt", "lockme", "mistune", "six", "tomli"});
    const Lock machines =
        lock_with("[[packages]]\nname = \"a\"\nmarker = \"platform_machine == 'aarch64'\"\n");
    CHECK(marked_names(machines, "3.11", "aarch64") == Names{"a"});
    CHECK(marked_names(machines, "3.11", "x86_64").empty());
}

TEST_CASE("of a lock's markers no extra and the default groups hold") {
    Lock lock = lock_with(
        "extras = [\"gpu\"]\ndependency-groups = [\"dev\"]\ndefault-groups = [\"My.Default\"]\n"
        "[[packages]]\nname = \"a\"\nmarker = \"'my-default' in dependency_groups\"\n"
        "[[packages]]\nname = \"b\"\nmarker = \"'dev' in dependency_groups\"\n"
        "[[packages]]\nname = \"c\"\nmarker = \"'gpu' in extras\"\n");
    CHECK(marked_names(lock, "3.11") == Names{"a"});
    REQUIRE(simple::choose_of_lock(lock, {"GPU"}, {}));
    CHECK(marked_names(lock, "3.11") == Names{"a", "c"});
    // packaging.pylock.Pylock.select (26.4): groups replace the default ones.
    REQUIRE(simple::choose_of_lock(lock, {}, {"Dev"}));
    CHECK(marked_names(lock, "3.11") == Names{"b"});
    REQUIRE(simple::choose_of_lock(lock, {"gpu"}, {"dev", "my.default"}));
    CHECK(marked_names(lock, "3.11") == Names{"a", "b", "c"});
    const auto undeclared = simple::choose_of_lock(lock, {"cpu"}, {});
    REQUIRE_FALSE(undeclared);
    CHECK(undeclared.error().code == "lock.undeclared");
    CHECK(undeclared.error().text().find("it has gpu") != std::string::npos);
    CHECK_FALSE(simple::choose_of_lock(lock, {}, {"gpu"}));
}
