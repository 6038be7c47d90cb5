// Little- and big-endian integers in untrusted bytes; every read is bounds-checked.
#pragma once

#include <cstdint>
#include <string_view>

namespace wheelyard::base {

// Reads consecutive fields. A read past the end returns zeros and makes ok() false permanently.
class ByteCursor {
  public:
    explicit ByteCursor(std::string_view bytes, bool big_endian = false)
        : bytes_(bytes), big_endian_(big_endian) {}

    [[nodiscard]] std::uint64_t take(std::size_t count) {  // an unsigned integer of 1 to 8 bytes
        if (count > bytes_.size() - at_) {
            ok_ = false;
            at_ = bytes_.size();
            return 0;
        }
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t place = big_endian_ ? i : count - 1 - i;
            value = value << 8 | static_cast<unsigned char>(bytes_[at_ + place]);
        }
        at_ += count;
        return value;
    }
    [[nodiscard]] std::uint8_t u8() { return static_cast<std::uint8_t>(take(1)); }
    [[nodiscard]] std::uint16_t u16() { return static_cast<std::uint16_t>(take(2)); }
    [[nodiscard]] std::uint32_t u32() { return static_cast<std::uint32_t>(take(4)); }
    [[nodiscard]] std::uint64_t u64() { return take(8); }
    [[nodiscard]] std::string_view text(std::size_t count) {
        if (count > bytes_.size() - at_) {
            ok_ = false;
            at_ = bytes_.size();
            return {};
        }
        const std::string_view part = bytes_.substr(at_, count);
        at_ += count;
        return part;
    }
    void skip(std::size_t count) { (void)text(count); }
    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] std::size_t position() const { return at_; }
    [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

  private:
    std::string_view bytes_;
    std::size_t at_ = 0;
    bool big_endian_;
    bool ok_ = true;
};

}  // namespace wheelyard::base
