// Copies files, folders and symbolic links; any other entry (a socket, a device) is an error.
#include "builder/sources/source_copy.hpp"

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "lib/base/files/file.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

// Errors about the files themselves: their names, kinds and owners.
constexpr std::array<int, 10> lasting = {EACCES, EPERM,  ENOENT, ENOTDIR,      EEXIST,
                                         EINVAL, EISDIR, ELOOP,  ENAMETOOLONG, EFBIG};

base::Status copy_file(const fs::path& from, const fs::path& to, fs::perms mode,
                       const base::KeepAlive& keep_alive) {
    WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(from));
    WHEELYARD_ASSIGN(auto file, base::create_new(to, static_cast<mode_t>(mode & fs::perms::all)));
    auto copied = base::for_each_piece(reader, copy_piece_bytes, [&](std::string_view piece) -> base::Status {
        if (auto written = base::write_all(file.get(), piece); !written) {
            written.error().value = to.native();
            return written;
        }
        return base::renew_or_abort(keep_alive);
    });
    if (copied) return base::close_file(std::move(file), to.native());
    base::Error& error = copied.error();
    if (error.value.empty()) error.value = from.native();
    return copied;
}

base::Status copy_entry(const fs::directory_entry& entry, const fs::path& to,
                        const base::KeepAlive& keep_alive) {
    std::error_code error;
    const fs::file_status status = entry.symlink_status(error);
    if (fs::is_regular_file(status)) return copy_file(entry.path(), to, status.permissions(), keep_alive);
    if (fs::is_symlink(status)) {
        fs::copy_symlink(entry.path(), to, error);
    } else if (fs::is_directory(status)) {
        fs::create_directory(to, entry.path(), error);
    } else if (!error) {
        return base::fail("file.not_regular", "Not a file, folder or symbolic link", entry.path().native());
    }
    if (error) return base::fail_errno("copy", entry.path().native(), error.value());
    return {};
}

base::Status copy_folder(const fs::path& from, const fs::path& to, const base::KeepAlive& keep_alive) {
    std::error_code error;
    fs::recursive_directory_iterator entry(from, error);
    if (!error) fs::create_directory(to, from, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        WHEELYARD_TRY(base::renew_or_abort(keep_alive));
        WHEELYARD_TRY(copy_entry(*entry, to / entry->path().lexically_relative(from), keep_alive));
    }
    if (error) return base::fail_errno("copy", from.native(), error.value());
    return {};
}

}  // namespace

base::Status copy_source(const fs::path& from, const fs::path& to, const base::KeepAlive& keep_alive) {
    auto copied = copy_folder(from, to, keep_alive);
    if (copied) return {};
    if (copied.error().kind == base::ErrorKind::lost) return copied;  // the lock's error, not the source's
    return base::fail(copy_error(std::move(copied.error())));
}

base::Error copy_error(base::Error refusal) {
    refusal.sentence = "A source cannot be copied: " + refusal.sentence;
    const bool is_lasting =
        !refusal.may_pass() || std::find(lasting.begin(), lasting.end(), refusal.os_error) != lasting.end();
    if (!is_lasting) return refusal;
    refusal.code = "source.unreadable";
    refusal.recovery = base::Recovery::never;
    return refusal;
}

}  // namespace wheelyard::builder
