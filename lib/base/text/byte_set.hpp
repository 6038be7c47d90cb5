// A set of bytes with constant-time membership, for checks that run on every byte of every page.
#pragma once

#include <array>
#include <string_view>

namespace wheelyard::base {

class ByteSet {
  public:
    constexpr explicit ByteSet(std::string_view members) {
        for (const char c : members)
            has_[static_cast<unsigned char>(c)] = true;
    }
    // The bytes from `first` to `last` inclusive, except those in `without`.
    constexpr ByteSet(char first, char last, std::string_view without) {
        for (char c = first; c <= last; ++c)
            has_[static_cast<unsigned char>(c)] = without.find(c) == std::string_view::npos;
    }
    [[nodiscard]] constexpr bool has(char c) const { return has_[static_cast<unsigned char>(c)]; }

  private:
    std::array<bool, 256> has_{};
};

}  // namespace wheelyard::base
