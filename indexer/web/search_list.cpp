#include "indexer/web/search_list.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "indexer/web/limits.hpp"
#include "indexer/web/wheel_facts.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::indexer {

using io::Json;

namespace {

constexpr std::string_view search_format = "wheelyard.search/1";
constexpr std::size_t members = 9;

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

}  // namespace

SearchEntry make_search_entry(const ProjectView& view, const ProjectText& text) {
    SearchEntry entry;
    entry.summary = valid_text(text.summary);
    entry.keywords = valid_text(text.keywords);
    const catalog::FileRow* newest = newest_row(view);
    if (newest == nullptr) return entry;
    entry.version = newest->version;
    std::set<std::string> pythons;
    std::set<std::string> machines;
    std::set<std::string> gpus;
    std::set<std::string> uses;
    std::size_t read = 0;
    for (auto file = view.files.rbegin(); file != view.files.rend(); ++file) {
        const catalog::FileRow& row = *file;
        entry.uploaded_s = std::max(entry.uploaded_s, row.upload_time / micros_per_second);
        if (row.yanked || read == max_read_wheels) continue;
        ++read;
        const ShownWheel wheel = read_wheel(row, FarmReport{});
        pythons.insert(wheel.pythons.begin(), wheel.pythons.end());
        if (!wheel.platform.empty()) machines.insert(wheel.platform);
        for (const std::string& gpu : gpus_of(wheel.facts))
            gpus.insert(gpu);
        for (const std::string& use : uses_of(wheel.facts))
            uses.insert(use);
    }
    entry.pythons.assign(pythons.begin(), pythons.end());
    entry.machines.assign(machines.begin(), machines.end());
    entry.gpus.assign(gpus.begin(), gpus.end());
    entry.uses.assign(uses.begin(), uses.end());
    return entry;
}

std::string render_search_list(const SearchList& list) {
    std::string text = "{\"format\":\"";
    text.append(search_format).append("\",\"projects\":[");
    bool is_first = true;
    for (const auto& [name, entry] : list) {
        text.append(is_first ? "\n" : ",\n");
        is_first = false;
        text += Json(Json::Array{name, entry.version, entry.summary, entry.keywords,
                                 Json::array_of(entry.pythons), Json::array_of(entry.machines),
                                 Json::array_of(entry.gpus), Json::array_of(entry.uses), entry.uploaded_s})
                    .render();
    }
    return text += "]}\n";
}

base::Result<SearchList> parse_search_list(std::string_view json) {
    WHEELYARD_ASSIGN(const Json document, io::parse_json(json));
    const auto malformed = [&](std::string value) {
        return base::fail("search.format", "search.json has another format", std::move(value),
                          "the next run writes it again");
    };
    if (document.string_or("format", {}) != search_format) return malformed(document.string_or("format", {}));
    SearchList list;
    for (const Json& item : document.items("projects")) {
        const auto& parts = item.items();
        bool is_entry = parts.size() == members && parts.back().as_int() != nullptr;
        for (std::size_t at = 0; is_entry && at < 4; ++at)
            is_entry = parts[at].as_string() != nullptr;
        if (!is_entry) return malformed(item.render().substr(0, max_summary_bytes));
        list[*parts[0].as_string()] = {*parts[1].as_string(), *parts[2].as_string(), *parts[3].as_string(),
                                       parts[4].texts(),      parts[5].texts(),      parts[6].texts(),
                                       parts[7].texts(),      *parts[8].as_int()};
    }
    return list;
}

}  // namespace wheelyard::indexer
