// Makes and removes temporary folders.
#include "lib/base/files/temp_dir.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::base {

namespace fs = std::filesystem;
namespace {

void clear(const fs::path& path) {
    if (!path.empty()) static_cast<void>(remove_tree(path));
}

}  // namespace

Result<TempDir> TempDir::make(std::string_view prefix, const fs::path& parent) {
    const char* from_environment = std::getenv("TMPDIR");
    const fs::path folder = !parent.empty()                                 ? parent
                            : from_environment && *from_environment != '\0' ? fs::path(from_environment)
                                                                            : fs::path("/tmp");
    std::string path = (folder / (std::string(prefix) + "-XXXXXX")).native();
    if (::mkdtemp(path.data()) == nullptr) return fail_errno("mkdtemp", path, errno);
    return TempDir(path);
}

TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
    if (this != &other) {
        clear(path_);
        path_ = std::exchange(other.path_, {});
    }
    return *this;
}

TempDir::~TempDir() {
    clear(path_);
}

namespace {

namespace fs = std::filesystem;

template <typename Iterator>
Status remove_in(const fs::path& folder, std::string_view start, std::string_view kept = {},
                 std::chrono::seconds age = {}) {
    std::error_code error, ignored;
    const auto written_before =
        age.count() == 0 ? fs::file_time_type::max() : fs::file_time_type::clock::now() - age;
    std::vector<fs::path> found;
    for (Iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().native();
        if (!kept.empty() && name.starts_with(kept)) continue;
        if (name.starts_with(start) && name.find(".tmp.") != std::string::npos &&
            entry->last_write_time(ignored) <= written_before)
            found.push_back(entry->path());
    }
    if (error) return fail_errno("readdir", folder.string(), error.value());
    for (const auto& leftover : found)
        WHEELYARD_TRY(remove_file(leftover));
    return {};
}

}  // namespace

Status remove_temporary_files(const fs::path& path, std::chrono::seconds age) {
    return remove_in<fs::directory_iterator>(path.parent_path(), "." + path.filename().native() + ".tmp.", {},
                                             age);
}

Status remove_temporary_files_in(const fs::path& folder, std::string_view kept) {
    return remove_in<fs::directory_iterator>(folder, ".", kept);
}

Status remove_temporary_files_below(const fs::path& folder) {
    return remove_in<fs::recursive_directory_iterator>(folder, ".");
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_path_bytes = 3'072;  // with a name of 255 bytes below PATH_MAX, which is 4,096

std::vector<fs::directory_entry> list(const fs::path& folder, std::error_code& error) {
    std::vector<fs::directory_entry> found;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        found.push_back(*at);
    return found;
}

class Removal {
  public:
    Removal(const fs::directory_entry& top, const KeepAlive& keep_alive)
        : top_(top), keep_alive_(keep_alive) {}

    Status run() {
        do {
            has_moved_ = false;
            WHEELYARD_TRY(remove_inner(top_));
        } while (has_moved_);
        return remove_itself(top_);
    }

    [[nodiscard]] const Status& first_failure() const { return first_failure_; }

  private:
    Status remove(const fs::directory_entry& entry) {
        if (entry.path().native().size() > max_path_bytes && move_up(entry)) return {};
        WHEELYARD_TRY(remove_inner(entry));
        return remove_itself(entry);
    }

    Status remove_inner(const fs::directory_entry& entry) {
        std::error_code no_folder;
        if (entry.is_symlink(no_folder) || !entry.is_directory(no_folder)) return {};
        std::vector<fs::directory_entry> inner;
        within(entry.path(), entry.path(),
               [&](std::error_code& error) { inner = list(entry.path(), error); });
        for (const auto& one : inner)
            WHEELYARD_TRY(remove(one));
        return {};
    }

    Status remove_itself(const fs::directory_entry& entry) {
        WHEELYARD_TRY(renew_or_abort(keep_alive_));
        within(entry.path().parent_path(), entry.path(),
               [&](std::error_code& error) { fs::remove(entry.path(), error); });
        return {};
    }

    bool move_up(const fs::directory_entry& entry) {
        if (entry.path().parent_path() == top_.path()) return false;
        std::error_code error;
        fs::rename(entry.path(), top_.path() / ("deep." + encode_hex(random_bytes(8))), error);
        if (!error) has_moved_ = true;
        return !error;
    }

    // If permission is denied, adds the owner's permissions to `folder` and tries once more.
    template <typename Action>
    void within(const fs::path& folder, const fs::path& subject, Action action) {
        std::error_code error;
        action(error);
        if (error == std::errc::permission_denied) {
            std::error_code ignored;
            fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, ignored);
            action(error);
        }
        if (error && error != std::errc::no_such_file_or_directory && first_failure_)
            first_failure_ = fail_errno("remove", subject.native(), error.value());
    }

    const fs::directory_entry& top_;
    const KeepAlive& keep_alive_;
    bool has_moved_ = false;
    Status first_failure_;
};

}  // namespace

Status remove_tree(const fs::path& path, const KeepAlive& keep_alive) {
    std::error_code error;
    const fs::directory_entry top(path, error);
    if (error == std::errc::no_such_file_or_directory) return {};
    if (error) return fail_errno("remove", path.native(), error.value());
    Removal removal(top, keep_alive);
    WHEELYARD_TRY(removal.run());
    return removal.first_failure();
}

}  // namespace wheelyard::base
