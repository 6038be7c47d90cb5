// Verifying all pages of an index.
#include "lib/attest/verify_index.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <string>

#include "lib/attest/limits.hpp"
#include "lib/attest/page_list.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/digest/digest.hpp"
#include "tests/attest/samples.hpp"

namespace wheelyard::attest {
namespace {

constexpr base::UnixMicros valid_for = 7LL * 24 * 3600 * 1'000'000;

// An index as files, signed again whenever it is published.
struct IndexFiles {
    SigningKey key = SigningKey::generate();
    Root root = sample_root(SigningKey::generate(), key);
    std::map<std::string, std::string> files;
    std::int64_t serial = 0;
    std::function<void(const std::string& path)> on_read = {};

    void publish(const std::string& version) {
        PageHashes first;
        std::map<std::string, PageHashes> lists;
        for (const std::string project : {"", "six/", "torch/"}) {
            for (const std::string page : {"index.html", "index.json"}) {
                const std::string path = "simple/" + project + page;
                files[path] = path + " " + version;
                const std::string list =
                    project.empty() ? "" : page_list_of(project.substr(0, project.size() - 1));
                (list.empty() ? first : lists[list]).emplace(path, base::sha256_hex(files[path]));
            }
        }
        for (const auto& [path, lines] : lists) {
            files[path] = render_page_list(lines);
            first.emplace(path, base::sha256_hex(files[path]));
        }
        files[std::string(first_page_list)] = render_page_list(first);
        files[std::string(index_state_path)] =
            sign_index_state({.index = "main",
                              .serial = ++serial,
                              .time = sample_time,
                              .valid_until = sample_time + valid_for,
                              .pages = base::sha256_hex(files[std::string(first_page_list)])},
                             key);
    }
    base::ManualClock clock{sample_time};

    base::Result<VerifiedIndex> verify(const SeenState& seen = {}) {
        const ReadFile read = [&](const std::string& path) -> base::Result<std::optional<std::string>> {
            if (on_read) on_read(path);
            const auto found = files.find(path);
            if (found == files.end()) return std::nullopt;
            return std::optional(found->second);
        };
        return verify_index(read, root, "main", seen, clock);
    }
};

}  // namespace

TEST_CASE("an index whose pages are the signed ones is right; each other page is named") {
    IndexFiles at;
    at.publish("1");
    const auto good = at.verify();
    REQUIRE(good);
    CHECK(good->changed.empty());
    CHECK(good->pages == 6);
    CHECK(good->projects == std::vector<std::string>{"six", "torch"});
    CHECK(good->state.serial == 1);

    at.files["simple/six/index.json"] += " ";
    at.files.erase("simple/index.html");
    CHECK(at.verify()->changed == std::vector<std::string>{"simple/six/index.json", "simple/index.html"});
}

TEST_CASE("an index without a state, with an old one, or with lists of another one is refused") {
    IndexFiles at;
    at.publish("1");
    const auto before = at.files;
    at.publish("2");
    CHECK(at.verify({.history = 1, .serial = 3}).error().code == "attest.rollback");
    for (const std::string& path : {std::string(first_page_list), page_list_of("six")}) {
        const std::string good = at.files[path];
        at.files[path] = before.at(path);
        CHECK(at.verify().error().code == "attest.changed");
        at.files[path] = good;
    }
    at.files.erase(std::string(index_state_path));
    CHECK(at.verify().error().code == "attest.no_state");
}

TEST_CASE("an index that is published meanwhile is read again, but not for ever") {
    IndexFiles at;
    at.publish("1");
    int publishes = 0;
    at.on_read = [&](const std::string& path) {
        if (path == "simple/six/index.json" && publishes++ == 0) at.publish("2");
    };
    const auto verified = at.verify();
    REQUIRE(verified);
    CHECK(verified->changed.empty());
    CHECK(verified->state.serial == 2);

    at.on_read = [&](const std::string& path) {
        if (path == "simple/six/index.json") at.publish(std::to_string(++publishes));
    };
    const auto never = at.verify();
    REQUIRE(never);
    CHECK_FALSE(never->changed.empty());
}

TEST_CASE("a page that is signed some seconds later is right; one that never is was changed") {
    IndexFiles at;
    at.publish("1");
    const auto before = at.files;
    at.publish("2");
    const auto after = at.files;
    for (const auto& [path, text] : before) {
        if (path.starts_with("signed/")) at.files[path] = text;
    }
    const auto changed = at.verify();
    REQUIRE(changed);
    CHECK(changed->changed.size() == 6);
    CHECK(at.clock.now() == sample_time + max_publish_waits * publish_wait_ms * 1000);

    at.clock.set(sample_time);
    at.on_read = [&](const std::string&) {
        if (at.clock.now() >= sample_time + 3'000'000) at.files = after;
    };
    const auto verified = at.verify();
    REQUIRE(verified);
    CHECK(verified->changed.empty());
    CHECK(verified->state.serial == 2);
}

}  // namespace wheelyard::attest
