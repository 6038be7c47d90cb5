// One pass over all lists; another one if the state was replaced meanwhile, or some seconds later.
#include "lib/attest/verify_index.hpp"

#include <algorithm>
#include <utility>

#include "lib/attest/limits.hpp"
#include "lib/attest/page_list.hpp"
#include "lib/base/digest/digest.hpp"

namespace wheelyard::attest {
namespace {

constexpr int max_passes = 4;  // over an index that is published meanwhile
constexpr std::string_view html_end = "/index.html";
constexpr std::string_view simple_folder = "simple/";

class IndexPass {
  public:
    IndexPass(const ReadFile& read, VerifiedIndex& found) : read_(read), found_(found) {}

    base::Status run() {
        WHEELYARD_ASSIGN(auto lists, SignedPages::open(found_.state.pages,
                                                       [&](const std::string& path, const std::string&) {
                                                           return read_(path);
                                                       }));
        for (const auto& [path, sha256] : lists.first()) {
            if (!is_page_list(path)) {
                WHEELYARD_TRY(check(path, sha256));
                continue;
            }
            WHEELYARD_ASSIGN(const PageHashes* lines, lists.list(path));
            for (const auto& [page, page_sha256] : *lines)
                WHEELYARD_TRY(check(page, page_sha256));
        }
        return {};
    }

  private:
    base::Status check(const std::string& path, const std::string& sha256) {
        ++found_.pages;
        WHEELYARD_ASSIGN(const auto text, read_(path));
        if (!text || base::sha256_hex(*text) != sha256) found_.changed.push_back(path);
        const bool is_of_project = path.starts_with(simple_folder) && path.ends_with(html_end) &&
                                   path.size() > simple_folder.size() + html_end.size();
        if (is_of_project)
            found_.projects.push_back(
                path.substr(simple_folder.size(), path.size() - simple_folder.size() - html_end.size()));
        return {};
    }

    const ReadFile& read_;
    VerifiedIndex& found_;
};

}  // namespace

base::Result<std::string> read_state(const ReadFile& read) {
    WHEELYARD_ASSIGN(auto text, read(std::string(index_state_path)));
    if (text) return *std::move(text);
    return base::fail("attest.no_state", "The index has no signed state", std::string(index_state_path),
                      "give the URL or folder above simple/; a registry signs its indexes if [attest] key is "
                      "set, and an earlier version does not");
}

base::Result<VerifiedIndex> verify_index(const ReadFile& read, const Root& root, std::string_view index,
                                         const SeenState& seen, base::Clock& clock) {
    WHEELYARD_ASSIGN(std::string text, read_state(read));
    for (int passes = 1;; ++passes) {
        WHEELYARD_ASSIGN(auto verified, verify_index_state(text, root, index, seen, clock.now()));
        VerifiedIndex found{std::move(verified.state), std::move(verified.warnings), {}, 0, {}};
        const auto done = IndexPass(read, found).run();
        std::sort(found.projects.begin(), found.projects.end());
        if (done && found.changed.empty()) return found;
        if (!done && !done.error().may_pass()) return base::fail(done.error());
        WHEELYARD_ASSIGN(std::string again, read_state(read));
        for (int waits = 0; again == text && waits < max_publish_waits; ++waits) {
            clock.sleep_ms(publish_wait_ms);
            WHEELYARD_ASSIGN(again, read_state(read));
        }
        if (again == text || passes == max_passes) {
            if (!done) return base::fail(done.error());
            return found;
        }
        text = std::move(again);
    }
}

}  // namespace wheelyard::attest
