// A set of bytes that answers by one look: for what is asked of each byte of every page.
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
    // All from `first` to `last`, both among them, but those of `without`.
    constexpr ByteSet(char first, char last, std::string_view without) {
        for (char c = first; c <= last; ++c)
            has_[static_cast<unsigned char>(c)] = without.find(c) == std::string_view::npos;
    }
    [[nodiscard]] constexpr bool has(char c) const { return has_[static_cast<unsigned char>(c)]; }

  private:
    std::array<bool, 256> has_{};
};

}  // namespace wheelyard::base
