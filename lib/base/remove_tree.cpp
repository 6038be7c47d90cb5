// Reads all names of a folder before it removes the first one: on a network file system a removal during the
// listing can hide other entries.
#include "lib/base/remove_tree.hpp"

#include <system_error>
#include <vector>

namespace wheelyard::base {
namespace {

namespace fs = std::filesystem;

std::vector<fs::directory_entry> list(const fs::path& folder, std::error_code& error) {
    std::vector<fs::directory_entry> found;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        found.push_back(*at);
    return found;
}

class Removal {
  public:
    explicit Removal(const KeepAlive& keep_alive) : keep_alive_(keep_alive) {}

    Status remove(const fs::directory_entry& entry) {
        WHEELYARD_TRY(renew_or_abort(keep_alive_));
        std::error_code no_folder;
        if (!entry.is_symlink(no_folder) && entry.is_directory(no_folder)) {
            std::vector<fs::directory_entry> inner;
            within(entry.path(), entry.path(),
                   [&](std::error_code& error) { inner = list(entry.path(), error); });
            for (const auto& one : inner)
                WHEELYARD_TRY(remove(one));
        }
        within(entry.path().parent_path(), entry.path(),
               [&](std::error_code& error) { fs::remove(entry.path(), error); });
        return {};
    }

    [[nodiscard]] const Status& first_failure() const { return first_failure_; }

  private:
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

    const KeepAlive& keep_alive_;
    Status first_failure_;
};

}  // namespace

Status remove_tree(const fs::path& path, const KeepAlive& keep_alive) {
    std::error_code error;
    const fs::directory_entry top(path, error);
    if (error == std::errc::no_such_file_or_directory) return {};
    if (error) return fail_errno("remove", path.native(), error.value());
    Removal removal(keep_alive);
    WHEELYARD_TRY(removal.remove(top));
    return removal.first_failure();
}

}  // namespace wheelyard::base
