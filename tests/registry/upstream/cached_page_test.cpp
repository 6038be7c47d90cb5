// Cached pages: the first hash of a name stays, in every order of events, and the file format keeps everything.
#include "registry/upstream/cached_page.hpp"

#include <doctest/doctest.h>

#include "tests/support/golden.hpp"

using namespace wheelyard;
using registry::CachedPage;
using registry::merge_page;
using registry::MergedPage;

namespace {

constexpr base::UnixMicros noon = 1'700'000'000'000'000;
const std::string hash_a(64, 'a');
const std::string hash_b(64, 'b');

simple::FileLink link_of(const std::string& filename, const std::string& sha256) {
    simple::FileLink made;
    made.filename = filename;
    made.url = "https://files.example.org/" + filename;
    made.sha256 = sha256;
    made.size_bytes = 10;
    made.has_metadata = true;
    made.metadata_sha256 = hash_b;
    made.provenance_url = "https://index.example.org/integrity/" + filename;
    return made;
}

simple::ProjectPage page_of(std::vector<simple::FileLink> files) {
    simple::ProjectPage page;
    page.files = std::move(files);
    return page;
}

const std::string six = "six-1.0-py3-none-any.whl";

}  // namespace

TEST_CASE("another hash for a known name is an alarm, once, and the first hash stays") {
    const MergedPage first = merge_page(nullptr, page_of({link_of(six, hash_a)}), noon);
    CHECK(first.alarms.empty());
    const MergedPage second = merge_page(&first.page, page_of({link_of(six, hash_b)}), noon + 5);
    REQUIRE(second.alarms.size() == 1);
    CHECK(second.alarms[0].pinned == hash_a);
    CHECK(second.alarms[0].claimed == hash_b);
    REQUIRE(second.page.files.size() == 1);
    CHECK(second.page.files[0].link.sha256 == hash_a);
    CHECK(second.page.files[0].first_seen == noon);
    CHECK(second.page.files[0].is_changed);
    CHECK_FALSE(second.page.files[0].link.has_metadata);  // it is that of other bytes
    CHECK(second.page.files[0].link.provenance_url.empty());
    CHECK(merge_page(&second.page, page_of({link_of(six, hash_b)}), noon + 9).alarms.empty());
    const MergedPage back = merge_page(&second.page, page_of({link_of(six, hash_a)}), noon + 9);
    CHECK_FALSE(back.page.files[0].is_changed);
    CHECK(back.alarms.empty());
}

// PEP 825: the file may grow.
TEST_CASE("what the variants of a version are may change without an alarm, and leaves no pin") {
    const std::string variants = "six-1.0-variants.json";
    const MergedPage first = merge_page(nullptr, page_of({link_of(variants, hash_a)}), noon);
    const MergedPage second = merge_page(&first.page, page_of({link_of(variants, hash_b)}), noon + 5);
    CHECK(second.alarms.empty());
    CHECK(second.page.files[0].link.sha256 == hash_b);
    CHECK_FALSE(second.page.files[0].is_changed);
    CHECK(merge_page(&second.page, page_of({}), noon + 9).page.gone.empty());
}

TEST_CASE("of two links with one name the first counts, and the files after them are kept") {
    const std::string seven = "seven-1.0-py3-none-any.whl";
    const MergedPage merged = merge_page(
        nullptr, page_of({link_of(six, hash_a), link_of(six, hash_b), link_of(seven, hash_b)}), noon);
    CHECK(merged.alarms.empty());
    REQUIRE(merged.page.files.size() == 2);
    CHECK(merged.page.files[0].link.sha256 == hash_a);
    CHECK(merged.page.files[1].link.filename == seven);
}

TEST_CASE("a name that left the page keeps its pin, also when the whole project left") {
    const MergedPage first = merge_page(nullptr, page_of({link_of(six, hash_a)}), noon);
    const MergedPage empty = merge_page(&first.page, page_of({}), noon + 1);
    const CachedPage absent = registry::absent_page(&empty.page);
    CHECK(absent.is_absent);
    for (const CachedPage* before : {&empty.page, &absent}) {
        const MergedPage again = merge_page(before, page_of({link_of(six, hash_b)}), noon + 2);
        CHECK(again.alarms.size() == 1);
        CHECK(again.page.files[0].link.sha256 == hash_a);
        CHECK(again.page.gone.empty());
    }
}

TEST_CASE("of two links with one name the first counts") {
    const MergedPage merged =
        merge_page(nullptr, page_of({link_of(six, hash_a), link_of(six, hash_b)}), noon);
    REQUIRE(merged.page.files.size() == 1);
    CHECK(merged.page.files[0].link.sha256 == hash_a);
}

TEST_CASE("a page without upload times has those of the first sight") {
    simple::FileLink dated = link_of("six-2.0-py3-none-any.whl", hash_b);
    dated.upload_time = 1'577'836'800'000'000;
    const MergedPage merged = merge_page(nullptr, page_of({link_of(six, hash_a), dated}), noon);
    CHECK(merged.page.files[0].link.upload_time == noon);
    CHECK(merged.page.files[1].link.upload_time == 1'577'836'800'000'000);
}

TEST_CASE("a mirror does not promise the documents that another registry has beside a file") {
    simple::FileLink theirs = link_of(six, hash_a);
    theirs.provenance_sha256 = hash_b;
    theirs.attestations_sha256 = hash_b;
    const MergedPage merged = merge_page(nullptr, page_of({theirs}), noon);
    CHECK(merged.page.files[0].link.provenance_sha256.empty());
    CHECK(merged.page.files[0].link.attestations_sha256.empty());
}

TEST_CASE("a cached page survives its file") {
    simple::FileLink odd = link_of("six-2.0-py3-none-any.whl", "");
    odd.yanked = true;
    odd.yanked_reason = "broken \"here\"";
    odd.size_bytes = 0;
    odd.has_metadata = false;
    odd.requires_python = ">=3.8";
    MergedPage merged = merge_page(nullptr, page_of({link_of(six, hash_a), odd}), noon);
    merged.page.checked = noon;
    merged.page.fresh_until = noon + 600;
    merged.page.etag = "\"x\"";
    merged.page.gone.push_back({"old-1.0.tar.gz", hash_b, noon - 1});
    merged.page.missing.push_back({"old-1.0.tar.gz", noon});
    const std::string text = registry::render_cached_page(merged.page);
    const auto read = registry::parse_cached_page(text);
    REQUIRE(read.has_value());
    CHECK(registry::render_cached_page(*read) == text);
    CHECK(read->files[1].link.yanked_reason == odd.yanked_reason);
    CHECK(read->files[1].link.size_bytes == 0);
    CHECK(read->gone[0].sha256 == hash_b);
    CHECK(read->missing[0].since == noon);
}

TEST_CASE("the bytes of a cached page stay as they were stored") {
    simple::FileLink odd = link_of("six-2.0-py3-none-any.whl", "");
    odd.yanked = true;
    odd.size_bytes = 0;
    odd.requires_python = ">=3.8";
    odd.metadata_sha256.clear();
    simple::FileLink bare = link_of("six-3.0-py3-none-any.whl", hash_b);
    bare.has_metadata = false;
    bare.provenance_url.clear();
    bare.size_bytes = 0;
    MergedPage merged = merge_page(nullptr, page_of({link_of(six, hash_a), odd, bare}), noon);
    merged.page.files[0].is_changed = true;
    merged.page.gone.push_back({"old-1.0.tar.gz", hash_b, noon - 1});
    merged.page.missing.push_back({"old-1.0.tar.gz", noon});
    const std::string text = registry::render_cached_page(merged.page);
    CHECK(test_support::golden_difference("registry/cached_page.json",
                                          text + "\n" + registry::render_cached_page({}) + "\n") == "");
    const CachedPage read = registry::parse_cached_page(text).value();
    CHECK(registry::render_cached_page(read) == text);
    CHECK(read.files[1].link.yanked);
    CHECK(read.files[1].link.has_metadata);
}

TEST_CASE("a page with a link without a file name can be read again") {
    MergedPage merged = merge_page(nullptr, page_of({link_of("", hash_a)}), noon);
    merged.page.gone.push_back({"", hash_b, noon});
    const auto read = registry::parse_cached_page(registry::render_cached_page(merged.page));
    REQUIRE(read.has_value());
    CHECK(read->files.size() == 1);
    CHECK(read->gone.size() == 1);
}

TEST_CASE("a page knows whether the upstream had another address") {
    registry::CachedPage page;
    CHECK_FALSE(page.is_of_other("https://a.example.org/simple/"));  // of an earlier version
    page.from = "https://a.example.org/simple/";
    const auto read = registry::parse_cached_page(registry::render_cached_page(page));
    REQUIRE(read.has_value());
    CHECK_FALSE(read->is_of_other("https://a.example.org/simple/"));
    CHECK(read->is_of_other("https://b.example.org/simple/"));
}

TEST_CASE("a file that is no cached page, or has a hash that is none, is refused") {
    for (
        const char* text :
        {"", "{}", R"({"format":"other/1","checked":1})", R"({"format":"wheelyard.upstream-page/1"})",
         R"({"format":"wheelyard.upstream-page/1","checked":1,"files":[{"filename":"a","url":"u","sha256":"../../x","first_seen":1}]})"})
        CHECK_FALSE(registry::parse_cached_page(text).has_value());
}
