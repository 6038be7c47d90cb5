// Staged folders that readers do not see yet. Each is created as `.NAME.tmp.*` next to its final name.
// Until it is published, paths below the final name lead there.
#include "indexer/tree/disk.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

// ".NAME.tmp.", the prefix of temporary names for a folder NAME.
std::string temp_prefix(const fs::path& folder) {
    return "." + folder.filename().native() + ".tmp.";
}

// The folder may hold millions of entries, so `keep_alive` is called for each.
base::Status remove_folder(const fs::path& folder, const base::KeepAlive& keep_alive) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        WHEELYARD_TRY(keep_alive());
        fs::remove_all(entry->path(), error);
        if (error) break;
    }
    if (!error) fs::remove(folder, error);
    // The run that staged it may remove it at the same time.
    if (error && error != std::errc::no_such_file_or_directory)
        return base::fail_errno("remove", folder.native(), error.value());
    return {};
}

}  // namespace

const char* HiddenFolders::Hidden::rest_of(const std::string& path) const {
    const std::size_t name_bytes = prefix.size() - 1;
    if (path.size() == name_bytes) return prefix.starts_with(path) ? "." : nullptr;
    const bool is_below = path.size() > prefix.size() && path.starts_with(prefix);
    return is_below ? path.c_str() + prefix.size() : nullptr;
}

HiddenFolders::~HiddenFolders() {
    std::error_code ignored;
    for (const auto& hidden : hidden_)
        fs::remove_all(hidden.actual, ignored);
}

std::string HiddenFolders::name_for(const std::string& folder) {
    const fs::path path = folder;
    return path.parent_path() / (temp_prefix(path) + base::encode_hex(base::random_bytes(8)));
}

base::Status HiddenFolders::add(const std::string& folder, std::string actual) {
    WHEELYARD_ASSIGN(auto opened, base::open_read(actual));
    hidden_.push_back({folder + "/", std::move(actual), std::move(opened)});
    return {};
}

base::Status HiddenFolders::show(const std::string& folder) {
    const auto hidden = std::find_if(hidden_.begin(), hidden_.end(), [&](const Hidden& one) {
        return one.prefix.size() == folder.size() + 1 && one.rest_of(folder) != nullptr;
    });
    if (hidden == hidden_.end())
        return base::fail({.code = "os.ENOENT",
                           .sentence = "This folder was not staged",
                           .value = folder,
                           .os_error = ENOENT});
    if (std::rename(hidden->actual.c_str(), folder.c_str()) != 0)
        return base::fail_errno("rename", folder, errno);
    hidden_.erase(hidden);
    return {};
}

base::Status HiddenFolders::remove_leftovers(const std::string& folder, const base::KeepAlive& keep_alive) {
    const fs::path parent = fs::path(folder).parent_path();
    const std::string start = temp_prefix(folder);
    std::vector<fs::path> left;
    std::error_code error;
    for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().filename().native().starts_with(start)) left.push_back(entry->path());
    }
    if (error) return base::fail_errno("readdir", parent.native(), error.value());
    for (const auto& one : left)
        WHEELYARD_TRY(remove_folder(one, keep_alive));
    return {};
}

bool HiddenFolders::has(const std::string& path) const {
    return at_path(path).path != nullptr;
}

AtPath HiddenFolders::at_path(const std::string& path) const {
    for (const auto& hidden : hidden_) {
        if (const char* rest = hidden.rest_of(path)) return {hidden.folder.get(), rest};
    }
    return {-1, nullptr};
}

std::string HiddenFolders::actual(const std::string& path) const {
    for (const auto& hidden : hidden_) {
        if (const char* rest = hidden.rest_of(path)) return hidden.actual + "/" + rest;
    }
    return path;
}

}  // namespace wheelyard::indexer
