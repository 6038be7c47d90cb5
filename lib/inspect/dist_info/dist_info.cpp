#include "lib/inspect/dist_info/dist_info.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <unordered_set>

#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/zip/member_stream.hpp"
#include "lib/wheel/limits.hpp"

namespace wheelyard::inspect {
namespace {

// Members that are read into memory.
constexpr std::uint64_t max_metadata_member = 8 * base::mib;
constexpr std::uint64_t max_wheel_member = base::mib;
constexpr std::uint64_t max_record_member = 32 * base::mib;  // torch: 1.3 MiB
constexpr std::uint64_t max_entry_points_member = base::mib;
constexpr std::uint64_t max_variant_member = base::mib;

std::string_view top_of(std::string_view path) {
    return path.substr(0, path.find('/'));
}

const Member* find_member(const Frame& frame, std::string_view name) {
    const auto found = std::find_if(frame.members.begin(), frame.members.end(),
                                    [&](const Member& member) { return member.name == name; });
    return found == frame.members.end() ? nullptr : &*found;
}

std::string find_folder(const Frame& frame, const wheel::WheelFilename& filename, Findings& findings) {
    std::set<std::string_view> folders;
    for (const Member& member : frame.members) {
        const std::string_view top = top_of(member.name);
        if (top.size() < member.name.size() && base::ascii_lower(top).ends_with(dist_info_suffix))
            folders.insert(top);
    }
    if (folders.empty()) {
        findings.add_final("dist_info.missing");
        return {};
    }
    const auto stem = [](std::string_view folder) {
        return folder.substr(0, folder.size() - dist_info_suffix.size());
    };
    const auto own = std::find_if(folders.begin(), folders.end(), [&](std::string_view folder) {
        // Installers match the suffix case-sensitively.
        return folder.ends_with(dist_info_suffix) && is_named_after(stem(folder), filename);
    });
    // What pip and uv refuse is final: two folders of this suffix, none, and one of another project. Only the
    // version may differ. Python lists a second one also as .DIST-INFO.
    const auto is_seen = [](std::string_view folder) { return folder.ends_with(dist_info_suffix); };
    if (folders.size() > 1) {
        for (const auto folder : folders)
            findings.add_final("dist_info.several", folder, "one .dist-info folder", "");
    }
    if (own != folders.end()) return std::string(*own);
    const auto seen = std::find_if(folders.begin(), folders.end(), is_seen);
    const std::string_view folder = seen == folders.end() ? *folders.begin() : *seen;
    const std::string expected =
        wheel::escape_name(filename.project) + "-" + filename.version.text() + ".dist-info";
    if (is_seen(folder) && wheel::normalize_name(folder).starts_with(filename.project))
        findings.add("dist_info.name_mismatch", folder, expected, "");
    else
        findings.add_final("dist_info.name_mismatch", folder, expected, "");
    return std::string(folder);
}

enum class Need { optional, required };

// The content of the file `path`; nullopt and a finding if it cannot be read. No installer takes a wheel
// without the required ones.
base::Result<std::optional<std::string>> read_file_of(const base::Reader& bytes, const Frame& frame,
                                                      const std::string& path, std::uint64_t limit, Need need,
                                                      Findings& findings) {
    const Member* member = find_member(frame, path);
    if (member == nullptr || !member->readable) {
        if (need == Need::required) findings.add_final("dist_info.file_missing", path);
        return std::nullopt;
    }
    auto text = read_member(bytes, *member, limit);
    if (text) return std::move(*text);
    if (text.error().kind != base::ErrorKind::malformed) return base::fail(std::move(text.error()));
    findings.add_final(text.error().code, path, {}, text.error().value);
    return std::nullopt;
}

// No policy publishes a wheel that installers would know under another name or version than its page.
void check_metadata(const DistInfo& info, const wheel::WheelFilename& filename,
                    const std::unordered_set<std::string_view>& names, Findings& findings) {
    if (!info.metadata) return;
    const auto& metadata = *info.metadata;
    const std::string path = info.folder + "/METADATA";
    if (wheel::normalize_name(metadata.name) != filename.project) {
        findings.add_final("metadata.name_mismatch", path, filename.project, metadata.name);
    }
    if (metadata.version != filename.version) {
        findings.add_final("metadata.version_mismatch", path, filename.version.text(),
                           metadata.version.as_written());
    }
    check_metadata_fields(metadata, path, filename.variant.has_value(), findings);
    // Metadata 2.4 (PEP 639) defines where License-File files are; earlier versions leave the field
    // undefined.
    if (!metadata.is_at_least("2.4")) return;
    for (const std::string& file : metadata.headers.all("License-File")) {
        const std::string where = info.folder + "/licenses/" + file;
        if (names.count(where) == 0) findings.add("metadata.license_file_missing", where);
    }
}

// "01" equals 1: build tags compare as numbers.
std::string_view without_zeros(std::string_view build) {
    while (build.size() > 1 && build.front() == '0' && base::is_ascii_digit(build[1]))
        build.remove_prefix(1);
    return build;
}

void check_wheel(const DistInfo& info, const wheel::WheelFilename& filename, Findings& findings) {
    if (!info.wheel) return;
    const std::string path = info.folder + "/WHEEL";
    const bool has_tags = !info.wheel->tags.empty();  // if not, wheel_info.invalid reports it
    for (const auto& tag : filename.tags) {
        if (has_tags && !std::binary_search(info.wheel->tags.begin(), info.wheel->tags.end(), tag)) {
            findings.add("wheel_info.tags_differ", path, "Tag: " + tag.text() + ", as in the file name",
                         "none");
        }
    }
    for (const auto& tag : info.wheel->tags) {
        if (!std::binary_search(filename.tags.begin(), filename.tags.end(), tag)) {
            findings.add("wheel_info.tags_differ", path, "only tags of the file name", "Tag: " + tag.text());
        }
    }
    const std::string build = filename.build ? filename.build->text() : "";
    if (without_zeros(info.wheel->build) != build)
        findings.add("wheel_info.build_differs", path, "Build: " + build, info.wheel->build);
}

}  // namespace

bool is_named_after(std::string_view stem, const wheel::WheelFilename& filename) {
    const auto dash = stem.rfind('-');
    if (dash == std::string_view::npos) return false;
    const auto version = wheel::Version::parse(stem.substr(dash + 1));
    return wheel::normalize_name(stem.substr(0, dash)) == filename.project && version &&
           *version == filename.version;
}

base::Result<DistInfo> read_dist_info(const base::Reader& bytes, const Frame& frame,
                                      const wheel::WheelFilename& filename, Findings& findings) {
    DistInfo info;
    info.folder = find_folder(frame, filename, findings);
    if (info.folder.empty()) return info;
    const auto read = [&](const std::string& name, std::uint64_t limit, Need need) {
        return read_file_of(bytes, frame, info.folder + "/" + name, limit, need, findings);
    };
    const auto keep = [&](const std::string& text, auto parse, auto& into, std::string_view code,
                          const std::string& name) {
        const std::string path = info.folder + "/" + name;
        wheel::Faults faults;
        auto parsed = parse(text, &faults);
        for (const base::Error& fault : faults)
            findings.add(code, path, {}, fault.text());
        if (parsed)
            into = std::move(*parsed);
        else
            findings.add_final(code, path, {}, parsed.error().text());
    };
    WHEELYARD_ASSIGN(auto metadata, read("METADATA", max_metadata_member, Need::required));
    if (metadata) {
        info.metadata_bytes = std::move(*metadata);
        keep(info.metadata_bytes, wheel::parse_metadata, info.metadata, "metadata.invalid", "METADATA");
    }
    WHEELYARD_ASSIGN(const auto wheel, read("WHEEL", max_wheel_member, Need::required));
    if (wheel) keep(*wheel, wheel::parse_wheel_info, info.wheel, "wheel_info.invalid", "WHEEL");
    WHEELYARD_ASSIGN(const auto record, read("RECORD", max_record_member, Need::required));
    if (record) keep(*record, wheel::parse_record, info.record, "record.invalid", "RECORD");
    WHEELYARD_ASSIGN(auto entry_points, read("entry_points.txt", max_entry_points_member, Need::optional));
    if (entry_points) info.entry_points = std::move(*entry_points);
    if (filename.variant) {
        WHEELYARD_ASSIGN(const auto text, read("variant.json", max_variant_member, Need::optional));
        const std::string path = info.folder + "/variant.json";
        auto variant = text ? parse_variant_json(*text, *filename.variant)
                            : base::fail("variant.missing", "The file is missing", {});
        if (variant)
            info.variant = std::move(*variant);
        else
            findings.add("variant.invalid", path, {}, variant.error().text());
    }
    WHEELYARD_ASSIGN(info.components, read_sboms(bytes, frame, info.folder, findings));
    return info;
}

void check_dist_info(const DistInfo& info, const Frame& frame, const wheel::WheelFilename& filename,
                     Findings& findings) {
    std::unordered_set<std::string_view> names;
    for (const Member& member : frame.members)
        names.insert(member.name);
    const std::string variant = info.folder + "/variant.json";
    if (!filename.variant && names.count(variant) != 0) findings.add("dist_info.variant", variant);
    check_metadata(info, filename, names, findings);
    check_wheel(info, filename, findings);
    check_entry_points(info.folder + "/entry_points.txt", info.entry_points, findings);
}

}  // namespace wheelyard::inspect
