// Sources: which offer is chosen, from which place, and that bytes with a wrong digest are never used.
#include "builder/sources/sources.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>

#include "builder/attempt/limits.hpp"
#include "lib/base/text/url.hpp"
#include "tests/builder/fake_farm.hpp"
#include "tests/support/loopback_server.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;
using wheelyard::testing::LoopbackAnswer;
using wheelyard::testing::LoopbackRequest;
using wheelyard::testing::LoopbackServer;

const base::KeepAlive no_hurry = [] { return base::Status(); };

TEST_CASE("plain http is accepted only for this machine and trusted hosts, as in pip") {
    CHECK(is_secure_place("https://h/simple", {}));
    CHECK(is_secure_place("http://127.0.0.1:8080/simple", {}));
    CHECK(is_secure_place("http://localhost/simple", {}));
    CHECK(!is_secure_place("http://h/simple", {}));
    CHECK(!is_secure_place("http://127.example.org/simple", {}));
    CHECK(is_secure_place("http://h/simple", {"h"}));
    CHECK(is_secure_place("http://h:81/simple", {"h:81"}));
    CHECK(!is_secure_place("http://h:82/simple", {"h:81"}));
}

// A tar.gz with the project in one folder, or with the given `members`.
std::string tarball(
    const std::string& members = "mkdir demo-1.0; echo > demo-1.0/setup.py; tar cz demo-1.0") {
    const auto folder = base::TempDir::make("tar");
    REQUIRE(folder.has_value());
    base::Command command;
    command.argv = {"/bin/bash", "-c", members};
    command.directory = folder->path();
    const auto made = base::run_command(command);
    REQUIRE(made.has_value());
    REQUIRE(made->exit_code == 0);
    return made->out;
}

// An index on loopback that serves one sdist; `promised` is the digest on its page.
struct Index {
    std::string sdist = tarball();
    std::string promised = base::sha256_hex(sdist);
    int status = 200;
    LoopbackServer server{[this](const LoopbackRequest& request) -> LoopbackAnswer {
        if (status != 200) return {.status = status, .body = "no"};
        if (request.target == "/simple/demo/") {
            return {.body = "<a href=\"/f/demo-1.0.tar.gz#sha256=" + promised + "\">demo-1.0.tar.gz</a>",
                    .headers = {{"Content-Type", "text/html"}}};
        }
        if (request.target == "/f/demo-1.0.tar.gz") return {.body = sdist};
        return {.status = 404, .body = "absent"};
    }};
    base::TempDir work = *base::TempDir::make("sources");
    io::HttpClient http;
    Sources sources{http, work.path(), config(),
                    [] { return base::Result<std::string>(base::fail("x", "no default")); }};

    [[nodiscard]] simple::PipConfig config() const {
        simple::PipConfig pip;
        pip.values["index-url"] = {server.url("/simple/"), "PIP_INDEX_URL"};
        return pip;
    }
    [[nodiscard]] int downloads() const {
        int count = 0;
        for (const auto& request : server.requests())
            count += request.target.starts_with("/f/") ? 1 : 0;
        return count;
    }
};

TEST_CASE("an sdist is found, downloaded once, checked and unpacked") {
    Index index;
    const Recipe recipe = default_recipe("demo");
    for (int count = 0; count < 2; ++count) {
        auto source = index.sources.fetch(recipe, "1.0", {});
        REQUIRE_MESSAGE(source.has_value(), source.error().text());
        CHECK(source->sha256 == index.promised);
        CHECK(source->origin == index.server.url("/f/demo-1.0.tar.gz"));
        testing::must(index.sources.unpack(recipe, *source, index.work.path() / "tree", no_hurry));
        CHECK(source->folder == "demo-1.0");
        CHECK(fs::exists(index.work.path() / "tree" / "demo-1.0" / "setup.py"));
    }
    CHECK(index.downloads() == 1);
}

TEST_CASE("a cached file that was changed is fetched again") {
    Index index;
    const Recipe recipe = default_recipe("demo");
    const auto source = index.sources.fetch(recipe, "1.0", {});
    REQUIRE(source.has_value());
    const fs::path cached = index.work.path() / "sources/sha256" / source->sha256.substr(0, 2) /
                            source->sha256 / source->filename;
    testing::write(cached, "purged by scratch");
    REQUIRE(index.sources.fetch(recipe, "1.0", {}).has_value());
    CHECK(*base::sha256_hex_of_file(cached) == index.promised);
    CHECK(index.downloads() == 2);
}

TEST_CASE("a download that was purged or changed is not unpacked, and is fetched again") {
    Index index;
    const Recipe recipe = default_recipe("demo");
    for (const bool purged : {true, false}) {
        auto source = index.sources.fetch(recipe, "1.0", {});
        REQUIRE(source.has_value());
        const fs::path cached = index.work.path() / "sources/sha256" / source->sha256.substr(0, 2) /
                                source->sha256 / source->filename;
        if (purged) {
            fs::remove(cached);
        } else {
            testing::write(cached, tarball("mkdir demo-1.0; echo evil > demo-1.0/setup.py; tar cz demo-1.0"));
        }
        const auto unpacked = index.sources.unpack(recipe, *source, index.work.path() / "tree", no_hurry);
        REQUIRE(!unpacked.has_value());
        CHECK(unpacked.error().code == "source.cache");
        CHECK(unpacked.error().kind == base::ErrorKind::missing);
        CHECK(unpacked.error().may_pass());
        CHECK(!fs::exists(cached));
        CHECK(!fs::exists(index.work.path() / "tree" / "demo-1.0"));
        REQUIRE(index.sources.fetch(recipe, "1.0", {}).has_value());
        CHECK(index.sources.unpack(recipe, *source, index.work.path() / "tree", no_hurry).has_value());
    }
}

TEST_CASE("an attempt whose download is damaged before it is unpacked fetches it again") {
    Index index;
    testing::Farm farm;
    Recipe recipe = default_recipe("demo");
    recipe.source = SourceKind::tarball;
    recipe.url = index.server.url("/f/demo-{version}.tar.gz");
    recipe.sha256["1.0"] = index.promised;
    recipe.file = "demo.toml";
    farm.recipes.add(recipe);
    Attempt attempt;
    attempt.id = new_attempt_id(farm.clock.now());
    attempt.asked.cell = "demo-1.0-cp311";
    attempt.asked.package = "demo";
    attempt.asked.version = "1.0";
    attempt.asked.python = "3.11";
    attempt.state = State::fetched;
    attempt.source = *farm.sources->fetch(recipe, "1.0", {});
    testing::must(farm.journal->write(attempt));
    for (const auto& entry : fs::recursive_directory_iterator(farm.site.work_directory / "sources")) {
        if (entry.is_regular_file()) testing::write(entry.path(), "cut");
    }
    testing::write(farm.site.work_directory / work_marker, "");
    farm.tick();
    REQUIRE(farm.attempts().size() == 1);
    CHECK(farm.attempts().front().state == State::planned);
    CHECK(farm.attempts().front().waiting.reason.find("was changed or damaged") != std::string::npos);
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.attempts().size() == 1);
    CHECK(index.downloads() == 2);
}

TEST_CASE("a digest other than the index's or the recipe's is a final error") {
    Index index;
    index.promised = std::string(64, 'a');
    const auto lied = index.sources.fetch(default_recipe("demo"), "1.0", {});
    REQUIRE(!lied.has_value());
    CHECK(lied.error().code == "source.hash_mismatch");
    CHECK(lied.error().sentence.find(base::sha256_hex(index.sdist)) != std::string::npos);
    Recipe pinned = default_recipe("demo");
    pinned.sha256["1.0"] = std::string(64, 'b');
    const auto other = index.sources.fetch(pinned, "1.0", {});
    REQUIRE(!other.has_value());
    CHECK(other.error().code == "source.hash_mismatch");
    CHECK(!fs::exists(index.work.path() / "sources" / "sha256"));
}

TEST_CASE("an unreachable index differs from one that has no files") {
    Index index;
    const auto absent = index.sources.fetch(default_recipe("demo"), "9.9", {});
    REQUIRE(!absent.has_value());
    CHECK(absent.error().code == "source.absent");
    CHECK(absent.error().sentence.find("(PIP_INDEX_URL)") != std::string::npos);
    index.status = 502;
    const auto away = index.sources.fetch(default_recipe("demo"), "1.0", {});
    REQUIRE(!away.has_value());
    CHECK(away.error().code == "simple.http");
}

TEST_CASE("an error about a malformed URL hides its password") {
    base::TempDir work = *base::TempDir::make("sources");
    io::HttpClient http;
    simple::PipConfig pip;
    pip.values["index-url"] = {"https://me:hunter2@in dex/simple/", "PIP_INDEX_URL"};
    pip.values["find-links"] = {"http://me:hunter2@ho st/", "PIP_FIND_LINKS"};
    Sources sources{http, work.path(), pip,
                    [] { return base::Result<std::string>(base::fail("x", "no default")); }};
    const auto offers = sources.offers("demo");
    std::string text;
    if (offers) {
        for (const auto& place : offers->places)
            text += place;
    } else {
        text = offers.error().text();
    }
    CHECK(text.find("hunter2") == std::string::npos);
    Recipe recipe = default_recipe("demo");
    recipe.source = SourceKind::tarball;
    recipe.url = "https://me:hunter2@h ost/{version}.tar.gz";
    recipe.sha256 = {{"1.0", std::string(64, 'a')}};
    const auto fetched = sources.fetch(recipe, "1.0", {});
    REQUIRE(!fetched.has_value());
    CHECK(fetched.error().text().find("hunter2") == std::string::npos);
    CHECK(fetched.error().text().find("****") != std::string::npos);
}

TEST_CASE("find-links folders come before the index") {
    Index index;
    const auto folder = base::TempDir::make("links");
    REQUIRE(folder.has_value());
    testing::write(folder->path() / "demo-1.0.tar.gz", index.sdist);
    simple::PipConfig pip = index.config();
    pip.values["find-links"] = {folder->path().string(), "PIP_FIND_LINKS"};
    Sources sources(index.http, index.work.path(), pip, {});
    const auto source = sources.fetch(default_recipe("demo"), "1.0", {});
    REQUIRE_MESSAGE(source.has_value(), source.error().text());
    CHECK(source->origin == (folder->path() / "demo-1.0.tar.gz").string());
    CHECK(source->sha256 == index.promised);
    CHECK(index.downloads() == 0);
}

TEST_CASE("an index in a folder is read like one over HTTP; a missing folder is an error") {
    Index index;
    const auto tree = base::TempDir::make("my wheels");
    REQUIRE(tree.has_value());
    REQUIRE(base::make_directories(tree->path() / "simple/demo"));
    testing::write(tree->path() / "demo-1.0.tar.gz", index.sdist);
    testing::write(tree->path() / "simple/demo/index.html",
                   "<a href=\"../../demo-1.0.tar.gz#sha256=" + index.promised + "\">demo-1.0.tar.gz</a>");
    simple::PipConfig pip;
    pip.values["index-url"] = {base::file_url(tree->path().native()) + "/simple/", "PIP_INDEX_URL"};
    Sources sources(index.http, index.work.path(), pip, {});
    const auto source = sources.fetch(default_recipe("demo"), "1.0", {});
    REQUIRE_MESSAGE(source.has_value(), source.error().text());
    CHECK(source->origin == base::file_url((tree->path() / "demo-1.0.tar.gz").native()));
    CHECK(source->sha256 == index.promised);
    CHECK(sources.offers("other")->sdists.empty());
    base::fs::remove_all(tree->path() / "simple");
    const auto away = sources.offers("demo");
    REQUIRE(!away.has_value());
    CHECK(away.error().code == "os.ENOENT");
}

// The warnings are those of pip 23.0 in _internal/index/sources.py.
TEST_CASE("a find-links folder that is not there is ignored with pip's warning, once") {
    Index index;
    const std::string missing = (index.work.path() / "unmounted").string();
    simple::PipConfig pip = index.config();
    pip.values["find-links"] = {missing + " file://" + missing, "PIP_FIND_LINKS"};
    std::vector<std::string> warnings;
    Sources sources(index.http, index.work.path(), pip, {},
                    [&](const std::string& text) { warnings.push_back(text); });
    for (int count = 0; count < 2; ++count) {
        const auto offers = sources.offers("demo");
        REQUIRE_MESSAGE(offers.has_value(), offers.error().text());
        CHECK(offers->sdists.size() == 1);
        CHECK(!offers->unanswered);
    }
    CHECK(warnings ==
          std::vector<std::string>{
              "Location '" + missing +
                  "' is ignored: it is either a non-existing path or lacks a specific scheme.",
              "Location 'file://" + missing + "' is ignored: it is neither a file nor a directory."});
}

TEST_CASE("an extra index that does not answer is left out, but a version that it may have is not given up") {
    Index index;
    std::string dead;
    {
        LoopbackServer gone([](const LoopbackRequest&) { return LoopbackAnswer{}; });
        dead = gone.url("/simple/");
    }
    for (const char* option : {"extra-index-url", "find-links"}) {
        simple::PipConfig pip = index.config();
        pip.values[option] = {dead, option};
        std::vector<std::string> warnings;
        Sources sources(index.http, index.work.path(), pip, {},
                        [&](const std::string& text) { warnings.push_back(text); });
        const auto offers = sources.offers("demo");
        REQUIRE_MESSAGE(offers.has_value(), offers.error().text());
        CHECK(offers->sdists.size() == 1);
        CHECK(offers->unanswered.has_value());
        REQUIRE(warnings.size() == 1);
        CHECK(warnings[0].starts_with("Could not fetch URL " + dead + ": "));
        CHECK(sources.fetch(default_recipe("demo"), "1.0", {}).has_value());
        const auto other = sources.fetch(default_recipe("demo"), "2.0", {});
        REQUIRE(!other.has_value());
        CHECK(other.error().code != "source.absent");
    }
    simple::PipConfig pip = index.config();
    pip.values["index-url"] = {dead, "PIP_INDEX_URL"};
    pip.values["extra-index-url"] = {index.server.url("/simple/"), "PIP_EXTRA_INDEX_URL"};
    Sources sources(index.http, index.work.path(), pip, {});
    CHECK(!sources.offers("demo").has_value());
}

TEST_CASE("for an upstream without an index, pip's places are asked and reported") {
    LoopbackServer server{[](const LoopbackRequest& request) -> LoopbackAnswer {
        if (request.target != "/simple/demo/") return {.status = 404, .body = "absent"};
        return {.body =
                    "<a href=\"/f/demo-1.0.tar.gz\">demo-1.0.tar.gz</a>"
                    "<a href=\"/f/demo-1.1-py3-none-any.whl\" data-requires-python=\"&gt;=3.12\">"
                    "demo-1.1-py3-none-any.whl</a>",
                .headers = {{"Content-Type", "text/html"}}};
    }};
    const auto folder = base::TempDir::make("links");
    REQUIRE(folder.has_value());
    testing::write(folder->path() / "demo-1.2-py3-none-any.whl", "");
    testing::write(folder->path() / "other-1.3-py3-none-any.whl", "");
    simple::PipConfig pip;
    pip.values["index-url"] = {server.url("/simple/"), "PIP_INDEX_URL"};
    pip.values["find-links"] = {folder->path().string(), "PIP_FIND_LINKS"};
    io::HttpClient http;
    Sources sources(http, folder->path(), pip, {});
    Recipe recipe = default_recipe("demo");
    recipe.source = SourceKind::upstream;
    const auto offers = sources.offers(recipe);
    REQUIRE_MESSAGE(offers.has_value(), offers.error().text());
    std::vector<std::string> versions;
    for (const auto& found : offers->wheels)
        versions.push_back(found.version.text());
    CHECK(versions == std::vector<std::string>{"1.2", "1.1"});
    CHECK(offers->wheels.at(1).requires_python == ">=3.12");
    const auto source = sources.fetch(recipe, "1.1", {});
    REQUIRE(source.has_value());
    CHECK(source->origin == folder->path().string() + ", " + server.url("/simple/"));
    recipe.index = server.url("/simple/");
    CHECK(sources.offers(recipe)->wheels.size() == 1);
    CHECK(sources.fetch(recipe, "1.1", {})->origin == server.url("/simple/"));
}

TEST_CASE("a tarball is fetched from its URL and requires a digest") {
    Index index;
    Recipe recipe = default_recipe("demo");
    recipe.source = SourceKind::tarball;
    recipe.url = index.server.url("/f/demo-{version}.tar.gz");
    const auto unpinned = index.sources.fetch(recipe, "1.0", {});
    REQUIRE(!unpinned.has_value());
    CHECK(unpinned.error().code == "source.unpinned");
    recipe.sha256["1.0"] = index.promised;
    CHECK(index.sources.fetch(recipe, "1.0", {}).has_value());
}

TEST_CASE("an archive beside the build is downloaded once, checked, and unpacked without its top folder") {
    Index index;
    Recipe recipe = default_recipe("demo");
    recipe.beside = {{"extra", index.server.url("/f/demo-1.0.tar.gz"), "", index.promised}};
    const fs::path build = index.work.path() / "build";
    REQUIRE(index.sources.put_beside(recipe, build, no_hurry).has_value());
    CHECK(fs::exists(build / "beside/extra/setup.py"));
    CHECK(std::distance(fs::directory_iterator(build / "beside"), fs::directory_iterator()) == 1);
    REQUIRE(index.sources.put_beside(recipe, index.work.path() / "other", no_hurry).has_value());
    CHECK(index.downloads() == 1);

    recipe.beside.front().sha256 = base::sha256_hex("other bytes");
    const auto refused = index.sources.put_beside(recipe, index.work.path() / "third", no_hurry);
    REQUIRE(!refused.has_value());
    CHECK(refused.error().code == "source.hash_mismatch");
    CHECK(!fs::exists(index.work.path() / "third/beside/extra"));
}

// While it lives, no file of this process grows beyond `bytes`: a write fails with EFBIG, as one on a full disk fails.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t bytes) {
        before_ = std::signal(SIGXFSZ, SIG_IGN);
        REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit_) == 0);
        const rlimit lower{bytes, limit_.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &lower) == 0);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &limit_);
        std::signal(SIGXFSZ, before_);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

  private:
    rlimit limit_ = {};
    void (*before_)(int) = nullptr;
};

TEST_CASE("an archive beside the build that cannot be written leaves nothing of itself") {
    Index index;
    index.sdist = tarball("mkdir demo-1.0; head -c 4M /dev/zero > demo-1.0/zeros; tar cz demo-1.0");
    Recipe recipe = default_recipe("demo");
    recipe.beside = {{"extra", index.server.url("/f/demo-1.0.tar.gz"), "", base::sha256_hex(index.sdist)}};
    const fs::path build = index.work.path() / "build";
    {
        const FileSizeLimit limit(1024 * 1024);
        const auto failed = index.sources.put_beside(recipe, build, no_hurry);
        REQUIRE(!failed.has_value());
        CHECK(failed.error().os_error == EFBIG);
    }
    CHECK(fs::is_empty(build / "beside"));
    CHECK(index.sources.put_beside(recipe, build, no_hurry).has_value());
    CHECK(fs::file_size(build / "beside/extra/zeros") == 4U * 1024 * 1024);
}

TEST_CASE("an archive without exactly one folder is refused") {
    Index index;
    index.sdist = tarball("echo > a; echo > b; tar cz a b");
    index.promised = base::sha256_hex(index.sdist);
    auto source = index.sources.fetch(default_recipe("demo"), "1.0", {});
    REQUIRE(source.has_value());
    const auto unpacked =
        index.sources.unpack(default_recipe("demo"), *source, index.work.path() / "tree", no_hurry);
    REQUIRE(!unpacked.has_value());
    CHECK(unpacked.error().code == "source.layout");
}

TEST_CASE(
    "unpacking calls `keep_alive` while it removes the old tree and extracts the archive, and ends if that "
    "fails") {
    Index index;
    index.sdist = tarball("mkdir demo-1.0; touch demo-1.0/{1,2,3,4}; tar cz demo-1.0");
    index.promised = base::sha256_hex(index.sdist);
    const Recipe recipe = default_recipe("demo");
    auto source = index.sources.fetch(recipe, "1.0", {});
    REQUIRE(source.has_value());
    const fs::path tree = index.work.path() / "tree", old = tree / "old/file";
    const auto unpacked_files = [&tree] {
        std::error_code none;
        return std::distance(fs::directory_iterator(tree / "demo-1.0", none), fs::directory_iterator());
    };
    int calls = 0;
    bool while_removing = false, while_unpacking = false;
    const auto unpack = [&](int failing_call) {
        calls = 0;
        testing::write(old, "");
        return index.sources.unpack(recipe, *source, tree, [&, failing_call]() -> base::Status {
            while_removing = while_removing || fs::exists(old);
            while_unpacking = while_unpacking || (unpacked_files() > 0 && unpacked_files() < 4);
            if (++calls == failing_call)
                return base::fail_as(base::ErrorKind::lost, base::Recovery::never,
                                     {"lock.lost", "taken over"});
            return {};
        });
    };
    testing::must(unpack(0));
    CHECK(unpacked_files() == 4);
    CHECK(while_removing);
    CHECK(while_unpacking);
    const int all_calls = calls;
    for (int failing_call = 1; failing_call <= all_calls; ++failing_call) {
        CAPTURE(failing_call);
        fs::remove_all(tree);
        const auto ended = unpack(failing_call);
        REQUIRE(!ended.has_value());
        CHECK(ended.error().code == "lock.lost");
        CHECK(calls == failing_call);  // it asks no more and goes on with nothing
        CHECK(unpacked_files() < 4);
    }
}

TEST_CASE("sweep() removes the remains of a killed download") {
    Index index;
    testing::write(index.work.path() / "sources" / "incoming-abc" / "file", "half");
    testing::must(index.sources.sweep({}));
    CHECK(!fs::exists(index.work.path() / "sources" / "incoming-abc"));
}

}  // namespace
}  // namespace wheelyard::builder
