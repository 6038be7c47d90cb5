#include "indexer/web/search_list.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "indexer/avail_wheels/query/wanted.hpp"
#include "indexer/web/install_box.hpp"
#include "indexer/web/limits.hpp"
#include "indexer/web/wheel_facts.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::indexer {

using io::Json;

namespace {

// The name of a facet's first file: deeper ones, compressed and half written, are within the 255 bytes of a
// file name. A value with a longer one, of a tag that somebody made up, is no choice of the search.
constexpr std::size_t max_facet_file_bytes = 80;
// Words of a project that find it, beside its name.
constexpr std::size_t max_search_words = 16;
// Versions of a project whose GPU architectures its row of the search states apart, some 30 bytes each.
constexpr std::size_t max_search_gpu_versions = 16;
// Newest uploads that search.json knows: max_newest, and as many that take the place of removed ones.
constexpr std::size_t max_known_newest = 16;
// The length of a summary in the search file and in lists.
constexpr std::size_t max_summary_bytes = 200;
// Libraries and components by which a search finds a project.
constexpr std::size_t max_search_names = 12;
// Pythons and machines for which a search knows another version than the newest.
constexpr std::size_t max_search_fits = 60;

constexpr std::size_t members = 8;  // and up to two more in rows of names

// At most max_summary_bytes, cut between characters of UTF-8.
std::string shortened(const std::string& text) {
    if (text.size() <= max_summary_bytes) return text;
    std::size_t end = max_summary_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        --end;
    return text.substr(0, end) + "…";
}

std::string valid_text(const std::string& text) {
    return base::is_utf8(text) ? shortened(text) : std::string();
}

void read_needs(SearchEntry& entry, const std::string& project,
                const std::vector<std::string>& requirements) {
    std::map<std::string, bool> needs;  // whether it is of extras alone
    for (const std::string& text : requirements) {
        const auto requirement = wheel::Requirement::parse(text);
        if (!requirement || requirement->project == project) continue;
        const bool is_extra =
            requirement->marker && requirement->marker->text().find("extra") != std::string::npos;
        const auto [known, is_first] = needs.try_emplace(requirement->project, is_extra);
        if (!is_first) known->second = known->second && is_extra;
    }
    for (const bool is_extra : {false, true}) {
        for (const auto& [name, is_of_extra] : needs) {
            if (is_of_extra != is_extra || entry.needs.size() + entry.extra_needs.size() == max_search_needs)
                continue;
            (is_extra ? entry.extra_needs : entry.needs).push_back(name);
        }
    }
}

// Of the C runtime, which every wheel needs.
bool is_of_every_wheel(std::string_view library) {
    constexpr std::array<std::string_view, 9> names{"libc.",      "libm.",    "libdl.",    "librt.",    "ld-",
                                                    "libpthread", "libgcc_s", "libstdc++", "linux-vdso"};
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return library.starts_with(name); });
}

// What else people type for the project: what it is imported as, libraries that it needs and components that
// it has.
void add_found_names(std::set<std::string>& names, const Json& facts) {
    if (const Json* needed = facts.find("needed"); needed != nullptr && needed->as_object() != nullptr) {
        for (const auto& [kind, libraries] : *needed->as_object()) {
            for (const std::string& library : libraries.texts())
                if (!is_of_every_wheel(library)) names.insert(library);
        }
    }
    for (const Json& component : facts.items("sbom"))
        names.insert(component.string_or("name", {}));
}

std::string keywords_of(const ProjectView& view, const ProjectText& text, const std::set<std::string>& uses,
                        const std::set<std::string>& names) {
    std::vector<std::string> words = avail_wheels::modules_of_project(view.project);
    words.insert(words.end(), uses.begin(), uses.end());
    words.push_back(text.keywords);
    std::size_t count = 0;
    for (const std::string& name : names)
        if (!name.empty() && count++ < max_search_names) words.push_back(name);
    std::erase(words, "");
    return valid_text(base::join(words, " "));
}

}  // namespace

std::optional<SearchEntry> make_search_entry(const ProjectView& view, const ProjectText& text) {
    const catalog::FileRow* newest = newest_row(view);
    if (newest == nullptr) return std::nullopt;
    SearchEntry entry;
    entry.summary = valid_text(text.summary);
    std::set<std::string> names;
    read_needs(entry, view.project, text.requirements);
    entry.version = newest->version;
    std::set<std::string> pythons;
    std::set<std::string> machines;
    std::set<std::string> gpus;
    std::set<std::string> uses;
    std::vector<std::pair<std::string, std::set<std::string>>> by_version;  // newest first
    std::set<std::string> without_gpus;
    std::map<std::string, std::string> newest_for;  // by Python and machine
    std::size_t read = 0;
    for (auto file = view.files.rbegin(); file != view.files.rend(); ++file) {
        const catalog::FileRow& row = *file;
        entry.uploaded_s = std::max(entry.uploaded_s, row.upload_time / micros_per_second);
        if (row.yanked || read == max_read_wheels) continue;
        ++read;
        const ShownWheel wheel = read_wheel(row, FarmReport{});
        pythons.insert(wheel.pythons.begin(), wheel.pythons.end());
        if (!wheel.platform.empty()) machines.insert(wheel.platform);
        const bool counts = row.version == newest->version || is_final(row);
        for (const std::string& python : wheel.pythons)
            if (counts) newest_for.try_emplace(python + " " + wheel.platform, row.version);
        const auto own = gpus_of(wheel.facts);
        gpus.insert(own.begin(), own.end());
        if (row.version == newest->version) add_found_names(names, wheel.facts);
        if (!wheel.candidate) continue;
        if (by_version.empty() || by_version.back().first != row.version)
            by_version.emplace_back(row.version, std::set<std::string>());
        by_version.back().second.insert(own.begin(), own.end());
        if (own.empty()) without_gpus.insert(row.version);
        for (const std::string& use : uses_of(wheel.facts))
            uses.insert(use);
    }
    entry.keywords = keywords_of(view, text, uses, names);
    entry.pythons.assign(pythons.begin(), pythons.end());
    entry.machines.assign(machines.begin(), machines.end());
    entry.gpus.assign(gpus.begin(), gpus.end());
    entry.uses.assign(uses.begin(), uses.end());
    for (const std::string& python : pythons) {
        for (const std::string& machine : machines) {
            const std::string target = std::string(python).append(" ").append(machine);
            const auto found = newest_for.find(target);
            const std::string version = found == newest_for.end() ? "" : found->second;
            if (version != entry.version && entry.fits.size() < max_search_fits) entry.fits[target] = version;
        }
    }
    for (auto& [version, own] : by_version) {
        if (without_gpus.contains(version)) own.clear();
        if (own == gpus || entry.version_gpus.size() == max_search_gpu_versions) continue;
        entry.version_gpus.emplace(version, std::vector(own.begin(), own.end()));
    }
    return entry;
}

namespace {

constexpr std::string_view names_root = "name=";
constexpr std::string_view words_root = "word=";
constexpr std::string_view needs_root = "needs=";
constexpr std::string_view needed_root = "needed=";
// One of these is in so many summaries that it finds nothing.
constexpr std::array<std::string_view, 12> stop_words{"an", "and", "by", "for", "from", "in",
                                                      "is", "of",  "on", "or",  "the",  "to"};

struct Facet {
    std::string_view name;
    std::vector<std::string> SearchEntry::*values;
};
constexpr std::array<Facet, 4> facets{{{"python", &SearchEntry::pythons},
                                       {"machine", &SearchEntry::machines},
                                       {"gpu", &SearchEntry::gpus},
                                       {"uses", &SearchEntry::uses}}};

std::string facet_root(std::string_view facet, const std::string& value) {
    return std::string(facet) + "=" + value + " ";
}

Json row_of(const SearchEntry& entry) {
    return Json(Json::Array{entry.version, entry.summary, entry.keywords, Json::array_of(entry.pythons),
                            Json::array_of(entry.machines), Json::array_of(entry.gpus),
                            Json::array_of(entry.uses), entry.uploaded_s});
}

std::optional<SearchEntry> entry_of(const Json::Array& parts) {
    bool is_entry =
        parts.size() >= members && parts.size() <= members + 2 && parts[members - 1].as_int() != nullptr;
    for (std::size_t at = 0; is_entry && at < 3; ++at)
        is_entry = parts[at].as_string() != nullptr;
    if (!is_entry) return std::nullopt;
    SearchEntry entry{*parts[0].as_string(), *parts[1].as_string(), *parts[2].as_string(),
                      parts[3].texts(),      parts[4].texts(),      parts[5].texts(),
                      parts[6].texts(),      *parts[7].as_int()};
    if (parts.size() == members) return entry;
    for (std::size_t at = members; at < parts.size(); ++at)
        if (parts[at].as_object() == nullptr) return std::nullopt;
    for (const auto& [version, gpus] : *parts[members].as_object())
        entry.version_gpus[version] = gpus.texts();
    if (parts.size() == members + 1) return entry;
    for (const auto& [target, version] : *parts.back().as_object())
        entry.fits[target] = version.as_string() == nullptr ? std::string() : *version.as_string();
    return entry;
}

tl::unexpected<base::Error> malformed(std::string value) {
    return base::fail_malformed("search.format", "search.json or a file beside it has another format",
                                std::move(value), "the next run writes all of them again");
}

base::Result<SearchEntry> parse_row(const std::string& row) {
    WHEELYARD_ASSIGN(const Json parsed, io::parse_json(row));
    auto entry = entry_of(parsed.items());
    if (!entry) return malformed(row.substr(0, max_summary_bytes));
    return std::move(*entry);
}

// What the rows of the project say; nullopt: the search does not have it.
base::Result<std::optional<SearchEntry>> find_entry(SearchShards& shards, const std::string& name) {
    WHEELYARD_ASSIGN(const ShardRow row, shards.find(std::string(names_root), name));
    if (row == nullptr) return std::nullopt;
    WHEELYARD_ASSIGN(SearchEntry entry, parse_row(*row));
    WHEELYARD_ASSIGN(const ShardRow needs, shards.find(std::string(needs_root), name));
    if (needs != nullptr) {
        WHEELYARD_ASSIGN(const Json parsed, io::parse_json(*needs));
        if (parsed.items().size() != 2) return malformed(needs->substr(0, max_summary_bytes));
        entry.needs = parsed.items()[0].texts();
        entry.extra_needs = parsed.items()[1].texts();
    }
    return entry;
}

// The further words of a project, with its name: search.js asks for the beginning of such a key.
std::set<std::string> word_keys(const std::string& name, const SearchEntry& entry) {
    std::set<std::string> keys;
    std::string word;
    const auto end_word = [&] {
        const bool is_stop = std::find(stop_words.begin(), stop_words.end(), word) != stop_words.end();
        if (word.size() > 1 && !is_stop && !name.starts_with(word) && keys.size() < max_search_words)
            keys.insert(word + " " + name);
        word.clear();
    };
    for (const std::string* text : {&name, &entry.keywords, &entry.summary}) {
        for (const char c : base::fold_case(*text)) {
            if (base::is_ascii_alnum(c) || static_cast<unsigned char>(c) >= 0x80)
                word += c;
            else
                end_word();
        }
        end_word();
    }
    return keys;
}

ShardRow shared_row(const SearchEntry& entry) {
    return std::make_shared<const std::string>(row_of(entry).render());
}

ShardRow name_row(const SearchEntry& entry) {
    if (entry.version_gpus.empty() && entry.fits.empty()) return shared_row(entry);
    Json gpus = Json::object();
    for (const auto& [version, own] : entry.version_gpus)
        gpus.set(version, Json::array_of(own));
    Json::Array parts = row_of(entry).items();
    parts.push_back(std::move(gpus));
    Json fits = Json::object();
    for (const auto& [target, version] : entry.fits)
        fits.set(target, version);
    if (!entry.fits.empty()) parts.push_back(std::move(fits));
    return std::make_shared<const std::string>(Json(std::move(parts)).render());
}

ShardRow static_row(SearchEntry entry) {
    entry.version.clear();
    entry.uploaded_s = 0;
    return shared_row(entry);
}

bool has_same_rows(const SearchEntry& a, const SearchEntry& b) {
    return *static_row(a) == *static_row(b) && a.needs == b.needs && a.extra_needs == b.extra_needs;
}

// By root.
using RootChanges = std::map<std::string, ShardChanges>;
// Adds the rows of one kind that a project has, or takes them away.
using SetRows =
    std::function<void(RootChanges& to, const std::string& name, const SearchEntry& entry, bool adds)>;

void set_words(RootChanges& to, const std::string& name, const SearchEntry& entry, bool adds) {
    const ShardRow row = adds ? static_row(entry) : nullptr;
    for (const std::string& key : word_keys(name, entry))
        to[std::string(words_root)][key] = row;
}

void set_values(const Facet& facet, RootChanges& to, const std::string& name, const SearchEntry& entry,
                bool adds) {
    const ShardRow row = adds ? static_row(entry) : nullptr;
    for (const std::string& value : entry.*facet.values) {
        const std::string root = facet_root(facet.name, value);
        if (shard_file(root).size() <= max_facet_file_bytes) to[root][name] = row;
    }
}

void set_needs(RootChanges& to, const std::string& name, const SearchEntry& entry, bool adds) {
    const auto row = [&](Json::Array parts) {
        return adds ? std::make_shared<const std::string>(Json(std::move(parts)).render()) : nullptr;
    };
    if (entry.needs.empty() && entry.extra_needs.empty()) return;
    to[std::string(needs_root)][name] = row({Json::array_of(entry.needs), Json::array_of(entry.extra_needs)});
    for (const std::string& need : entry.needs)
        to[std::string(needed_root)][need + " " + name] = row({});
    for (const std::string& need : entry.extra_needs)
        to[std::string(needed_root)][need + " " + name] = row({"extra"});
}

// A project of which the search knows something else now.
struct Change {
    const std::string& name;
    std::optional<SearchEntry> old;
    const std::optional<SearchEntry>& entry;
    bool is_of_name_alone;  // its other rows stay
};

bool is_newer(const std::pair<std::string, SearchEntry>& a, const std::pair<std::string, SearchEntry>& b) {
    return a.second.uploaded_s != b.second.uploaded_s ? a.second.uploaded_s > b.second.uploaded_s
                                                      : a.first < b.first;
}

void keep_newest(SearchTop& top) {
    std::sort(top.newest.begin(), top.newest.end(), is_newer);
    if (top.newest.size() > max_known_newest) top.newest.resize(max_known_newest);
}

base::Status find_newest(SearchShards& shards, SearchTop& top) {
    top.newest.clear();
    base::Status status;
    WHEELYARD_TRY(shards.visit(std::string(names_root), [&](const std::string& name, const ShardRow& row) {
        auto entry = parse_row(*row);
        if (!entry) {
            status = base::fail(entry.error());
            return false;
        }
        top.newest.emplace_back(name, std::move(*entry));
        if (top.newest.size() > 2 * max_known_newest) keep_newest(top);
        return true;
    }));
    keep_newest(top);
    return status;
}

// Those of `changes` take their places; what is older than the last known one stays unknown, unless all are
// known.
void update_newest(SearchTop& top, const SearchChanges& changes, bool were_all) {
    const auto last = top.newest.empty() ? std::nullopt : std::optional(top.newest.back());
    std::erase_if(top.newest, [&](const auto& known) { return changes.contains(known.first); });
    for (const auto& [name, entry] : changes) {
        if (!entry) continue;
        std::pair<std::string, SearchEntry> found(name, *entry);
        if (were_all || (last && !is_newer(*last, found))) top.newest.push_back(std::move(found));
        if (top.newest.size() > 2 * max_known_newest) keep_newest(top);
    }
    keep_newest(top);
}

}  // namespace

std::string render_search_top(const SearchTop& top) {
    Json values = Json::object();
    for (const Facet& facet : facets) {
        const auto found = top.values.find(std::string(facet.name));
        values.set(std::string(facet.name),
                   found == top.values.end() ? Json::array() : Json::array_of(found->second));
    }
    Json newest = Json::array();
    for (const auto& [name, entry] : top.newest) {
        Json::Array row{name};
        const Json rest = row_of(entry);
        row.insert(row.end(), rest.items().begin(), rest.items().end());
        newest.push(Json(std::move(row)));
    }
    return Json::object({{"format", search_format},
                         {"count", static_cast<std::uint64_t>(top.count)},
                         {"values", std::move(values)},
                         {"newest", std::move(newest)}})
               .render() +
           "\n";
}

base::Result<SearchTop> parse_search_top(std::string_view json) {
    WHEELYARD_ASSIGN(const Json document, io::parse_json(json));
    if (document.string_or("format", {}) != search_format) return malformed(document.string_or("format", {}));
    SearchTop top;
    const std::int64_t count = document.int_or("count", -1);
    const Json* values = document.find("values");
    if (count < 0 || values == nullptr) return malformed("count");
    top.count = static_cast<std::size_t>(count);
    for (const Facet& facet : facets) {
        for (std::string& value : values->texts(facet.name))
            top.values[std::string(facet.name)].insert(std::move(value));
    }
    for (const Json& item : document.items("newest")) {
        Json::Array parts = item.items();
        const std::string* name = parts.empty() ? nullptr : parts.front().as_string();
        if (name == nullptr) return malformed("newest");
        const std::string known = *name;
        parts.erase(parts.begin());
        auto entry = entry_of(parts);
        if (!entry) return malformed(known);
        top.newest.emplace_back(known, std::move(*entry));
    }
    return top;
}

base::Result<SearchTop> update_search(ShardFiles& files, const SearchTop& before,
                                      const SearchChanges& changes, bool is_new) {
    SearchShards shards(files, is_new);
    SearchTop top = is_new ? SearchTop() : before;
    std::vector<Change> differing;
    ShardChanges names;
    for (const auto& [name, entry] : changes) {
        WHEELYARD_ASSIGN(auto old, find_entry(shards, name));
        if (old == entry) continue;
        const bool is_of_name_alone = old && entry && has_same_rows(*old, *entry);
        differing.push_back({name, std::move(old), entry, is_of_name_alone});
        names[name] = entry ? name_row(*entry) : nullptr;
    }
    // A new search has these files even where they are empty: readers load them.
    const auto changes_of = [&](const SetRows& set, std::vector<std::string_view> roots) {
        RootChanges rows;
        for (const std::string_view root : roots)
            if (is_new) rows[std::string(root)];
        for (const Change& change : differing) {
            if (change.is_of_name_alone) continue;
            if (change.old) set(rows, change.name, *change.old, false);
            if (change.entry) set(rows, change.name, *change.entry, true);
        }
        return rows;
    };
    // One kind after the other: all rows of a large index are not in memory together.
    for (const auto& [root, rows] : changes_of(set_words, {words_root}))
        WHEELYARD_TRY(shards.apply(root, rows));
    for (const auto& [root, rows] : changes_of(set_needs, {needs_root, needed_root}))
        WHEELYARD_TRY(shards.apply(root, rows));
    for (const Facet& facet : facets) {
        auto& values = top.values[std::string(facet.name)];
        for (const auto& [root, rows] : changes_of(std::bind_front(set_values, facet), {})) {
            const std::string value = root.substr(facet.name.size() + 1, root.size() - facet.name.size() - 2);
            WHEELYARD_ASSIGN(const std::size_t count, shards.apply(root, rows));
            if (count > 0) {
                values.insert(value);
            } else {
                values.erase(value);
                WHEELYARD_TRY(files.remove(shard_file(root)));
            }
        }
    }
    WHEELYARD_ASSIGN(const std::size_t count, shards.apply(std::string(names_root), names));
    const bool were_all = top.newest.size() == top.count;
    top.count = count;
    update_newest(top, changes, were_all);
    if (top.newest.size() < std::min(top.count, max_newest)) WHEELYARD_TRY(find_newest(shards, top));
    WHEELYARD_TRY(files.write(std::string(search_page_file), render_search_top(top)));
    return top;
}

base::Result<SearchList> first_projects(ShardFiles& files, std::size_t count) {
    SearchShards shards(files);
    SearchList list;
    base::Status status;
    WHEELYARD_TRY(shards.visit(std::string(names_root), [&](const std::string& name, const ShardRow& row) {
        auto entry = parse_row(*row);
        if (entry)
            list.emplace(name, std::move(*entry));
        else
            status = base::fail(entry.error());
        return entry && list.size() < count;
    }));
    if (!status) return base::fail(status.error());
    return list;
}

}  // namespace wheelyard::indexer
