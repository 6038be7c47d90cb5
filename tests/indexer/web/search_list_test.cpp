// The search as files: whatever changed in which order, the files are those of the rows.
#include "indexer/web/search_list.hpp"

#include <doctest/doctest.h>

#include <random>

#include "indexer/web/limits.hpp"
#include "lib/base/limits.hpp"
#include "lib/io/json.hpp"
#include "lib/page/places.hpp"
#include "tests/indexer/sample_view.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

class MapFiles final : public ShardFiles {
  public:
    std::map<std::string, std::string> files = {};
    std::size_t writes = 0;
    std::size_t bytes = 0;
    base::Result<std::string> read(const std::string& file) override {
        const auto found = files.find(file);
        return found == files.end() ? std::string() : found->second;
    }
    base::Status write(const std::string& file, std::string text) override {
        ++writes;
        bytes += text.size();
        files[file] = std::move(text);
        return {};
    }
    base::Status remove(const std::string& file) override {
        files.erase(file);
        return {};
    }
};

SearchEntry entry_of(const std::string& version, std::int64_t uploaded_s) {
    return {.version = version,
            .summary = "Tensors \"and\" fast GPU kernels",
            .keywords = "gpu",
            .pythons = {"3.12"},
            .machines = {"aarch64", "x86_64"},
            .gpus = {"sm_90"},
            .uses = {"CUDA"},
            .uploaded_s = uploaded_s};
}

// With few words and values: quick where there are many.
SearchEntry plain(const std::string& python) {
    SearchEntry entry;
    entry.version = "1.0";
    entry.summary = "Tensors";
    entry.pythons = {python};
    entry.uploaded_s = 1;
    return entry;
}

std::string name_of(std::size_t number) {
    constexpr std::array<std::string_view, 4> begins{"django-", "py", "torch-", "a"};
    std::string name(begins[number % begins.size()]);
    for (std::size_t rest = number * 7919 % 100'003; rest > 0; rest /= 26)
        name += static_cast<char>('a' + rest % 26);
    return name + std::to_string(number);
}

SearchChanges many(std::size_t count, const SearchEntry& entry) {
    SearchChanges changes;
    for (std::size_t number = 0; number < count; ++number) {
        SearchEntry& made = changes[name_of(number)].emplace(entry);
        made.uploaded_s = static_cast<std::int64_t>(number);
    }
    return changes;
}

// As the files of a search that was made at once.
std::map<std::string, std::string> made_at_once(const SearchChanges& changes) {
    MapFiles made;
    REQUIRE(update_search(made, {}, changes, true).has_value());
    return made.files;
}

// search.json is the one file that may know less: of its newest uploads, and nothing else.
void check_same(const MapFiles& found, const SearchChanges& changes) {
    auto wanted = made_at_once(changes);
    auto files = found.files;
    const auto top = parse_search_top(files[std::string(search_page_file)]);
    const auto wanted_top = parse_search_top(wanted[std::string(search_page_file)]);
    REQUIRE(top.has_value());
    REQUIRE(wanted_top.has_value());
    CHECK(top->count == wanted_top->count);
    for (const auto& [facet, values] : wanted_top->values)
        CHECK(top->values.at(facet) == values);
    REQUIRE(top->newest.size() >= std::min(top->count, max_newest));
    REQUIRE(top->newest.size() <= wanted_top->newest.size());
    for (std::size_t at = 0; at < top->newest.size(); ++at)
        CHECK(top->newest[at] == wanted_top->newest[at]);
    files.erase(std::string(search_page_file));
    wanted.erase(std::string(search_page_file));
    CHECK((files == wanted));
}

}  // namespace

TEST_CASE("the first file of a search is read as it was written, and another format is refused") {
    const SearchTop top{.count = 1,
                        .values = {{"python", {"3.12"}}, {"machine", {}}, {"gpu", {}}, {"uses", {"MPI"}}},
                        .newest = {{"sample", entry_of("1.0", 5)}}};
    const std::string text = render_search_top(top);
    const auto read = parse_search_top(text);
    REQUIRE(read.has_value());
    CHECK(read->newest == top.newest);
    CHECK(read->values.at("uses") == top.values.at("uses"));
    CHECK(text.starts_with(
        R"({"format":"wheelyard.search/2","count":1,"values":{"python":["3.12"],"machine":[],)"));
    for (const char* wrong :
         {"", "{}", R"({"format":"wheelyard.search/1","projects":[]})", R"({"format":"wheelyard.search/2"})",
          R"({"format":"wheelyard.search/2","count":1,"values":{},"newest":[["six"]]})"})
        CHECK_MESSAGE(!parse_search_top(wrong), wrong);
}

TEST_CASE("a project is found by what it is imported as, what it uses, needs and contains") {
    ProjectView view = make_project_view(
        "scikit-learn", {sample_row("1.5", "scikit_learn-1.5-cp312-cp312-linux_aarch64.whl", 'a')});
    view.files[0].facts_json = R"({"needed":{"mpi":["libmpi.so.40"],"system":["libc.so.6","libstdc++.so.6"]},
                                   "sbom":[{"name":"openblas","version":"0.3"}],"cuda_sm":["sm_90"]})";
    ProjectText text;
    text.keywords = "learning";
    CHECK(make_search_entry(view, text)->keywords == "sklearn CUDA MPI learning libmpi.so.40 openblas");
}

TEST_CASE("the search knows which version is for which Python and machine, where that is not the newest") {
    ProjectView view =
        make_project_view("six", {sample_row("1.0", "six-1.0-cp311-cp311-linux_x86_64.whl", 'a'),
                                  sample_row("1.0", "six-1.0-cp312-cp312-linux_aarch64.whl", 'b'),
                                  sample_row("2.0", "six-2.0-cp312-cp312-linux_x86_64.whl", 'c'),
                                  sample_row("2.1rc1", "six-2.1rc1-cp311-cp311-linux_x86_64.whl", 'd')});
    const SearchEntry entry = *make_search_entry(view, {});
    CHECK(entry.version == "2.0");
    CHECK(entry.fits == std::map<std::string, std::string>{
                            {"3.11 aarch64", ""}, {"3.11 x86_64", "1.0"}, {"3.12 aarch64", "1.0"}});
    MapFiles files;
    const auto top = update_search(files, {}, {{"six", entry}}, true);
    REQUIRE(top.has_value());
    const auto read = first_projects(files, 1);
    REQUIRE(read.has_value());
    CHECK(read->at("six").fits == entry.fits);
}

TEST_CASE("a small search is a file of names, one of words and one of each value") {
    MapFiles made;
    const auto top = update_search(made, {}, {{"flash-attn", entry_of("2.0", 7)}}, true);
    REQUIRE(top.has_value());
    const std::string row =
        R"(,"Tensors \"and\" fast GPU kernels","gpu",["3.12"],["aarch64","x86_64"],["sm_90"],["CUDA"],)";
    CHECK(made.files.at("search.name=.json") == R"({"format":"wheelyard.search/2","count":1,"rows":{)"
                                                "\n\"flash-attn\":[\"2.0\"" +
                                                    row + "7]}}\n");
    CHECK(made.files.at("search.gpu=sm_5f90_20.json").find("\"flash-attn\":[\"\"" + row + "0]") !=
          std::string::npos);
    const auto words = io::parse_json(made.files.at("search.word=.json"));
    REQUIRE(words.has_value());
    std::vector<std::string> keys;
    for (const auto& [key, value] : *words->find("rows")->as_object())
        keys.push_back(key);
    // Neither what begins the name, nor what every summary has.
    CHECK(keys == std::vector<std::string>{"attn flash-attn", "fast flash-attn", "gpu flash-attn",
                                           "kernels flash-attn", "tensors flash-attn"});
    for (const auto& [file, text] : made.files) {
        CHECK_MESSAGE((file == search_page_file || page::is_shard(file)), file);
    }
}

TEST_CASE(
    "a project whose files are all in quarantine is neither counted nor of the newest, until one is "
    "released") {
    MapFiles made;
    SearchChanges all = many(20, entry_of("1.0", 0));
    const auto held = make_search_entry({.project = "held", .files = {}, .quarantined = 1}, {});
    CHECK(!held);
    for (std::size_t number = 0; number < 15; ++number)
        all[name_of(number)] = held;
    auto top = update_search(made, {}, all, true);
    REQUIRE(top.has_value());
    CHECK(top->count == 5);
    REQUIRE(top->newest.size() == 5);
    CHECK(top->newest.front().first == name_of(19));
    CHECK(top->newest.back().first == name_of(15));
    top = update_search(made, *top, {{name_of(17), held}}, false);
    REQUIRE(top.has_value());
    CHECK(top->count == 4);
    CHECK(top->newest.size() == 4);
    top = update_search(made, *top, {{name_of(3), entry_of("1.0", 3)}}, false);  // the oldest of all
    REQUIRE(top.has_value());
    REQUIRE(top->newest.size() == 5);
    CHECK(top->newest.back().first == name_of(3));
}

TEST_CASE(
    "the row of a name has the GPU architectures of versions that differ, and other rows do not change with "
    "them") {
    MapFiles made;
    SearchEntry entry = entry_of("2.0", 7);
    const auto top = update_search(made, {}, {{"torch", entry}}, true);
    REQUIRE(top.has_value());
    entry.version_gpus = {{"1.0", {"sm_70", "sm_80"}}, {"0.9", {}}};
    auto changed = made;
    REQUIRE(update_search(changed, *top, {{"torch", entry}}, false).has_value());
    CHECK(changed.files.at("search.name=.json")
              .find("[\"CUDA\"],7,{\"0.9\":[],\"1.0\":[\"sm_70\",\"sm_80\"]}]") != std::string::npos);
    auto others = changed.files;
    others["search.name=.json"] = made.files.at("search.name=.json");
    CHECK(others == made.files);
    // The next run reads it again.
    others = changed.files;
    REQUIRE(update_search(changed, *top, {{"torch", entry}}, false).has_value());
    CHECK(changed.files == others);
}

TEST_CASE("no file of a large search has more rows than the limit, and every row is in it") {
    MapFiles made;
    const SearchChanges all = many(2'000, entry_of("1.0", 0));
    const auto top = update_search(made, {}, all, true);
    REQUIRE(top.has_value());
    CHECK(top->count == all.size());
    CHECK(top->newest.front().first == name_of(1'999));
    CHECK(made.files.at("search.name=.json").find("\"next\":{\"a\":500,\"d\":500,") != std::string::npos);
    for (const auto& [file, text] : made.files) {
        CHECK_MESSAGE(file.size() < 240, file);
        if (file != search_page_file) CHECK_MESSAGE(text.size() < 60'000, file);
    }
    SearchShards shards(made);
    std::vector<std::string> names;
    REQUIRE(shards.visit("name=", [&](const std::string& name, const ShardRow&) {
        names.push_back(name);
        return true;
    }));
    CHECK(names.size() == all.size());
    CHECK(std::is_sorted(names.begin(), names.end()));
    CHECK(first_projects(made, 3)->size() == 3);
    CHECK(first_projects(made, 3)->begin()->first == all.begin()->first);
}

TEST_CASE("a new version writes the file of its name and search.json, whatever the size of the index") {
    for (const std::size_t count : {100U, 2'000U}) {
        MapFiles made;
        const auto top = update_search(made, {}, many(count, plain("3.12")), true);
        REQUIRE(top.has_value());
        made.writes = made.bytes = 0;
        SearchEntry next = plain("3.12");
        next.version = "2.0";
        REQUIRE(update_search(made, *top, {{name_of(3), next}}, false).has_value());
        CHECK(made.writes == 2);
        CHECK(made.bytes < 60'000);
    }
}

TEST_CASE("whatever the order of changes, the files are those of the rows") {
    std::mt19937 random(7);
    MapFiles made;
    SearchChanges all = many(310, plain("3.12"));
    auto top = update_search(made, {}, all, true);
    REQUIRE(top.has_value());
    for (int round = 0; round < 10; ++round) {
        SearchChanges changes;
        // Grows beyond the limit of a file, and back below it.
        for (int change = 0; change < 10; ++change) {
            const std::string name = name_of(random() % 330);
            const bool removes = random() % 20 < (round < 5 ? 2U : 19U);
            SearchEntry entry = plain("3." + std::to_string(random() % 14));
            entry.uploaded_s = static_cast<std::int64_t>(random() % 1000);
            if (random() % 2 == 0) entry.summary = "Other words";
            for (const char* need : {"numpy", "scipy", "six"})
                if (random() % 2 == 0) entry.needs.emplace_back(need);
            changes[name] = removes ? std::nullopt : std::optional(entry);
        }
        for (const auto& [name, entry] : changes) {
            if (entry)
                all[name] = entry;
            else
                all.erase(name);
        }
        top = update_search(made, *top, changes, false);
        REQUIRE(top.has_value());
        if (round % 5 == 4) check_same(made, all);
    }
    SearchChanges none;
    for (const auto& [name, entry] : all)
        none[name] = std::nullopt;
    top = update_search(made, *top, none, false);
    REQUIRE(top.has_value());
    CHECK(top->newest.empty());
    check_same(made, {});
}

TEST_CASE("of a project that many others require, one more changes few small files") {
    for (const std::size_t count : {400U, 3'000U}) {
        SearchChanges all = many(count, plain("3.12"));
        for (auto& [name, entry] : all)
            entry->needs = {"numpy"};
        MapFiles made;
        const auto top = update_search(made, {}, all, true);
        REQUIRE(top.has_value());
        for (const auto& [file, text] : made.files) {
            if (file.starts_with("search.need")) CHECK_MESSAGE(text.size() < 20'000, file);
        }
        made.writes = made.bytes = 0;
        all["zeta"] = plain("3.12");
        all["zeta"]->needs = {"numpy"};
        REQUIRE(update_search(made, *top, {{"zeta", all["zeta"]}}, false).has_value());
        CHECK(made.writes < 40);
        CHECK(made.bytes < 20'000);
    }
}

TEST_CASE("what a project needs leads from each of those to it, and changes nothing else") {
    SearchChanges all = many(320, plain("3.12"));  // more than a file has
    for (auto& [name, entry] : all)
        entry->needs = {"numpy"};
    all["torch"] = plain("3.12");
    all["torch"]->needs = {"filelock", "numpy"};
    all["torch"]->extra_needs = {"pytest"};
    MapFiles made;
    auto top = update_search(made, {}, all, true);
    REQUIRE(top.has_value());
    const auto row_of = [&](const std::string& key) {
        const auto row = SearchShards(made).find("needed=", key);
        REQUIRE(row.has_value());
        return *row == nullptr ? std::string() : **row;
    };
    CHECK(row_of("filelock torch") == "[]");
    CHECK(row_of("pytest torch") == R"(["extra"])");
    CHECK(made.files.at("search.needed=numpy_20.json").find(R"("count":321,"next":)") != std::string::npos);
    // A new version with the same needs.
    made.writes = 0;
    all["torch"]->version = "2.0";
    top = update_search(made, *top, {{"torch", all["torch"]}}, false);
    CHECK(made.writes == 2);
    // One more and one less, and a project that leaves.
    all["torch"]->needs = {"jinja2", "numpy"};
    all["torch"]->extra_needs = {};
    made.writes = made.bytes = 0;
    top = update_search(made, *top, {{"torch", all["torch"]}}, false);
    REQUIRE(top.has_value());
    CHECK(made.writes < 10);
    CHECK(made.bytes < 60'000);
    CHECK(row_of("filelock torch").empty());
    CHECK(row_of("pytest torch").empty());
    CHECK(row_of("jinja2 torch") == "[]");
    check_same(made, all);
    all.erase("torch");
    top = update_search(made, *top, {{"torch", std::nullopt}}, false);
    REQUIRE(top.has_value());
    check_same(made, all);
}

TEST_CASE("a file that is missing or of another format is an error, not an empty search") {
    MapFiles made;
    const auto top = update_search(made, {}, many(2'000, entry_of("1.0", 0)), true);
    REQUIRE(top.has_value());
    const SearchChanges change{{name_of(1), entry_of("2.0", 1)}};
    MapFiles damaged = made;
    damaged.files["search.name=p.json"] = "{";
    CHECK(update_search(damaged, *top, change, false).error().code == "search.format");
    CHECK(first_projects(damaged, 5'000).error().code == "search.format");
    damaged.files.erase("search.name=p.json");
    CHECK(update_search(damaged, *top, change, false).error().kind == base::ErrorKind::malformed);
}
