// Hashes of an index's pages, as `sha256sum` writes and checks them. Sorted, one line for each file below the index:
//
//     signed/pages.txt      the root's pages and the other lists; the signed state has its hash
//     signed/pages-3f.txt   the pages of the projects whose names have a SHA-256 that begins with 3f
//
//     8a5c…e1  simple/six/index.html
//     09d2…4b  simple/six/index.json
//
// A new wheel changes one page, one list of 256, and the first one: what a publish run costs hardly depends on the size of
// the index.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::attest {

inline constexpr std::string_view first_page_list = "signed/pages.txt";

using PageHashes = std::map<std::string, std::string, std::less<>>;  // path below the index → SHA-256

[[nodiscard]] std::string render_page_list(const PageHashes& pages);
// Only the bytes that render_page_list() gives, with paths of [a-z0-9._/-]. Error "attest.page_list".
[[nodiscard]] base::Result<PageHashes> parse_page_list(std::string_view text);
// "signed/pages-3f.txt"
[[nodiscard]] std::string page_list_of(std::string_view project);
[[nodiscard]] bool is_page_list(std::string_view path);  // one of the 256

// The lists of one signed state, each fetched when it is first needed.
class SignedPages {
  public:
    // Gives the bytes of a path below the index; nullopt: there is no such file. `sha256`: what it should have.
    using Fetch = std::function<base::Result<std::optional<std::string>>(const std::string& path,
                                                                         const std::string& sha256)>;
    // `pages`: the state's. Errors: "attest.changed" for a list that is missing or has another hash, and those of `fetch`
    // and of the parser.
    [[nodiscard]] static base::Result<SignedPages> open(const std::string& pages, Fetch fetch);
    [[nodiscard]] const PageHashes& first() const { return first_; }
    // The lines of one of the 256 lists; none if the index has no project there. Errors as open().
    [[nodiscard]] base::Result<const PageHashes*> list(const std::string& path);
    // Of a project's page; nullopt: the index has no such project.
    [[nodiscard]] base::Result<std::optional<std::string>> hash_of(std::string_view project,
                                                                   std::string_view page);

  private:
    explicit SignedPages(Fetch fetch) : fetch_(std::move(fetch)) {}
    [[nodiscard]] base::Result<PageHashes> read(const std::string& path, const std::string& sha256);
    Fetch fetch_;
    PageHashes first_;
    std::map<std::string, PageHashes, std::less<>> lists_;
};

}  // namespace wheelyard::attest
