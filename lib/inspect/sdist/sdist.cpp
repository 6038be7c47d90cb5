#include "lib/inspect/sdist/sdist.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "lib/base/text/text.hpp"
#include "lib/inspect/dist_info/metadata_fields.hpp"
#include "lib/inspect/sdist/limits.hpp"
#include "lib/io/tar_gz.hpp"

namespace wheelyard::inspect {
namespace {

class SdistCheck {
  public:
    SdistCheck(const base::Reader& bytes, const wheel::SdistFilename& filename, const SizeLimits& sizes,
               Findings& findings)
        : bytes_(bytes), filename_(filename), sizes_(sizes), findings_(findings), folder_(filename.stem) {}

    base::Result<Sdist> run() {
        auto read = read_members();
        if (!read) {
            if (read.error().kind != base::ErrorKind::malformed) return base::fail(std::move(read.error()));
            findings_.add_final("sdist.archive_invalid", {}, {}, read.error().value);
        }
        if (ended_) return std::move(sdist_);
        if (!has_pkg_info_) findings_.add("sdist.pkg_info_missing", folder_ + "/PKG-INFO");
        if (!has_pyproject_) findings_.add("sdist.pyproject_missing", folder_ + "/pyproject.toml");
        check_metadata();
        return std::move(sdist_);
    }

  private:
    // Stops at the first finding that ends the check.
    base::Status read_members() {
        WHEELYARD_ASSIGN(auto reader, io::TarGzReader::open(bytes_));
        while (!ended_) {
            WHEELYARD_ASSIGN(const auto member, reader.next());
            if (!member) return {};
            if (!check_count_and_size(*member)) return {};
            check_name(*member);
            if (member->kind == io::TarKind::file) WHEELYARD_TRY(read_known(reader, *member));
        }
        return {};
    }

    // Before a member's data is unpacked. Declared sizes are what the archive unpacks to: tar has no compression of its own.
    bool check_count_and_size(const io::TarMember& member) {
        ++sdist_.members;
        const bool is_too_long = member.size_bytes > sizes_.unpacked_bytes - sdist_.unpacked_bytes;
        sdist_.unpacked_bytes += is_too_long ? 0 : member.size_bytes;
        const bool is_bomb =
            sdist_.unpacked_bytes > sizes_.ratio_from_bytes &&
            sdist_.unpacked_bytes / std::max<std::uint64_t>(1, bytes_.size()) >= sizes_.ratio;
        if (is_too_long || is_bomb) {
            findings_.add_final("sdist.bomb", member.name, {}, base::render_bytes(member.size_bytes));
            ended_ = true;
        } else if (sdist_.members > max_sdist_members) {
            findings_.add_final("sdist.too_many_members", {}, std::to_string(max_sdist_members));
            ended_ = true;
        }
        return !ended_;
    }

    void check_name(const io::TarMember& member) {
        const std::string_view name = member.name;
        const bool has_control =
            std::any_of(name.begin(), name.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; });
        if (name.empty() || has_control || name.size() > max_sdist_name_bytes || !base::is_utf8(name))
            findings_.add("sdist.member_name", name.substr(0, max_sdist_name_bytes));
        if (!member.is_inside || member.kind == io::TarKind::other)
            findings_.add_final("sdist.member_unsafe", name);
        std::string_view path = name;
        while (path.ends_with('/'))
            path.remove_suffix(1);
        const bool is_below =
            path.starts_with(folder_) && path.size() > folder_.size() && path[folder_.size()] == '/';
        const bool is_folder = path == folder_ && member.kind == io::TarKind::folder;
        if (!is_below && !is_folder) findings_.add("sdist.folder", name, folder_ + "/…");
        if (member.kind != io::TarKind::folder && !names_.insert(std::string(path)).second)
            findings_.add("sdist.member_duplicate", name);
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
        check_metadata_fields(*metadata, path, findings_);
        sdist_.metadata = std::move(*metadata);
    }

    const base::Reader& bytes_;
    const wheel::SdistFilename& filename_;
    const SizeLimits& sizes_;
    Findings& findings_;
    const std::string folder_;
    Sdist sdist_;
    std::unordered_set<std::string> names_;
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
