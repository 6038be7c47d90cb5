#include "lib/base/text/text_table.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"

namespace wheelyard::base {

std::string render_table(const std::vector<TableRow>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i)
            line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
        line.erase(line.find_last_not_of(' ') + 1);
        text += replace_all(line, "\n", " ") + "\n";
    }
    return text;
}

}  // namespace wheelyard::base
