// Blocks are told apart by their first line and their indentation, and become lines of Markdown, which the
// block around them indents. Inline marks count where the specification lets them begin and end.
#include "indexer/web/rst.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lib/base/text/text.hpp"

namespace wheelyard::indexer {
namespace {

using Lines = std::vector<std::string_view>;
using Made = std::vector<std::string>;
using Names = std::map<std::string, std::string_view, std::less<>>;

constexpr std::size_t max_depth = 8;             // of blocks in blocks; deeper ones stay as they were written
constexpr std::size_t max_inline_bytes = 2'000;  // between two marks
constexpr std::size_t max_role_bytes = 40;
constexpr std::size_t max_number_digits = 4;  // of a list's item
constexpr std::size_t max_names = 8;          // from a target to its address; names may lead in a circle

bool is_one_of(std::string_view characters, char c) {
    return characters.find(c) != characters.npos;
}
bool is_rule(std::string_view line) {
    return line.size() >= 2 && is_one_of("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", line[0]) &&
           line.find_first_not_of(line[0]) == line.npos;
}
bool is_border(std::string_view line) {
    return line.starts_with("==") && line.find_first_not_of("= ") == line.npos;
}

// The lines from `at` that are indented, or empty before such lines, without what all of them begin with.
Lines take_indented(const Lines& lines, std::size_t& at) {
    std::size_t end = at;
    std::size_t least = std::string_view::npos;
    for (std::size_t next = at; next < lines.size(); ++next) {
        if (lines[next].empty()) continue;
        if (lines[next].front() != ' ') break;
        least = std::min(least, lines[next].find_first_not_of(' '));
        end = next + 1;
    }
    Lines block;
    for (; at < end; ++at)
        block.push_back(lines[at].substr(std::min(least, lines[at].size())));
    return block;
}

// Without empty lines at the end.
void append(Made& to, const Made& lines, std::string_view first, std::string_view others) {
    std::size_t count = lines.size();
    while (count > 0 && lines[count - 1].empty())
        --count;
    for (std::size_t at = 0; at < count; ++at)
        to.push_back(std::string(at == 0 ? first : others) + lines[at]);
    if (count == 0) to.emplace_back(first);
}

// Backticks, more than stand together in the text.
std::string fence_of(std::string_view text, std::size_t least) {
    std::size_t run = 0;
    for (const char c : text) {
        run = c == '`' ? run + 1 : 0;
        least = std::max(least, run + 1);
    }
    return std::string(least, '`');
}

Made literal(const Lines& lines) {
    const auto is_text = [](std::string_view line) { return !line.empty(); };
    std::string fence = "```";
    for (const std::string_view line : lines)
        fence = fence_of(line, fence.size());
    Made made{fence};
    made.insert(made.end(), std::find_if(lines.begin(), lines.end(), is_text), lines.end());
    made.insert(made.end(), {fence, ""});
    return made;
}

std::string as_text(std::string_view text) {
    std::string made;
    for (const char c : text) {
        if (is_one_of("\\`*_[]<>&~|!#+-=.){}", c)) made += '\\';
        made += c;
    }
    return made;
}

std::string code_span(std::string_view text) {
    const std::string fence = fence_of(text, 1);
    return fence + " " + std::string(text) + " " + fence;
}

std::string link(std::string_view text, std::string_view address) {
    const std::string url = base::replace_all(address, " ", "");
    if (url.empty() || url.find_first_of("<>\\") != url.npos) return as_text(text);
    return "[" + as_text(text) + "](<" + url + ">)";
}

std::string_view find_name(const Names& names, std::string_view name) {
    const auto found = names.find(base::ascii_lower(name));
    return found == names.end() ? std::string_view() : found->second;
}

class Converter {
  public:
    // What links and substitutions lead to may stand anywhere.
    explicit Converter(const Lines& lines) {
        for (std::size_t at = 0; at < lines.size(); ++at) {
            std::string_view line = base::trim(lines[at]);
            if (line.starts_with("__ ")) anonymous_.push_back(base::trim(line.substr(3)));
            if (line.starts_with(".. __:")) anonymous_.push_back(base::trim(line.substr(6)));
            const char kind = line.starts_with(".. ") ? line[3] : ' ';
            if ((kind != '_' && kind != '|') || line.starts_with(".. __:")) continue;
            line.remove_prefix(4);
            const bool is_quoted = line.starts_with('`');
            const std::string_view mark = kind == '|' ? "|" : is_quoted ? "`:" : ": ";
            const auto end = std::min(line.find(mark, 1), line.size() - (line.ends_with(':') ? 1 : 0));
            const std::string name =
                base::ascii_lower(line.substr(is_quoted ? 1 : 0, is_quoted ? end - 1 : end));
            std::string_view rest = base::trim(line.substr(std::min(end + mark.size(), line.size())));
            if (rest.empty() && at + 1 < lines.size() && lines[at + 1].starts_with(' '))
                rest = base::trim(lines[at + 1]);
            if (kind == '_' && !rest.empty()) links_.emplace(name, rest);
            constexpr std::string_view replace = "replace::";
            if (kind == '|')
                replacements_[name] =
                    rest.starts_with(replace) ? base::trim(rest.substr(replace.size())) : "";
        }
    }

    Made convert(const Lines& lines, std::size_t depth) {
        if (depth > max_depth) return literal(lines);
        Made made;
        for (std::size_t at = 0; at < lines.size();) {
            if (lines[at].empty() || lines[at].starts_with("__ ")) {
                made.emplace_back();
                ++at;
            } else if (lines[at].front() == ' ') {
                quote(made, take_indented(lines, at), depth);
            } else if (lines[at] == ".." || lines[at].starts_with(".. ")) {
                explicit_markup(made, lines, at, depth);
            } else if (!heading(made, lines, at) && !verbatim(made, lines, at) &&
                       !item(made, lines, at, depth)) {
                paragraph(made, lines, at, depth);
            }
        }
        return made;
    }

  private:
    static void add(Made& made, const Made& lines) { made.insert(made.end(), lines.begin(), lines.end()); }
    void quote(Made& made, const Lines& lines, std::size_t depth) {
        append(made, convert(lines, depth + 1), "> ", "> ");
        made.emplace_back();
    }

    bool heading(Made& made, const Lines& lines, std::size_t& at) {
        const bool has_rule = is_rule(lines[at]);
        const std::size_t at_title = at + (has_rule ? 1 : 0);
        const auto line = [&](std::size_t one) {
            return one < lines.size() ? lines[one] : std::string_view();
        };
        const std::string_view title = base::trim(line(at_title));
        const std::string_view under = line(at_title + 1);
        const bool is_long = under.size() >= 4 || under.size() >= title.size();
        const bool is_same = !has_rule || under.starts_with(lines[at].front());
        if (title.empty() || !is_rule(under) || !is_long || !is_same) {
            if (!has_rule || lines[at].size() < 4) return false;
            made.insert(made.end(), {"***", ""});
            ++at;
            return true;
        }
        const std::pair style(under.front(), has_rule);
        const auto known = std::find(levels_.begin(), levels_.end(), style);
        const auto level = static_cast<std::size_t>(known - levels_.begin()) + 1;
        if (known == levels_.end()) levels_.push_back(style);
        made.insert(made.end(),
                    {std::string(std::min<std::size_t>(level, 6), '#') + " " + inline_text(title), ""});
        at = at_title + 2;
        return true;
    }

    // Tables, and sessions of Python.
    static bool verbatim(Made& made, const Lines& lines, std::size_t& at) {
        const bool is_simple = is_border(lines[at]);
        if (!is_simple && !lines[at].starts_with("+-") && !lines[at].starts_with(">>>")) return false;
        Lines block;
        for (bool is_end = false; at < lines.size() && !is_end; ++at) {
            const bool is_last = at + 1 == lines.size() || lines[at + 1].empty();
            is_end = is_last && (!is_simple || (!block.empty() && is_border(lines[at])));
            block.push_back(lines[at]);
        }
        add(made, literal(block));
        return true;
    }

    // The bytes of the number of an item, with its point or bracket: "1.", "#.", "1)"; 0: there is none.
    static std::size_t number_of(std::string_view line) {
        const auto end = std::min(line.find_first_not_of("0123456789#"), line.size());
        const bool is_short = end > 0 && end <= max_number_digits;
        return is_short && end < line.size() && is_one_of(".)", line[end]) ? end + 1 : 0;
    }

    // "* ", "- ", "+ "; "1. "; ":field: ".
    bool item(Made& made, const Lines& lines, std::size_t& at, std::size_t depth) {
        const std::string_view line = lines[at];
        const bool is_field = line[0] == ':';
        const std::size_t number = number_of(line);
        const std::size_t width = is_field ? line.find(':', 1) + 1 : is_one_of("*+-", line[0]) ? 1 : number;
        if (width == 0 || (is_field && width < 3) || (width < line.size() && line[width] != ' '))
            return false;
        std::string marker = "- ";
        if (number > 0) marker = line[0] == '#' ? "1. " : std::string(line.substr(0, number - 1)) + ". ";
        const std::string others(marker.size(), ' ');
        if (is_field) marker += "**" + as_text(base::trim(line.substr(1, width - 2))) + ":** ";
        Lines block{base::trim(line.substr(width))};
        const Lines more = take_indented(lines, ++at);
        block.insert(block.end(), more.begin(), more.end());
        append(made, convert(block, depth + 1), marker, others);
        return true;
    }

    void paragraph(Made& made, const Lines& lines, std::size_t& at, std::size_t depth) {
        const std::size_t begin = at;
        std::string text;
        while (at < lines.size() && !lines[at].empty() && (at == begin || lines[at].front() != ' '))
            text.append(text.empty() ? "" : " ").append(lines[at++]);
        const bool is_term = at == begin + 1 && at < lines.size() && !lines[at].empty();
        const bool has_literal = text.ends_with("::");
        if (has_literal) text.resize(text.size() - (text.size() == 2 || text.ends_with(" ::") ? 2 : 1));
        made.insert(made.end(), {inline_text(base::trim(text)), ""});
        if (has_literal)
            add(made, literal(take_indented(lines, at)));
        else if (is_term)
            quote(made, take_indented(lines, at), depth);
    }

    void explicit_markup(Made& made, const Lines& lines, std::size_t& at, std::size_t depth) {
        static constexpr std::array code{"code",           "code-block", "sourcecode",
                                         "parsed-literal", "prompt",     "math"};
        static constexpr std::array dropped{"image",        "figure",  "contents",  "toctree",
                                            "raw",          "include", "highlight", "role",
                                            "default-role", "sectnum", "meta",      "class"};
        const std::string_view first = base::trim(lines[at].substr(2));
        Lines block = take_indented(lines, ++at);
        const auto colons = first.find("::");
        const std::string_view name = first.substr(0, colons);
        const bool is_footnote = first.starts_with('[');
        // Targets and substitutions were collected; what is no directive is a comment.
        const bool is_directive =
            colons != first.npos && colons > 0 && name.find_first_of(" _|[") == name.npos;
        if (!is_footnote &&
            (!is_directive || std::find(dropped.begin(), dropped.end(), name) != dropped.end()))
            return;
        const auto is_option = [](std::string_view line) { return line.starts_with(':'); };
        if (is_directive) block.erase(block.begin(), std::find_if_not(block.begin(), block.end(), is_option));
        if (std::find(code.begin(), code.end(), name) != code.end()) return add(made, literal(block));
        const std::string_view begin = is_footnote ? first : base::trim(first.substr(colons + 2));
        if (!is_footnote) made.insert(made.end(), {"> **" + as_text(name) + "**", ">"});
        if (!begin.empty()) block.insert(block.begin(), begin);
        quote(made, block, depth);
    }

    // Where what begins with `mark` at `at` ends, if both may be there.
    static std::optional<std::size_t> end_of(std::string_view text, std::size_t at, std::string_view mark) {
        const std::size_t begin = at + mark.size();
        if (!text.substr(at).starts_with(mark) || (at > 0 && !is_one_of(" '\"([{<-/:", text[at - 1])) ||
            begin >= text.size() || text[begin] == ' ')
            return std::nullopt;
        const std::string_view within = text.substr(0, begin + max_inline_bytes);
        for (auto end = within.find(mark, begin + 1); end != within.npos; end = within.find(mark, end + 1)) {
            const std::size_t after = end + mark.size();
            const bool may_end = after >= text.size() || is_one_of(" '\")]}>-/\\:.,;!?_|", text[after]);
            if (text[end - 1] != ' ' && may_end) return end;
        }
        return std::nullopt;
    }

    // What a target leads to: itself, or what the one is that it names, as "mpich-wheels_" and "`MPICH
    // wheels`_" do. Empty: nothing.
    [[nodiscard]] std::string_view address_of(std::string_view target) const {
        for (std::size_t names = 0; names <= max_names; ++names) {
            if (!target.ends_with('_') || target.ends_with("\\_") || target.find("://") != target.npos)
                return target;
            target.remove_suffix(1);
            const bool is_quoted = target.size() > 2 && target.starts_with('`') && target.ends_with('`');
            target = find_name(links_, is_quoted ? target.substr(1, target.size() - 2) : target);
        }
        return {};
    }

    // Of `content` between backticks, with what follows it: a link, or a word that is marked. `role`:
    // ":func:", or empty.
    std::string quoted(std::string_view content, std::string_view text, std::size_t& at,
                       std::string_view role) {
        const bool is_anonymous = text.substr(at).starts_with("__");
        const bool is_link = text.substr(at).starts_with('_');
        at += is_anonymous ? 2 : is_link ? 1 : 0;
        const auto open = content.ends_with('>') ? content.rfind('<') : content.npos;
        const bool has_target = open != content.npos;
        std::string_view title = base::trim(content.substr(0, open));
        const auto target =
            has_target ? content.substr(open + 1, content.size() - open - 2) : std::string_view();
        if (title.empty()) title = target;
        if (!is_link && role.empty()) return "*" + as_text(content) + "*";
        if (!is_link) return code_span(title);
        if (has_target) return link(title, address_of(target));
        if (!is_anonymous) return link(title, address_of(find_name(links_, content)));
        return link(title,
                    next_anonymous_ < anonymous_.size() ? address_of(anonymous_[next_anonymous_++]) : "");
    }

    // A word, an address or a link to a name: "word", "https://…", "name_".
    std::string word(std::string_view text, std::size_t& at) const {
        std::string_view rest = text.substr(at);
        const bool is_address = rest.starts_with("https://") || rest.starts_with("http://");
        std::size_t end = 0;
        while (end < rest.size() && (base::is_ascii_alnum(rest[end]) || is_one_of("-_.+", rest[end])))
            ++end;
        rest = rest.substr(0, is_address ? rest.find_first_of(" <>\"'`)]}\\") : end);
        while (rest.size() > 1 && is_one_of("-.+,:;!?*", rest.back()))
            rest.remove_suffix(1);
        at += rest.size();
        if (is_address) return "<" + std::string(rest) + ">";
        const std::string_view name = rest.substr(0, rest.size() - 1);
        const std::string_view address =
            rest.ends_with('_') ? address_of(find_name(links_, name)) : std::string_view();
        return address.empty() ? as_text(rest) : link(name, address);
    }

    std::string inline_text(std::string_view text) {
        std::string made;
        for (std::size_t at = 0; at < text.size();) {
            const std::string_view rest = text.substr(at);
            const auto part = [&](std::string_view mark) {
                const auto end = end_of(text, at, mark);
                const std::size_t begin = at + mark.size();
                if (end) at = *end + mark.size();
                return end ? std::optional(text.substr(begin, *end - begin)) : std::nullopt;
            };
            const auto colon = rest[0] == ':' ? rest.substr(0, max_role_bytes).find(":`", 1) : rest.npos;
            const bool has_role = colon != rest.npos &&
                                  rest.substr(1, colon).find_first_of(" `") == rest.npos &&
                                  end_of(text, at + colon + 1, "`");
            if (rest[0] == '\\' && rest.size() > 1) {
                if (rest[1] != ' ') made += as_text(rest.substr(1, 1));
                at += 2;
            } else if (base::is_ascii_alnum(rest[0])) {
                made += word(text, at);
            } else if (const auto code = part("``")) {
                made += code_span(*code);
            } else if (const auto strong = part("**")) {
                made += "**" + as_text(*strong) + "**";
            } else if (const auto emphasis = part("*")) {
                made += "*" + as_text(*emphasis) + "*";
            } else if (const auto name = part("|")) {
                made += replacements_.contains(base::ascii_lower(*name))
                            ? as_text(find_name(replacements_, *name))
                            : as_text("|" + std::string(*name) + "|");
                at = std::min(text.find_first_not_of('_', at), text.size());
            } else if (const auto content = part("`")) {
                made += quoted(*content, text, at, "");
            } else if (has_role) {
                at += colon + 1;
                const auto named = part("`");
                made += quoted(*named, text, at, rest.substr(0, colon + 1));
            } else {
                made += as_text(rest.substr(0, 1));
                ++at;
            }
        }
        return made;
    }

    Names links_;
    Names replacements_;
    Lines anonymous_;
    std::size_t next_anonymous_ = 0;
    std::vector<std::pair<char, bool>> levels_;  // of headings: the mark, and whether it is above, too
};

}  // namespace

std::string markdown_of_rst(std::string_view text) {
    const std::string expanded = base::replace_all(base::replace_all(text, "\r", ""), "\t", "        ");
    Lines lines;
    for (std::string_view line : base::split(expanded, '\n')) {
        while (line.ends_with(' '))
            line.remove_suffix(1);
        lines.push_back(line);
    }
    return base::join(Converter(lines).convert(lines, 0), "\n");
}

}  // namespace wheelyard::indexer
