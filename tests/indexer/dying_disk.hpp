// A Disk on which the machine dies at a chosen operation, for tests of what a killed run leaves.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/files/file.hpp"
#include "tests/indexer/forwarding_disk.hpp"

namespace wheelyard::indexer {

// The machine dies before or after one operation. From then on every operation fails.
class DyingDisk final : public ForwardingDisk {
  public:
    enum class Moment { before, after };
    DyingDisk(std::size_t operation, Moment moment) : left_(operation), moment_(moment) {}
    [[nodiscard]] bool is_dead() const { return is_dead_; }

    base::Result<bool> make_directories(const std::string& path) override {
        return live_bool([&] { return disk_.make_directories(path); });
    }
    base::Status place_blob(const blobs::BlobStore& blobs, const std::string& sha256, const std::string& to,
                            const base::KeepAlive& keep_alive) override {
        return live([&] { return disk_.place_blob(blobs, sha256, to, keep_alive); });
    }
    base::Status place_stand_in(const std::string& to, std::uint64_t size_bytes) override {
        return live([&] { return disk_.place_stand_in(to, size_bytes); });
    }
    base::Status sync_directory(const std::string& path) override {
        return live([&] { return disk_.sync_directory(path); });
    }
    base::Status replace(const std::filesystem::path& path, std::string_view bytes) override {
        leave_half(path.parent_path(), {path.filename().native(), std::string(bytes)});
        return live([&] { return disk_.replace(path, bytes); });
    }
    base::Status replace_together(const std::string& folder, const std::vector<NamedBytes>& files) override {
        leave_half(folder, files.front());
        // Also between any two of the renames: then some pages are new and others old.
        for (std::size_t count = 1; count < files.size(); ++count) {
            if (is_dying() && moment_ == Moment::after) {
                (void)disk_.replace_together(
                    folder, {files.begin(), files.begin() + static_cast<std::ptrdiff_t>(count)});
                is_dead_ = true;
                return base::fail("test.died", "The machine died here");
            }
            if (!is_dead_ && left_ > 0) --left_;
        }
        return live([&] { return disk_.replace_together(folder, files); });
    }
    base::Result<bool> symlink(const std::filesystem::path& path,
                               const std::filesystem::path& target) override {
        return live_bool([&] { return disk_.symlink(path, target); });
    }
    base::Status remove(const std::filesystem::path& path) override {
        return live([&] { return disk_.remove(path); });
    }
    base::Status remove_leftovers(const std::filesystem::path& folder) override {
        return live([&] { return disk_.remove_leftovers(folder); });
    }
    base::Status stage_directory(const std::string& folder, const base::KeepAlive& keep_alive) override {
        if (is_dying()) {
            // The leftovers of a killed run, with a half-written page.
            const std::filesystem::path left =
                std::filesystem::path(folder).parent_path() / ".simple.tmp.dead" / "six";
            std::filesystem::create_directories(left);
            (void)base::replace_file(left / "index.html", "<!DOC");
        }
        return live([&] { return disk_.stage_directory(folder, keep_alive); });
    }
    base::Status publish_directory(const std::string& folder) override {
        return live([&] { return disk_.publish_directory(folder); });
    }
    base::Status remove_staged(const std::string& folder, const base::KeepAlive& keep_alive) override {
        return live([&] { return disk_.remove_staged(folder, keep_alive); });
    }
    base::Status flush_pending() override {
        return live([&] { return disk_.flush_pending(); });
    }
    base::Status end_bulk() override {
        return live([&] { return disk_.end_bulk(); });
    }

  private:
    [[nodiscard]] bool is_dying() const { return left_ == 0 && !is_dead_; }

    template <typename Operation>
    base::Status live(Operation operation) {
        if (is_dead_) return base::fail("test.dead", "The machine is dead");
        if (left_-- > 0) return operation();
        is_dead_ = true;
        if (moment_ == Moment::after) (void)operation();
        return base::fail("test.died", "The machine died here");
    }

    template <typename Operation>
    base::Result<bool> live_bool(Operation operation) {
        bool answer = false;
        WHEELYARD_TRY(live([&]() -> base::Status {
            WHEELYARD_ASSIGN(answer, operation());
            return {};
        }));
        return answer;
    }

    // The worst case of a kill: a half-written temporary file.
    void leave_half(const std::filesystem::path& folder, const NamedBytes& file) const {
        if (is_dying() && moment_ == Moment::before)
            (void)base::replace_file(folder / ("." + file.name + ".tmp.dead"), file.bytes.substr(0, 7));
    }

    std::size_t left_;
    Moment moment_;
    bool is_dead_ = false;
};

}  // namespace wheelyard::indexer
