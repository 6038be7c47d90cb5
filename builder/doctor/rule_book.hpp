// The rules that a doctor asks, in order: those of a site's folder doctor.d, then ours. A rule of the site
// that overrides one of ours has its place. They are read at first use: most commands never need them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "builder/doctor/doctor_rules.hpp"

namespace wheelyard::builder {

// Of a site's own rules. The search for words takes a quarter of a KiB for each byte of a pattern.
inline constexpr std::size_t max_site_rules = 200;
inline constexpr std::size_t max_rule_patterns = 50;
inline constexpr std::size_t max_pattern_bytes = 200;
inline constexpr std::size_t max_site_pattern_bytes = 65'536;
inline constexpr std::size_t min_pattern_bytes =
    6;  // of its longest piece: shorter ones are in half of all lines

struct LogWords;  // log_words.hpp

class RuleBook {
  public:
    // `folder`: holds the site's *.toml; absent or empty: only our rules.
    explicit RuleBook(std::filesystem::path folder = {});
    ~RuleBook();
    RuleBook(const RuleBook&) = delete;
    RuleBook& operator=(const RuleBook&) = delete;

    [[nodiscard]] static const std::shared_ptr<const RuleBook>& ours();

    [[nodiscard]] const std::vector<DoctorRule>& rules() const;
    [[nodiscard]] const DoctorRule* find(std::string_view code) const;  // null: none has this code
    // What is wrong with the site's files, "FILE:LINE:COLUMN: …" each. Such a rule is left out, the others
    // hold.
    [[nodiscard]] const std::vector<std::string>& problems() const;
    [[nodiscard]] const LogWords& words() const;
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  private:
    struct Content;
    const Content& content() const;

    std::filesystem::path folder_;
    mutable std::once_flag once_;
    mutable std::unique_ptr<const Content> content_;
    mutable std::once_flag words_once_;
    mutable std::unique_ptr<const LogWords> words_;
};

// "doctor.d" beside a site file.
[[nodiscard]] std::filesystem::path rules_beside(const std::filesystem::path& site_file);

struct RulesRead {
    std::vector<DoctorRule> fresh;       // in the order of the files
    std::vector<DoctorRule> overriding;  // with codes of ours
    std::vector<std::string> problems;
    std::size_t pattern_bytes = 0;
};
// Adds the rules of a TOML text; a rule with a problem is left out. `ours`: those that it may override; null:
// it is ours.
void read_rules(std::string_view text, const std::filesystem::path& file, const std::vector<DoctorRule>* ours,
                RulesRead& into);

// What a rule cannot do: its excerpt has another cause, a pattern that never matches, an earlier rule that
// always hides it. One sentence each, with the rule's place. `all`: also of ours.
[[nodiscard]] std::vector<std::string> check_rules(const RuleBook& book, bool all = false);

}  // namespace wheelyard::builder
