// Incremental message digests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lib/base/files/file.hpp"
#include "lib/base/keep_alive.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::base {

enum class DigestKind { md5, sha224, sha256, sha384, sha512 };

class Digest {
  public:
    explicit Digest(DigestKind kind);
    Digest(Digest&&) noexcept;
    Digest& operator=(Digest&&) noexcept;
    ~Digest();
    void update(std::string_view bytes);
    [[nodiscard]] std::string finish();  // raw bytes; call once

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// Lower-case hex digests. While reading a file, `keep_alive` is called after each piece; its error ends the
// read.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);
[[nodiscard]] Result<std::string> hex_of_file(DigestKind kind, const fs::path& path,
                                              const KeepAlive& keep_alive = {});
[[nodiscard]] Result<std::string> sha256_hex_of_file(const fs::path& path, const KeepAlive& keep_alive = {});
[[nodiscard]] bool is_sha256_hex(std::string_view text);  // exactly 64 characters of [0-9a-f]
// Compares in a time that does not depend on where the texts differ.
[[nodiscard]] bool equals_in_constant_time(std::string_view a, std::string_view b);
// `count` bytes from the operating system's generator.
[[nodiscard]] std::string random_bytes(std::size_t count);

// FNV-1a, 64 bits: names of cached files and keys of tables. Not for untrusted bytes.

[[nodiscard]] std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325u);
[[nodiscard]] std::string hash_text_hex(std::string_view text);  // 16 digits

}  // namespace wheelyard::base
