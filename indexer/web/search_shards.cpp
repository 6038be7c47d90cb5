#include "indexer/web/search_shards.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "indexer/web/search_list.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/page/places.hpp"

namespace wheelyard::indexer {

using io::Json;

namespace {

// Rows of a file of the search, some 130 bytes each: 100 results take one file and less than 100 rows of
// others, within 60 KB.
constexpr std::size_t max_shard_rows = 300;
// Characters of a key that are in the name of a file, three bytes each at most; behind them a leaf has more
// rows.
constexpr std::size_t max_shard_depth = 50;

std::string escaped(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string made;
    for (const char c : text) {
        if (base::is_ascii_alnum(c) || c == '-' || c == '.' || c == '=') {
            made += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        made.append("_").append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
    }
    return made;
}

// The character that escaped() made `text` of.
std::optional<char> unescaped(std::string_view text) {
    if (text.size() == 1) return text.front();
    if (text.size() != 3 || text.front() != '_') return std::nullopt;
    unsigned value = 0;
    for (const char digit : text.substr(1)) {
        const auto at = std::string_view("0123456789abcdef").find(digit);
        if (at == std::string_view::npos) return std::nullopt;
        value = value * 16 + static_cast<unsigned>(at);
    }
    return static_cast<char>(value);
}

char character(std::string_view key, std::size_t depth) {
    return depth < key.size() ? key[depth] : ' ';
}

}  // namespace

std::string shard_file(std::string_view node) {
    return std::string(page::shard_begin) + escaped(node) + std::string(page::shard_end);
}

base::Result<SearchShards::Node> SearchShards::read(const std::string& node, bool is_named) {
    Node found;
    if (is_new_) return found;
    const auto malformed = [&] {
        return base::fail_malformed("search.format", "A file of the search is missing or has another format",
                                    shard_file(node), "the next run writes all of them again");
    };
    WHEELYARD_ASSIGN(found.before, files_.read(shard_file(node)));
    if (found.before.empty() && is_named) return malformed();
    if (found.before.empty()) return found;
    const auto document = io::parse_json(found.before);
    if (!document || document->string_or("format", {}) != search_format) return malformed();
    const Json* rows = document->find("rows");
    const Json* next = document->find("next");
    const Json* members = rows != nullptr ? rows : next;
    if (members == nullptr || members->as_object() == nullptr) return malformed();
    found.is_leaf = rows != nullptr;
    for (const auto& [name, value] : *members->as_object()) {
        if (found.is_leaf) {
            found.rows.emplace(name, std::make_shared<const std::string>(value.render()));
            continue;
        }
        const auto step = unescaped(name);
        if (!step || value.as_int() == nullptr || *value.as_int() < 0) return malformed();
        found.next[*step] = static_cast<std::size_t>(*value.as_int());
    }
    return found;
}

base::Status SearchShards::write(const std::string& node, const Node& made) {
    std::size_t count = made.rows.size();
    for (const auto& [step, rows] : made.next)
        count += rows;
    std::string text = "{\"format\":\"";
    text.append(search_format).append("\",\"count\":").append(std::to_string(count));
    text.append(made.is_leaf ? ",\"rows\":{" : ",\"next\":{");
    bool is_first = true;
    const auto begin_member = [&](const std::string& name) {
        text.append(is_first ? "" : ",").append(made.is_leaf ? "\n" : "").append(Json(name).render()) += ':';
        is_first = false;
    };
    for (const auto& [key, row] : made.rows) {
        begin_member(key);
        text += *row;
    }
    for (const auto& [step, rows] : made.next) {
        begin_member(escaped(std::string_view(&step, 1)));
        text += std::to_string(rows);
    }
    text += "}}\n";
    if (text == made.before) return {};
    return files_.write(shard_file(node), std::move(text));
}

base::Result<std::size_t> SearchShards::apply(const std::string& root, const ShardChanges& changes) {
    Changes sorted;
    sorted.reserve(changes.size());
    for (const auto& change : changes)
        sorted.push_back(&change);
    WHEELYARD_ASSIGN(Node found, read(root, false));
    return apply_at(root, 0, std::move(found), sorted);
}

base::Result<std::size_t> SearchShards::apply_at(const std::string& node, std::size_t depth, Node found,
                                                 const Changes& changes) {
    if (found.is_leaf) {
        for (const auto* change : changes) {
            if (change->second)
                found.rows.insert_or_assign(change->first, change->second);
            else
                found.rows.erase(change->first);
        }
        return split(node, depth, std::move(found));
    }
    std::map<char, Changes> steps;
    for (const auto* change : changes)
        steps[character(change->first, depth)].push_back(change);
    for (const auto& [step, some] : steps) {
        Node below;
        if (found.next.contains(step)) {
            WHEELYARD_ASSIGN(below, read(node + step, true));
        } else if (std::none_of(some.begin(), some.end(),
                                [](const auto* change) { return change->second; })) {
            continue;  // there is nothing to take away
        }
        WHEELYARD_ASSIGN(const std::size_t rows, apply_at(node + step, depth + 1, std::move(below), some));
        if (rows > 0) {
            found.next[step] = rows;
        } else if (found.next.erase(step) > 0) {
            WHEELYARD_TRY(files_.remove(shard_file(node + step)));
        }
    }
    std::size_t count = 0;
    for (const auto& [step, rows] : found.next)
        count += rows;
    if (count > max_shard_rows) {
        WHEELYARD_TRY(write(node, found));
        return count;
    }
    // So few rows are one leaf, and so are all nodes below.
    Node leaf;
    leaf.before = found.before;
    for (const auto& [step, rows] : found.next) {
        WHEELYARD_ASSIGN(Node below, read(node + step, true));
        leaf.rows.merge(below.rows);
    }
    WHEELYARD_TRY(write(node, leaf));
    for (const auto& [step, rows] : found.next)
        WHEELYARD_TRY(files_.remove(shard_file(node + step)));
    return leaf.rows.size();
}

base::Result<std::size_t> SearchShards::split(const std::string& node, std::size_t depth, Node found) {
    const std::size_t count = found.rows.size();
    if (count > max_shard_rows && depth < max_shard_depth) {
        std::map<char, Node> steps;
        while (!found.rows.empty()) {
            auto row = found.rows.extract(found.rows.begin());
            steps[character(row.key(), depth)].rows.insert(std::move(row));
        }
        found.is_leaf = false;
        for (auto& [step, below] : steps) {
            WHEELYARD_ASSIGN(found.next[step], split(node + step, depth + 1, std::move(below)));
        }
    }
    WHEELYARD_TRY(write(node, found));
    return count;
}

base::Result<ShardRow> SearchShards::find(const std::string& root, const std::string& key) {
    std::string node = root;
    for (std::size_t depth = 0;; ++depth) {
        WHEELYARD_ASSIGN(const Node found, read(node, depth > 0));
        const auto row = found.rows.find(key);
        if (row != found.rows.end()) return row->second;
        const char step = character(key, depth);
        if (!found.next.contains(step)) return ShardRow();
        node += step;
    }
}

base::Status SearchShards::visit(const std::string& root, const Visit& visit) {
    WHEELYARD_ASSIGN(const Node found, read(root, false));
    WHEELYARD_TRY(visit_at(root, found, visit));
    return {};
}

base::Result<bool> SearchShards::visit_at(const std::string& node, const Node& found, const Visit& visit) {
    for (const auto& [key, row] : found.rows) {
        if (!visit(key, row)) return false;
    }
    for (const auto& [step, rows] : found.next) {
        WHEELYARD_ASSIGN(const Node below, read(node + step, true));
        WHEELYARD_ASSIGN(const bool goes_on, visit_at(node + step, below, visit));
        if (!goes_on) return false;
    }
    return true;
}

}  // namespace wheelyard::indexer
