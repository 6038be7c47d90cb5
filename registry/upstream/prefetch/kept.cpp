#include "registry/upstream/prefetch/kept.hpp"

#include <system_error>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"

namespace wheelyard::registry {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view format = "wheelyard.prefetch/1";

fs::path file_of(const fs::path& store, const std::string& index, const std::string& name) {
    return store / "prefetch" / index / (name + ".json");
}

base::Status add_hashes(const fs::path& file, std::set<std::string>& hashes) {
    WHEELYARD_ASSIGN(const std::string text, base::read_file(file, max_kept_bytes));
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(text, {.bytes = max_kept_bytes}));
    if (document.string_or("format", "") != format)
        return base::fail_malformed("prefetch.record", "This is not a record of prefetched files",
                                    file.native());
    for (const io::Json& item : document.items("files")) {
        WHEELYARD_ASSIGN(std::string sha256, item.string_at("sha256"));
        hashes.insert(std::move(sha256));
    }
    return {};
}

}  // namespace

io::Json render_kept(const Kept& kept) {
    io::Json::Array files;
    for (const KeptFile& file : kept.files)
        files.push_back(io::Json::object({{"filename", file.filename},
                                          {"project", file.project},
                                          {"sha256", file.sha256},
                                          {"size", file.size_bytes}}));
    return io::Json::object({{"format", format},
                             {"index", kept.index},
                             {"name", kept.name},
                             {"made", kept.made},
                             {"targets", io::Json::array_of(kept.targets)},
                             {"files", std::move(files)}});
}

base::Status write_kept(const fs::path& store, const Kept& kept) {
    const fs::path file = file_of(store, kept.index, kept.name);
    WHEELYARD_TRY(base::make_private_directories(store / "prefetch"));
    WHEELYARD_TRY(base::make_directories(file.parent_path()));
    return base::replace_file(file, render_kept(kept).render(), base::private_file_mode);
}

base::Result<bool> forget_kept(const fs::path& store, const std::string& index, const std::string& name) {
    const fs::path file = file_of(store, index, name);
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return false;
    WHEELYARD_TRY(base::remove_file(file));
    return true;
}

base::Result<std::set<std::string>> read_kept_hashes(const fs::path& store) {
    std::set<std::string> hashes;
    std::error_code error;
    const fs::path folder = store / "prefetch";
    if (!fs::exists(folder, error)) return hashes;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        if (entry->path().extension() == ".json") WHEELYARD_TRY(add_hashes(entry->path(), hashes));
    }
    if (error) return base::fail_errno("readdir", folder.native(), error.value());
    return hashes;
}

}  // namespace wheelyard::registry
