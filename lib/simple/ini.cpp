// A line-by-line parser with configparser's rules for continuation lines.
#include "lib/simple/ini.hpp"

#include <set>
#include <vector>

#include "lib/base/text/text.hpp"

namespace wheelyard::simple {
namespace {

using base::trim;

std::size_t indentation(std::string_view line) {
    const auto first = line.find_first_not_of(" \t\f\v");
    return first == std::string_view::npos ? line.size() : first;
}

// The parser's state: the section and option that the next continuation line belongs to.
class IniReader {
  public:
    explicit IniReader(std::string_view place) : place_(place) {}

    base::Status line(std::string_view raw) {
        ++number_;
        const std::string_view text = trim(raw);
        if (text.empty()) {
            if (option_ != nullptr) option_->push_back("");  // an empty line may be part of a value
            return {};
        }
        if (text.front() == '#' || text.front() == ';') return {};
        const std::size_t indent = indentation(raw);
        if (option_ != nullptr && indent > option_indent_) {
            option_->emplace_back(text);
            return {};
        }
        option_ = nullptr;
        if (text.front() == '[') return section(text);
        return option(text, indent);
    }

    Ini finish() {
        Ini ini;
        for (auto& [name, options] : sections_) {
            if (name == "DEFAULT") continue;
            auto& section = ini[name];
            for (const auto* from : {&sections_["DEFAULT"], &options}) {
                for (const auto& [key, lines] : *from)
                    section[key] = value_of(lines);
            }
        }
        return ini;
    }

  private:
    using Options = std::map<std::string, std::vector<std::string>>;

    static std::string value_of(std::vector<std::string> lines) {
        while (!lines.empty() && lines.back().empty())
            lines.pop_back();
        return base::join(lines, "\n");
    }

    tl::unexpected<base::Error> wrong(std::string sentence, std::string_view text) const {
        return base::fail("ini.syntax",
                          std::string(place_) + ":" + std::to_string(number_) + ": " + std::move(sentence),
                          std::string(text.substr(0, 200)));
    }

    base::Status section(std::string_view text) {
        const auto end = text.rfind(']');
        if (end == std::string_view::npos || end == 1) return wrong("expected [section]", text);
        const std::string name(text.substr(1, end - 1));
        if (name != "DEFAULT" && !seen_.insert(name).second) return wrong("duplicate section", text);
        section_ = &sections_[name];
        return {};
    }

    base::Status option(std::string_view text, std::size_t indent) {
        if (section_ == nullptr) return wrong("expected a [section] before the first option", text);
        const auto separator = text.find_first_of("=:");
        if (separator == std::string_view::npos || separator == 0)
            return wrong("expected `option = value`", text);
        const std::string key = base::ascii_lower(trim(text.substr(0, separator)));
        if (section_->contains(key)) return wrong("duplicate option", text);
        option_ = &(*section_)[key];
        option_->emplace_back(trim(text.substr(separator + 1)));
        option_indent_ = indent;
        return {};
    }

    std::string_view place_;
    std::size_t number_ = 0;
    std::map<std::string, Options> sections_;
    std::set<std::string> seen_;
    Options* section_ = nullptr;
    std::vector<std::string>* option_ = nullptr;
    std::size_t option_indent_ = 0;
};

}  // namespace

base::Result<Ini> parse_ini(std::string_view text, std::string_view place) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    IniReader reader(place);
    for (const auto line : base::split_lines(text))
        WHEELYARD_TRY(reader.line(line));
    return reader.finish();
}

}  // namespace wheelyard::simple
