// Writes small wheels for tests, honest by default, with a knob for every lie. Its zip writer is its own, so
// that a frame can be broken in every way that a real zip library would refuse to.
//
//     WheelWriter w("six", "1.16.0");
//     w.add("six.py", "print('six')\n");
//     w.tag("py3-none-any");
//     const std::string bytes = w.bytes();    // six-1.16.0-py3-none-any.whl, as w.filename() says
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::test_support {

// One member as it will stand in the archive. Every field that is in both headers can be made to differ.
struct ZipEntry {
    std::string name;
    std::string data;               // unpacked
    bool deflate = true;            // else STORED
    std::uint16_t method = 0xffff;  // 0xffff: by `deflate`
    std::uint16_t flags = 0;        // bit 3: a data descriptor follows; bit 0: encrypted; bit 11: UTF-8
    std::uint32_t external_attributes = 0100644u << 16;
    std::uint16_t version_made_by = 3 << 8 | 20;
    std::string local_extra;
    std::string central_extra;
    std::string comment;
    bool zip64 = false;      // sizes in a ZIP64 extra, local and central
    std::string gap_before;  // bytes in front of the local header
    bool in_central = true;  // false: only a local header
    bool in_file = true;     // false: only a central entry
    // Edits after all is filled in, applied to the finished local and central header (name and extra
    // included).
    std::function<void(std::string& header)> edit_local;
    std::function<void(std::string& header)> edit_central;
    std::function<void(std::string& packed)>
        edit_packed;  // the compressed bytes; sizes follow the edited bytes
};

struct ZipLayout {
    std::string prefix = {};   // before everything (offsets are shifted with it, as a self-extractor's are)
    std::string comment = {};  // of the archive
    std::string suffix = {};   // after everything
    bool zip64 = false;        // ZIP64 end record and locator
    std::function<void(std::string& end)> edit_end = {};  // ZIP64 records, if any, and the end record
};

[[nodiscard]] std::string write_zip(const std::vector<ZipEntry>& entries, const ZipLayout& layout = {});

class WheelWriter {
  public:
    WheelWriter(std::string name, std::string version);

    // Members beside dist-info, in order; RECORD, WHEEL and METADATA follow them (in .dist-info, last, as
    // tools write them).
    WheelWriter& add(std::string path, std::string data);
    WheelWriter& add_entry(ZipEntry entry);  // listed in RECORD like any other
    WheelWriter& tag(
        std::string tags);  // "cp312-cp312-linux_x86_64"; of the file name and, expanded, of WHEEL
    WheelWriter& build(std::string build);         // build tag of the file name and of WHEEL
    WheelWriter& purelib(bool value);              // default: true when the tag ends in -any
    WheelWriter& metadata_line(std::string line);  // one more header of METADATA, "Requires-Python: >=3.8"
    WheelWriter& description(std::string body);
    WheelWriter& dist_info(std::string path, std::string data);  // "entry_points.txt"

    // Lies. Each leaves everything else honest.
    WheelWriter& lie_metadata_version_header(std::string value);  // "Metadata-Version"
    WheelWriter& lie_metadata_name(std::string value);
    WheelWriter& lie_metadata_version(std::string value);
    WheelWriter& lie_wheel_tags(std::vector<std::string> tags);  // "py3-none-any" each, as written
    WheelWriter& lie_wheel_build(std::string value);
    WheelWriter& lie_record_hash(std::string path);  // another digest for `path`
    WheelWriter& lie_record_size(std::string path);
    WheelWriter& unlisted(std::string path);                                 // no RECORD row
    WheelWriter& record_row(std::string row);                                // one more row, as written
    WheelWriter& record_algorithm(std::string path, std::string algorithm);  // "md5", "sha512"; "" for none
    WheelWriter& leave_out(std::string path);  // a member that RECORD lists but the archive lacks
    WheelWriter& replace(std::string path,
                         std::string data);           // a whole member's bytes (also METADATA, WHEEL, RECORD)
    WheelWriter& dist_info_name(std::string folder);  // "other-1.0.dist-info"
    WheelWriter& edit_entry(std::string path, std::function<void(ZipEntry&)> edit);
    WheelWriter& layout(ZipLayout layout);

    [[nodiscard]] std::string filename() const;
    [[nodiscard]] std::vector<ZipEntry> entries() const;  // what bytes() packs
    [[nodiscard]] std::string bytes() const;
    [[nodiscard]] std::string truncated(std::size_t cut) const;  // without its last `cut` bytes

  private:
    [[nodiscard]] std::string metadata_text() const;
    [[nodiscard]] std::string wheel_text() const;
    [[nodiscard]] std::string record_text(const std::vector<ZipEntry>& entries) const;

    std::string name_;
    std::string version_;
    std::string tags_ = "py3-none-any";
    std::string build_;
    std::string description_;
    std::vector<ZipEntry> members_;
    std::vector<std::pair<std::string, std::string>> dist_info_files_;
    std::vector<std::string> metadata_lines_;
    bool purelib_set_ = false;
    bool purelib_ = true;
    ZipLayout layout_;

    // The lies.
    std::string metadata_version_header_ = "2.1";
    std::string metadata_name_;
    std::string metadata_version_;
    std::string wheel_build_;
    std::string folder_;
    bool lie_wheel_tags_ = false;
    std::vector<std::string> wheel_tags_;
    std::vector<std::string> lying_hashes_;
    std::vector<std::string> lying_sizes_;
    std::vector<std::string> unlisted_;
    std::vector<std::string> record_rows_;
    std::vector<std::string> left_out_;
    std::map<std::string, std::string> algorithms_;
    std::map<std::string, std::string> replacements_;
    std::map<std::string, std::function<void(ZipEntry&)>> edits_;
};

}  // namespace wheelyard::test_support
