// Rendering and searching wheel lists. Every offset in a file is checked against the file's own sections.
#include "lib/simple/wheel_list.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/simple/limits.hpp"

namespace wheelyard::simple {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view format_name = "wheelyard.catalogue/1";
constexpr std::string_view format_family = "wheelyard.catalogue/";
constexpr std::string_view whole_word = "whole";
constexpr std::uint64_t max_head_bytes = 1024;
constexpr base::ByteSet separators("\t\n\r");

void add_field(std::string& line, std::string_view text) {
    const auto start = static_cast<std::ptrdiff_t>(line.size());
    line.append(text);
    std::replace_if(
        line.begin() + start, line.end(), [](char c) { return separators.has(c); }, ' ');
}

// Removes the next field and the tab after it from `line`; returns the field.
std::string_view take_field(std::string_view& line) {
    const auto tab = line.find('\t');
    const auto field = line.substr(0, tab);
    line.remove_prefix(tab == std::string_view::npos ? line.size() : tab + 1);
    return field;
}

tl::unexpected<base::Error> fail_damaged(const std::string& sentence, std::string_view value = {}) {
    constexpr std::size_t max_shown = 100;
    return base::fail_malformed("catalogue.damaged", "The wheel list is damaged: " + sentence,
                                std::string(value.substr(0, max_shown)), "fetch or publish it again");
}

template <typename Number>
bool take_number(std::string_view& line, Number& number) {
    const auto value = base::parse_decimal(take_field(line));
    if (value) number = static_cast<Number>(*value);
    return value.has_value() && *value <= max_wheel_list_bytes;
}

base::Result<WheelListHead> parse_head(std::string_view line) {
    const auto format = take_field(line);
    if (format != format_name) {
        if (!format.starts_with(format_family))
            return fail_damaged("its first line has no known format", format);
        return base::fail_malformed("catalogue.version", "Unsupported version of the wheel list",
                                    std::string(format.substr(0, format_name.size() + 2)),
                                    "update avail_wheels");
    }
    WheelListHead head;
    bool has_all = take_number(line, head.serial) && take_number(line, head.base_serial);
    head.written = take_field(line);
    head.index = take_field(line);
    has_all = has_all && take_number(line, head.projects) && take_number(line, head.wheels) &&
              take_number(line, head.directory_bytes) && take_number(line, head.lines_bytes) &&
              take_number(line, head.facts_bytes);
    if (!has_all) return fail_damaged("a number is missing in its head");
    head.is_whole = take_field(line) == whole_word;
    return head;
}

}  // namespace

std::string render_wheel_list_line(const ProjectFile& wheel) {
    std::string line;
    append_wheel_list_line(line, wheel);
    return line;
}

void append_wheel_list_line(std::string& line, const ProjectFile& wheel) {
    add_field(line, wheel.filename);
    line += '\t';
    if (wheel.yanked) add_field(line += 'y', wheel.yanked_reason);
    add_field(line += '\t', wheel.requires_python);
    line += '\t';
    if (wheel.upload_time != 0) base::append_rfc3339(line, wheel.upload_time);
    line += '\t';
    if (wheel.size_bytes != 0) line += std::to_string(wheel.size_bytes);
    add_field(line += '\t', wheel.sha256);
    line += '\n';
}

WheelListLine parse_wheel_list_line(std::string_view line) {
    WheelListLine wheel;
    wheel.filename = take_field(line);
    const auto yanked = take_field(line);
    wheel.yanked = !yanked.empty();
    if (wheel.yanked) wheel.yanked_reason = yanked.substr(1);
    wheel.requires_python = take_field(line);
    wheel.rest = line;
    return wheel;
}

ProjectFile WheelListLine::file(bool with_rest) const {
    ProjectFile wheel{.filename = std::string(filename),
                      .yanked = yanked,
                      .yanked_reason = std::string(yanked_reason),
                      .requires_python = std::string(requires_python)};
    if (!with_rest) return wheel;
    std::string_view line = rest;
    wheel.upload_time = base::parse_rfc3339(take_field(line)).value_or(0);
    wheel.size_bytes = base::parse_decimal(take_field(line)).value_or(0);
    wheel.sha256 = take_field(line);
    return wheel;
}

std::string render_wheel_list(WheelListHead head, const std::vector<WheelListProject>& projects) {
    std::string directory;
    head.projects = projects.size();
    head.wheels = 0;
    head.lines_bytes = 0;
    head.facts_bytes = 0;
    for (const auto& project : projects) {
        directory += project.key;
        for (const std::uint64_t number :
             {std::uint64_t{project.wheels}, head.lines_bytes, std::uint64_t{project.lines.size()},
              head.facts_bytes, std::uint64_t{project.facts.size()}}) {
            directory += '\t';
            directory += std::to_string(number);
        }
        directory += '\n';
        head.wheels += project.wheels;
        head.lines_bytes += project.lines.size();
        head.facts_bytes += project.facts.size();
    }
    head.directory_bytes = directory.size();

    std::string text(format_name);
    const auto add_number = [&](std::uint64_t number) { text.append("\t").append(std::to_string(number)); };
    add_number(static_cast<std::uint64_t>(head.serial));
    add_number(static_cast<std::uint64_t>(head.base_serial));
    add_field(text += '\t', head.written);
    add_field(text += '\t', head.index);
    for (const std::uint64_t number : {std::uint64_t{head.projects}, std::uint64_t{head.wheels},
                                       head.directory_bytes, head.lines_bytes, head.facts_bytes})
        add_number(number);
    if (head.is_whole) text.append("\t").append(whole_word);
    text += '\n';
    text.reserve(text.size() + directory.size() + head.lines_bytes + head.facts_bytes);
    text += directory;
    for (const auto& project : projects)
        text += project.lines;
    for (const auto& project : projects)
        text += project.facts;
    return text;
}

namespace {

// Of everything behind the first line.
std::uint64_t bytes_behind(const WheelListHead& head) {
    return head.directory_bytes + head.lines_bytes + head.facts_bytes;
}

struct OpenedHead {
    base::FileReader file;
    WheelListHead head;
    std::uint64_t bytes = 0;  // of the head, including its line feed
};

base::Result<OpenedHead> open_head(const fs::path& file) {
    WHEELYARD_ASSIGN(base::FileReader reader, base::FileReader::open(file));
    std::string start(std::min<std::uint64_t>(max_head_bytes, reader.size()), '\0');
    WHEELYARD_TRY(reader.read_at(0, start.data(), start.size()));
    const auto end = start.find('\n');
    if (end == std::string::npos) return fail_damaged("its first line is incomplete", file.native());
    WHEELYARD_ASSIGN(WheelListHead head, parse_head(std::string_view(start).substr(0, end)));
    if (reader.size() != end + 1 + bytes_behind(head))
        return fail_damaged("its size does not match its head", file.native());
    return OpenedHead{std::move(reader), std::move(head), end + 1};
}

}  // namespace

base::Status WheelListArrival::take(std::string_view bytes) {
    if (!file_) {
        begin_ += bytes;
        bytes = begin_;
        const auto end = begin_.find('\n');
        if (end == std::string::npos && begin_.size() < max_head_bytes) return {};
        WHEELYARD_ASSIGN(const WheelListHead head, parse_head(bytes.substr(0, end)));
        left_bytes_ = end + 1 + bytes_behind(head);
        WHEELYARD_ASSIGN(base::FileReplacement file, base::FileReplacement::begin(path_));
        file_.emplace(std::move(file));
    }
    if (bytes.size() > left_bytes_) return fail_damaged("it is longer than its head says");
    left_bytes_ -= bytes.size();
    return file_->write(bytes);
}

base::Status WheelListArrival::finish() {
    if (!file_ || left_bytes_ > 0) return fail_damaged("it is shorter than its head says");
    return file_->commit();
}

bool WheelListArrival::is_one() const {
    return begin_.starts_with(format_family);
}

base::Result<WheelListHead> read_wheel_list_head(const fs::path& file) {
    return open_head(file).map([](OpenedHead opened) { return std::move(opened.head); });
}

base::Result<WheelListPart> WheelListPart::open(const fs::path& file) {
    WHEELYARD_ASSIGN(OpenedHead opened, open_head(file));
    WheelListPart part(std::move(opened.file));
    part.head_ = std::move(opened.head);
    WHEELYARD_TRY(part.read(opened.bytes, part.head_.directory_bytes, part.directory_));
    if (!part.directory_.empty() && part.directory_.back() != '\n')
        return fail_damaged("its directory is truncated", file.native());
    part.lines_start_ = opened.bytes + part.head_.directory_bytes;
    part.facts_start_ = part.lines_start_ + part.head_.lines_bytes;
    return part;
}

base::Status WheelListPart::read(std::uint64_t at, std::uint64_t bytes, std::string& into) const {
    into.resize(bytes);
    return file_.read_at(at, into.data(), bytes);
}

base::Result<WheelListPart::Entry> WheelListPart::parse_entry(std::string_view line) const {
    Entry entry;
    std::string_view rest = line;
    entry.key = take_field(rest);
    const bool is_whole = take_number(rest, entry.wheels) && take_number(rest, entry.lines_at) &&
                          take_number(rest, entry.lines_bytes) && take_number(rest, entry.facts_at) &&
                          take_number(rest, entry.facts_bytes);
    if (!is_whole || entry.key.empty()) return fail_damaged("a line of its directory is malformed", line);
    if (entry.lines_at + entry.lines_bytes > head_.lines_bytes ||
        entry.facts_at + entry.facts_bytes > head_.facts_bytes) {
        return fail_damaged("its directory contains an offset outside the file", line);
    }
    return entry;
}

base::Result<std::optional<WheelListPart::Entry>> WheelListPart::find(std::string_view key) const {
    const std::string_view text = directory_;
    std::size_t low = 0;  // `low` and `high` are always at the start of a line
    std::size_t high = text.size();
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        const auto before = middle > low ? text.rfind('\n', middle - 1) : std::string_view::npos;
        const auto line_start = before == std::string_view::npos || before < low ? low : before + 1;
        const auto end = text.find('\n', line_start);
        const auto line = text.substr(line_start, end - line_start);
        const auto here = line.substr(0, line.find('\t'));
        if (here == key) {
            WHEELYARD_ASSIGN(auto entry, parse_entry(line));
            return std::optional(entry);
        }
        if (here < key) {
            low = end + 1;
        } else {
            high = line_start;
        }
    }
    return std::optional<Entry>();
}

base::Result<std::vector<WheelListPart::Entry>> WheelListPart::entries() const {
    std::vector<Entry> entries;
    entries.reserve(std::min<std::size_t>(head_.projects, directory_.size()));
    std::string_view rest = directory_;
    while (!rest.empty()) {
        const auto end = rest.find('\n');
        WHEELYARD_ASSIGN(auto entry, parse_entry(rest.substr(0, end)));
        entries.push_back(entry);
        rest.remove_prefix(end + 1);
    }
    return entries;
}

base::Result<std::string> WheelListPart::lines(const Entry& entry) const {
    std::string text;
    WHEELYARD_TRY(read(lines_start_ + entry.lines_at, entry.lines_bytes, text));
    return text;
}
base::Result<std::string> WheelListPart::facts(const Entry& entry) const {
    std::string text;
    WHEELYARD_TRY(read(facts_start_ + entry.facts_at, entry.facts_bytes, text));
    return text;
}
base::Status WheelListPart::read_lines(std::uint64_t at, std::uint64_t bytes, std::string& into) const {
    if (at > head_.lines_bytes || bytes > head_.lines_bytes - at)
        return fail_damaged("its directory contains an offset outside the file");
    return read(lines_start_ + at, bytes, into);
}

namespace {

// Reads the lines of projects in file order through one buffer. It skips the gaps between selected projects
// and needs the same memory for a file of any size.
class LinesWindow {
  public:
    explicit LinesWindow(const WheelListPart& part) : part_(part) {}

    [[nodiscard]] const WheelListPart& part() const { return part_; }
    // The result is valid until the next call.
    base::Result<std::string_view> lines_of(const WheelListPart::Entry& entry) {
        const bool is_there =
            entry.lines_at >= at_ && entry.lines_at + entry.lines_bytes <= at_ + window_.size();
        if (!is_there) {
            const auto left = part_.head().lines_bytes - entry.lines_at;
            const auto bytes = std::max(entry.lines_bytes, std::min(lines_read_at_once_bytes, left));
            WHEELYARD_TRY(part_.read_lines(entry.lines_at, bytes, window_));
            at_ = entry.lines_at;
        }
        return std::string_view(window_).substr(entry.lines_at - at_, entry.lines_bytes);
    }

  private:
    const WheelListPart& part_;
    std::uint64_t at_ = 0;
    std::string window_;
};

}  // namespace

base::Result<WheelList> WheelList::open(const fs::path& folder) {
    WHEELYARD_ASSIGN(WheelListPart base, WheelListPart::open(folder / wheel_list_name));
    WheelList wheel_list(std::move(base));
    auto delta = WheelListPart::open(folder / wheel_list_delta_name);
    if (!delta && delta.error().os_error != ENOENT) return base::fail(std::move(delta.error()));
    if (delta && delta->head().base_serial == wheel_list.base_.head().serial &&
        delta->head().serial > wheel_list.base_.head().serial) {
        wheel_list.delta_ = std::move(*delta);
    }
    return wheel_list;
}

std::int64_t WheelList::serial() const {
    return delta_ ? delta_->head().serial : base_.head().serial;
}
const std::string& WheelList::written() const {
    return delta_ ? delta_->head().written : base_.head().written;
}

bool WheelList::is_whole() const {
    return base_.head().is_whole;  // another rule of the index has another base
}

base::Status WheelList::visit_one(std::string_view key,
                                  const std::function<void(const WheelListView&)>& visit) const {
    for (const WheelListPart* part : {delta_ ? &*delta_ : nullptr, &base_}) {
        if (part == nullptr) continue;
        WHEELYARD_ASSIGN(const auto entry, part->find(key));
        if (!entry) continue;
        if (entry->wheels == 0) return {};
        WHEELYARD_ASSIGN(const auto lines, part->lines(*entry));
        visit({entry->key, lines, part, *entry});
        return {};
    }
    return {};
}

base::Status WheelList::visit_all(const std::function<bool(std::string_view key)>& chosen,
                                  const std::function<void(const WheelListView&)>& visit) const {
    WHEELYARD_ASSIGN(const auto old_entries, base_.entries());
    LinesWindow old_lines(base_);
    std::vector<WheelListPart::Entry> new_entries;
    std::optional<LinesWindow> new_lines;
    if (delta_) {
        WHEELYARD_ASSIGN(new_entries, delta_->entries());
        new_lines.emplace(*delta_);
    }
    const auto show = [&](LinesWindow& window, const WheelListPart::Entry& entry) -> base::Status {
        if (entry.wheels == 0 || !chosen(entry.key)) return {};
        WHEELYARD_ASSIGN(const auto lines, window.lines_of(entry));
        visit({entry.key, lines, &window.part(), entry});
        return {};
    };
    auto newer = new_entries.begin();
    for (const auto& entry : old_entries) {
        for (; newer != new_entries.end() && newer->key < entry.key; ++newer)
            WHEELYARD_TRY(show(*new_lines, *newer));
        if (newer != new_entries.end() && newer->key == entry.key) {
            WHEELYARD_TRY(show(*new_lines, *newer++));
        } else {
            WHEELYARD_TRY(show(old_lines, entry));
        }
    }
    for (; newer != new_entries.end(); ++newer)
        WHEELYARD_TRY(show(*new_lines, *newer));
    return {};
}

}  // namespace wheelyard::simple
