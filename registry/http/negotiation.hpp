// Which form of a page a client gets (RFC 9110 §12.5.1, PEP 691 "Version + Format Selection").
#pragma once

#include <optional>
#include <string_view>

namespace wheelyard::http {

enum class PageForm { json, html_v1, html };

// The media type that answers in this form: always the real version, also to who asked for "latest".
[[nodiscard]] std::string_view content_type_of(PageForm form);

// Chooses by q-value, then by how exactly the client named the type, then JSON before HTML. A client that
// accepts anything (or says nothing: an empty value) gets text/html, as PEP 691 recommends. nullopt: 406.
[[nodiscard]] std::optional<PageForm> choose_page_form(std::string_view accept);

enum class Coding { none, gzip, zstd };

// Accept-Encoding (RFC 9110 §12.5.3): the coding of the highest q-value; of equal ones zstd before gzip
// before none. "*" stands for gzip, which every client knows. An absent field names nothing, and gets
// nothing.
// `has_zstd`: whether there is such a variant.
[[nodiscard]] Coding choose_coding(std::string_view accept_encoding, bool has_zstd = true);

// The form of one media type, as ?format= names it (PEP 691 "URL Parameter").
[[nodiscard]] std::optional<PageForm> page_form_named(std::string_view media_type);

}  // namespace wheelyard::http
