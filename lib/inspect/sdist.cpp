// The check of a source distribution (PEP 625, PEP 643): a tar.gz with the one folder {name}-{version}, which
// has PKG-INFO. Every member is read once; nothing is written to disk.
#include "lib/inspect/inspect.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/inspect/dist_info/dist_info.hpp"
#include "lib/io/tar_gz.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::size_t max_sdist_name_bytes = 2048;  // with its folder's path below PATH_MAX
constexpr std::size_t max_sdist_names_bytes =
    64 * base::mib;  // of all names together, which are kept in memory
// A member costs 20 us of CPU, and a real one 100 bytes of the archive: a small archive may not have many.
constexpr std::uint64_t max_small_sdist_members = 20'000;
constexpr std::uint64_t min_member_bytes = 64;
constexpr std::uint64_t max_pkg_info_bytes = 8 * base::mib;  // as for METADATA

class SdistCheck {
  public:
    SdistCheck(const base::Reader& bytes, const wheel::SdistFilename& filename, const SizeLimits& sizes,
               Findings& findings)
        : bytes_(bytes), filename_(filename), sizes_(sizes), findings_(findings), folder_(filename.stem) {}

    base::Result<Sdist> run() {
        if (auto read = read_members(); !read) {
            base::Error& error = read.error();
            if (error.kind == base::ErrorKind::malformed)
                end("sdist.archive_invalid", {}, {}, error.value);
            else if (error.kind == base::ErrorKind::too_large)
                end("sdist.bomb", {}, "at most " + error.value);
            else
                return base::fail(std::move(error));
        }
        if (ended_) return std::move(sdist_);
        if (!has_pkg_info_) findings_.add("sdist.pkg_info_missing", folder_ + "/PKG-INFO");
        if (!has_pyproject_) findings_.add("sdist.pyproject_missing", folder_ + "/pyproject.toml");
        check_metadata();
        return std::move(sdist_);
    }

  private:
    void end(std::string_view code, std::string_view member, std::string_view expected,
             std::string_view found = {}) {
        findings_.add_final(code, member, expected, found);
        ended_ = true;
    }

    // What the archive may unpack to: as for a wheel.
    [[nodiscard]] std::uint64_t max_unpacked_bytes() const {
        const std::uint64_t by_ratio = bytes_.size() > sizes_.unpacked_bytes / sizes_.ratio
                                           ? sizes_.unpacked_bytes
                                           : bytes_.size() * sizes_.ratio;
        return std::min(sizes_.unpacked_bytes, std::max(sizes_.ratio_from_bytes, by_ratio));
    }

    // Stops at the first finding that ends the check.
    base::Status read_members() {
        const std::uint64_t limit_bytes = max_unpacked_bytes();
        WHEELYARD_ASSIGN(auto reader, io::TarGzReader::open(bytes_, limit_bytes));
        while (!ended_) {
            WHEELYARD_ASSIGN(const auto member, reader.next());
            if (!member) return {};
            check_count_and_size(*member, limit_bytes);
            if (ended_) return {};
            check_name(*member);
            if (member->kind == io::TarKind::file) WHEELYARD_TRY(read_known(reader, *member));
        }
        return {};
    }

    // Before a member's data is unpacked.
    void check_count_and_size(const io::TarMember& member, std::uint64_t limit_bytes) {
        ++sdist_.members;
        if (member.size_bytes > limit_bytes - sdist_.unpacked_bytes)
            return end("sdist.bomb", member.name, "at most " + base::render_bytes(limit_bytes),
                       base::render_bytes(member.size_bytes));
        sdist_.unpacked_bytes += member.size_bytes;
        const std::uint64_t max_members =
            std::min(max_sdist_members, std::max(max_small_sdist_members, bytes_.size() / min_member_bytes));
        if (sdist_.members > max_members)
            end("sdist.too_many_members", member.name, std::to_string(max_members));
    }

    void check_name(const io::TarMember& member) {
        const std::string_view name = member.name;
        std::string_view path = name;
        while (path.ends_with('/'))
            path.remove_suffix(1);
        const bool has_odd_part = ("/" + std::string(path) + "/").find("/./") != std::string::npos ||
                                  path.find("//") != std::string_view::npos;
        if (path.empty() || has_odd_part || name.size() > max_sdist_name_bytes ||
            !base::is_printable_line(name))
            findings_.add("sdist.member_name", name.substr(0, max_sdist_name_bytes));
        if (!member.is_inside || member.kind == io::TarKind::other)
            findings_.add_final("sdist.member_unsafe", name);
        else if (!member.hard_link.empty() && !has_before(member.hard_link))
            findings_.add_final("sdist.member_unsafe", name, {}, member.hard_link + " is no file before it");
        const bool is_below =
            path.starts_with(folder_) && path.size() > folder_.size() && path[folder_.size()] == '/';
        const bool is_folder = path == folder_ && member.kind == io::TarKind::folder;
        if (!is_below && !is_folder) findings_.add("sdist.folder", name, folder_ + "/…");
        keep_name(path, member);
    }

    [[nodiscard]] bool has_before(const std::string& path) const {
        const auto known = kinds_.find(path);
        return known != kinds_.end() && known->second != io::TarKind::folder;
    }

    // A name that is at once a file or link and a folder lets an unpacker write through the link.
    void keep_name(std::string_view path, const io::TarMember& member) {
        const auto [kept, is_new] = kinds_.try_emplace(std::string(path), member.kind);
        const bool are_folders = kept->second == io::TarKind::folder && member.kind == io::TarKind::folder;
        if (!is_new && !are_folders) findings_.add("sdist.member_duplicate", member.name);
        if (is_new) names_bytes_ += path.size();
        for (auto slash = path.rfind('/'); slash != std::string_view::npos && slash > 0 && !ended_;
             slash = path.rfind('/', slash - 1)) {
            const std::string_view parent = path.substr(0, slash);
            const auto [folder, is_first] = kinds_.try_emplace(std::string(parent), io::TarKind::folder);
            if (folder->second != io::TarKind::folder)
                findings_.add_final("sdist.member_unsafe", member.name, {},
                                    std::string(parent) + " is not a folder");
            if (!is_first) break;  // its own parents are known
            names_bytes_ += parent.size();
            if (names_bytes_ > max_sdist_names_bytes) break;
        }
        if (names_bytes_ > max_sdist_names_bytes)
            end("sdist.too_many_members", member.name,
                "names of at most " + base::render_bytes(max_sdist_names_bytes));
    }

    // Sdists from before PEP 625 may name their folder in another spelling: sdist.folder says so.
    base::Status read_known(io::TarGzReader& reader, const io::TarMember& member) {
        const std::string_view name = member.name;
        const auto slash = name.find('/');
        if (slash == std::string_view::npos) return {};
        const std::string_view in_folder = name.substr(slash + 1);
        if (in_folder == "pyproject.toml") has_pyproject_ = true;
        if (has_pkg_info_ || in_folder != "PKG-INFO") return {};
        has_pkg_info_ = true;
        if (member.size_bytes > max_pkg_info_bytes) {
            findings_.add_final("metadata.invalid", name, {},
                                "larger than " + base::render_bytes(max_pkg_info_bytes));
            return {};
        }
        WHEELYARD_ASSIGN(sdist_.metadata_bytes, reader.read(max_pkg_info_bytes));
        return {};
    }

    void check_metadata() {
        if (sdist_.metadata_bytes.empty()) return;
        const std::string path = folder_ + "/PKG-INFO";
        wheel::Faults faults;
        auto metadata = wheel::parse_metadata(sdist_.metadata_bytes, &faults);
        for (const base::Error& fault : faults)
            findings_.add("metadata.invalid", path, {}, fault.text());
        if (!metadata) {
            findings_.add_final("metadata.invalid", path, {}, metadata.error().text());
            return;
        }
        if (wheel::normalize_name(metadata->name) != filename_.project)
            findings_.add_final("metadata.name_mismatch", path, filename_.project, metadata->name);
        if (metadata->version != filename_.version)
            findings_.add_final("metadata.version_mismatch", path, filename_.version.text(),
                                metadata->version.as_written());
        check_metadata_fields(*metadata, path, false, findings_);
        sdist_.metadata = std::move(*metadata);
    }

    const base::Reader& bytes_;
    const wheel::SdistFilename& filename_;
    const SizeLimits& sizes_;
    Findings& findings_;
    const std::string folder_;
    Sdist sdist_;
    std::unordered_map<std::string, io::TarKind> kinds_;  // of each member and of the folders that it lies in
    std::size_t names_bytes_ = 0;                         // of the keys of kinds_
    bool has_pkg_info_ = false;
    bool has_pyproject_ = false;
    bool ended_ = false;
};

}  // namespace

base::Result<Sdist> check_sdist(const base::Reader& bytes, const wheel::SdistFilename& filename,
                                const SizeLimits& sizes, Findings& findings) {
    return SdistCheck(bytes, filename, sizes, findings).run();
}

bool has_static_metadata(const wheel::Metadata& metadata) {
    return metadata.is_at_least("2.2") && metadata.headers.first("Dynamic") == nullptr;
}

}  // namespace wheelyard::inspect
