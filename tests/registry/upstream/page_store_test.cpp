// The cached pages of upstreams as files: what a restarted registry still knows.
#include "registry/upstream/page_store.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "registry/upstream/offer.hpp"

using namespace wheelyard;
using registry::CachedPage;
using registry::PageStore;

namespace {

CachedPage page_of_one_file() {
    simple::FileLink link;
    link.filename = "six-1.0-py3-none-any.whl";
    link.url = "https://files.example.org/" + link.filename;
    link.sha256 = std::string(64, 'a');
    CachedPage page;
    page.files.push_back({.link = link, .first_seen = 1'700'000'000'000'000});
    return page;
}

}  // namespace

TEST_CASE("a page is still known after a restart") {
    const base::TempDir dir = base::TempDir::make("pages").value();
    REQUIRE(PageStore(dir.path() / "upstream").put("main.up", "six", page_of_one_file()).has_value());
    PageStore restarted(dir.path() / "upstream");
    const registry::SharedPage page = restarted.find("main.up", "six");
    REQUIRE(page != nullptr);
    REQUIRE(page->files.size() == 1);
    CHECK(page->files[0].link.filename == "six-1.0-py3-none-any.whl");
    CHECK(restarted.find("other.up", "six") == nullptr);
}

TEST_CASE("a project that never was there takes no disk, one that left the upstream is remembered") {
    const base::TempDir dir = base::TempDir::make("pages").value();
    const auto folder = dir.path() / "upstream";
    PageStore store(folder);
    REQUIRE(store.put("main.up", "no-such-project", registry::absent_page(nullptr)).has_value());
    CHECK(store.find("main.up", "no-such-project")->is_absent);
    CHECK_FALSE(std::filesystem::exists(folder));
    const CachedPage before = page_of_one_file();
    REQUIRE(store.put("main.up", "six", registry::absent_page(&before)).has_value());
    const registry::SharedPage left = PageStore(folder).find("main.up", "six");
    REQUIRE(left != nullptr);
    CHECK(left->is_absent);
    CHECK(left->gone.size() == 1);
}

TEST_CASE("who supplies a project stays known whatever the upstream answers, until it is released") {
    const base::TempDir dir = base::TempDir::make("pages").value();
    const auto folder = dir.path() / "upstream";
    PageStore server(folder);
    REQUIRE(server.put("main.up", "six", page_of_one_file()));
    REQUIRE(server.note_supply("main.up", "six", {"main"}));
    REQUIRE(server.note_supply("main.up", "six", {"gpu"}));
    REQUIRE(server.note_supply("main.up", "six", {"main"}));
    const CachedPage fetched_before = *server.find("main.up", "six");
    REQUIRE(server.put("main.up", "six", page_of_one_file()));
    CHECK(PageStore(folder).find("main.up", "six")->supplies == std::vector<std::string>{"main", "gpu"});

    REQUIRE(PageStore(folder).release("main.up", "six", "it moved", 7));  // a command beside the server
    registry::SharedPage released = server.find("main.up", "six");
    CHECK(released->is_absent);
    CHECK(released->supplies.empty());
    CHECK(released->released == 7);
    CHECK(released->released_because == "it moved");
    CHECK(released->gone.size() == 1);  // its hash stays pinned
    // An answer of the upstream that was on its way.
    REQUIRE(server.put("main.up", "six", registry::kept_page(fetched_before, 8)));
    released = server.find("main.up", "six");
    CHECK(released->is_absent);
    CHECK(released->supplies.empty());
    REQUIRE(server.put("main.up", "six", page_of_one_file()));
    CHECK(server.find("main.up", "six")->released == 0);
}

TEST_CASE(
    "a page that lists what the upstream has no more is asked for again, and stays as it is until then") {
    const base::TempDir dir = base::TempDir::make("pages").value();
    const auto folder = dir.path() / "upstream";
    PageStore store(folder);
    CachedPage page = page_of_one_file();
    page.fresh_until = 7;
    REQUIRE(store.put("main.up", "six", page));
    REQUIRE(store.note_supply("main.up", "six", {"main"}));
    REQUIRE(store.expire("main.up", "six"));
    CHECK(store.head("main.up", "six")->fresh_until == 0);
    const registry::SharedPage expired = PageStore(folder).find("main.up", "six");
    REQUIRE(expired != nullptr);
    CHECK(expired->fresh_until == 0);
    CHECK(expired->files.size() == 1);
    CHECK(expired->supplies == std::vector<std::string>{"main"});
    REQUIRE(store.expire("main.up", "none"));
    CHECK(store.find("main.up", "none") == nullptr);
}

TEST_CASE("a page without files supplies nobody") {  // it may be a captive portal's
    const base::TempDir dir = base::TempDir::make("pages").value();
    PageStore store(dir.path() / "upstream");
    REQUIRE(store.put("main.up", "six", CachedPage{}));
    REQUIRE(store.note_supply("main.up", "six", {"main"}));
    CHECK(store.find("main.up", "six")->supplies.empty());
}

TEST_CASE(
    "a project that was never asked for can be released, and a damaged page is no sign that there was none") {
    const base::TempDir dir = base::TempDir::make("pages").value();
    const auto folder = dir.path() / "upstream";
    REQUIRE(PageStore(folder).release("main.up", "six", "x", 7));
    CHECK(PageStore(folder).find("main.up", "six")->released == 7);
    REQUIRE(PageStore(folder).put("main.up", "seven", page_of_one_file()));
    std::filesystem::resize_file(folder / "main.up/pages/seven.json", 10);
    const registry::SharedPage damaged = PageStore(folder).find("main.up", "seven");
    REQUIRE(damaged != nullptr);
    CHECK(damaged->absent_since != 0);
}

TEST_CASE("the head of a page is the same until the page changes, and is all that an absent one has") {
    const base::TempDir dir = base::TempDir::make("pages").value();
    PageStore store(dir.path() / "upstream");
    CHECK(store.head("main.up", "six") == nullptr);
    REQUIRE(store.put("main.up", "six", page_of_one_file()));
    const registry::SharedPage head = store.head("main.up", "six");
    REQUIRE(head != nullptr);
    CHECK(head->files.empty());
    CHECK(store.find("main.up", "six")->files.size() == 1);
    CHECK(store.head("main.up", "six") == head);
    REQUIRE(
        PageStore(dir.path() / "upstream").put("main.up", "six", registry::kept_page(page_of_one_file(), 5)));
    CHECK(store.head("main.up", "six")->absent_since == 5);  // another process wrote it
    REQUIRE(store.put("main.up", "none", registry::absent_page(nullptr)));
    CHECK(store.head("main.up", "none") == store.find("main.up", "none"));
}

TEST_CASE("pages in memory are bounded by their bytes, and all are still there") {
    const base::TempDir dir = base::TempDir::make("pages").value();
    PageStore store(dir.path() / "upstream");
    CachedPage large = page_of_one_file();
    large.files.resize(20'000, large.files[0]);
    for (int i = 0; i < 6; ++i)
        REQUIRE(store.put("main.up", "six" + std::to_string(i), large));
    CHECK(store.memory_bytes() < 2 * registry::max_pages_bytes);
    const std::uint64_t one = store.memory_bytes();
    CHECK(one > 5'000'000);
    for (int i = 0; i < 6; ++i)
        CHECK(store.find("main.up", "six" + std::to_string(i))->files.size() == 20'000);
}

TEST_CASE("of a version's variants the last state is kept, and of each METADATA its bytes") {
    const base::TempDir dir = base::TempDir::make("pages").value();
    const auto folder = dir.path() / "upstream";
    PageStore store(folder);
    registry::UpstreamFile file;
    const auto put = [&](const std::string& filename, const std::string& bytes) {
        file.link.filename = filename;
        file.link.sha256 = file.link.metadata_sha256 = base::sha256_hex(bytes);
        file.link.has_metadata = true;
        REQUIRE(store.put_metadata("main.up", key_of_text(file), bytes));
    };
    const auto has = [&](const std::string& bytes) {
        const auto found = store.find_metadata("main.up", key_of_text(file), base::sha256_hex(bytes));
        return found != nullptr && *found == bytes;
    };
    put("six-1.0-variants.json", "{}");
    put("six-2.0-variants.json", "{}");  // of another version, with the same bytes
    put("six-1.0-variants.json", "[]");
    CHECK(has("[]"));
    CHECK_FALSE(has("{}"));
    file.link.filename = "six-2.0-variants.json";
    CHECK(has("{}"));
    put("six-1.0-py3-none-any.whl", "Name: six");
    CHECK(has("Name: six"));
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        files += entry.is_regular_file() ? 1U : 0U;
    CHECK(files == 3);
}

TEST_CASE("what is kept beside a file goes when its page no longer lists the file") {
    const base::TempDir dir = base::TempDir::make("pages").value();
    const auto folder = dir.path() / "upstream";
    PageStore store(folder);
    const auto file_named = [](const std::string& filename, char digit) {
        registry::UpstreamFile file = page_of_one_file().files[0];
        file.link.filename = filename;
        file.link.sha256 = std::string(64, digit);
        file.link.has_metadata = true;
        file.link.metadata_sha256 = base::sha256_hex(std::string("Name: six") + digit);
        file.link.provenance_url = "https://index.example.org/" + filename;
        return file;
    };
    const std::vector<registry::UpstreamFile> files{file_named("six-1.0-py3-none-any.whl", '1'),
                                                    file_named("six-2.0-py3-none-any.whl", '2'),
                                                    file_named("six-2.0-variants.json", '3')};
    const auto is_kept = [&](const registry::UpstreamFile& file) {
        const bool has_text = store.find_text("main.up", key_of_text(file)) != nullptr;
        CHECK(has_text == (store.find_text("main.up", key_of_attestations(file)) != nullptr));
        return has_text;
    };
    const auto put = [&](std::vector<registry::UpstreamFile> of_page) {
        CachedPage page;
        page.files = std::move(of_page);
        REQUIRE(store.put("main.up", "six", std::move(page)).has_value());
    };
    put(files);
    for (const registry::UpstreamFile& file : files) {
        REQUIRE(store.put_metadata("main.up", key_of_text(file), "Name: six").has_value());
        REQUIRE(store.put_metadata("main.up", key_of_attestations(file), "{}").has_value());
    }
    put(files);
    for (const registry::UpstreamFile& file : files)
        CHECK(is_kept(file));
    put({files[1]});
    CHECK_FALSE(is_kept(files[0]));
    CHECK(is_kept(files[1]));
    CHECK_FALSE(is_kept(files[2]));
    REQUIRE(store.release("main.up", "six", "moved", 1).has_value());
    CHECK_FALSE(is_kept(files[1]));
    CHECK(std::filesystem::exists(folder / "main.up" / "metadata"));
}
