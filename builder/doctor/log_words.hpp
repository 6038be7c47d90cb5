// All patterns and signs that a doctor looks for, and the search for them. Built once for a rule book,
// because building takes longer than reading a short log.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "builder/doctor/doctor_rules.hpp"

namespace wheelyard::builder {

// Finds any of many words in a text, ignoring case, in one pass whose cost does not depend on the number of
// words.
//
// Aho and Corasick, "Efficient string matching" (1975): all words form one trie. Where the text leaves the
// trie, the search continues at the longest suffix of the text that is a prefix of a word. These failure
// links are folded into one table of states and letters, so each byte of the text is one step.

class WordSearch {
  public:
    // Words are ASCII and not empty. find() reports a word by its index in `words`.
    explicit WordSearch(const std::vector<std::string_view>& words);

    // Appends to `found` the index of each word in `text`, once per occurrence.
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

    std::array<std::uint8_t, 256> letter_of_{};  // 0: in no word
    std::uint32_t letters_ = 1;
    std::vector<std::uint32_t> next_;        // state × letter
    std::vector<std::uint16_t> word_at_;     // state → the longest word that ends in it, or none
    std::vector<std::uint16_t> shorter_at_;  // word → the next shorter word that is its suffix, or none
};

enum class WordKind { rule, sign, context, faint, success };

struct Word {
    WordKind kind;
    std::size_t rule;  // index in the rules
    std::string_view pattern;
};

struct LogWords {
    explicit LogWords(const std::vector<DoctorRule>& rules);  // refers to them
    std::vector<Word> words;
    WordSearch search;
};

}  // namespace wheelyard::builder
