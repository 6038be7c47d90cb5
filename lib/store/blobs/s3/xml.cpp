// The XML of S3's answers: elements with text, as bounded values. Untrusted bytes.
//
//     <ListBucketResult xmlns="…"><IsTruncated>false</IsTruncated><Contents><Key>a&amp;b</Key></Contents></ListBucketResult>
//
// Read are elements, text, character references, CDATA; skipped are attributes, comments and the XML
// declaration. A DOCTYPE, and with it every entity of a document's own, is an error: S3 sends none. pugixml
// would read the answers, too, but takes text behind the root and references that are none, and needs 18
// times the bytes of an answer before a limit can hold.
#include "lib/store/blobs/s3/client.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "lib/base/text/text.hpp"

namespace wheelyard::blobs {
namespace {

constexpr std::size_t max_reference_bytes = 12;  // "&#x10FFFF;"
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_name_char(char c) {
    return base::is_ascii_alnum(c) || c == '_' || c == '-' || c == '.' || c == ':' ||
           static_cast<unsigned char>(c) >= 0x80;
}

void append_utf8(std::string& into, std::uint32_t code) {
    const auto byte = [&](std::uint32_t value) { into += static_cast<char>(value); };
    const auto tail = [&](unsigned shift) { byte(0x80U | ((code >> shift) & 0x3fU)); };
    if (code < 0x80) return byte(code);
    if (code < 0x800) {
        byte(0xc0U | (code >> 6));
    } else if (code < 0x10000) {
        byte(0xe0U | (code >> 12));
        tail(6);
    } else {
        byte(0xf0U | (code >> 18));
        tail(12);
        tail(6);
    }
    tail(0);
}

class XmlReader {
  public:
    explicit XmlReader(std::string_view text) : text_(text) {}

    base::Result<XmlElement> run() {
        if (text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
        WHEELYARD_TRY(skip_between());
        if (!starts("<")) return wrong("no element");
        WHEELYARD_ASSIGN(XmlElement root, element(1));
        WHEELYARD_TRY(skip_between());
        if (at_ != text_.size()) return wrong("something follows the last element");
        return root;
    }

  private:
    tl::unexpected<base::Error> wrong(std::string_view what) const {
        return base::fail_malformed("s3.answer",
                                    "The answer of the blob store is no XML: " + std::string(what),
                                    std::string(text_.substr(at_ < text_.size() ? at_ : 0, 60)));
    }
    bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }
    bool take(std::string_view what) {
        if (!starts(what)) return false;
        at_ += what.size();
        return true;
    }
    void skip_spaces() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
            ++at_;
    }
    // Past the next `end`.
    base::Status skip_past(std::string_view end) {
        const auto found = text_.find(end, at_);
        if (found == std::string_view::npos) return wrong("an end is missing");
        at_ = found + end.size();
        return {};
    }
    // What is outside of the root element.
    base::Status skip_between() {
        for (;;) {
            skip_spaces();
            if (take("<?"))
                WHEELYARD_TRY(skip_past("?>"));
            else if (take("<!--"))
                WHEELYARD_TRY(skip_past("-->"));
            else
                return starts("<!") ? base::Status(wrong("a DOCTYPE is not accepted")) : base::Status();
        }
    }
    std::string_view name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_name_char(text_[at_]))
            ++at_;
        return text_.substr(begin, at_ - begin);
    }
    // Returns true for "<a/>".
    base::Result<bool> rest_of_tag() {
        for (;;) {
            skip_spaces();
            if (take("/>")) return true;
            if (take(">")) return false;
            if (name().empty()) return wrong("a tag is malformed");
            skip_spaces();
            if (!take("=")) return wrong("an attribute has no value");
            skip_spaces();
            const char quote = at_ < text_.size() ? text_[at_] : '\0';
            if (quote != '"' && quote != '\'') return wrong("an attribute is not quoted");
            ++at_;
            WHEELYARD_TRY(skip_past(std::string_view(&quote, 1)));
        }
    }
    base::Result<XmlElement> element(std::size_t depth) {
        if (depth > max_xml_depth) return wrong("too deep");
        if (++elements_ > max_xml_elements) return wrong("too many elements");
        at_ += 1;  // "<"
        const std::string_view full = name();
        if (full.empty() || full.ends_with(':')) return wrong("an element has no name");
        XmlElement found{.name = std::string(full.substr(full.rfind(':') + 1)), .text = {}};
        WHEELYARD_ASSIGN(const bool is_empty, rest_of_tag());
        if (is_empty) return found;
        for (;;) {
            if (at_ >= text_.size()) return wrong("an element does not end");
            if (take("</")) {
                if (name() != full) return wrong("an end tag has another name");
                skip_spaces();
                if (!take(">")) return wrong("an end tag does not end");
                return found;
            }
            if (take("<!--")) {
                WHEELYARD_TRY(skip_past("-->"));
            } else if (take("<![CDATA[")) {
                const std::size_t begin = at_;
                WHEELYARD_TRY(skip_past("]]>"));
                found.text.append(text_.substr(begin, at_ - 3 - begin));
            } else if (take("<?")) {
                WHEELYARD_TRY(skip_past("?>"));
            } else if (starts("<!")) {
                return wrong("a declaration is not accepted");
            } else if (starts("<")) {
                WHEELYARD_ASSIGN(XmlElement next, element(depth + 1));
                found.children.push_back(std::move(next));
            } else if (starts("&")) {
                WHEELYARD_TRY(reference(found.text));
            } else {
                const std::size_t end = std::min(text_.find_first_of("<&", at_), text_.size());
                found.text.append(text_.substr(at_, end - at_));
                at_ = end;
            }
        }
    }
    base::Status reference(std::string& into) {
        const std::size_t end = text_.substr(at_, max_reference_bytes).find(';');
        if (end == std::string_view::npos) return wrong("a reference does not end");
        std::string_view what = text_.substr(at_ + 1, end - 1);
        static constexpr std::pair<std::string_view, char> known[] = {
            {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
        for (const auto& [word, c] : known) {
            if (what != word) continue;
            into += c;
            at_ += end + 1;
            return {};
        }
        const auto code = code_point(what);
        if (!code) return wrong("an unknown reference");
        append_utf8(into, *code);
        at_ += end + 1;
        return {};
    }
    static std::optional<std::uint32_t> code_point(std::string_view what) {
        if (!what.starts_with('#')) return std::nullopt;
        what.remove_prefix(1);
        const bool is_hex = what.starts_with('x');
        if (is_hex) what.remove_prefix(1);
        if (what.empty()) return std::nullopt;
        std::uint32_t code = 0;
        for (const char c : base::ascii_lower(what)) {
            const auto digit = std::string_view(is_hex ? "0123456789abcdef" : "0123456789").find(c);
            if (digit == std::string_view::npos) return std::nullopt;
            code = code * (is_hex ? 16 : 10) + static_cast<std::uint32_t>(digit);
            if (code > 0x10ffff) return std::nullopt;
        }
        const bool is_surrogate = code >= 0xd800 && code < 0xe000;
        return code == 0 || is_surrogate ? std::nullopt : std::optional(code);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t elements_ = 0;
};

}  // namespace

const XmlElement* XmlElement::child(std::string_view wanted) const {
    for (const auto& one : children) {
        if (one.name == wanted) return &one;
    }
    return nullptr;
}

std::string XmlElement::child_text(std::string_view wanted) const {
    const XmlElement* found = child(wanted);
    return found == nullptr ? std::string() : found->text;
}

base::Result<XmlElement> parse_xml(std::string_view text) {
    return XmlReader(text).run();
}

}  // namespace wheelyard::blobs
