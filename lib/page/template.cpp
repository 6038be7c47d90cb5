// A template is parsed into nodes, each value with the place where it stands; the place decides how it is
// escaped. A section ends in the place where it begins, so no value decides the place of another one.
#include "lib/page/template.hpp"

#include <algorithm>
#include <array>

#include "lib/base/check.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::page {

namespace {

using Kind = TemplateNode::Kind;
using Stands = TemplateNode::Stands;
using Value = Values::Value;
using Nodes = std::vector<TemplateNode>;

constexpr std::size_t max_depth = 16;  // of sections

tl::unexpected<base::Error> refuse(std::string what, std::string_view where) {
    return base::fail("template.syntax", std::move(what), std::string(where.substr(0, 80)),
                      "see lib/page/README.md");
}

// Where in HTML the next character stands.
struct Position {
    enum class In : std::uint8_t { element, comment, tag, value };
    In in = In::element;
    bool is_raw = false;    // in a script or a style
    bool is_start = false;  // of a value
    std::string word = {};  // of a tag: its name, then that of its last attribute
    bool operator==(const Position&) const = default;

    // False: a tag has something else than attributes in double quotes.
    [[nodiscard]] bool advance(std::string_view text);
    void end_word();
    // nullopt: no value may stand here.
    [[nodiscard]] std::optional<Stands> stands() const;
};

void Position::end_word() {
    if (in == In::tag) is_raw = is_raw || word == "script" || word == "style";
    word.clear();
}

bool Position::advance(std::string_view text) {
    for (; !text.empty(); text.remove_prefix(1)) {
        const char c = text.front();
        if (in == In::element && c == '<') {
            in = text.starts_with("<!--") ? In::comment : In::tag;
            is_raw = is_raw && in == In::comment;
            if (text.starts_with("</")) {
                word = "/";
                text.remove_prefix(1);
            }
        } else if (in == In::comment && text.starts_with("-->")) {
            in = In::element;
        } else if (in == In::value) {
            is_start = false;
            if (c == '"') *this = {In::tag, is_raw};
        } else if (in == In::tag) {
            if (text.starts_with("=\"")) {
                text.remove_prefix(1);
                *this = {In::value, is_raw, true, word};
            } else if (c == '>' || std::string_view(" \t\n\f\r/").find(c) != std::string_view::npos) {
                end_word();
                if (c == '>') in = In::element;
            } else if (base::is_ascii_alnum(c) || std::string_view("-:!").find(c) != std::string_view::npos) {
                word += base::ascii_lower(text.substr(0, 1));
            } else {
                return false;
            }
        }
    }
    return true;
}

std::optional<Stands> Position::stands() const {
    constexpr std::array<std::string_view, 6> urls{"href", "src", "action", "formaction", "cite", "poster"};
    constexpr std::array<std::string_view, 4> forbidden{"style", "srcdoc", "srcset", "ping"};
    const auto is_one_of = [this](const auto& names) {
        return std::find(names.begin(), names.end(), word) != names.end();
    };
    if (in == In::element && !is_raw) return Stands::in_element;
    if (in != In::value || word.starts_with("on") || is_one_of(forbidden)) return std::nullopt;
    if (!is_one_of(urls)) return Stands::in_attribute;
    return is_start ? Stands::at_url : Stands::in_url;
}

struct Parser {
    std::string_view rest;
    Position position = {};
    bool is_line_start = true;

    // Up to the end of `section`, or of the text.
    [[nodiscard]] base::Result<Nodes> nodes(std::string_view section, std::size_t depth);
};

base::Result<Nodes> Parser::nodes(std::string_view section, std::size_t depth) {
    Nodes nodes;
    for (;;) {
        const std::string_view literal = rest.substr(0, rest.find("{{"));
        rest.remove_prefix(literal.size());
        if (!literal.empty()) {
            nodes.push_back({.text = literal});
            is_line_start = literal.ends_with('\n');
            if (!position.advance(literal))
                return refuse("a tag has something else than attributes in double quotes", literal);
        }
        if (rest.empty() && !section.empty()) return refuse("a section is not closed", section);
        if (rest.empty()) return nodes;
        const auto end = rest.find("}}");
        if (end == std::string_view::npos) return refuse("a tag is not closed", rest);
        std::string_view name = rest.substr(2, end - 2);
        rest.remove_prefix(end + 2);
        const bool is_block = name.find_first_of("#?^/!") == 0;
        const char kind = is_block ? name.front() : '\0';
        if (is_block) name.remove_prefix(1);
        // A line that has nothing but such a tag leaves no trace.
        is_line_start = is_line_start && is_block;
        if (is_line_start && rest.starts_with('\n')) rest.remove_prefix(1);
        if (kind == '!') continue;
        const bool is_name =
            std::all_of(name.begin(), name.end(), [](char c) { return base::is_ascii_alnum(c) || c == '_'; });
        if (name.empty() || !(is_name || name == ".")) return refuse("no name of a value", name);
        if (kind == '/' && name != section) return refuse("another section is open", name);
        if (kind == '/') return nodes;
        if (is_block) {
            if (position.in == Position::In::tag) position.end_word();
            const Position before = position;
            if (depth == max_depth) return refuse("sections are nested too deeply", name);
            WHEELYARD_ASSIGN(Nodes inner, this->nodes(name, depth + 1));
            if (position.in == Position::In::tag) position.end_word();
            if (position != before) return refuse("a section ends in the place where it begins", name);
            const Kind is = kind == '#' ? Kind::section : kind == '?' ? Kind::once : Kind::inverted;
            nodes.push_back({is, name, {}, std::move(inner)});
        } else {
            const auto stands = position.stands();
            if (!stands) return refuse("no value may stand here", name);
            position.is_start = false;
            nodes.push_back({Kind::value, name, *stands});
        }
    }
}

struct Scope {
    const Values& values;
    const Scope* outer = nullptr;
    [[nodiscard]] const Value& find(std::string_view name) const {
        const auto found = values.members().find(name);
        if (found != values.members().end()) return found->second;
        WHEELYARD_CHECK(outer != nullptr);
        return outer->find(name);
    }
};

void add_value(Html& html, const Value& value, Stands stands) {
    const bool is_markup = value.kind == Value::Kind::markup && stands == Stands::in_element;
    WHEELYARD_CHECK(is_markup || value.kind == Value::Kind::text);
    if (is_markup)
        html.add(SafeMarkup::adopt(value.text));
    else if (stands == Stands::at_url)
        html.url(value.text);
    else
        html.text(stands == Stands::in_url ? base::encode_percent(value.text) : value.text);
}

void render_nodes(Html& html, const Nodes& nodes, const Scope& scope, bool every_branch) {
    for (const TemplateNode& node : nodes) {
        if (node.kind == Kind::literal) {
            html.add(SafeMarkup::adopt(std::string(node.text)));
            continue;
        }
        const Value& value = scope.find(node.text);
        const bool is_each = node.kind == Kind::section && value.kind == Value::Kind::list;
        const bool is_once = value.is_set == (node.kind != Kind::inverted);
        if (node.kind == Kind::value)
            add_value(html, value, node.stands);
        else if (is_each)
            for (const Values& item : value.items)
                render_nodes(html, node.children, {item, &scope}, every_branch);
        else if (is_once || every_branch)
            render_nodes(html, node.children, scope, every_branch);
    }
}

}  // namespace

base::Result<Template> Template::parse(std::string_view text) {
    Template made;
    Parser parser{text};
    WHEELYARD_ASSIGN(made.nodes_, parser.nodes({}, 0));
    if (parser.position != Position{}) return refuse("a tag of HTML is not closed", parser.position.word);
    return made;
}

Html Template::render(const Values& values, bool every_branch) const {
    Html html;
    render_nodes(html, nodes_, {values}, every_branch);
    return html;
}

const Template& named_template(std::string_view name) {
    static const std::map<std::string_view, Template> all = [] {
        std::map<std::string_view, Template> parsed;
        for (const TemplateFile& file : template_files()) {
            auto made = Template::parse(file.text);
            WHEELYARD_CHECK(made.has_value());
            parsed.emplace(file.name, std::move(*made));
        }
        return parsed;
    }();
    const auto found = all.find(name);
    WHEELYARD_CHECK(found != all.end());
    return found->second;
}

}  // namespace wheelyard::page
