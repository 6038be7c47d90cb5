// JSON with the keys of a configuration, so that one strict reader takes both.
#include <utility>

#include "lib/io/toml_tree.hpp"

namespace wheelyard::io {
namespace {

constexpr std::size_t max_name_in_path = 64;  // bytes: the longest name of an index

std::string path_of_item(const std::string& path, const Json& item, std::size_t at) {
    const std::string name = item.string_or("name", "");
    const bool is_shown = !name.empty() && name.size() <= max_name_in_path;
    return path + "." + (is_shown ? name : std::to_string(at));
}

struct Convert {
    Json operator()(const TomlOther&) const { return nullptr; }
    Json operator()(const TomlNode::Array& items) const {
        Json array = Json::array();
        for (const TomlNode& item : items)
            array.push(json_of_tree(item));
        return array;
    }
    Json operator()(const TomlNode::Table& table) const {
        Json::Object members;  // keys are unique
        for (const TomlNode& entry : table.entries)
            members.emplace_back(entry.key, json_of_tree(entry));
        return members;
    }
    Json operator()(const auto& value) const { return value; }
};

}  // namespace

TomlNode tree_of_json(const Json& json, std::string path) {
    TomlNode node;
    if (const auto* members = json.as_object()) {
        TomlNode::Table table;
        for (const auto& [key, value] : *members) {
            TomlNode child = tree_of_json(value, path.empty() ? key : path + "." + key);
            child.key = key;
            child.key_place = child.place;
            table.entries.push_back(std::move(child));
        }
        node.value = std::move(table);
    } else if (const auto* items = json.as_array()) {
        TomlNode::Array array;
        for (std::size_t at = 0; at < items->size(); ++at)
            array.push_back(tree_of_json((*items)[at], path_of_item(path, (*items)[at], at)));
        node.value = std::move(array);
    } else if (const auto* text = json.as_string()) {
        node.value = *text;
    } else if (const auto* integer = json.as_int()) {
        node.value = *integer;
    } else if (const auto* number = json.as_double()) {
        node.value = *number;
    } else if (const auto* flag = json.as_bool()) {
        node.value = *flag;
    } else {
        node.value = TomlOther{"null"};
    }
    node.place.path = std::move(path);
    return node;
}

Json json_of_tree(const TomlNode& node) {
    return std::visit(Convert{}, node.value);
}

}  // namespace wheelyard::io
