// Finds any of many words in a text, in any letter case, in one pass whose cost does not grow with their
// number.
//
// The idea (Aho and Corasick, 1975): all words share one tree of letters; where the text leaves the tree, the
// longest ending that is still the beginning of a word is where to go on. Folded into one table of states and
// letters, each byte of the text is one step.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace wheelyard::builder {

class WordSearch {
  public:
    // Words are of ASCII and not empty. What they are called from here on is their place in `words`.
    explicit WordSearch(const std::vector<std::string_view>& words);

    // Adds to `found` each word that `text` holds, once for each of its ends in the text.
    void find(std::string_view text, std::vector<std::uint16_t>& found) const {
        std::uint32_t state = 0;
        for (const char c : text) {
            state = next_[state * letters_ + letter_of_[static_cast<unsigned char>(c)]];
            for (std::uint16_t word = word_at_[state]; word != none; word = shorter_at_[word])
                found.push_back(word);
        }
    }

  private:
    static constexpr std::uint16_t none = 0xffff;

    std::array<std::uint8_t, 256> letter_of_{};  // 0: stands in no word
    std::uint32_t letters_ = 1;
    std::vector<std::uint32_t> next_;        // state × letter
    std::vector<std::uint16_t> word_at_;     // the longest word that ends in a state, or none
    std::vector<std::uint16_t> shorter_at_;  // of a word: the next shorter one that ends with it, or none
};

}  // namespace wheelyard::builder
