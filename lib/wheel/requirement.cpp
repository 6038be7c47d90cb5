// The grammar, parsed from left to right:
//
//     name [ "[" extra ("," extra)* "]" ] ( "@" url | "(" specifiers ")" | specifiers ) [ ";" marker ]
#include "lib/wheel/requirement.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/wheel/excerpt.hpp"
#include "lib/wheel/limits.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::wheel {
namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t';
}

class RequirementParser {
  public:
    explicit RequirementParser(std::string_view text) : text_(text), rest_(text) {}

    base::Result<Requirement> parse() {
        Requirement requirement;
        WHEELYARD_ASSIGN(requirement.name, take_name("expected a project name"));
        requirement.project = normalize_name(requirement.name);
        skip_space();
        if (take('[')) WHEELYARD_TRY(parse_extras(requirement));
        skip_space();
        if (take('@')) {
            WHEELYARD_TRY(parse_url(requirement));
        } else {
            WHEELYARD_TRY(parse_specifiers(requirement));
        }
        skip_space();
        if (take(';')) {
            WHEELYARD_ASSIGN(requirement.marker, Marker::parse(rest_));
        } else if (!rest_.empty()) {
            return fail("expected `;` or the end");
        }
        return requirement;
    }

  private:
    [[nodiscard]] tl::unexpected<base::Error> fail(const std::string& sentence) const {
        const auto at = text_.size() - rest_.size() + 1;
        return base::fail("requirement.invalid",
                          "Invalid requirement at byte " + std::to_string(at) + ": " + sentence,
                          excerpt(text_), "e.g. numpy[extra]>=1.21,<3; python_version >= \"3.9\"");
    }
    void skip_space() {
        while (!rest_.empty() && is_space(rest_.front()))
            rest_.remove_prefix(1);
    }
    bool take(char c) {
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    base::Result<std::string> take_name(const std::string& expectation) {
        std::size_t length = 0;
        while (length < rest_.size() && (base::is_ascii_alnum(rest_[length]) || rest_[length] == '-' ||
                                         rest_[length] == '_' || rest_[length] == '.')) {
            ++length;
        }
        const auto name = rest_.substr(0, length);
        if (!is_valid_name(name) || length > max_name_bytes) return fail(expectation);
        rest_.remove_prefix(length);
        return std::string(name);
    }

    base::Status parse_extras(Requirement& requirement) {
        skip_space();
        if (take(']')) return {};
        while (true) {
            if (requirement.extras.size() == max_extras) return fail("too many extras");
            WHEELYARD_ASSIGN(auto extra, take_name("expected the name of an extra"));
            requirement.extras.push_back(std::move(extra));
            skip_space();
            if (take(']')) return {};
            if (!take(',')) return fail("expected `,` or `]` after an extra");
            skip_space();
        }
    }

    base::Status parse_url(Requirement& requirement) {
        skip_space();
        const auto length =
            static_cast<std::size_t>(std::find_if(rest_.begin(), rest_.end(), is_space) - rest_.begin());
        if (length == 0) return fail("expected a URL after @");
        requirement.url = rest_.substr(0, length);
        if (!base::is_printable_line(requirement.url)) return fail("the URL contains control characters");
        rest_.remove_prefix(length);
        return {};
    }

    base::Status parse_specifiers(Requirement& requirement) {
        const bool in_parentheses = take('(');
        const auto end = std::min(rest_.find(in_parentheses ? ')' : ';'), rest_.size());
        if (in_parentheses && end == rest_.size())
            return fail("the parenthesis around the specifiers is not closed");
        const auto list = base::trim(rest_.substr(0, end));
        // Like installers: allow one trailing comma, but no leading or repeated comma.
        const auto parts = base::split(list, ',');
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const bool may_be_empty = i + 1 == parts.size() && (i > 0 || list.empty());
            if (base::trim(parts[i]).empty() && !may_be_empty) return fail("expected a version specifier");
        }
        auto specifiers = SpecifierSet::parse(list);
        if (!specifiers) return fail(specifiers.error().sentence + " (" + specifiers.error().value + ")");
        requirement.specifiers = std::move(*specifiers);
        rest_.remove_prefix(in_parentheses ? end + 1 : end);
        return {};
    }

    std::string_view text_;
    std::string_view rest_;
};

}  // namespace

base::Result<Requirement> Requirement::parse(std::string_view text) {
    if (text.size() > max_requirement_bytes) {
        return base::fail("requirement.too_long", "The requirement is too long", excerpt(text));
    }
    return RequirementParser(base::trim(text)).parse();
}

std::string Requirement::text() const {
    std::string text = name;
    if (!extras.empty()) text += "[" + base::join(extras, ",") + "]";
    text += specifiers.text();
    if (!url.empty()) text += " @ " + url;
    if (marker) text += (url.empty() ? "; " : " ; ") + marker->text();
    return text;
}

}  // namespace wheelyard::wheel
