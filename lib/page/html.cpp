#include "lib/page/html.hpp"

#include <utility>

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::page {

namespace {

std::string without_invalid_bytes(std::string_view value) {
    if (base::is_utf8(value)) return std::string(value);
    std::string kept(value);
    for (char& c : kept) {
        if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    }
    return kept;
}

}  // namespace

Html& Html::add(Literal literal) {
    bytes_.append(literal.text());
    return *this;
}

Html& Html::add(const Html& part) {
    bytes_.append(part.bytes_);
    return *this;
}

Html& Html::text(std::string_view value) {
    bytes_.append(base::escape_html(base::printable(without_invalid_bytes(value))));
    return *this;
}

Html& Html::prose(std::string_view sentence) {
    for (;;) {
        const auto begin = sentence.find('`');
        const auto end = begin == std::string_view::npos ? begin : sentence.find('`', begin + 1);
        if (end == std::string_view::npos) return text(sentence);
        text(sentence.substr(0, begin)).add("<code>").text(sentence.substr(begin + 1, end - begin - 1));
        add("</code>");
        sentence.remove_prefix(end + 1);
    }
}

Html& Html::number(std::uint64_t value) {
    bytes_.append(std::to_string(value));
    return *this;
}

Html& Html::url(std::string_view value) {
    return is_safe_url(value) ? text(value) : text("#");
}

Html SafeMarkup::adopt(std::string bytes) {
    Html html;
    html.bytes_ = std::move(bytes);
    return html;
}

bool is_safe_url(std::string_view url) {
    // Browsers drop tabs and line feeds, and leading control characters, before they look for the scheme.
    for (const char c : url) {
        if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '\\') return false;
    }
    const auto end = url.find_first_of(":/?#");
    if (end == std::string_view::npos || url[end] != ':') return true;
    const std::string scheme = base::ascii_lower(url.substr(0, end));
    return scheme == "http" || scheme == "https" || scheme == "mailto";
}

}  // namespace wheelyard::page
