// The codecs of what sites report. Texts come from compilers and from other people's machines: whatever is
// read or written here is cut and has no control characters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/text/utf8.hpp"
#include "lib/io/record.hpp"
#include "lib/status/limits.hpp"

namespace wheelyard::status {

using io::Json;
using io::Need;

// What no reader has to expect: a line feed in a line, or bytes that change what a terminal shows.
inline std::string clean(std::string_view text, std::size_t max_bytes) {
    std::string shown = base::printable_line(text);
    shown.resize(base::cut_utf8(shown, max_bytes).size());
    return shown;
}

// The codecs of these members. An absent member means the default, so empty values are not written.
struct Word {  // a name, a version or a state
    static Json to(const std::string& value) { return clean(value, max_word_bytes); }
    static bool from(const Json& json, std::string& into) {
        const std::string* word = json.as_string();
        if (word == nullptr || word->size() > max_word_bytes || clean(*word, max_word_bytes) != *word)
            return false;
        into = *word;
        return true;
    }
    static std::string type() { return "text, at most " + std::to_string(max_word_bytes) + " bytes"; }
};
template <std::size_t max_bytes>
struct Text {
    static Json to(const std::string& value) { return clean(value, max_bytes); }
    static bool from(const Json& json, std::string& into) {
        if (json.as_string() == nullptr) return false;
        into = clean(*json.as_string(), max_bytes);
        return true;
    }
    static std::string type() { return "text, cut to " + std::to_string(max_bytes) + " bytes"; }
};
struct Count {
    static Json to(std::int64_t value) { return value > 0 ? Json(value) : Json(); }
    static bool from(const Json& json, std::int64_t& into) {
        return io::Plain<std::int64_t>::from(json, into) && into >= 0;
    }
    static std::string type() { return "integer, 0 or more"; }
};
struct ItemCount : Count {
    static Json to(std::int64_t value) { return std::max<std::int64_t>(value, 0); }
};
template <typename Codec, std::size_t max_items>
struct Some : io::ListOf<Codec, max_items> {
    template <typename Item>
    static Json to(std::vector<Item> list) {
        if (list.size() > max_items) list.resize(max_items);
        return list.empty() ? Json() : io::ListOf<Codec, max_items>::to(list);
    }
};
using Words = Some<Text<max_word_bytes>, max_log_lines>;
template <const auto& Table>
using List = io::ListOf<io::Nested<Table>, max_report_items>;

template <typename Codec, auto Path>
constexpr auto member(std::string_view name, std::string_view meaning, Need need = Need::valid) {
    return io::field<Codec, Path>(name, meaning, need, io::Written::if_given);
}

}  // namespace wheelyard::status
