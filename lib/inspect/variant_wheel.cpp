// METADATA, variant.json and RECORD are written; all other members are copied, those of .dist-info and .data
// under the name of the other version.
#include "lib/inspect/inspect.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/dist_info/dist_info.hpp"

namespace wheelyard::inspect {
namespace {

std::string_view without_local(std::string_view version) {
    return version.substr(0, version.find('+'));
}

// Changes the headers: the body is text of its author.
std::string edited_metadata(std::string_view text, std::string_view against) {
    std::string edited;
    bool is_header = true;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
        std::string line(text.substr(0, end));
        text.remove_prefix(end);
        is_header = is_header && !base::trim(line).empty();
        if (is_header && line.starts_with("Version:"))
            line = std::string(without_local(base::trim(line))) + "\n";
        if (is_header && line.starts_with("Requires-Dist:") && against.find('+') != std::string_view::npos)
            line = base::replace_all(line, against, without_local(against));
        edited += line;
    }
    return edited;
}

tl::unexpected<base::Error> unfit(std::string sentence, std::string value) {
    return base::fail("variant.not_a_wheel", std::move(sentence), std::move(value));
}

// "six-1.0+a.dist-info" and "six-1.0+a.data", and the same without the local version.
struct Folders {
    std::string from, to;  // "six-1.0+a", "six-1.0"
    [[nodiscard]] std::string renamed(const std::string& path) const {
        for (const char* suffix : {".dist-info/", ".data/"}) {
            if (path.starts_with(from + suffix)) return to + path.substr(from.size());
        }
        return path;
    }
};

wheel::RecordRow row_of(std::string path, std::string_view bytes) {
    base::Digest digest(base::DigestKind::sha256);
    digest.update(bytes);
    return {std::move(path), "sha256", digest.finish(), bytes.size()};
}

}  // namespace

std::string variant_filename(wheel::WheelFilename filename, const std::string& label) {
    filename.version_text = without_local(filename.version_text);
    filename.variant = label;
    return filename.text();
}

base::Status write_variant_wheel(const base::Reader& bytes, const wheel::WheelFilename& filename,
                                 const wheel::LabelledVariant& variant, std::string_view against,
                                 const ZipWriter::Write& write) {
    const Policy policy;
    Findings findings(policy);
    WHEELYARD_ASSIGN(const auto frame, read_frame(bytes, findings));
    if (!frame) return unfit("The wheel cannot be read as a ZIP file", filename.text());
    WHEELYARD_ASSIGN(const DistInfo info, read_dist_info(bytes, *frame, filename, findings));
    if (!info.record || !info.metadata)
        return unfit("The wheel has no readable METADATA and RECORD", filename.text());

    constexpr std::string_view suffix = ".dist-info";
    const std::string stem = info.folder.substr(0, info.folder.size() - suffix.size());
    const Folders folders{stem, std::string(without_local(stem))};
    const std::string json = render_variant_json(variant);
    const std::string metadata = edited_metadata(info.metadata_bytes, against);
    const std::string at = folders.to + std::string(suffix) + "/";
    const std::string metadata_path = at + "METADATA", json_path = at + "variant.json",
                      record_path = at + "RECORD";

    std::vector<wheel::RecordRow> rows;
    for (wheel::RecordRow row : *info.record) {
        row.path = folders.renamed(row.path);
        if (row.path.starts_with(record_path + "."))
            return unfit("The wheel is signed, so that it cannot be changed", row.path);
        if (row.path == json_path || row.path == record_path) continue;
        rows.push_back(row.path == metadata_path ? row_of(metadata_path, metadata) : std::move(row));
    }
    rows.push_back(row_of(json_path, json));
    rows.push_back({record_path, {}, {}, std::nullopt});

    ZipWriter zip(write);
    std::optional<Member> record;
    for (Member member : frame->members) {
        if (!member.readable) return unfit("A member of the wheel cannot be read", member.name);
        member.name = folders.renamed(member.name);
        if (member.name == json_path) continue;
        if (member.name == record_path) {
            record = std::move(member);
            continue;
        }
        WHEELYARD_TRY(member.name == metadata_path ? zip.store(metadata_path, metadata, member)
                                                   : zip.copy(bytes, member));
    }
    if (!record) return unfit("The wheel has no RECORD", filename.text());
    WHEELYARD_TRY(zip.store(json_path, json, *record));
    WHEELYARD_TRY(zip.store(record_path, wheel::render_record(rows), *record));
    return zip.finish();
}

}  // namespace wheelyard::inspect
