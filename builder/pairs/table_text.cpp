// Works on lines: a TOML writer would lose the comments and the layout.
#include "builder/pairs/table_text.hpp"

#include <algorithm>
#include <optional>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::string_view indentation = "    ";

std::string member(std::string_view name, std::string_view value) {
    return std::string(name) + " = \"" + std::string(value) + "\"";
}

bool is_row(std::string_view line, const std::vector<std::string>& members) {
    return base::trim(line).starts_with("{") &&
           std::all_of(members.begin(), members.end(),
                       [&](const std::string& one) { return line.find(one) != std::string_view::npos; });
}

class TableText {
  public:
    explicit TableText(std::string_view text) {
        for (const auto line : base::split_lines(text))
            lines_.emplace_back(line);
    }

    base::Status add(const VersionPair& row) {
        const std::string use = member("use", pair_use_text(row.use));
        auto below = last_row({member("package", row.package), member("with", row.with), use});
        if (!below) below = last_row({use});
        if (!below && row.use == PairUse::tested)
            below = last_row({member("use", pair_use_text(PairUse::machine))});
        if (!below) {
            return base::fail(
                "pairs.layout",
                "The table has no line of the use `" + std::string(pair_use_text(row.use)) + "`",
                pair_row_text(row, "SOURCE"), "add this row by hand; the others go below it");
        }
        const std::string key = key_of(row);
        lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(*below) + 1,
                      std::string(indentation) + pair_row_text(row, key));
        return {};
    }
    [[nodiscard]] std::string text() const { return base::join(lines_, "\n") + "\n"; }

  private:
    [[nodiscard]] std::optional<std::size_t> last_row(const std::vector<std::string>& members) const {
        std::optional<std::size_t> found;
        for (std::size_t at = 0; at < lines_.size(); ++at) {
            if (is_row(lines_[at], members)) found = at;
        }
        return found;
    }

    // The key of the row's URL in [sources], which is the last table of the file.
    std::string key_of(const VersionPair& row) {
        const std::string quoted = "\"" + row.source + "\"";
        for (const auto& line : lines_) {
            const auto equals = line.find('=');
            const bool is_source =
                equals != std::string::npos && base::trim(line.substr(equals + 1)) == quoted;
            if (is_source)
                return std::string(base::trim(base::replace_all(line.substr(0, equals), "\"", "")));
        }
        const std::string name = row.source.substr(0, row.source.find_last_not_of('/') + 1);
        const std::string key = std::string(base::base_name(name)) + "-releases";
        std::string free = key;
        for (int number = 2; has_key(free); ++number)
            free = key + "-" + std::to_string(number);
        lines_.push_back(member(free, row.source));
        return free;
    }
    // Whether it is the key of another source.
    [[nodiscard]] bool has_key(const std::string& key) const {
        return std::any_of(lines_.begin(), lines_.end(), [&](const std::string& line) {
            return base::trim(base::replace_all(line.substr(0, line.find('=')), "\"", "")) == key;
        });
    }

    std::vector<std::string> lines_;
};

}  // namespace

std::string pair_row_text(const VersionPair& row, std::string_view source_key) {
    std::string text = "{ " + member("package", row.package);
    if (!row.versions.empty()) text += ", " + member("versions", row.versions);
    text += ", " + member("with", row.with) + ", " + member("allowed", row.allowed) + ", " +
            member("use", pair_use_text(row.use));
    if (row.stable_abi) text += ", stable_abi = true";
    text += ", " + member("source", source_key);
    if (!row.why.empty()) text += ", " + member("why", row.why);
    return text + " },";
}

base::Result<std::string> add_pairs(std::string_view text, const std::vector<VersionPair>& rows) {
    TableText table(text);
    for (const auto& row : rows)
        WHEELYARD_TRY(table.add(row));
    return table.text();
}

}  // namespace wheelyard::builder
