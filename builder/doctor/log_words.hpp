// All patterns and signs that a doctor looks for, and the search for them. Built once for a rule book, because building
// takes longer than reading a short log.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "builder/doctor/doctor_rules.hpp"
#include "builder/doctor/word_search.hpp"

namespace wheelyard::builder {

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
