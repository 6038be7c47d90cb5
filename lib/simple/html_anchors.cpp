// Follows the HTML standard's tokenizer, without what index pages do not use. Each search starts where the
// previous one ended, and an unsuccessful search ends the scan: the whole is linear.
#include "lib/simple/html_anchors.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "lib/base/text/text.hpp"

namespace wheelyard::simple {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::size_t attributes_of_an_anchor = 6;  // as many as PEPs name

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}
bool is_name_end(char c) {
    return is_space(c) || c == '>' || c == '/';
}

struct NamedEntity {
    std::string_view name;  // with its semicolon
    char character;
};
constexpr std::array<NamedEntity, 5> named_entities{
    {{"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}}};

void append_utf8(std::string& text, std::uint32_t code_point) {
    const auto add = [&](std::uint32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code_point < 0x80) {
        add(code_point);
    } else if (code_point < 0x800) {
        add(0xC0 | code_point >> 6);
        add(0x80 | (code_point & 0x3F));
    } else if (code_point < 0x10000) {
        add(0xE0 | code_point >> 12);
        add(0x80 | (code_point >> 6 & 0x3F));
        add(0x80 | (code_point & 0x3F));
    } else {
        add(0xF0 | code_point >> 18);
        add(0x80 | (code_point >> 12 & 0x3F));
        add(0x80 | (code_point >> 6 & 0x3F));
        add(0x80 | (code_point & 0x3F));
    }
}

int digit_value(char c, int radix) {
    int value = -1;
    if (c >= '0' && c <= '9') value = c - '0';
    if (c >= 'a' && c <= 'f') value = c - 'a' + 10;
    if (c >= 'A' && c <= 'F') value = c - 'A' + 10;
    return value < radix ? value : -1;
}

// Decodes the reference after '&', appends it and returns its length; 0 if there is none.
std::size_t decode_reference(std::string_view rest, std::string& text) {
    for (const auto& entity : named_entities) {
        if (!rest.starts_with(entity.name)) continue;
        text += entity.character;
        return entity.name.size();
    }
    if (!rest.starts_with('#')) return 0;
    const bool is_hex = rest.size() > 1 && (rest[1] == 'x' || rest[1] == 'X');
    const int radix = is_hex ? 16 : 10;
    std::size_t at = is_hex ? 2 : 1;
    const auto first_digit = at;
    std::uint32_t code_point = 0;
    constexpr std::uint32_t last_code_point = 0x10FFFF;
    for (; at < rest.size() && digit_value(rest[at], radix) >= 0; ++at) {
        const auto digit = static_cast<std::uint32_t>(digit_value(rest[at], radix));
        code_point = std::min(code_point * static_cast<std::uint32_t>(radix) + digit, last_code_point + 1);
    }
    if (at == first_digit || at == rest.size() || rest[at] != ';') return 0;
    const bool is_surrogate = code_point >= 0xD800 && code_point < 0xE000;
    constexpr std::uint32_t replacement = 0xFFFD;
    append_utf8(text,
                code_point == 0 || code_point > last_code_point || is_surrogate ? replacement : code_point);
    return at + 1;
}

// The position of the end tag of `element` (lower case): matches "</script" but not "</scripty".
std::size_t find_end_tag(std::string_view html, std::string_view element, std::size_t from) {
    for (auto at = html.find("</", from); at != npos; at = html.find("</", at + 2)) {
        const auto rest = html.substr(at + 2);
        if (!base::equals_ignoring_case(rest.substr(0, element.size()), element)) continue;
        if (rest.size() == element.size() || is_name_end(rest[element.size()])) return at;
    }
    return npos;
}

class Scanner {
  public:
    Scanner(std::string_view html, std::size_t max_anchors) : html_(html), max_anchors_(max_anchors) {}

    HtmlAnchors scan() {
        while (!found_.is_cut && at_ != npos && (at_ = html_.find('<', at_)) != npos)
            scan_markup();
        return std::move(found_);
    }

  private:
    using Attributes = std::vector<std::pair<std::string, std::string>>;

    // Call with at_ at '<'. Leaves at_ after the markup, or at npos if it does not end.
    void scan_markup() {
        const auto rest = html_.substr(at_);
        if (rest.starts_with("<!--")) {
            at_ = skip_past(html_.find("-->", at_ + 4), 3);
        } else if (rest.starts_with("<!") || rest.starts_with("<?") || rest.starts_with("</")) {
            at_ = skip_past(html_.find('>', at_), 1);
        } else if (rest.size() > 1 && base::is_ascii_alpha(rest[1])) {
            scan_tag();
        } else {
            ++at_;  // a bare '<' is text
        }
    }

    static std::size_t skip_past(std::size_t position, std::size_t length) {
        return position == npos ? npos : position + length;
    }

    void scan_tag() {
        ++at_;
        const auto name_end =
            std::find_if(html_.begin() + static_cast<std::ptrdiff_t>(at_), html_.end(), is_name_end);
        const auto length = static_cast<std::size_t>(name_end - html_.begin()) - at_;
        const auto name = base::ascii_lower(html_.substr(at_, length));
        at_ += length;
        auto attributes = scan_attributes();
        if (!attributes) return;
        if (name == "a") {
            add_anchor(std::move(*attributes));
        } else if (name == "base" && found_.base_href.empty()) {
            read_base(HtmlAnchor{std::move(*attributes), {}});
        } else if (name == "meta") {
            read_meta(HtmlAnchor{std::move(*attributes), {}});
        } else if (name == "script" || name == "style" || name == "title" || name == "textarea") {
            at_ = find_end_tag(html_, name, at_);
        }
    }

    void read_base(const HtmlAnchor& element) {
        if (const auto* href = element.attribute("href")) found_.base_href = *href;
    }

    void read_meta(const HtmlAnchor& meta) {
        const auto* name = meta.attribute("name");
        const auto* content = meta.attribute("content");
        if (name == nullptr || content == nullptr || *name != "pypi:repository-version") return;
        found_.repository_version = *content;
    }

    void add_anchor(Attributes attributes) {
        if (found_.anchors.size() == max_anchors_) {
            found_.is_cut = true;
            return;
        }
        const auto end = std::min(html_.find('<', at_), html_.size());
        found_.anchors.push_back(
            {std::move(attributes), std::string(base::trim(decode_entities(html_.substr(at_, end - at_))))});
        at_ = end;
    }

    // Scans including the closing '>'. nullopt (and at_ = npos) if the tag does not end.
    std::optional<Attributes> scan_attributes() {
        Attributes attributes;
        while (true) {
            while (at_ < html_.size() && (is_space(html_[at_]) || html_[at_] == '/'))
                ++at_;
            if (at_ >= html_.size()) break;
            if (html_[at_] == '>') {
                ++at_;
                return attributes;
            }
            auto name = scan_attribute_name();
            auto value = scan_attribute_value();
            if (!value) break;
            attributes.emplace_back(std::move(name), std::move(*value));
            found_.is_cut = ++attributes_ > attributes_of_an_anchor * max_anchors_;
            if (found_.is_cut) break;
        }
        at_ = npos;
        return std::nullopt;
    }

    std::string scan_attribute_name() {
        const auto begin = at_++;  // always consume one character, so that the scan advances
        while (at_ < html_.size() && !is_space(html_[at_]) && html_[at_] != '=' && html_[at_] != '>' &&
               html_[at_] != '/') {
            ++at_;
        }
        return base::ascii_lower(html_.substr(begin, at_ - begin));
    }

    // Empty without '='. nullopt if a quoted value does not end.
    std::optional<std::string> scan_attribute_value() {
        auto next = at_;
        while (next < html_.size() && is_space(html_[next]))
            ++next;
        if (next >= html_.size() || html_[next] != '=') return std::string();
        at_ = next + 1;
        while (at_ < html_.size() && is_space(html_[at_]))
            ++at_;
        if (at_ >= html_.size()) return std::nullopt;
        const char quote = html_[at_];
        if (quote == '"' || quote == '\'') {
            const auto end = html_.find(quote, at_ + 1);
            if (end == npos) return std::nullopt;
            const auto value = html_.substr(at_ + 1, end - at_ - 1);
            at_ = end + 1;
            return decode_entities(value);
        }
        const auto begin = at_;
        while (at_ < html_.size() && !is_space(html_[at_]) && html_[at_] != '>')
            ++at_;
        return decode_entities(html_.substr(begin, at_ - begin));
    }

    std::string_view html_;
    std::size_t max_anchors_;
    std::size_t attributes_ = 0;
    std::size_t at_ = 0;
    HtmlAnchors found_;
};

}  // namespace

const std::string* HtmlAnchor::attribute(std::string_view name) const {
    const auto found = std::find_if(attributes.begin(), attributes.end(),
                                    [&](const auto& candidate) { return candidate.first == name; });
    return found == attributes.end() ? nullptr : &found->second;
}

HtmlAnchors scan_anchors(std::string_view html, std::size_t max_anchors) {
    return Scanner(html, max_anchors).scan();
}

std::string decode_entities(std::string_view text) {
    std::string decoded;
    decoded.reserve(text.size());
    while (true) {
        const auto ampersand = std::min(text.find('&'), text.size());
        decoded += text.substr(0, ampersand);
        if (ampersand == text.size()) return decoded;
        text.remove_prefix(ampersand + 1);
        const auto length = decode_reference(text, decoded);
        if (length == 0) decoded += '&';
        text.remove_prefix(length);
    }
}

}  // namespace wheelyard::simple
