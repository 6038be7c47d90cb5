#include "indexer/tree/flat_page.hpp"

#include <map>
#include <string>
#include <system_error>

#include "indexer/tree/paths.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

// "../files/ab/<sha256>/<filename>"; empty: the file is no link.
std::string sha256_of(const fs::path& link) {
    std::error_code error;
    const fs::path target = fs::read_symlink(link, error);
    std::string sha256 = error ? std::string() : target.parent_path().filename().native();
    return base::is_sha256_hex(sha256) ? sha256 : std::string();
}

base::Result<std::map<std::string, std::string>> read_links(const fs::path& folder) {
    std::map<std::string, std::string> links;  // file name → SHA-256
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().native();
        if (name.front() != '.' && name != html_page) links.emplace(name, sha256_of(entry->path()));
        if (links.size() > max_flat_page_files) break;
    }
    if (error) return base::fail_errno("readdir", folder.native(), error.value());
    return links;
}

}  // namespace

base::Status write_flat_page(Disk& disk, const fs::path& folder) {
    WHEELYARD_ASSIGN(const auto links, read_links(folder));
    if (links.size() > max_flat_page_files) return disk.remove(folder / html_page);
    std::string html =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
        "charset=\"utf-8\">\n<title>Links</title>\n</head>\n<body>\n";
    for (const auto& [name, sha256] : links) {
        html.append("<a href=\"").append(base::encode_percent(name));
        if (!sha256.empty()) html.append("#sha256=").append(sha256);
        html.append("\">").append(base::escape_html(name)).append("</a><br>\n");
    }
    return disk.replace(folder / html_page, html.append("</body>\n</html>\n"));
}

}  // namespace wheelyard::indexer
