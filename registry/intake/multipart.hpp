// An incremental parser of multipart/form-data (RFC 7578 and RFC 2046 §5.1). It takes bytes as they arrive
// and emits fields whole and files in pieces. Memory is bounded by limits.hpp, and each byte is examined a
// bounded number of times.
//
//     --BOUNDARY\r\n
//     Content-Disposition: form-data; name="content"; filename="six-1.16.0-py2.py3-none-any.whl"\r\n
//     \r\n
//     …bytes…\r\n
//     --BOUNDARY--\r\n
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"
#include "registry/http/upload.hpp"

namespace wheelyard::registry {

// multipart/form-data. twine sends all of a wheel's METADATA as fields: descriptions with inlined images
// reach 1 MiB, and each classifier and requirement is a field.
inline constexpr std::size_t max_boundary = 70;                      // RFC 2046 §5.1.1
inline constexpr std::size_t max_part_header_bytes = 8 * base::kib;  // all header lines of one part
inline constexpr std::size_t max_field_bytes = 4 * base::mib;
inline constexpr std::size_t max_all_fields_bytes = 8 * base::mib;
inline constexpr std::size_t max_parts = 5'000;

// Preamble, epilogue, padding: real clients send none.
inline constexpr std::size_t max_around_parts_bytes = 16 * base::kib;

// Receives the parts of the form in order. A problem that any of these returns ends the parse.
class MultipartHandler {
  public:
    virtual ~MultipartHandler() = default;
    [[nodiscard]] virtual wire::Answered<void> field(std::string_view name, std::string_view value) = 0;
    [[nodiscard]] virtual wire::Answered<void> file_begin(std::string_view name,
                                                          std::string_view filename) = 0;
    [[nodiscard]] virtual wire::Answered<void> file_bytes(std::string_view bytes) = 0;
    [[nodiscard]] virtual wire::Answered<void> file_end() = 0;
};

// Returns the boundary of `multipart/form-data; boundary=…`. Errors "multipart.not_a_form" and
// "multipart.boundary".
[[nodiscard]] base::Result<std::string> parse_boundary(std::string_view content_type);

class MultipartParser {
  public:
    // `boundary` comes from parse_boundary(); `handler` must outlive the parser.
    MultipartParser(std::string_view boundary, MultipartHandler& handler);
    // The parser's own problems are 400 "upload.bad_form" and 413 "upload.form_too_large". Do not call feed()
    // after a problem.
    [[nodiscard]] wire::Answered<void> feed(std::string_view bytes);
    // Call at the end of the body. Returns a problem if the closing boundary is missing.
    [[nodiscard]] wire::Answered<void> finish() const;

  private:
    enum class Where { preamble, after_boundary, headers, data, epilogue };
    enum class Part { none, field, file };

    // Each consumes a prefix of `bytes`.
    [[nodiscard]] wire::Answered<void> feed_data(std::string_view& bytes);
    [[nodiscard]] wire::Answered<void> feed_after_boundary(std::string_view& bytes);
    [[nodiscard]] wire::Answered<void> feed_headers(std::string_view& bytes);
    [[nodiscard]] wire::Answered<void> count_around_parts(std::size_t bytes);
    [[nodiscard]] wire::Answered<void> emit(std::string_view bytes);
    [[nodiscard]] wire::Answered<void> begin_part();
    [[nodiscard]] wire::Answered<void> end_part();

    const std::string delimiter_;  // "\r\n--BOUNDARY"
    MultipartHandler& handler_;
    Where where_ = Where::preamble;
    Part part_ = Part::none;
    // How much of the delimiter the bytes before the current ones match. CR occurs only at its start, so a
    // mismatch needs no second look: the bytes held back are data.
    std::size_t matched_ = 2;  // as if CRLF preceded the body: its first line may be the boundary
    std::string line_;  // after_boundary: the rest of the boundary line; headers: all header lines so far
    std::string name_;
    std::string value_;
    std::size_t fields_bytes_ = 0;
    std::size_t around_bytes_ = 0;
    std::size_t parts_ = 0;
};

}  // namespace wheelyard::registry
