// Page lists as text.
#include "lib/attest/page_list.hpp"

#include <algorithm>
#include <utility>

#include "lib/attest/limits.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::attest {
namespace {

constexpr std::size_t digest_size = 64;
constexpr std::string_view between = "  ";  // as sha256sum writes for a text
constexpr std::string_view list_prefix = "signed/pages-";
constexpr std::string_view list_suffix = ".txt";

tl::unexpected<base::Error> fail_list(std::string sentence, std::string_view value) {
    return base::fail_malformed("attest.page_list", std::move(sentence), std::string(value.substr(0, 200)),
                                "fetch it again, from the registry itself");
}

bool is_plain_path(std::string_view path) {
    const bool is_plain = std::all_of(path.begin(), path.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || base::is_ascii_digit(c) || c == '-' || c == '_' || c == '.' ||
               c == '/';
    });
    return is_plain && !path.empty() && path.front() != '/' && path.find("..") == std::string_view::npos;
}

}  // namespace

std::string render_page_list(const PageHashes& pages) {
    std::string text;
    for (const auto& [path, sha256] : pages)
        text.append(sha256).append(between).append(path).append("\n");
    return text;
}

base::Result<PageHashes> parse_page_list(std::string_view text) {
    if (text.size() > max_page_list_bytes) return fail_list("A list of pages is too long", {});
    PageHashes pages;
    for (const std::string_view line : base::split_lines(text)) {
        const bool is_line = line.size() > digest_size + between.size() &&
                             base::is_sha256_hex(line.substr(0, digest_size)) &&
                             line.substr(digest_size, between.size()) == between &&
                             is_plain_path(line.substr(digest_size + between.size()));
        if (!is_line) return fail_list("A list of pages has a malformed line", line);
        pages.emplace_hint(pages.end(), line.substr(digest_size + between.size()),
                           line.substr(0, digest_size));
    }
    if (render_page_list(pages) != text) return fail_list("A list of pages is not in its one form", {});
    return pages;
}

std::string page_list_of(std::string_view project) {
    return std::string(list_prefix) + base::sha256_hex(project).substr(0, 2) + std::string(list_suffix);
}

bool is_page_list(std::string_view path) {
    return path.size() == list_prefix.size() + 2 + list_suffix.size() && path.starts_with(list_prefix) &&
           path.ends_with(list_suffix) &&
           path.substr(list_prefix.size(), 2).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

base::Result<SignedPages> SignedPages::open(const std::string& pages, Fetch fetch) {
    SignedPages opened(std::move(fetch));
    WHEELYARD_ASSIGN(opened.first_, opened.read(std::string(first_page_list), pages));
    return opened;
}

base::Result<const PageHashes*> SignedPages::list(const std::string& path) {
    if (const auto known = lists_.find(path); known != lists_.end()) return &known->second;
    PageHashes lines;
    if (const auto named = first_.find(path); named != first_.end()) {
        WHEELYARD_ASSIGN(lines, read(path, named->second));
    }
    return &lists_.emplace(path, std::move(lines)).first->second;
}

base::Result<std::optional<std::string>> SignedPages::hash_of(std::string_view project,
                                                              std::string_view page) {
    WHEELYARD_ASSIGN(const PageHashes* lines, list(page_list_of(project)));
    const auto found = lines->find("simple/" + std::string(project) + "/" + std::string(page));
    if (found == lines->end()) return std::nullopt;
    return std::optional(found->second);
}

base::Result<PageHashes> SignedPages::read(const std::string& path, const std::string& sha256) {
    WHEELYARD_ASSIGN(const auto text, fetch_(path, sha256));
    if (!text || base::sha256_hex(*text) != sha256)
        return base::fail_as(
            base::ErrorKind::malformed, base::Recovery::retry,
            {"attest.changed", text ? "A list of pages is not the signed one" : "A list of pages is missing",
             path,
             "a publish run may be between two files: try again; if it stays so, somebody has changed the "
             "index"});
    return parse_page_list(*text);
}

}  // namespace wheelyard::attest
