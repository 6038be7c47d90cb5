// The getters record which keys were read and every problem; finish() reports all problems at once.
#include "lib/io/toml.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <tuple>
#include <utility>
#include <variant>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/toml_tree.hpp"

namespace wheelyard::io {
namespace fs = std::filesystem;
using base::Result;

namespace {

constexpr std::uint64_t max_file_bytes = base::mib;  // configurations are written by hand
constexpr std::size_t max_shown_bytes = 60;          // of a value in a message

}  // namespace

struct TomlProblems {
    struct Problem {
        TomlPosition place;
        std::string sentence;
    };
    fs::path file;
    std::shared_ptr<TomlNode> tree;
    std::deque<TomlNode> absent;  // placeholders for optional tables that do not exist
    std::vector<Problem> found;

    void note(TomlPosition place, std::string sentence) {
        found.push_back({std::move(place), std::move(sentence)});
    }
};

namespace {

// Describes the value in the file, for "found …".
std::string describe(const TomlNode& node) {
    struct Words {
        std::string operator()(const TomlOther& other) const { return other.what; }
        std::string operator()(const std::string& text) const {
            return "the string \"" + base::replace_all(text.substr(0, max_shown_bytes), "\n", "\\n") +
                   (text.size() > max_shown_bytes ? "…\"" : "\"");
        }
        std::string operator()(std::int64_t value) const { return "the integer " + std::to_string(value); }
        std::string operator()(double) const { return "a number with a fraction"; }
        std::string operator()(bool flag) const { return flag ? "true" : "false"; }
        std::string operator()(const TomlNode::Array&) const { return "an array"; }
        std::string operator()(const TomlNode::Table&) const { return "a table"; }
    };
    return std::visit(Words{}, node.value);
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
    const auto near = base::nearest(word, known);
    return near ? "; did you mean `" + *near + "`?" : "";
}

// Reports every key that was never read, in tables that were.
void note_unknown_keys(const TomlNode& node, TomlProblems& problems) {
    if (const auto* items = std::get_if<TomlNode::Array>(&node.value)) {
        for (const auto& item : *items)
            note_unknown_keys(item, problems);
    }
    const auto* table = std::get_if<TomlNode::Table>(&node.value);
    if (!table || !node.opened) return;
    std::vector<std::string> candidates;
    for (const auto& key : node.asked) {
        if (!node.find(key)) candidates.push_back(key);
    }
    for (const auto& entry : table->entries) {
        if (entry.read) {
            note_unknown_keys(entry, problems);
        } else {
            problems.note(entry.key_place,
                          "unknown key `" + entry.key + "`" + suggestion(entry.key, candidates));
        }
    }
}

// In the order of the file.
base::Status render_problems(const fs::path& file, std::vector<TomlProblems::Problem> found) {
    if (found.empty()) return {};
    const auto order = [](const TomlProblems::Problem& problem) {
        return std::tie(problem.place.line, problem.place.column, problem.place.path, problem.sentence);
    };
    std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
    std::vector<std::string> lines;
    for (const auto& problem : found) {
        auto line = render_place(file, problem.place) + ": " + problem.sentence;
        if (lines.empty() || lines.back() != line) lines.push_back(std::move(line));
    }
    return fail_configuration({"config.invalid", base::join(lines, "\n")});
}

// Without a trailing slash: paths are compared with those that other programs (Conda, venv) print.
fs::path resolve(const fs::path& file, const std::string& value) {
    fs::path path = (file.parent_path() / value).lexically_normal();
    return path.has_filename() ? path : path.parent_path();
}

}  // namespace

tl::unexpected<base::Error> fail_configuration(base::Error error) {
    constexpr std::array passing{EADDRNOTAVAIL, EDQUOT, EIO,    EMFILE,   ENFILE,
                                 ENOMEM,        ENOSPC, ESTALE, ETIMEDOUT};
    if (std::find(passing.begin(), passing.end(), error.os_error) != passing.end())
        return base::fail(std::move(error));
    return base::fail_as(base::ErrorKind::malformed, base::Recovery::person, std::move(error));
}

bool is_of_configuration(const base::Error& error) {
    return error.kind == base::ErrorKind::malformed && error.recovery == base::Recovery::person;
}

TomlTable::TomlTable(std::shared_ptr<TomlProblems> problems, const TomlNode* node, std::string name)
    : problems_(std::move(problems)), node_(node), name_(std::move(name)) {
    if (node_) node_->opened = true;
}

bool TomlTable::has(std::string_view key) const {
    return node_ && node_->find(key);
}

const TomlNode* TomlTable::read(std::string_view key) {
    if (!node_) return nullptr;
    node_->asked.emplace(key);
    const auto* entry = node_->find(key);
    if (!entry) return nullptr;
    entry->read = true;
    return entry;
}

namespace {

std::string dotted(const std::string& table, std::string_view key) {
    return table.empty() ? std::string(key) : table + "." + std::string(key);
}

// The value as T; on another type, notes a problem and returns nullptr.
template <typename T>
const T* typed(TomlProblems& problems, const TomlNode& node, const std::string& name, const char* expected) {
    const auto* value = std::get_if<T>(&node.value);
    if (!value) {
        problems.note(node.place, "`" + name + "` has the wrong type (expected " + expected + ", found " +
                                      describe(node) + ")");
    }
    return value;
}

}  // namespace

bool TomlTable::require(std::string_view key, const char* expected) {
    if (!node_ || has(key)) return node_ != nullptr;
    read(key);  // a key that is spelt wrong gets this one as a suggestion
    problems_->note(node_->place,
                    "`" + dotted(name_, key) + "` is missing (expected " + expected + ", found nothing)");
    return false;
}

std::optional<std::string> TomlTable::string_if(std::string_view key) {
    const auto* node = read(key);
    if (!node) return std::nullopt;
    const auto* text = typed<std::string>(*problems_, *node, dotted(name_, key), "a string");
    return text ? std::optional(*text) : std::nullopt;
}

std::string TomlTable::string_or(std::string_view key, std::string fallback) {
    auto text = string_if(key);
    return text ? std::move(*text) : std::move(fallback);
}

std::string TomlTable::string(std::string_view key) {
    require(key, "a string");
    return string_or(key, {});
}

std::int64_t TomlTable::integer_or(std::string_view key, std::int64_t fallback, std::int64_t min,
                                   std::int64_t max) {
    const auto* node = read(key);
    if (!node) return fallback;
    const auto name = dotted(name_, key);
    const auto* value = typed<std::int64_t>(*problems_, *node, name, "an integer");
    if (!value) return fallback;
    if (*value >= min && *value <= max) return *value;
    problems_->note(node->place, "`" + name + "` is out of range (expected " + std::to_string(min) + " to " +
                                     std::to_string(max) + ", found " + std::to_string(*value) + ")");
    return fallback;
}

std::int64_t TomlTable::integer(std::string_view key, std::int64_t min, std::int64_t max) {
    require(key, "an integer");
    return integer_or(key, min, min, max);
}

bool TomlTable::boolean_or(std::string_view key, bool fallback) {
    const auto* node = read(key);
    if (!node) return fallback;
    const auto* flag = typed<bool>(*problems_, *node, dotted(name_, key), "true or false");
    return flag ? *flag : fallback;
}

std::optional<fs::path> TomlTable::path_if(std::string_view key) {
    const auto* node = read(key);
    if (!node) return std::nullopt;
    const auto name = dotted(name_, key);
    const auto* text = typed<std::string>(*problems_, *node, name, "a path");
    if (!text) return std::nullopt;
    if (text->empty()) {
        problems_->note(node->place, "`" + name + "` is empty (expected a path, found the string \"\")");
        return std::nullopt;
    }
    return resolve(problems_->file, *text);
}

std::vector<std::string> TomlTable::strings_or(std::string_view key, std::vector<std::string> fallback) {
    const auto* node = read(key);
    if (!node) return fallback;
    const auto name = dotted(name_, key);
    const auto* items = typed<TomlNode::Array>(*problems_, *node, name, "an array of strings");
    if (!items) return fallback;
    std::vector<std::string> out;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const auto* text =
            typed<std::string>(*problems_, (*items)[i], name + "[" + std::to_string(i) + "]", "a string");
        if (text) out.push_back(*text);
    }
    return out;
}

std::string TomlTable::choice_or(std::string_view key, std::string fallback,
                                 const std::vector<std::string>& choices) {
    const auto* node = read(key);
    if (!node) return fallback;
    const auto name = dotted(name_, key);
    const auto expected = "one of `" + base::join(choices, "`, `") + "`";
    const auto* text = typed<std::string>(*problems_, *node, name, expected.c_str());
    if (!text) return fallback;
    if (std::find(choices.begin(), choices.end(), *text) != choices.end()) return *text;
    problems_->note(node->place, "`" + name + "` is not a valid choice (expected " + expected + ", found " +
                                     describe(*node) + ")" + suggestion(*text, choices));
    return fallback;
}

TomlTable TomlTable::table_or_empty(std::string_view key) {
    const auto name = dotted(name_, key);
    if (const auto* node = read(key)) {
        if (!typed<TomlNode::Table>(*problems_, *node, name, "a table")) return {problems_, nullptr, name};
        return {problems_, node, name};
    }
    if (!node_) return {problems_, nullptr, name};
    // An empty table at this table's place: missing required keys in it are still reported.
    auto& absent = problems_->absent.emplace_back();
    absent.place = node_->place;
    absent.value = TomlNode::Table{};
    return {problems_, &absent, name};
}

TomlTable TomlTable::table(std::string_view key) {
    return require(key, "a table") ? table_or_empty(key) : TomlTable(problems_, nullptr, dotted(name_, key));
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) {
    const auto* node = read(key);
    if (!node) return {};
    const auto name = dotted(name_, key);
    const auto* items = typed<TomlNode::Array>(*problems_, *node, name, "an array of tables");
    if (!items) return {};
    std::vector<TomlTable> out;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const auto item_name = name + "[" + std::to_string(i) + "]";
        if (typed<TomlNode::Table>(*problems_, (*items)[i], item_name, "a table")) {
            out.push_back({problems_, &(*items)[i], item_name});
        }
    }
    return out;
}

std::vector<std::pair<std::string, std::string>> TomlTable::string_map(std::string_view key) {
    std::vector<std::pair<std::string, std::string>> out;
    auto table = table_or_empty(key);
    for (const auto& name : table.keys()) {
        if (auto value = table.string_if(name)) out.emplace_back(name, std::move(*value));
    }
    return out;
}

Json TomlTable::json(std::string_view key) {
    const auto* entry = read(key);
    return entry ? json_of_tree(*entry) : Json();
}

std::vector<std::string> TomlTable::keys() const {
    std::vector<std::string> out;
    const auto* table = node_ ? std::get_if<TomlNode::Table>(&node_->value) : nullptr;
    if (!table) return out;
    for (const auto& entry : table->entries)
        out.push_back(entry.key);
    return out;
}

fs::path TomlTable::resolved(const std::string& path) const {
    return problems_ ? resolve(problems_->file, path) : fs::path(path);
}

std::string TomlTable::place(std::string_view key) const {
    if (!problems_) return {};
    const auto* entry = node_ ? node_->find(key) : nullptr;
    return render_place(problems_->file, entry ? entry->key_place : node_ ? node_->place : TomlPosition{});
}

void TomlTable::report(std::string_view key, std::string sentence) {
    if (!problems_) return;
    const auto* entry = node_ ? node_->find(key) : nullptr;
    problems_->note(entry ? entry->place : node_ ? node_->place : TomlPosition{}, std::move(sentence));
}

Result<TomlDocument> TomlDocument::read(const fs::path& file) {
    auto text = base::read_file(file, max_file_bytes);
    if (!text && text.error().os_error == ENOENT) {
        return fail_configuration({"config.missing", "This configuration file does not exist", file.native(),
                                   "create it, or name another file"});
    }
    if (!text) return fail_configuration(std::move(text.error()));
    return parse(*text, file);
}

Result<TomlDocument> TomlDocument::parse(std::string_view text, const fs::path& file) {
    WHEELYARD_ASSIGN(auto tree, parse_toml_tree(text, file));
    return of_tree(std::move(tree), file);
}

TomlDocument TomlDocument::of_json(const Json& json, const fs::path& file) {
    TomlNode tree = tree_of_json(json, {});
    tree.place.path = file.native();
    return of_tree(std::move(tree), file);
}

TomlDocument TomlDocument::of_tree(TomlNode tree, const fs::path& file) {
    auto problems = std::make_shared<TomlProblems>();
    problems->file = file;
    TomlDocument document;
    document.tree_ = problems->tree = std::make_shared<TomlNode>(std::move(tree));
    document.problems_ = std::move(problems);
    return document;
}

TomlTable TomlDocument::root() {
    return {problems_, tree_.get(), {}};
}

Json TomlDocument::json() const {
    return json_of_tree(*tree_);
}

base::Status TomlTable::finish() {
    if (!node_) return {};
    note_unknown_keys(*node_, *problems_);
    if (const auto* table = std::get_if<TomlNode::Table>(&node_->value)) {
        for (const auto& entry : table->entries)
            entry.read = true;
    }
    return render_problems(problems_->file, std::exchange(problems_->found, {}));
}

base::Status TomlDocument::finish() {
    auto all = *problems_;
    tree_->opened = true;  // a document that was never read accepts no key
    note_unknown_keys(*tree_, all);
    return render_problems(all.file, std::move(all.found));
}

}  // namespace wheelyard::io
