#include "builder/doctor/log_words.hpp"

#include <deque>

#include "builder/doctor/error_line.hpp"
#include "builder/doctor/line_context.hpp"
#include "lib/base/check.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

namespace {

constexpr std::string_view success_sign = "successfully ";  // pip: "Successfully built x"

std::vector<Word> collect_words(const std::vector<DoctorRule>& rules) {
    std::vector<Word> words;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        for (const auto& pattern : rules[i].patterns)
            words.push_back({WordKind::rule, i, pattern});
    }
    for (const auto sign : error_signs())
        words.push_back({WordKind::sign, rules.size(), sign});
    for (const auto word : LineContext::openings())
        words.push_back({WordKind::context, rules.size(), word});
    for (const auto sign : faint_signs())
        words.push_back({WordKind::faint, rules.size(), sign});
    words.push_back({WordKind::success, rules.size(), success_sign});
    return words;
}

std::vector<std::string_view> needles_of(const std::vector<Word>& words) {
    std::vector<std::string_view> needles;
    for (const auto& word : words)
        needles.push_back(word.kind == WordKind::rule ? max_literal(word.pattern) : word.pattern);
    return needles;
}

}  // namespace

LogWords::LogWords(const std::vector<DoctorRule>& rules)
    : words(collect_words(rules)), search(needles_of(words)) {}

WordSearch::WordSearch(const std::vector<std::string_view>& words) {
    WHEELYARD_CHECK(words.size() < none);
    for (const auto word : words) {
        for (const char c : base::ascii_lower(word)) {
            auto& letter = letter_of_[static_cast<unsigned char>(c)];
            if (letter == 0) letter = static_cast<std::uint8_t>(letters_++);
        }
    }
    for (unsigned char upper = 'A'; upper <= 'Z'; ++upper)
        letter_of_[upper] = letter_of_[static_cast<unsigned char>(upper - 'A' + 'a')];

    // The trie; 0 is both the root and "no child".
    next_.assign(letters_, 0);
    word_at_.assign(1, none);
    shorter_at_.assign(words.size(), none);
    for (std::size_t i = 0; i < words.size(); ++i) {
        WHEELYARD_CHECK(!words[i].empty());
        std::uint32_t state = 0;
        for (const char c : words[i]) {
            const std::uint32_t at = state * letters_ + letter_of_[static_cast<unsigned char>(c)];
            if (next_[at] == 0) {
                next_[at] = static_cast<std::uint32_t>(word_at_.size());
                word_at_.push_back(none);
                next_.resize(next_.size() + letters_, 0);
            }
            state = next_[at];
        }
        shorter_at_[i] = word_at_[state];  // a word that occurs twice in `words` is reported twice
        word_at_[state] = static_cast<std::uint16_t>(i);
    }

    // In order of length, so that the failure state of each node is complete before it is needed.
    std::vector<std::uint32_t> fall(word_at_.size(), 0);
    std::deque<std::uint32_t> todo;
    for (std::uint32_t letter = 0; letter < letters_; ++letter) {
        if (next_[letter] != 0) todo.push_back(next_[letter]);
    }
    while (!todo.empty()) {
        const std::uint32_t state = todo.front();
        todo.pop_front();
        if (word_at_[state] == none) {
            word_at_[state] = word_at_[fall[state]];
        } else {
            std::uint16_t last = word_at_[state];
            while (shorter_at_[last] != none)
                last = shorter_at_[last];
            shorter_at_[last] = word_at_[fall[state]];
        }
        for (std::uint32_t letter = 0; letter < letters_; ++letter) {
            std::uint32_t& child = next_[state * letters_ + letter];
            const std::uint32_t other = next_[fall[state] * letters_ + letter];
            if (child == 0) {
                child = other;
            } else {
                fall[child] = other;
                todo.push_back(child);
            }
        }
    }
}

}  // namespace wheelyard::builder
