// Signs the pages of each index in a publish run, once all of them are written (lib/attest/index_state.hpp):
//
//     TREE/<index>/signed/state.json       the signed state
//     TREE/<index>/signed/pages.txt        hashes of the root's pages and of the lists
//     TREE/<index>/signed/pages-3f.txt     hashes of the pages of some projects
//
// A run changes the lists of the projects that it published. All of them are made again from the pages if the last run did
// not keep them, because it had no key or was of an older program, and if one is lost or damaged.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "indexer/publish/publish.hpp"
#include "indexer/tree/disk.hpp"
#include "lib/attest/page_list.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/keep_alive.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

class SignedRun {
  public:
    // `signer`: nullopt, nothing is signed. `are_lists_current`: the last run kept them (PublishedState::is_signed).
    SignedRun(Disk& disk, const std::filesystem::path& tree, const std::optional<IndexSigner>& signer,
              bool are_lists_current, base::KeepAlive keep_alive)
        : disk_(disk),
          tree_(tree),
          signer_(signer),
          are_lists_current_(are_lists_current),
          keep_alive_(std::move(keep_alive)) {}

    // Before the first page changes: a run without a key removes what was signed, since its pages would not fit.
    [[nodiscard]] base::Status begin();
    // What the run has written and removed; an empty `project` is the root.
    void note_pages(const std::string& index, const std::string& project, std::string_view html,
                    std::string_view json);
    void note_gone(const std::string& index, const std::string& project);
    // A stale root that this run leaves as it is: an earlier run may have written it and failed before it signed.
    [[nodiscard]] base::Status note_late_root(const std::string& index);
    // Makes the lists of these indexes again: their rules changed, and a run that was killed after it removed a project's
    // folder left nothing that says so.
    void read_again(const std::set<std::string>& indexes) { read_again_ = indexes; }
    // Of the index's event log, whose serial the state has.
    void note_serial(const std::string& index, catalog::Serial serial) { serials_[index] = serial; }
    // After all pages and logs. An index without changes is signed again after a seventh of the time for which its state is
    // valid. Durable on return.
    [[nodiscard]] base::Status sign(base::UnixMicros now);

  private:
    struct Signed;  // what is in the tree
    // By the path of a list; an empty hash: the page is gone.
    using Changes = std::map<std::string, attest::PageHashes, std::less<>>;

    [[nodiscard]] base::Result<std::vector<std::string>> indexes() const;
    [[nodiscard]] base::Status sign_index(const std::string& index, base::UnixMicros now);
    [[nodiscard]] base::Result<Signed> read(const std::string& index);
    [[nodiscard]] base::Status read_state(const std::string& index, Signed& found);
    [[nodiscard]] base::Status read_lists(const std::string& index, Signed& found);
    [[nodiscard]] base::Result<attest::PageHashes> read_list(const std::string& index,
                                                             const std::string& path,
                                                             const attest::PageHashes& first);
    [[nodiscard]] base::Status note_pages_on_disk(const std::string& index);
    [[nodiscard]] base::Status note_page_on_disk(const std::string& index, const std::string& project);
    [[nodiscard]] base::Result<std::string> read_file(const std::string& index, std::string_view path,
                                                      std::uint64_t limit);

    Disk& disk_;
    const std::filesystem::path& tree_;
    const std::optional<IndexSigner>& signer_;
    bool are_lists_current_;
    base::KeepAlive keep_alive_;
    // index → list → its lines that changed; those of the root are in the first list.
    std::map<std::string, Changes> changes_;
    std::map<std::string, catalog::Serial> serials_;
    std::set<std::string> read_again_;
};

}  // namespace wheelyard::indexer
