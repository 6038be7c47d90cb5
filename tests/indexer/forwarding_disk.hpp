// A Disk that forwards to a LocalDisk; tests override the operations that they observe or break.
#pragma once

#include "indexer/tree/disk.hpp"

namespace wheelyard::indexer {

class ForwardingDisk : public Disk {
  public:
    base::Result<std::optional<std::uint64_t>> size_of(const std::string& path) override {
        return disk_.size_of(path);
    }
    base::Result<std::string> read(const std::filesystem::path& path, std::uint64_t limit) override {
        return disk_.read(path, limit);
    }
    base::Result<bool> make_directories(const std::string& path) override {
        return disk_.make_directories(path);
    }
    base::Status place_blob(const blobs::BlobStore& blobs, const std::string& sha256, const std::string& to,
                            const base::KeepAlive& keep_alive) override {
        return disk_.place_blob(blobs, sha256, to, keep_alive);
    }
    base::Status place_stand_in(const std::string& to, std::uint64_t size_bytes) override {
        return disk_.place_stand_in(to, size_bytes);
    }
    base::Status sync_directory(const std::string& path) override { return disk_.sync_directory(path); }
    base::Status replace(const std::filesystem::path& path, std::string_view bytes) override {
        return disk_.replace(path, bytes);
    }
    base::Status replace_together(const std::string& folder, const std::vector<NamedBytes>& files) override {
        return disk_.replace_together(folder, files);
    }
    base::Result<bool> symlink(const std::filesystem::path& path,
                               const std::filesystem::path& target) override {
        return disk_.symlink(path, target);
    }
    base::Status replace_via(const std::filesystem::path& temp, const std::filesystem::path& path,
                             std::string_view bytes) override {
        return disk_.replace_via(temp, path, bytes);
    }
    base::Status remove(const std::filesystem::path& path) override { return disk_.remove(path); }
    base::Status remove_leftovers(const std::filesystem::path& folder) override {
        return disk_.remove_leftovers(folder);
    }
    base::Status stage_directory(const std::string& folder, const base::KeepAlive& keep_alive) override {
        return disk_.stage_directory(folder, keep_alive);
    }
    base::Status publish_directory(const std::string& folder) override {
        return disk_.publish_directory(folder);
    }
    base::Status remove_staged(const std::string& folder, const base::KeepAlive& keep_alive) override {
        return disk_.remove_staged(folder, keep_alive);
    }
    base::Status begin_bulk(const std::filesystem::path& tree) override { return disk_.begin_bulk(tree); }
    base::Status flush_pending() override { return disk_.flush_pending(); }
    base::Status end_bulk() override { return disk_.end_bulk(); }

  protected:
    LocalDisk disk_;
};

}  // namespace wheelyard::indexer
