// A hand-written, single-pass parser for the grammar in PEP 440's appendix B: every separator and spelling
// that it allows and nothing after the version. No backtracking is needed: an optional separator that a
// segment consumes never changes which segment may follow.
#include "lib/wheel/version.hpp"

#include <algorithm>
#include <array>

#include "lib/base/check.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/excerpt.hpp"
#include "lib/wheel/limits.hpp"

namespace wheelyard::wheel {
namespace {

using base::is_ascii_alnum;
using base::is_ascii_digit;

std::string_view without_leading_zeros(std::string_view digits) {
    const auto first = digits.find_first_not_of('0');
    return first == std::string_view::npos ? std::string_view("0") : digits.substr(first);
}

struct PreSpelling {
    std::string_view word;
    PrePhase phase;
};
// Longer spellings before their prefixes.
constexpr std::array<PreSpelling, 8> pre_spellings{{{"alpha", PrePhase::alpha},
                                                    {"a", PrePhase::alpha},
                                                    {"beta", PrePhase::beta},
                                                    {"b", PrePhase::beta},
                                                    {"preview", PrePhase::candidate},
                                                    {"pre", PrePhase::candidate},
                                                    {"c", PrePhase::candidate},
                                                    {"rc", PrePhase::candidate}}};
constexpr std::array<std::string_view, 3> post_spellings{"post", "rev", "r"};
constexpr std::array<std::string_view, 3> phase_texts{"a", "b", "rc"};

// Reads lower-cased text from left to right.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : rest_(text) {}

    [[nodiscard]] bool at_end() const { return rest_.empty(); }
    [[nodiscard]] char peek(std::size_t ahead = 0) const {
        return ahead < rest_.size() ? rest_[ahead] : '\0';
    }
    [[nodiscard]] Scanner mark() const { return *this; }

    bool take(char c) {
        if (peek() != c || at_end()) return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool take(std::string_view word) {
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    void take_separator() {
        if (!at_end() && (peek() == '.' || peek() == '-' || peek() == '_')) rest_.remove_prefix(1);
    }
    std::string_view take_digits() {
        return take_while([](char c) { return is_ascii_digit(c); });
    }
    std::string_view take_alnum() {
        return take_while([](char c) { return is_ascii_alnum(c); });
    }

  private:
    template <typename Accepts>
    std::string_view take_while(Accepts accepts) {
        std::size_t length = 0;
        while (length < rest_.size() && accepts(rest_[length]))
            ++length;
        const auto taken = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return taken;
    }

    std::string_view rest_;
};

// The number after a segment's word: `[-_.]?[0-9]*`; 0 if absent.
Number take_number_after_word(Scanner& scanner) {
    scanner.take_separator();
    return Number(scanner.take_digits());
}

std::optional<std::pair<PrePhase, Number>> take_pre(Scanner& scanner) {
    const auto before = scanner.mark();
    scanner.take_separator();
    for (const auto& spelling : pre_spellings) {
        if (scanner.take(spelling.word)) return std::pair(spelling.phase, take_number_after_word(scanner));
    }
    scanner = before;
    return std::nullopt;
}

std::optional<Number> take_post(Scanner& scanner) {
    const auto before = scanner.mark();
    if (scanner.peek() == '-' && is_ascii_digit(scanner.peek(1))) {  // the implicit form, "1.0-1"
        scanner.take('-');
        return Number(scanner.take_digits());
    }
    scanner.take_separator();
    for (const auto word : post_spellings) {
        if (scanner.take(word)) return take_number_after_word(scanner);
    }
    scanner = before;
    return std::nullopt;
}

std::optional<Number> take_dev(Scanner& scanner) {
    const auto before = scanner.mark();
    scanner.take_separator();
    if (scanner.take("dev")) return take_number_after_word(scanner);
    scanner = before;
    return std::nullopt;
}

using LocalSegment = std::variant<Number, std::string>;

// The part after '+'. Returns false if a segment is empty.
bool take_local(Scanner& scanner, std::vector<LocalSegment>& local) {
    while (true) {
        const auto segment = scanner.take_alnum();
        if (segment.empty()) return false;
        if (std::all_of(segment.begin(), segment.end(), is_ascii_digit)) {
            local.emplace_back(Number(segment));
        } else {
            local.emplace_back(std::string(segment));
        }
        if (scanner.at_end()) return true;
        if (scanner.peek() != '.' && scanner.peek() != '-' && scanner.peek() != '_') return false;
        scanner.take_separator();
    }
}

std::strong_ordering compare_releases(const std::vector<Number>& a, const std::vector<Number>& b) {
    const Number zero;
    const auto count = std::max(a.size(), b.size());
    for (std::size_t i = 0; i < count; ++i) {
        const auto order = (i < a.size() ? a[i] : zero) <=> (i < b.size() ? b[i] : zero);
        if (order != 0) return order;
    }
    return std::strong_ordering::equal;
}

// Compares segment by segment. Numbers sort after words; a longer local version sorts after its prefix.
std::strong_ordering compare_locals(const std::vector<LocalSegment>& a, const std::vector<LocalSegment>& b) {
    const auto common = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < common; ++i) {
        const auto* number_a = std::get_if<Number>(&a[i]);
        const auto* number_b = std::get_if<Number>(&b[i]);
        if ((number_a != nullptr) != (number_b != nullptr)) {
            return number_a != nullptr ? std::strong_ordering::greater : std::strong_ordering::less;
        }
        const auto order = number_a != nullptr ? *number_a <=> *number_b
                                               : std::get<std::string>(a[i]) <=> std::get<std::string>(b[i]);
        if (order != 0) return order;
    }
    return a.size() <=> b.size();
}

// Absent values have the rank `absent_rank`; present ones have rank 0.
std::strong_ordering compare_optional(const std::optional<Number>& a, const std::optional<Number>& b,
                                      int absent_rank) {
    if (a && b) return *a <=> *b;
    return (a ? 0 : absent_rank) <=> (b ? 0 : absent_rank);
}

}  // namespace

Number::Number(std::uint64_t value) : digits_(std::to_string(value)) {}

Number::Number(std::string_view digits) : digits_(without_leading_zeros(digits)) {
    WHEELYARD_CHECK(std::all_of(digits.begin(), digits.end(), is_ascii_digit));
}

std::strong_ordering Number::operator<=>(const Number& other) const {
    if (const auto by_length = digits_.size() <=> other.digits_.size(); by_length != 0) return by_length;
    return digits_ <=> other.digits_;
}

base::Result<Version> Version::parse(std::string_view text) {
    const auto invalid = [&](std::string sentence) {
        return base::fail("version.invalid", std::move(sentence), excerpt(text),
                          "use the form of PEP 440, e.g. 2.4.0, 1.0rc1, 2.4.0.post1+cu126");
    };
    if (text.size() > max_version_bytes) return invalid("The version is too long");
    const auto trimmed = base::trim(text);
    const auto lower = base::ascii_lower(trimmed);
    Scanner scanner(lower);
    Version version;
    version.written_ = trimmed;
    scanner.take('v');
    auto digits = scanner.take_digits();
    if (digits.empty()) return invalid("A version must begin with a number");
    if (scanner.take('!')) {
        version.epoch_ = Number(digits);
        digits = scanner.take_digits();
        if (digits.empty()) return invalid("A release number must follow the epoch");
    }
    version.release_.emplace_back(digits);
    while (scanner.peek() == '.' && is_ascii_digit(scanner.peek(1))) {
        scanner.take('.');
        version.release_.emplace_back(scanner.take_digits());
    }
    version.pre_ = take_pre(scanner);
    version.post_ = take_post(scanner);
    version.dev_ = take_dev(scanner);
    if (scanner.take('+') && !take_local(scanner, version.local_)) {
        return invalid("The local part of a version must be letters and digits with single separators");
    }
    if (!scanner.at_end()) return invalid("Not a valid version (PEP 440)");
    return version;
}

std::string Version::base_text() const {
    std::string text = epoch_.is_zero() ? std::string() : epoch_.text() + "!";
    for (std::size_t i = 0; i < release_.size(); ++i) {
        if (i > 0) text += '.';
        text += release_[i].text();
    }
    return text;
}

std::string Version::public_text() const {
    auto text = base_text();
    if (pre_) text.append(phase_texts[static_cast<std::size_t>(pre_->first)]).append(pre_->second.text());
    if (post_) text.append(".post").append(post_->text());
    if (dev_) text.append(".dev").append(dev_->text());
    return text;
}

std::string Version::local_text() const {
    std::string text;
    for (const auto& segment : local_) {
        if (!text.empty()) text += '.';
        const auto* number = std::get_if<Number>(&segment);
        text += number != nullptr ? number->text() : std::get<std::string>(segment);
    }
    return text;
}

std::string Version::text() const {
    return has_local() ? public_text() + "+" + local_text() : public_text();
}

Version Version::without_local() const {
    Version version = *this;
    version.local_.clear();
    version.written_ = public_text();
    return version;
}

Version Version::without_trailing_zeros() const {
    Version version = *this;
    while (version.release_.size() > 1 && version.release_.back().is_zero())
        version.release_.pop_back();
    version.written_ = version.text();
    return version;
}

std::strong_ordering Version::compare_public(const Version& other) const {
    if (const auto order = epoch_ <=> other.epoch_; order != 0) return order;
    if (const auto order = compare_releases(release_, other.release_); order != 0) return order;
    // 1.0.dev1 < 1.0a1 < 1.0: without a pre-release phase, a plain development release sorts first, all else
    // last.
    const auto pre_rank = [](const Version& v) {
        if (v.pre_) return static_cast<int>(v.pre_->first);
        return v.dev_ && !v.post_ ? -1 : static_cast<int>(phase_texts.size());
    };
    if (const auto order = pre_rank(*this) <=> pre_rank(other); order != 0) return order;
    if (pre_) {
        if (const auto order = pre_->second <=> other.pre_->second; order != 0) return order;
    }
    if (const auto order = compare_optional(post_, other.post_, -1); order != 0) return order;
    return compare_optional(dev_, other.dev_, 1);
}

std::strong_ordering Version::operator<=>(const Version& other) const {
    if (const auto order = compare_public(other); order != 0) return order;
    return compare_locals(local_, other.local_);
}

bool Version::has_release_prefix(const Version& other, std::size_t count) const {
    if (epoch_ != other.epoch_) return false;
    const Number zero;
    for (std::size_t i = 0; i < count; ++i) {
        if ((i < release_.size() ? release_[i] : zero) != other.release_[i]) return false;
    }
    return true;
}

}  // namespace wheelyard::wheel
