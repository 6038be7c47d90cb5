// Skips links that no client can use (no file name, another scheme, a path as name); a page of another
// protocol is an error.
#include "lib/simple/page.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/html_anchors.hpp"
#include "lib/simple/limits.hpp"
#include "lib/wheel/excerpt.hpp"

namespace wheelyard::simple {
namespace {

// Per page, each of which takes some 350 bytes of memory as a file: the largest root page has 700,000, the
// largest project page some 30,000.
constexpr std::size_t max_names = 1'000'000;
constexpr std::size_t max_files = 200'000;
constexpr std::size_t max_filename_bytes = 255;

using wheel::excerpt;

// Clients create files with this name.
bool is_safe_filename(std::string_view name) {
    return !name.empty() && name.size() <= max_filename_bytes && name != "." && name != ".." &&
           name.find_first_of("/\\") == std::string_view::npos && base::is_printable_line(name);
}

// Sets filename, url and (from the fragment) sha256. Returns false for an unusable link.
bool set_address(FileLink& link, const base::Url& page_url, std::string_view reference) {
    auto url = base::resolve_url(page_url, base::replace_all(base::trim(reference), " ", "%20"));
    if (!url) return false;
    link.sha256 = sha256_or_empty(fragment_value(url->fragment, "sha256"));
    url->fragment.clear();
    if (link.filename.empty()) {
        auto filename = base::last_segment(*url);
        if (!filename) return false;
        link.filename = std::move(*filename);
    }
    link.url = url->text();
    return is_safe_filename(link.filename);
}

base::Status check_repository_version(std::string_view version) {
    const auto major = base::parse_decimal(version.substr(0, version.find('.')));
    if (major && *major == 1) return {};
    return base::fail_malformed("simple.version", "The index uses an unsupported protocol version",
                                excerpt(version), "version 1 is supported (PEP 629)");
}

base::Status check_size(std::string_view text) {
    if (text.size() <= max_page_bytes) return {};
    return base::fail_malformed("simple.too_large", "The index page is too large",
                                std::to_string(text.size()));
}

base::Result<HtmlAnchors> scan_page(std::string_view html, std::size_t max_links) {
    WHEELYARD_TRY(check_size(html));
    auto scanned = scan_anchors(html, max_links);
    if (!scanned.repository_version.empty())
        WHEELYARD_TRY(check_repository_version(scanned.repository_version));
    if (scanned.is_cut) return base::fail_malformed("simple.too_many", "The index page has too many links");
    return scanned;
}

// Parses a page with a supported meta.api-version and the array `name`.
base::Result<io::Json> parse_page_with(std::string_view text, std::string_view name, std::size_t max_links) {
    WHEELYARD_TRY(check_size(text));
    WHEELYARD_ASSIGN(auto page, io::parse_json(text));
    const auto* meta = page.find("meta");
    const auto* version = meta == nullptr ? nullptr : meta->find("api-version");
    if (version == nullptr || version->as_string() == nullptr) {
        return base::fail_malformed("simple.json", "The index page lacks meta.api-version (PEP 691)");
    }
    WHEELYARD_TRY(check_repository_version(*version->as_string()));
    const auto* member = page.find(name);
    if (member == nullptr || member->as_array() == nullptr) {
        return base::fail_malformed("simple.json",
                                    "The index page lacks the array `" + std::string(name) + "` (PEP 691)");
    }
    if (member->as_array()->size() > max_links) {
        return base::fail_malformed("simple.too_many", "The index page has too many links");
    }
    return page;
}

// nullopt: a link that no client can use.
base::Result<std::optional<FileLink>> link_of_json(const io::Json& file, const base::Url& page_url) {
    WHEELYARD_ASSIGN(const auto url, file.string_at("url"));
    FileLink link;
    WHEELYARD_ASSIGN(link.filename, file.string_at("filename"));
    if (!set_address(link, page_url, url)) return std::optional<FileLink>();
    read_json_members(file, link);
    return std::optional(std::move(link));
}

enum class PageForm { html, json };
struct ContentType {
    std::string_view name;
    PageForm form;
};
constexpr std::array<ContentType, 6> content_types{
    {{"application/vnd.pypi.simple.v1+json", PageForm::json},
     {"application/vnd.pypi.simple.latest+json", PageForm::json},
     {"application/json", PageForm::json},
     {"application/vnd.pypi.simple.v1+html", PageForm::html},
     {"application/vnd.pypi.simple.latest+html", PageForm::html},
     {"text/html", PageForm::html}}};

base::Result<PageForm> form_of(std::string_view content_type) {
    const auto name = base::trim(content_type.substr(0, content_type.find(';')));
    const auto* found = std::find_if(
        content_types.begin(), content_types.end(),
        [&](const ContentType& candidate) { return base::equals_ignoring_case(candidate.name, name); });
    if (found != content_types.end()) return found->form;
    return base::fail_malformed("simple.content_type", "This is not a page of a Simple repository",
                                excerpt(content_type),
                                "check that the URL is that of an index (it often ends in /simple/)");
}

}  // namespace

base::Result<ProjectPage> parse_project_html(std::string_view html, const base::Url& page_url) {
    WHEELYARD_ASSIGN(const auto scanned, scan_page(html, max_files));
    base::Url base_url = page_url;
    if (auto resolved = base::resolve_url(page_url, scanned.base_href);
        resolved && !scanned.base_href.empty()) {
        base_url = std::move(*resolved);
    }
    ProjectPage page;
    for (const auto& anchor : scanned.anchors) {
        const auto* href = anchor.attribute("href");
        if (href == nullptr) continue;
        FileLink link;
        read_html_attributes(anchor, link);
        if (set_address(link, base_url, *href)) page.files.push_back(std::move(link));
    }
    return page;
}

base::Result<ProjectPage> parse_project_json(std::string_view json, const base::Url& page_url) {
    WHEELYARD_ASSIGN(const auto document, parse_page_with(json, "files", max_files));
    const auto& files = *document.find("files")->as_array();
    ProjectPage page;
    page.files.reserve(files.size());
    if (const auto* status = document.find("project-status"); status != nullptr) {
        page.status = status->string_or("status", "");
        page.status_reason = status->string_or("reason", "");
    }
    for (const auto& file : files) {
        WHEELYARD_ASSIGN(auto link, link_of_json(file, page_url));
        if (link) page.files.push_back(std::move(*link));
    }
    return page;
}

base::Result<std::vector<std::string>> parse_root_html(std::string_view html) {
    WHEELYARD_ASSIGN(auto scanned, scan_page(html, max_names));
    std::vector<std::string> names;
    for (auto& anchor : scanned.anchors) {
        if (anchor.attribute("href") != nullptr && !anchor.text.empty())
            names.push_back(std::move(anchor.text));
    }
    return names;
}

base::Result<std::vector<std::string>> parse_root_json(std::string_view json) {
    WHEELYARD_ASSIGN(const auto document, parse_page_with(json, "projects", max_names));
    const auto& projects = *document.find("projects")->as_array();
    std::vector<std::string> names;
    names.reserve(projects.size());
    for (const auto& project : projects) {
        WHEELYARD_ASSIGN(auto name, project.string_at("name"));
        names.push_back(std::move(name));
    }
    return names;
}

const FileLink* find_file(const ProjectPage& page, std::string_view filename) {
    const auto found = std::find_if(page.files.begin(), page.files.end(),
                                    [&](const FileLink& file) { return file.filename == filename; });
    return found == page.files.end() ? nullptr : &*found;
}

base::Result<ProjectPage> parse_project_page(std::string_view body, std::string_view content_type,
                                             const base::Url& page_url) {
    WHEELYARD_ASSIGN(const auto form, form_of(content_type));
    return form == PageForm::json ? parse_project_json(body, page_url) : parse_project_html(body, page_url);
}

base::Result<std::vector<std::string>> parse_root_page(std::string_view body, std::string_view content_type) {
    WHEELYARD_ASSIGN(const auto form, form_of(content_type));
    return form == PageForm::json ? parse_root_json(body) : parse_root_html(body);
}

}  // namespace wheelyard::simple
