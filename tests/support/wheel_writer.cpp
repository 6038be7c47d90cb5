#include "tests/support/wheel_writer.hpp"

#include <zlib.h>

#include <algorithm>

#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::test_support {
namespace {

constexpr std::uint16_t stored = 0;
constexpr std::uint16_t deflated = 8;
constexpr std::uint16_t dos_time = 0;       // midnight
constexpr std::uint16_t dos_date = 0x0021;  // 1980-01-01: output is deterministic
constexpr std::uint32_t in_zip64 = 0xffffffff;

void put(std::string& out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
        out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::string deflate_raw(std::string_view data) {
    z_stream stream{};
    WHEELYARD_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string packed(deflateBound(&stream, data.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    WHEELYARD_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

// The fields that both headers of an entry share, in ZIP order: flags … sizes.
std::string shared_fields(const ZipEntry& entry, std::uint16_t method, std::uint64_t packed,
                          bool descriptor_sizes) {
    std::string out;
    put(out, entry.flags, 2);
    put(out, method, 2);
    put(out, dos_time, 2);
    put(out, dos_date, 2);
    const auto crc =
        crc32(0, reinterpret_cast<const Bytef*>(entry.data.data()), static_cast<uInt>(entry.data.size()));
    put(out, descriptor_sizes ? 0 : crc, 4);
    put(out, entry.zip64 ? in_zip64 : descriptor_sizes ? 0 : packed, 4);
    put(out, entry.zip64 ? in_zip64 : descriptor_sizes ? 0 : entry.data.size(), 4);
    return out;
}

std::string with_zip64_extra(const ZipEntry& entry, std::string extra, std::uint64_t packed) {
    if (!entry.zip64) return extra;
    std::string field;
    put(field, 1, 2);
    put(field, 16, 2);
    put(field, entry.data.size(), 8);
    put(field, packed, 8);
    return field + extra;
}

struct Placed {
    const ZipEntry* entry;
    std::uint16_t method;
    std::uint64_t offset;
    std::uint64_t packed;
};

void append_local(std::string& out, const ZipEntry& entry, std::uint16_t method, std::string packed) {
    const bool descriptor = (entry.flags & 8) != 0;
    const std::string extra = with_zip64_extra(entry, entry.local_extra, packed.size());
    std::string header = "PK\x03\x04";
    put(header, entry.zip64 ? 45 : 20, 2);
    header += shared_fields(entry, method, packed.size(), descriptor);
    put(header, entry.name.size(), 2);
    put(header, extra.size(), 2);
    header += entry.name + extra;
    if (entry.edit_local) entry.edit_local(header);
    out += header + packed;
    if (!descriptor) return;
    out += "PK\x07\x08";
    put(out,
        crc32(0, reinterpret_cast<const Bytef*>(entry.data.data()), static_cast<uInt>(entry.data.size())), 4);
    put(out, packed.size(), entry.zip64 ? 8 : 4);
    put(out, entry.data.size(), entry.zip64 ? 8 : 4);
}

void append_central(std::string& out, const Placed& placed) {
    const ZipEntry& entry = *placed.entry;
    const std::string extra = with_zip64_extra(entry, entry.central_extra, placed.packed);
    std::string header = "PK\x01\x02";
    put(header, entry.version_made_by, 2);
    put(header, entry.zip64 ? 45 : 20, 2);
    header += shared_fields(entry, placed.method, placed.packed, false);
    put(header, entry.name.size(), 2);
    put(header, extra.size(), 2);
    put(header, entry.comment.size(), 2);
    put(header, 0, 2);  // disk
    put(header, 0, 2);  // internal attributes
    put(header, entry.external_attributes, 4);
    put(header, placed.offset, 4);
    header += entry.name + extra + entry.comment;
    if (entry.edit_central) entry.edit_central(header);
    out += header;
}

std::string end_records(const ZipLayout& layout, std::uint64_t count, std::uint64_t size,
                        std::uint64_t offset) {
    std::string end;
    if (layout.zip64) {
        end += "PK\x06\x06";
        put(end, 44, 8);
        put(end, 45, 2);
        put(end, 45, 2);
        put(end, 0, 4);
        put(end, 0, 4);
        put(end, count, 8);
        put(end, count, 8);
        put(end, size, 8);
        put(end, offset, 8);
        end += "PK\x06\x07";
        put(end, 0, 4);
        put(end, offset + size, 8);
        put(end, 1, 4);
    }
    end += "PK\x05\x06";
    put(end, 0, 4);
    put(end, layout.zip64 ? 0xffff : count, 2);
    put(end, layout.zip64 ? 0xffff : count, 2);
    put(end, layout.zip64 ? in_zip64 : size, 4);
    put(end, layout.zip64 ? in_zip64 : offset, 4);
    put(end, layout.comment.size(), 2);
    end += layout.comment;
    if (layout.edit_end) layout.edit_end(end);
    return end;
}

bool contains(const std::vector<std::string>& list, std::string_view item) {
    return std::find(list.begin(), list.end(), item) != list.end();
}

base::DigestKind digest_kind(std::string_view algorithm) {
    using enum base::DigestKind;
    static const std::map<std::string_view, base::DigestKind> kinds = {
        {"md5", md5}, {"sha224", sha224}, {"sha256", sha256}, {"sha384", sha384}, {"sha512", sha512}};
    const auto found = kinds.find(algorithm);
    WHEELYARD_CHECK(found != kinds.end());
    return found->second;
}

}  // namespace

std::string write_zip(const std::vector<ZipEntry>& entries, const ZipLayout& layout) {
    std::string out = layout.prefix;
    std::vector<Placed> placed;
    for (const ZipEntry& entry : entries) {
        const std::uint16_t method = entry.method != 0xffff ? entry.method
                                     : entry.deflate        ? deflated
                                                            : stored;
        std::string packed = method == deflated ? deflate_raw(entry.data) : entry.data;
        if (entry.edit_packed) entry.edit_packed(packed);
        out += entry.gap_before;
        placed.push_back({&entry, method, out.size(), packed.size()});
        if (entry.in_file) append_local(out, entry, method, std::move(packed));
    }
    const std::uint64_t directory = out.size();
    std::uint64_t count = 0;
    for (const Placed& one : placed) {
        if (!one.entry->in_central) continue;
        append_central(out, one);
        ++count;
    }
    const std::string end = end_records(layout, count, out.size() - directory, directory);
    return out + end + layout.suffix;
}

WheelWriter::WheelWriter(std::string name, std::string version)
    : name_(std::move(name)),
      version_(std::move(version)),
      metadata_name_(name_),
      metadata_version_(version_) {}

WheelWriter& WheelWriter::add(std::string path, std::string data) {
    ZipEntry entry;
    entry.name = std::move(path);
    entry.data = std::move(data);
    return add_entry(std::move(entry));
}
WheelWriter& WheelWriter::add_entry(ZipEntry entry) {
    members_.push_back(std::move(entry));
    return *this;
}
WheelWriter& WheelWriter::tag(std::string tags) {
    tags_ = std::move(tags);
    if (!purelib_set_) purelib_ = tags_.ends_with("-any");
    return *this;
}
WheelWriter& WheelWriter::build(std::string build) {
    build_ = wheel_build_ = std::move(build);
    return *this;
}
WheelWriter& WheelWriter::purelib(bool value) {
    purelib_ = value;
    purelib_set_ = true;
    return *this;
}
WheelWriter& WheelWriter::metadata_line(std::string line) {
    metadata_lines_.push_back(std::move(line));
    return *this;
}
WheelWriter& WheelWriter::description(std::string body) {
    description_ = std::move(body);
    return *this;
}
WheelWriter& WheelWriter::dist_info(std::string path, std::string data) {
    dist_info_files_.emplace_back(std::move(path), std::move(data));
    return *this;
}
WheelWriter& WheelWriter::wrong_metadata_version_header(std::string value) {
    metadata_version_header_ = std::move(value);
    return *this;
}
WheelWriter& WheelWriter::wrong_metadata_name(std::string value) {
    metadata_name_ = std::move(value);
    return *this;
}
WheelWriter& WheelWriter::wrong_metadata_version(std::string value) {
    metadata_version_ = std::move(value);
    return *this;
}
WheelWriter& WheelWriter::wrong_wheel_tags(std::vector<std::string> tags) {
    wheel_tags_ = std::move(tags);
    wrong_wheel_tags_ = true;
    return *this;
}
WheelWriter& WheelWriter::wrong_wheel_build(std::string value) {
    wheel_build_ = std::move(value);
    return *this;
}
WheelWriter& WheelWriter::wrong_record_hash(std::string path) {
    wrong_hashes_.push_back(std::move(path));
    return *this;
}
WheelWriter& WheelWriter::wrong_record_size(std::string path) {
    wrong_sizes_.push_back(std::move(path));
    return *this;
}
WheelWriter& WheelWriter::unlisted(std::string path) {
    unlisted_.push_back(std::move(path));
    return *this;
}
WheelWriter& WheelWriter::record_row(std::string row) {
    record_rows_.push_back(std::move(row));
    return *this;
}
WheelWriter& WheelWriter::record_algorithm(std::string path, std::string algorithm) {
    algorithms_[std::move(path)] = std::move(algorithm);
    return *this;
}
WheelWriter& WheelWriter::leave_out(std::string path) {
    left_out_.push_back(std::move(path));
    return *this;
}
WheelWriter& WheelWriter::replace(std::string path, std::string data) {
    replacements_[std::move(path)] = std::move(data);
    return *this;
}
WheelWriter& WheelWriter::dist_info_name(std::string folder) {
    folder_ = std::move(folder);
    return *this;
}
WheelWriter& WheelWriter::edit_entry(std::string path, std::function<void(ZipEntry&)> edit) {
    edits_[std::move(path)] = std::move(edit);
    return *this;
}
WheelWriter& WheelWriter::layout(ZipLayout layout) {
    layout_ = std::move(layout);
    return *this;
}

std::string WheelWriter::filename() const {
    const std::string escaped = base::replace_all(name_, "-", "_");
    return escaped + "-" + version_ + "-" + (build_.empty() ? "" : build_ + "-") + tags_ + ".whl";
}

std::string WheelWriter::metadata_text() const {
    std::string text = "Metadata-Version: " + metadata_version_header_ + "\nName: " + metadata_name_ +
                       "\nVersion: " + metadata_version_ + "\n";
    for (const auto& line : metadata_lines_)
        text += line + "\n";
    if (!description_.empty()) text += "\n" + description_;
    return text;
}

std::string WheelWriter::wheel_text() const {
    std::string text = "Wheel-Version: 1.0\nGenerator: wheel_writer\nRoot-Is-Purelib: ";
    text += purelib_ ? "true\n" : "false\n";
    std::vector<std::string> tags = wheel_tags_;
    if (!wrong_wheel_tags_) {
        const auto parts = base::split(tags_, '-');
        WHEELYARD_CHECK(parts.size() == 3);
        for (const auto python : base::split(parts[0], '.'))
            for (const auto abi : base::split(parts[1], '.'))
                for (const auto platform : base::split(parts[2], '.'))
                    tags.push_back(std::string(python) + "-" + std::string(abi) + "-" +
                                   std::string(platform));
    }
    for (const auto& tag : tags)
        text += "Tag: " + tag + "\n";
    if (!wheel_build_.empty()) text += "Build: " + wheel_build_ + "\n";
    return text;
}

std::string WheelWriter::record_text(const std::vector<ZipEntry>& entries) const {
    std::string text;
    for (const ZipEntry& entry : entries) {
        if (contains(unlisted_, entry.name) || entry.name.ends_with('/')) continue;
        const auto chosen = algorithms_.find(entry.name);
        const std::string algorithm = chosen == algorithms_.end() ? "sha256" : chosen->second;
        std::string row = entry.name.find(',') == std::string::npos ? entry.name : "\"" + entry.name + "\"";
        row += ",";
        if (!algorithm.empty()) {
            base::Digest digest(digest_kind(algorithm));
            digest.update(entry.data);
            if (contains(wrong_hashes_, entry.name)) digest.update("different");
            row += algorithm + "=" + base::encode_base64url(digest.finish());
        }
        row += "," + std::to_string(entry.data.size() + (contains(wrong_sizes_, entry.name) ? 1 : 0));
        text += row + "\n";
    }
    for (const auto& row : record_rows_)
        text += row + "\n";
    return text;
}

std::vector<ZipEntry> WheelWriter::entries() const {
    std::vector<ZipEntry> entries = members_;
    const std::string folder =
        folder_.empty() ? base::replace_all(name_, "-", "_") + "-" + version_ + ".dist-info" : folder_;
    const auto add_dist_info = [&](const std::string& path, const std::string& data) {
        ZipEntry entry;
        entry.name = folder + "/" + path;
        const auto other = replacements_.find(path);
        entry.data = other == replacements_.end() ? data : other->second;
        entries.push_back(std::move(entry));
    };
    for (const auto& [path, data] : dist_info_files_)
        add_dist_info(path, data);
    add_dist_info("METADATA", metadata_text());
    add_dist_info("WHEEL", wheel_text());
    for (ZipEntry& entry : entries) {
        if (const auto other = replacements_.find(entry.name); other != replacements_.end())
            entry.data = other->second;
        if (const auto edit = edits_.find(entry.name); edit != edits_.end()) edit->second(entry);
    }
    add_dist_info("RECORD", record_text(entries) + folder + "/RECORD,,\n");
    if (const auto edit = edits_.find(entries.back().name); edit != edits_.end())
        edit->second(entries.back());
    std::erase_if(entries, [&](const ZipEntry& entry) {
        return contains(left_out_, entry.name) || (entry.name.starts_with(folder + "/") &&
                                                   contains(left_out_, entry.name.substr(folder.size() + 1)));
    });
    return entries;
}

std::string WheelWriter::bytes() const {
    return write_zip(entries(), layout_);
}

std::string WheelWriter::truncated(std::size_t cut) const {
    const std::string whole = bytes();
    return whole.substr(0, whole.size() - std::min(cut, whole.size()));
}

}  // namespace wheelyard::test_support
