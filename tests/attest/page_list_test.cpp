// Lists of signed pages.
#include "lib/attest/page_list.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "lib/base/digest/digest.hpp"

namespace wheelyard::attest {
namespace {

const std::string digest_a(64, 'a');
const std::string digest_b(64, 'b');

}  // namespace

TEST_CASE("a list of pages is what sha256sum writes") {
    const PageHashes pages{{"simple/six/index.json", digest_b}, {"simple/six/index.html", digest_a}};
    const std::string text = digest_a + "  simple/six/index.html\n" + digest_b + "  simple/six/index.json\n";
    CHECK(render_page_list(pages) == text);
    CHECK(*parse_page_list(text) == pages);
    CHECK(parse_page_list("")->empty());
}

TEST_CASE("a list of pages has one form, and names nothing outside its index") {
    const std::string line = digest_a + "  simple/b/index.html\n";
    const std::string wrong[] = {digest_a + "  simple/b/index.html",            // cut off
                                 digest_a + " *simple/b/index.html\n",          // sha256sum --binary
                                 digest_a + "  simple/b/index.html\r\n",        //
                                 digest_a + "  \n",                             //
                                 digest_a.substr(1) + "  simple/b/i\n",         //
                                 std::string(64, 'A') + "  simple/b/i\n",       //
                                 digest_a + "  /etc/passwd\n",                  //
                                 digest_a + "  simple/../../x\n",               //
                                 digest_a + "  simple/a b\n",                   //
                                 digest_a + "  simple/\x1b[31m\n",              //
                                 line + line,                                   // twice
                                 line + digest_a + "  simple/a/index.html\n"};  // not sorted
    for (const std::string& text : wrong) {
        const auto parsed = parse_page_list(text);
        REQUIRE_MESSAGE(!parsed, text);
        CHECK(parsed.error().code == "attest.page_list");
    }
}

TEST_CASE("a project's list follows from its name alone") {
    // printf six | sha256sum
    CHECK(page_list_of("six") == "signed/pages-44.txt");
    CHECK(is_page_list("signed/pages-44.txt"));
    for (const char* path : {"signed/pages-4.txt", "signed/pages-4F.txt", "signed/pages.txt", "pages-44.txt"})
        CHECK_FALSE(is_page_list(path));
}

TEST_CASE("only lists with the signed hashes are read, each once") {
    const std::string list = digest_a + "  simple/six/index.html\n";
    const std::string first = base::sha256_hex(list) + "  " + page_list_of("six") + "\n";
    std::map<std::string, std::string> files{{std::string(first_page_list), first},
                                             {page_list_of("six"), list}};
    int fetched = 0;
    const auto fetch = [&](const std::string& path,
                           const std::string&) -> base::Result<std::optional<std::string>> {
        ++fetched;
        const auto found = files.find(path);
        if (found == files.end()) return std::nullopt;
        return std::optional(found->second);
    };
    auto pages = SignedPages::open(base::sha256_hex(first), fetch);
    REQUIRE(pages);
    CHECK(pages->hash_of("six", "index.html")->value() == digest_a);
    CHECK_FALSE(pages->hash_of("six", "index.json")->has_value());
    CHECK_FALSE(pages->hash_of("demo", "index.html")->has_value());  // its list is not named
    CHECK(fetched == 2);

    CHECK(SignedPages::open(digest_a, fetch).error().code == "attest.changed");
    pages = SignedPages::open(base::sha256_hex(first), fetch);
    files[page_list_of("six")] = digest_b + "  simple/six/index.html\n";
    CHECK(pages->hash_of("six", "index.html").error().code == "attest.changed");
    files.erase(page_list_of("six"));
    CHECK(pages->hash_of("six", "index.html").error().code == "attest.changed");
}

}  // namespace wheelyard::attest
