// Parses pages of Simple repositories (PEP 503 HTML, PEP 691 JSON). Untrusted input: bounded and fuzzed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/base/text/url.hpp"
#include "lib/simple/project_file.hpp"

namespace wheelyard::simple {

struct ProjectPage {
    std::vector<FileLink> files;
    std::string status = {};  // PEP 792, as written; empty if the page has none (HTML pages: not read)
    std::string status_reason = {};
};

// nullptr: no such file. File names in an index are unique.
[[nodiscard]] const FileLink* find_file(const ProjectPage& page, std::string_view filename);

// `page_url` is the page's own URL; relative links resolve against it or <base href>. Errors of all parsers:
// "simple.too_large", "simple.too_many"; of JSON also "simple.json", "simple.version".
[[nodiscard]] base::Result<ProjectPage> parse_project_html(std::string_view html, const base::Url& page_url);
[[nodiscard]] base::Result<ProjectPage> parse_project_json(std::string_view json, const base::Url& page_url);
// The project names on a root page, as written.
[[nodiscard]] base::Result<std::vector<std::string>> parse_root_html(std::string_view html);
[[nodiscard]] base::Result<std::vector<std::string>> parse_root_json(std::string_view json);

// Selects the parser by Content-Type (PEP 691 and PEP 629 names, text/html; ignores parameters). Any other is
// "simple.content_type".
[[nodiscard]] base::Result<ProjectPage> parse_project_page(std::string_view body,
                                                           std::string_view content_type,
                                                           const base::Url& page_url);
[[nodiscard]] base::Result<std::vector<std::string>> parse_root_page(std::string_view body,
                                                                     std::string_view content_type);

// An Accept header that prefers JSON to HTML.
inline constexpr std::string_view accept_pages =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

}  // namespace wheelyard::simple
