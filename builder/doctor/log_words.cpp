#include "builder/doctor/log_words.hpp"

#include "builder/doctor/error_line.hpp"
#include "builder/doctor/line_context.hpp"

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

}  // namespace wheelyard::builder
