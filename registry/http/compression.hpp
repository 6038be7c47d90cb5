// Compresses texts for clients that take that (RFC 9110 §8.4.1, §12.5.3): replies of their own, and copies
// that stay with a page.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "registry/http/negotiation.hpp"
#include "registry/http/reply.hpp"
#include "registry/http/request_head.hpp"

namespace wheelyard::http {

// nullptr: it would not be smaller, or `coding` is none.
[[nodiscard]] SharedText compressed(std::string_view text, Coding coding);

// "gzip", "zstd", as in Content-Encoding; "" for none.
[[nodiscard]] std::string_view content_coding(Coding coding);

// A strong ETag identifies one representation (RFC 9110 §8.8.3): another media type (`form`) or coding of the
// same bytes needs another ETag.
[[nodiscard]] std::string etag_of(std::string_view tag, std::string_view form, Coding coding);

// Compresses a text that was rendered for this request and has no ETag; such texts are small. Not for replies
// that contain secrets beside what the client has sent: their length would tell of both (BREACH).
void compress_reply(Reply& reply, const RequestHead& head);

// The compressed copies of a page's two texts, each made once. Thread-safe.
class PackedCopies {
  public:
    // Says whether `copy` is final.
    [[nodiscard]] bool has(PageForm form, Coding coding) const;
    // nullptr: not made yet, or of no use.
    [[nodiscard]] SharedText copy(PageForm form, Coding coding) const;
    // What the copies of a text in both codings take once they are made: hashes in hexadecimal become half as
    // long, all else of a page shorter still.
    [[nodiscard]] static constexpr std::size_t expected_bytes(std::size_t text_bytes) {
        return 2 * (text_bytes / 2);
    }
    // Takes milliseconds for each MiB.
    void make(PageForm form, Coding coding, const std::string& text);

  private:
    struct Copy {
        SharedText text;
        bool is_made = false;
    };
    [[nodiscard]] static std::size_t place_of(PageForm form, Coding coding);
    mutable std::mutex mutex_;
    std::array<Copy, 4> copies_;
};

}  // namespace wheelyard::http
