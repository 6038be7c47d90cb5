// A site file as the text of its tables, so that tables of two files become one with their comments. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::builder {

// A table of a site file with the comments above it. The keys before the first table have no header.
struct TableText {
    std::string header;  // "[scheduler]", "[[node]]"
    std::vector<std::string> above;
    std::vector<std::string> lines;

    // "scheduler", "hardware_tests.gpu"
    [[nodiscard]] std::string name() const {
        const auto begin = header.find_first_not_of('[');
        return begin == std::string::npos ? "" : header.substr(begin, header.find(']') - begin);
    }
    [[nodiscard]] bool is(std::string_view table) const {
        const std::string all = name();
        return all.substr(0, all.find('.')) == table;
    }
};

[[nodiscard]] std::vector<TableText> tables_of(std::string_view text);

// "cores" of "cores = 8 # of one job"; empty: the line sets no key.
[[nodiscard]] std::string_view key_of(std::string_view line);

// The basic strings of a line's value; the site files of this tree have no escapes in them.
[[nodiscard]] std::vector<std::string> texts_of(std::string_view line);

}  // namespace wheelyard::builder
