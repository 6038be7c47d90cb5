// The cached pages of upstreams as files: what a restarted registry still knows.
#include "registry/upstream/page_store.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "lib/base/files/temp_dir.hpp"

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
    page.files.push_back(
        {.link = link, .upload_time = 1'700'000'000'000'000, .first_seen = 1'700'000'000'000'000});
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
