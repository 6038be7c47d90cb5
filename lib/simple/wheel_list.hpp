// The wheel list of an index: all its wheels and the facts that decide where they run, in one text file that
// can be searched without reading all of it. Format: docs/reference/wheel-list.md. The indexer writes it;
// avail_wheels reads it as untrusted input: bounded and fuzzed.
//
//     wheelyard.catalogue/1⇥12⇥0⇥2026-11-20T12:00:00.000000Z⇥main⇥2⇥3⇥63⇥402⇥88⇥whole
//     numpy⇥2⇥0⇥268⇥0⇥2
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/simple/project_file.hpp"

namespace wheelyard::simple {

inline constexpr std::string_view wheel_list_name = "catalogue.txt";  // in the folder of the root page
inline constexpr std::string_view wheel_list_delta_name = "catalogue-delta.txt";

// A line that was read only as far as every reader needs it. The views refer to the parsed text.
struct WheelListLine {
    std::string_view filename;
    bool yanked = false;
    std::string_view yanked_reason;
    std::string_view requires_python;
    std::string_view rest;  // upload time, size and digest
    // Without the rest where it is not needed: each digest is an allocation.
    [[nodiscard]] ProjectFile file(bool with_rest = true) const;
};
[[nodiscard]] std::string render_wheel_list_line(const ProjectFile& wheel);  // with a line feed
void append_wheel_list_line(std::string& lines, const ProjectFile& wheel);   // appends
[[nodiscard]] WheelListLine parse_wheel_list_line(std::string_view line);    // without a line feed

// One project: as many lines of facts as of wheels, each ending with a line feed.
struct WheelListProject {
    std::string key;  // wheel::escape_name
    std::size_t wheels = 0;
    std::string lines;
    std::string facts;
};

struct WheelListHead {
    std::int64_t serial = 0;
    std::int64_t base_serial = 0;  // of the base of a delta; 0: this is a base
    std::string written = {};      // RFC 3339
    std::string index = {};
    bool is_whole = false;  // the index has no upstream, so installers get no other project from it
    // render_wheel_list sets the following members.
    std::size_t projects = 0;
    std::size_t wheels = 0;
    std::uint64_t directory_bytes = 0;
    std::uint64_t lines_bytes = 0;
    std::uint64_t facts_bytes = 0;
};
// `projects` must be sorted by key, without duplicates.
[[nodiscard]] std::string render_wheel_list(WheelListHead head,
                                            const std::vector<WheelListProject>& projects);

// Reads only the first line and checks the file's size: enough to find out how new a wheel list is.
[[nodiscard]] base::Result<WheelListHead> read_wheel_list_head(const std::filesystem::path& file);

// Takes a wheel list while it arrives, into `file`, which stays as it is until finish(): nothing of what
// begins otherwise, and no byte beyond the size that the head states. Errors "catalogue.version" and
// "catalogue.damaged" of kind malformed.
class WheelListArrival {
  public:
    explicit WheelListArrival(std::filesystem::path file) : path_(std::move(file)) {}
    [[nodiscard]] base::Status take(std::string_view bytes);
    [[nodiscard]] base::Status finish();
    // Says whether it begins as a wheel list of any version does.
    [[nodiscard]] bool is_one() const;

  private:
    std::filesystem::path path_;
    std::string begin_;  // until the head is whole
    std::optional<base::FileReplacement> file_ = {};
    std::uint64_t left_bytes_ = 0;
};

// One wheel list file. Errors "catalogue.version" (another format or version) and "catalogue.damaged".
class WheelListPart {
  public:
    struct Entry {
        std::string_view key;
        std::size_t wheels = 0;
        std::uint64_t lines_at = 0;
        std::uint64_t lines_bytes = 0;
        std::uint64_t facts_at = 0;
        std::uint64_t facts_bytes = 0;
    };
    [[nodiscard]] static base::Result<WheelListPart> open(const std::filesystem::path& file);

    [[nodiscard]] const WheelListHead& head() const { return head_; }
    // nullopt: this file does not contain the project.
    [[nodiscard]] base::Result<std::optional<Entry>> find(std::string_view key) const;
    [[nodiscard]] base::Result<std::vector<Entry>> entries() const;  // in file order; views into this object
    [[nodiscard]] base::Result<std::string> lines(const Entry& entry) const;
    [[nodiscard]] base::Result<std::string> facts(const Entry& entry) const;
    // Reads `bytes` bytes at offset `at` of the section of lines (an entry's begin at its lines_at).
    // Overwrites `into`.
    [[nodiscard]] base::Status read_lines(std::uint64_t at, std::uint64_t bytes, std::string& into) const;

  private:
    explicit WheelListPart(base::FileReader file) : file_(std::move(file)) {}
    [[nodiscard]] base::Status read(std::uint64_t at, std::uint64_t bytes, std::string& into) const;
    [[nodiscard]] base::Result<Entry> parse_entry(std::string_view line) const;

    base::FileReader file_;
    WheelListHead head_;
    std::string directory_;
    std::uint64_t lines_start_ = 0;
    std::uint64_t facts_start_ = 0;
};

// The wheels of one project after merging base and delta. Valid during the visit only.
struct WheelListView {
    std::string_view key;
    std::string_view lines;
    const WheelListPart* part = nullptr;
    WheelListPart::Entry entry;  // for part->facts(entry)
};

// Base and delta, merged.
class WheelList {
  public:
    // Opens the files in `folder`; ignores a delta of another base. Error "os.ENOENT": there is no wheel
    // list.
    [[nodiscard]] static base::Result<WheelList> open(const std::filesystem::path& folder);

    [[nodiscard]] std::int64_t serial() const;
    [[nodiscard]] const std::string& written() const;
    [[nodiscard]] const WheelListHead& base_head() const { return base_.head(); }
    // Says whether the index offers no project but these.
    [[nodiscard]] bool is_whole() const;
    // Calls `visit` if the project exists and has wheels.
    [[nodiscard]] base::Status visit_one(std::string_view key,
                                         const std::function<void(const WheelListView&)>& visit) const;
    // Calls `visit` for every project that `chosen` accepts, in order of keys.
    [[nodiscard]] base::Status visit_all(const std::function<bool(std::string_view key)>& chosen,
                                         const std::function<void(const WheelListView&)>& visit) const;

  private:
    explicit WheelList(WheelListPart base) : base_(std::move(base)) {}

    WheelListPart base_;
    std::optional<WheelListPart> delta_;
};

// One line for each project, its newest version that is not yanked. Where the wheels are for some Pythons or
// machines only, one for each of those, with a marker (PEP 508): others stay free.
[[nodiscard]] base::Result<std::string> render_constraints(const WheelList& wheels);

}  // namespace wheelyard::simple
