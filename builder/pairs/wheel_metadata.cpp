// Reads the end record, the central directory and one member of a wheel.
#include "builder/pairs/wheel_metadata.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/byte_cursor.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/zip/member_stream.hpp"
#include "lib/inspect/zip/zip_end.hpp"
#include "lib/wheel/limits.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t local_header_bytes = 30;
constexpr std::uint32_t central_signature = 0x02014b50;
constexpr std::uint32_t in_zip64 = 0xffffffff;  // the value is elsewhere: of archives above 4 GiB

bool is_metadata(std::string_view name) {
    return name.ends_with(".dist-info/METADATA") && std::count(name.begin(), name.end(), '/') == 1;
}

// The entry of METADATA in a central directory (APPNOTE 4.3.12), without the offset of its bytes.
std::optional<inspect::Member> find_metadata(std::string_view directory) {
    base::ByteCursor cursor(directory);
    while (cursor.left() > 0) {
        if (cursor.u32() != central_signature) return std::nullopt;
        inspect::Member member;
        cursor.skip(4);
        member.flags = cursor.u16();
        member.method = static_cast<inspect::Method>(cursor.u16());
        member.time_and_date = cursor.u32();
        member.crc32 = cursor.u32();
        member.packed_bytes = cursor.u32();
        member.unpacked_bytes = cursor.u32();
        const std::size_t name_bytes = cursor.u16();
        const std::size_t rest_bytes = std::size_t{cursor.u16()} + cursor.u16();
        cursor.skip(8);
        member.header_offset = cursor.u32();
        member.name = cursor.text(name_bytes);
        cursor.skip(rest_bytes);
        if (!cursor.ok()) return std::nullopt;
        if (!is_metadata(member.name)) continue;
        const bool is_simple =
            member.header_offset != in_zip64 && member.packed_bytes != in_zip64 &&
            (member.method == inspect::Method::stored || member.method == inspect::Method::deflate);
        return is_simple ? std::optional(member) : std::nullopt;
    }
    return std::nullopt;
}

// "bytes 5-9/10" → 10.
std::optional<std::uint64_t> whole_size(const std::string& content_range) {
    const auto slash = content_range.find('/');
    if (slash == std::string::npos) return std::nullopt;
    return base::parse_decimal(std::string_view(content_range).substr(slash + 1));
}

}  // namespace

base::Status RangeReader::fetch(const std::string& range) const {
    WHEELYARD_ASSIGN(auto answer,
                     http_->get(url_, {{"Range", "bytes=" + range}}, max_metadata_directory_bytes));
    if (answer.status == 206) {
        kept_ = std::move(answer.body);
        return {};
    }
    if (answer.status == 200)
        return base::fail("pairs.no_ranges",
                          "The server answers no ranges of a file, and has no .metadata of it", url_);
    return io::fail_status(answer.status,
                           {"pairs.http", "The wheel answers " + std::to_string(answer.status), url_, ""});
}

base::Result<RangeReader> RangeReader::open(io::HttpClient& http, const std::string& url) {
    RangeReader reader(http, url);
    // One request for the size and the end of the archive, where most writers put the dist-info folder.
    WHEELYARD_ASSIGN(auto answer,
                     http.get(url, {{"Range", "bytes=-" + std::to_string(range_bytes)}}, 2 * range_bytes));
    const auto size = whole_size(answer.header("content-range"));
    if (answer.status != 206 || !size || answer.body.size() > *size) {
        if (answer.status == 200 || answer.status == 206)
            return base::fail("pairs.no_ranges",
                              "The server answers no ranges of a file, and has no .metadata of it", url);
        return io::fail_status(answer.status,
                               {"pairs.http", "The wheel answers " + std::to_string(answer.status), url, ""});
    }
    reader.size_ = *size;
    reader.kept_at_ = *size - answer.body.size();
    reader.kept_ = std::move(answer.body);
    return reader;
}

base::Status RangeReader::read_at(std::uint64_t offset, char* into, std::size_t length) const {
    const auto is_kept = [&] {
        return offset >= kept_at_ && offset - kept_at_ <= kept_.size() &&
               kept_.size() - (offset - kept_at_) >= length;
    };
    if (offset > size_ || size_ - offset < length)
        return base::fail("file.truncated", "The file ends before these bytes", url_);
    if (!is_kept()) {
        const std::uint64_t end = std::min(size_, offset + std::max<std::uint64_t>(length, range_bytes));
        WHEELYARD_TRY(fetch(std::to_string(offset) + "-" + std::to_string(end - 1)));
        kept_at_ = offset;
        if (!is_kept())
            return base::fail("file.truncated", "The server answers fewer bytes than asked for", url_);
    }
    std::memcpy(into, kept_.data() + (offset - kept_at_), length);
    return {};
}

base::Result<std::string> metadata_in(const base::Reader& wheel) {
    const auto none = [] {
        return base::fail("pairs.no_metadata", "The wheel has no METADATA that can be read");
    };
    const inspect::Policy policy = *inspect::make_preset("linux");
    inspect::Findings findings(policy);
    WHEELYARD_ASSIGN(const auto end, inspect::read_zip_end(wheel, findings));
    if (!end || end->directory_bytes > max_metadata_directory_bytes) return none();
    std::string directory(end->directory_bytes, '\0');
    WHEELYARD_TRY(
        wheel.read_at(end->prefix_bytes + end->directory_offset, directory.data(), directory.size()));
    auto member = find_metadata(directory);
    if (!member) return none();
    member->header_offset += end->prefix_bytes;
    std::string header(local_header_bytes, '\0');
    WHEELYARD_TRY(wheel.read_at(member->header_offset, header.data(), header.size()));
    base::ByteCursor cursor(std::string_view(header).substr(26));
    member->data_offset = member->header_offset + local_header_bytes + cursor.u16();
    member->data_offset += cursor.u16();
    if (member->data_offset > wheel.size() || wheel.size() - member->data_offset < member->packed_bytes)
        return none();
    return inspect::read_member(wheel, *member, wheel::max_metadata_bytes);
}

base::Result<std::string> metadata_of(io::HttpClient& http, const simple::FileLink& wheel,
                                      const std::filesystem::path& folder) {
    const auto read_here = [](const std::filesystem::path& file) -> base::Result<std::string> {
        WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(file));
        return metadata_in(reader);
    };
    if (wheel.url.empty()) return read_here(folder / wheel.filename);
    WHEELYARD_ASSIGN(const auto url, base::parse_url(wheel.url));
    if (url.scheme == "file") {
        WHEELYARD_ASSIGN(const auto path, base::file_path(url));
        return read_here(path);
    }
    if (wheel.has_metadata) {
        WHEELYARD_ASSIGN(auto answer, http.get(wheel.url + ".metadata", {}, wheel::max_metadata_bytes));
        const bool is_promised =
            wheel.metadata_sha256.empty() || base::sha256_hex(answer.body) == wheel.metadata_sha256;
        if (answer.status == 200 && is_promised) return std::move(answer.body);
    }
    WHEELYARD_ASSIGN(const auto reader, RangeReader::open(http, wheel.url));
    return metadata_in(reader);
}

}  // namespace wheelyard::builder
