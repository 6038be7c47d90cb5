// The shards of a search in the folder of the tree. Of a run that changes them they are written together, in
// order; of one that makes them all, some at a time, because it reads none.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "indexer/tree/disk.hpp"
#include "indexer/web/search_shards.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

class SearchFiles final : public ShardFiles {
  public:
    SearchFiles(Disk& disk, std::filesystem::path folder, bool precompressed, bool is_new)
        : disk_(disk), folder_(std::move(folder)), precompressed_(precompressed), is_new_(is_new) {}

    [[nodiscard]] base::Result<std::string> read(const std::string& file) override;
    [[nodiscard]] base::Status write(const std::string& file, std::string bytes) override;
    [[nodiscard]] base::Status remove(const std::string& file) override;

    // Writes what is left, then these pages. True: at least one differed.
    [[nodiscard]] base::Result<bool> finish(const std::vector<NamedBytes>& pages);
    // What was removed and, of a new search, whatever was not written.
    [[nodiscard]] base::Status remove_gone();

  private:
    [[nodiscard]] base::Status flush();

    Disk& disk_;
    std::filesystem::path folder_;
    bool precompressed_;
    bool is_new_;
    bool has_changed_ = false;
    std::vector<NamedBytes> pending_;
    std::map<std::string, std::size_t> places_;  // in pending_
    std::set<std::string> written_;              // of a new search
    std::set<std::string> gone_;
};

}  // namespace wheelyard::indexer
