// The files of a search on a real disk, with names as an index has them: those of a public index begin and end in so many ways
// that their words fill some thousand files, where `project-N` fills forty.
#include "indexer/publish/search_files.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "indexer/web/search_list.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/gzip.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

std::vector<std::string> real_names() {
    const std::string packed =
        base::read_file(WHEELYARD_TEST_DATA "/indexer/web/data/names-10000.txt.gz", 1U << 20).value();
    const std::string text = io::gunzip(packed, 1U << 20).value();
    std::vector<std::string> names;
    for (const std::string_view line : base::split_lines(text)) {
        if (!line.empty()) names.emplace_back(line);
    }
    return names;
}

SearchChanges entries_of(const std::vector<std::string>& names) {
    constexpr std::array<std::string_view, 8> words{"torch", "data", "fast", "mpi",
                                                    "grid",  "hdf",  "net",  "tools"};
    SearchChanges changes;
    for (std::size_t at = 0; at < names.size(); ++at) {
        SearchEntry& entry = changes[names[at]].emplace();
        entry.version = "1.0";
        entry.summary =
            "A " + std::string(words[at % words.size()]) + " library for science " + std::to_string(at);
        entry.keywords = std::string(words[(at >> 4U) % words.size()]);
        entry.pythons = {"3.12"};
        entry.uploaded_s = static_cast<std::int64_t>(at);
    }
    return changes;
}

}  // namespace

TEST_CASE("a new search of 10,000 real names is all in its files, which are written some at a time") {
    const base::TempDir dir = base::TempDir::make("search-files").value();
    const std::vector<std::string> names = real_names();
    REQUIRE(names.size() == 10'000);
    LocalDisk disk;
    const std::filesystem::path folder = dir.path() / "project";
    SearchFiles files(disk, folder, false, true);
    REQUIRE(disk.begin_bulk(dir.path()));
    REQUIRE(update_search(files, {}, entries_of(names), true).has_value());
    REQUIRE(files.finish({}).has_value());
    REQUIRE(disk.end_bulk());
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        ++count;
        CHECK(entry.path().filename().native().find(".tmp.") == std::string::npos);
    }
    CHECK(count > 2'000);  // more than are kept in memory

    SearchFiles again(disk, folder, false, false);
    std::set<std::string> found;
    REQUIRE(SearchShards(again).visit("name=", [&](const std::string& name, const ShardRow&) {
        found.insert(name);
        return true;
    }));
    CHECK(found == std::set<std::string>(names.begin(), names.end()));
}
