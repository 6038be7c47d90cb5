// Versions: all of PEP 440 (epochs, pre, post, dev, local), parsed leniently as its appendix B allows.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::wheel {

// A non-negative integer of any length (release numbers made of date and time exist): decimal text without
// leading zeros, compared by length, then by digits.
class Number {
  public:
    Number() = default;
    explicit Number(std::uint64_t value);
    explicit Number(std::string_view digits);  // digits only; leading zeros are dropped
    [[nodiscard]] const std::string& text() const { return digits_; }
    [[nodiscard]] bool is_zero() const { return digits_ == "0"; }
    std::strong_ordering operator<=>(const Number& other) const;
    bool operator==(const Number&) const = default;

  private:
    std::string digits_ = "0";
};

enum class PrePhase { alpha, beta, candidate };

class Version {
  public:
    // Error "version.invalid" with the text as value.
    [[nodiscard]] static base::Result<Version> parse(std::string_view text);

    [[nodiscard]] std::string text() const;         // normalised: "1!2.0rc1.post2.dev3+cu126.1"
    [[nodiscard]] std::string public_text() const;  // without the local part
    [[nodiscard]] std::string base_text() const;    // epoch and release only
    [[nodiscard]] const std::string& as_written() const { return written_; }
    [[nodiscard]] const std::vector<Number>& release() const { return release_; }
    [[nodiscard]] const Number& epoch() const { return epoch_; }
    [[nodiscard]] bool is_prerelease() const { return pre_.has_value() || dev_.has_value(); }
    [[nodiscard]] bool is_postrelease() const { return post_.has_value(); }
    [[nodiscard]] bool has_local() const { return !local_.empty(); }
    [[nodiscard]] std::string local_text() const;  // "cu126.1"; empty if there is none
    [[nodiscard]] Version without_local() const;
    // "1.0.0rc1" is "1rc1": equal versions have one text.
    [[nodiscard]] Version without_trailing_zeros() const;

    // PEP 440 order. Equality ignores trailing zeros of the release ("1.0" == "1.0.0") but not the local
    // part.
    std::strong_ordering operator<=>(const Version& other) const;
    bool operator==(const Version& other) const { return (*this <=> other) == 0; }
    // PEP 440 order without the local parts.
    [[nodiscard]] std::strong_ordering compare_public(const Version& other) const;
    // Says whether the epochs and the first `count` release numbers of `other` are equal to this version's,
    // padded with zeros (`==1.4.*`).
    [[nodiscard]] bool has_release_prefix(const Version& other, std::size_t count) const;

  private:
    friend class Specifier;
    std::string written_;
    Number epoch_;
    std::vector<Number> release_;
    std::optional<std::pair<PrePhase, Number>> pre_;
    std::optional<Number> post_;
    std::optional<Number> dev_;
    std::vector<std::variant<Number, std::string>> local_;
};

}  // namespace wheelyard::wheel
