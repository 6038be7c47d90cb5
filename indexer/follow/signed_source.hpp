// What the registry behind a followed tree has signed about its pages, if the operator gave its root document. The lists,
// not the event log, then say which projects changed, and a page counts only with its signed hash: a source that goes
// back, stands still, keeps a page back or changes one is noticed. The lists of the last round are in TREE/<index>/signed/;
// the state is there, too, if our pages are byte for byte the signed ones, so that readers of our tree can verify it.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "indexer/follow/followed_source.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/followed_state.hpp"
#include "lib/attest/index_state.hpp"
#include "lib/attest/page_list.hpp"
#include "lib/attest/root.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

class SignedSource {
  public:
    struct Place {
        std::filesystem::path tree;
        std::string index;      // in our tree
        std::string signed_as;  // in the registry
    };
    SignedSource(Disk& disk, FollowedSource& source, Place place, attest::Root root, base::UnixMicros now)
        : disk_(disk), source_(source), place_(std::move(place)), root_(std::move(root)), now_(now) {}

    // Verifies the source's state. Gives the projects whose pages are others than in `before`; with `all`, or where its lists
    // are lost, those of both. Errors: those of attest::verify_index_state(), "attest.no_state", "attest.changed".
    [[nodiscard]] base::Result<std::set<std::string>> open(const SignedPart& before, bool all);
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
    // The newest state that was verified, after open().
    [[nodiscard]] attest::SeenState seen() const;
    // Whether the index has the project.
    [[nodiscard]] base::Result<bool> has(const std::string& project);
    // Error "follow.changed_page": this is not the project's signed page, nor that of a state that the source has by now.
    [[nodiscard]] base::Status check_page(const std::string& project, const std::string& json);
    // The same for a project without a page there: the index has it no more by now.
    [[nodiscard]] base::Status check_missing(const std::string& project);
    // The projects for which the two above failed since the last call.
    [[nodiscard]] std::set<std::string> take_refused() { return std::exchange(refused_, {}); }
    // Whether these bytes are the ones that open() found signed; an empty project is the root.
    [[nodiscard]] base::Result<bool> is_ours_signed(const std::string& project, std::string_view html,
                                                    std::string_view json);
    // At the round's end. `is_same`: all pages of our tree are the signed ones. Durable on return.
    [[nodiscard]] base::Result<SignedPart> keep(bool is_same);

  private:
    struct Verified {
        std::string text;
        attest::IndexState state;
        attest::SignedPages pages;
    };
    [[nodiscard]] base::Result<Verified> read(const attest::SeenState& seen);
    [[nodiscard]] base::Result<std::set<std::string>> changed_since(const SignedPart& before, bool all);
    [[nodiscard]] base::Status read_newer();
    [[nodiscard]] tl::unexpected<base::Error> fail_page(const std::string& project, std::string sentence);
    [[nodiscard]] base::Result<bool> is_signed_page(Verified& by, const std::string& project,
                                                    std::string_view page, const std::string& sha256);
    [[nodiscard]] std::optional<std::string> kept(const std::string& path, const std::string& sha256) const;
    [[nodiscard]] std::filesystem::path file(std::string_view path) const;

    Disk& disk_;
    FollowedSource& source_;
    Place place_;
    attest::Root root_;
    base::UnixMicros now_;
    std::optional<Verified> first_;  // of the round's beginning
    std::optional<Verified> newer_;  // of later, if a page was published meanwhile
    std::set<std::string> refused_;
    std::vector<std::string> warnings_;
};

// A round that verifies nothing: what the tree has as signed may no longer be.
[[nodiscard]] base::Status forget_signed(Disk& disk, const std::filesystem::path& tree,
                                         const std::string& index);

}  // namespace wheelyard::indexer
