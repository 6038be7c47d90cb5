// A search for many words, compared with a plain search for each.
#include "builder/doctor/log_words.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

std::vector<std::uint16_t> found_in(const std::vector<std::string_view>& words, std::string_view text) {
    std::vector<std::uint16_t> found;
    WordSearch(words).find(text, found);
    std::sort(found.begin(), found.end());
    return found;
}

TEST_CASE("overlapping and nested words are found, ignoring case") {
    using Found = std::vector<std::uint16_t>;
    const std::vector<std::string_view> words = {"he", "she", "his", "hers", "error:", "no space"};
    CHECK(found_in(words, "ushers") == Found{0, 1, 3});
    CHECK(found_in(words, "ERROR: No Space") == Found{4, 5});
    CHECK(found_in(words, "hehe") == Found{0, 0});
    CHECK(found_in(words, "").empty());
    CHECK(found_in(words, "h").empty());
    CHECK(found_in(words,
                   "sh\x01"
                   "e")
              .empty());
    CHECK(found_in({}, "anything").empty());
    CHECK(found_in({"same", "same", "me"}, "the same") == Found{0, 1, 2});
    CHECK(found_in({"aaa", "aa", "a"}, "aaaa") == Found{0, 0, 1, 1, 1, 2, 2, 2, 2});
}

TEST_CASE("the search finds exactly what a plain search finds") {
    // All words of up to three letters from an alphabet of two, in all texts of up to eight.
    std::vector<std::string> owned;
    for (std::size_t length = 1; length <= 3; ++length) {
        for (unsigned bits = 0; bits < 1U << length; ++bits) {
            std::string word;
            for (std::size_t i = 0; i < length; ++i)
                word += (bits >> i & 1U) != 0 ? 'b' : 'a';
            owned.push_back(word);
        }
    }
    const std::vector<std::string_view> words(owned.begin(), owned.end());
    const WordSearch search(words);
    for (unsigned bits = 0; bits < 256; ++bits) {
        std::string text;
        for (std::size_t i = 0; i < 8; ++i)
            text += (bits >> i & 1U) != 0 ? 'B' : 'a';
        std::vector<std::uint16_t> found;
        search.find(text, found);
        std::sort(found.begin(), found.end());
        std::vector<std::uint16_t> expected;
        const std::string lower = base::ascii_lower(text);
        for (std::size_t i = 0; i < words.size(); ++i) {
            for (auto at = lower.find(words[i]); at != std::string::npos; at = lower.find(words[i], at + 1))
                expected.push_back(static_cast<std::uint16_t>(i));
        }
        CAPTURE(text);
        CHECK(found == expected);
    }
}

}  // namespace
}  // namespace wheelyard::builder
