// Chooses the form of a page for a client (RFC 9110 §12.5.1, PEP 691 "Version + Format Selection").
#pragma once

#include <optional>
#include <string_view>

namespace wheelyard::http {

enum class PageForm { json, html_v1, html };

// The Content-Type of this form: always the concrete version, even if the client asked for "latest".
[[nodiscard]] std::string_view content_type_of(PageForm form);

// Chooses by q-value, then by how specifically the client named the type, then JSON before HTML. A client
// that accepts anything, or sends no Accept, gets text/html as PEP 691 recommends. nullopt: 406.
[[nodiscard]] std::optional<PageForm> choose_page_form(std::string_view accept);

// Of attestations, as PyPI has it; application/json only for a client that names that and not the other.
[[nodiscard]] std::string_view choose_integrity_type(std::string_view accept);

enum class Coding { none, gzip, zstd };

// Chooses by Accept-Encoding (RFC 9110 §12.5.3): the coding with the highest q-value; among equals zstd, then
// gzip, then none. "*" means gzip. Without the header: none. `has_zstd`: whether a zstd variant exists.
[[nodiscard]] Coding choose_coding(std::string_view accept_encoding, bool has_zstd = true);

// The form with this media type, as in ?format= (PEP 691 "URL Parameter").
[[nodiscard]] std::optional<PageForm> page_form_named(std::string_view media_type);

}  // namespace wheelyard::http
