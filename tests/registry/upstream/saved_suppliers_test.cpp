// What a backup keeps of upstreams, and what a restored store knows by it.
#include "registry/upstream/saved_suppliers.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "registry/upstream/page_store.hpp"
#include "registry/upstream/supplier.hpp"

using namespace wheelyard;
using registry::CachedPage;
using registry::PageStore;
using registry::SharedPage;

namespace {

struct SavedFixture {
    base::TempDir dir = base::TempDir::make("suppliers").value();
    std::filesystem::path pages = dir.path() / "upstream";
    std::filesystem::path backup = dir.path() / "backup";
    std::filesystem::path restored = dir.path() / "restored";
    std::filesystem::path list = backup / "suppliers.tsv";
    SavedFixture() { REQUIRE(base::make_directories(backup)); }

    static CachedPage page(const std::string& hash) {
        simple::FileLink link;
        link.filename = "six-1.0-py3-none-any.whl";
        link.url = "https://files.example.org/" + link.filename;
        link.sha256 = hash;
        CachedPage made;
        made.checked = 1'700'000'000'000'000;
        made.files.push_back({.link = link, .first_seen = 7});
        return made;
    }
    registry::Standing standing(const std::string& cache_index, const std::string& project) const {
        registry::UpstreamConfig upstream;
        upstream.url = "https://index.example.org/simple/";
        const registry::Candidate candidate{.upstream = &upstream};
        const SharedPage known = PageStore(restored).find(cache_index, project);
        return registry::standing_of(candidate, known.get());
    }
};

}  // namespace

TEST_CASE_FIXTURE(SavedFixture,
                  "a restored store knows who supplies a project, who released it, and the first hashes") {
    PageStore server(pages);
    const std::string hash(64, 'a');
    REQUIRE(server.put("main.up", "six", page(hash)));
    REQUIRE(server.note_supply("main.up", "six", {"main", "lab"}));
    REQUIRE(server.put("main.up", "empty", CachedPage{.checked = 5}));
    REQUIRE(server.put("other.up", "numpy", page(hash)));
    REQUIRE(server.release("other.up", "numpy", "it moved", 9));
    REQUIRE(base::make_directories(pages / "main.up" / "pages"));
    REQUIRE(base::replace_file(pages / "main.up" / "pages" / "torn.json", "{"));
    REQUIRE(registry::save_suppliers(pages, backup));
    REQUIRE(registry::restore_suppliers(backup, restored));
    const SharedPage six = PageStore(restored).find("main.up", "six");
    REQUIRE(six != nullptr);
    CHECK(six->supplies == std::vector<std::string>{"main", "lab"});
    CHECK(six->files.empty());
    REQUIRE(six->gone.size() == 1);
    CHECK(six->gone[0].sha256 == hash);
    CHECK(six->fresh_until == 0);  // asked again before it is shown
    CHECK(standing("main.up", "six") == registry::Standing::keeps);
    CHECK(standing("main.up", "torn") == registry::Standing::keeps);
    CHECK(standing("other.up", "numpy") == registry::Standing::passes);
    CHECK(PageStore(restored).find("other.up", "numpy")->released_because == "it moved");
    CHECK(PageStore(restored).find("main.up", "empty") == nullptr);
    // The next page of the upstream with another hash is the alarm that it would have been.
    simple::ProjectPage changed;
    changed.files.push_back(page(std::string(64, 'b')).files[0].link);
    const auto merged = registry::merge_page(six.get(), changed, 10);
    REQUIRE(merged.alarms.size() == 1);
    CHECK(merged.alarms[0].pinned == hash);
}

TEST_CASE_FIXTURE(SavedFixture,
                  "pages that are there stay, and a backup of an earlier version restores nothing") {
    REQUIRE(registry::restore_suppliers(backup, restored));
    CHECK_FALSE(std::filesystem::exists(restored));
    REQUIRE(registry::save_suppliers(pages, backup));
    CHECK_FALSE(std::filesystem::exists(list));
    REQUIRE(PageStore(pages).put("main.up", "six", page(std::string(64, 'a'))));
    REQUIRE(registry::save_suppliers(pages, backup));
    REQUIRE(PageStore(restored).put("main.up", "six", page(std::string(64, 'b'))));
    REQUIRE(registry::restore_suppliers(backup, restored));
    CHECK(PageStore(restored).find("main.up", "six")->files.size() == 1);
    // The next backup into the same folder says what is so now.
    std::filesystem::remove_all(pages);
    REQUIRE(registry::save_suppliers(pages, backup));
    CHECK(base::read_file(list, 1000).value() == "wheelyard.suppliers/1\n");
}

TEST_CASE_FIXTURE(SavedFixture, "a damaged list is refused, and names no file outside of the folder") {
    const std::string page_json =
        registry::render_cached_page({.is_absent = true, .checked = 1, .released = 1});
    const std::string head = "wheelyard.suppliers/1\n";
    for (const std::string& text :
         {std::string(), std::string("x\n"), head + "main.up\tsix\n", head + "main.up\tsix\t{}\n",
          head + "..\tsix\t" + page_json + "\n", head + "main.up\t../six\t" + page_json + "\n",
          head + "a/b.up\tsix\t" + page_json + "\n", head + "main.up\tsix\t" + page_json}) {
        CAPTURE(text);
        REQUIRE(base::replace_file(list, text));
        const auto refused = registry::restore_suppliers(backup, restored);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == "upstream.suppliers_file");
    }
    REQUIRE(base::replace_file(list, head + "main.up\tsix\t" + page_json + "\n"));
    CHECK(registry::restore_suppliers(backup, restored));
}
