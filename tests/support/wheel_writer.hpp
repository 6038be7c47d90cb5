// Writes small wheels for tests: valid by default, with an option for every defect. It has its own ZIP writer
// because ZIP libraries refuse to write broken archives.
//
//     WheelWriter w("six", "1.16.0");
//     w.add("six.py", "print('six')\n");
//     w.tag("py3-none-any");
//     const std::string bytes = w.bytes();    // the wheel w.filename(): six-1.16.0-py3-none-any.whl
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::test_support {

// One member of the archive. Every field that both headers contain can be made to differ.
struct ZipEntry {
    std::string name;
    std::string data;               // unpacked
    bool deflate = true;            // otherwise stored
    std::uint16_t method = 0xffff;  // 0xffff: according to `deflate`
    std::uint16_t flags = 0;        // bit 3: a data descriptor follows; bit 0: encrypted; bit 11: UTF-8
    std::uint32_t external_attributes = 0100644u << 16;
    std::uint16_t version_made_by = 3 << 8 | 20;
    std::string local_extra;
    std::string central_extra;
    std::string comment;
    bool zip64 = false;      // sizes in a ZIP64 extra, local and central
    std::string gap_before;  // bytes before the local header
    bool in_central = true;  // false: only a local header
    bool in_file = true;     // false: only a central entry
    // Edit the complete local and central header, including name and extra field.
    std::function<void(std::string& header)> edit_local;
    std::function<void(std::string& header)> edit_central;
    std::function<void(std::string& packed)>
        edit_packed;  // the compressed bytes; sizes follow the edited bytes
};

struct ZipLayout {
    std::string prefix =
        {};  // before everything; offsets are shifted by its size, as in self-extracting archives
    std::string comment = {};  // of the archive
    std::string suffix = {};   // after everything
    bool zip64 = false;        // ZIP64 end record and locator
    std::function<void(std::string& end)> edit_end =
        {};  // gets the ZIP64 records, if any, and the end record
};

[[nodiscard]] std::string write_zip(const std::vector<ZipEntry>& entries, const ZipLayout& layout = {});

class WheelWriter {
  public:
    WheelWriter(std::string name, std::string version);

    // Members outside .dist-info, in order; METADATA, WHEEL and RECORD follow in .dist-info, as tools write
    // them.
    WheelWriter& add(std::string path, std::string data);
    WheelWriter& add_entry(ZipEntry entry);  // also listed in RECORD
    WheelWriter& tag(
        std::string tags);  // "cp312-cp312-linux_x86_64"; of the file name and, expanded, of WHEEL
    WheelWriter& build(std::string build);  // in the file name and in WHEEL
    WheelWriter& purelib(bool value);       // default: true if the tag ends in -any
    WheelWriter& metadata_line(
        std::string line);  // an additional header of METADATA, "Requires-Python: >=3.8"
    WheelWriter& description(std::string body);
    WheelWriter& dist_info(std::string path, std::string data);  // "entry_points.txt"

    // Defects. Each leaves everything else valid.
    WheelWriter& wrong_metadata_version_header(std::string value);  // "Metadata-Version"
    WheelWriter& wrong_metadata_name(std::string value);
    WheelWriter& wrong_metadata_version(std::string value);
    WheelWriter& wrong_wheel_tags(
        std::vector<std::string> tags);  // each like "py3-none-any", written as given
    WheelWriter& wrong_wheel_build(std::string value);
    WheelWriter& wrong_record_hash(std::string path);  // a wrong digest for `path`
    WheelWriter& wrong_record_size(std::string path);
    WheelWriter& unlisted(std::string path);   // no row in RECORD
    WheelWriter& record_row(std::string row);  // an additional row, written as given
    WheelWriter& record_algorithm(std::string path, std::string algorithm);  // "md5", "sha512"; "" for none
    WheelWriter& leave_out(std::string path);  // a member that RECORD lists but the archive does not contain
    WheelWriter& replace(std::string path,
                         std::string data);           // all bytes of a member (also METADATA, WHEEL, RECORD)
    WheelWriter& dist_info_name(std::string folder);  // "other-1.0.dist-info"
    WheelWriter& edit_entry(std::string path, std::function<void(ZipEntry&)> edit);
    WheelWriter& layout(ZipLayout layout);

    [[nodiscard]] std::string filename() const;
    [[nodiscard]] std::vector<ZipEntry> entries() const;  // the content of bytes()
    [[nodiscard]] std::string bytes() const;
    [[nodiscard]] std::string truncated(std::size_t cut) const;  // without the last `cut` bytes

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

    // Defects.
    std::string metadata_version_header_ = "2.1";
    std::string metadata_name_;
    std::string metadata_version_;
    std::string wheel_build_;
    std::string folder_;
    bool wrong_wheel_tags_ = false;
    std::vector<std::string> wheel_tags_;
    std::vector<std::string> wrong_hashes_;
    std::vector<std::string> wrong_sizes_;
    std::vector<std::string> unlisted_;
    std::vector<std::string> record_rows_;
    std::vector<std::string> left_out_;
    std::map<std::string, std::string> algorithms_;
    std::map<std::string, std::string> replacements_;
    std::map<std::string, std::function<void(ZipEntry&)>> edits_;
};

}  // namespace wheelyard::test_support
