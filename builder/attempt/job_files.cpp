// Reads the files that a job writes: its claim and its exit record.
#include "builder/attempt/job_files.hpp"

#include <algorithm>
#include <cerrno>

#include "builder/attempt/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::string_view exit_format = "wheelyard.exit/1";

base::UnixMicros from_ms(std::int64_t ms) {
    return ms * 1000;
}

}  // namespace

std::vector<std::filesystem::path> AttemptFolder::own_bulk() const {
    std::vector<std::filesystem::path> all{wheel(),         variant(),           recorded(),
                                           environment(),   root / "smoke",      root / "empty",
                                           root / "asking", root / "wheelhouse", root / "checked"};
    if (separate) all.insert(all.end(), {inner(), root / "scratch", root / "shm", fetch()});
    return all;
}

std::vector<std::filesystem::path> AttemptFolder::bulk() const {
    std::vector<std::filesystem::path> all = own_bulk();
    const auto of_build = build_bulk();
    if (has_build_tree()) all.insert(all.end(), of_build.begin(), of_build.end());
    return all;
}

std::vector<std::filesystem::path> AttemptFolder::build_bulk() const {
    return {tree(), venv(), build() / "beside", build() / "home"};
}

bool AttemptFolder::has_build_tree() const {
    if (build_root.empty()) return true;
    const auto user = base::read_untrusted_file(used_by(), max_record_bytes);
    return user && base::trim(*user) == root.filename().native();
}

bool AttemptFolder::is_claimed() const {
    std::error_code error;
    return std::filesystem::exists(claim(), error);
}

std::string read_over_limit(const std::filesystem::path& log) {
    const std::string tail = read_log_tail(log);
    const auto mark = tail.rfind(over_limit_mark);
    if (mark == std::string::npos) return {};
    const std::string_view words = std::string_view(tail).substr(mark + over_limit_mark.size());
    return std::string(words.substr(0, words.find('\n')));
}

base::Result<ExitRecord> parse_exit_record(std::string_view text, std::string_view attempt) {
    WHEELYARD_ASSIGN(const auto json, io::parse_json(text));
    if (json.string_or("format", "") != exit_format || json.string_or("attempt", "") != attempt) {
        return base::fail("job.exit_record", "The exit record belongs to another attempt",
                          std::string(text.substr(0, 120)));
    }
    ExitRecord record;
    WHEELYARD_ASSIGN(const auto code, json.int_at("exit_code"));
    record.exit_code = static_cast<int>(code);
    record.phase = json.string_or("phase", "");
    record.ended = from_ms(json.int_or("ended_ms", 0));
    if (const auto kills = json.int_or("oom_kills", -1); kills >= 0) record.oom_kills = kills;
    const io::Json* phases = json.find("phases");
    if (phases != nullptr && phases->as_array() != nullptr) {
        for (const auto& phase : *phases->as_array()) {
            record.phases.push_back({phase.string_or("name", ""), from_ms(phase.int_or("began_ms", 0))});
        }
    }
    return record;
}

base::Result<std::optional<ExitRecord>> read_exit_record(const AttemptFolder& folder,
                                                         std::string_view attempt) {
    auto text = base::read_untrusted_file(folder.exit_record(), max_record_bytes);
    if (!text && text.error().os_error == ENOENT) {
        // An NFS client caches the absence of a file for a while. Opening the folder makes it check again
        // (close-to-open consistency, nfs(5)).
        std::error_code ignored;
        const std::filesystem::directory_iterator refreshed(folder.root, ignored);
        text = base::read_untrusted_file(folder.exit_record(), max_record_bytes);
    }
    if (!text) {
        if (text.error().os_error == ENOENT) return std::optional<ExitRecord>();
        return tl::unexpected(text.error());
    }
    WHEELYARD_ASSIGN(auto record, parse_exit_record(*text, attempt));
    return std::optional<ExitRecord>(std::move(record));
}

std::string read_log_tail(const std::filesystem::path& log, std::uint64_t max_bytes) {
    const auto reader = base::FileReader::open(log);
    if (!reader) return "";
    const std::uint64_t length = std::min<std::uint64_t>(reader->size(), max_bytes);
    std::string tail(static_cast<std::size_t>(length), '\0');
    if (!reader->read_at(reader->size() - length, tail.data(), tail.size())) return "";
    return tail;
}

std::string read_cut(const AttemptFolder& folder) {
    const auto text = base::read_untrusted_file(folder.cut(), max_record_bytes);
    return text ? std::string(base::trim(*text)) : "";
}

base::Result<Owner> parse_owner(std::string_view text) {
    WHEELYARD_ASSIGN(const auto json, io::parse_json(text));
    Owner owner;
    WHEELYARD_ASSIGN(owner.host, json.string_at("host"));
    WHEELYARD_ASSIGN(owner.pid, json.int_at("pid"));
    WHEELYARD_ASSIGN(const auto start, json.int_at("start"));
    owner.start = static_cast<std::uint64_t>(start);
    owner.boot = json.string_or("boot", "");
    return owner;
}

}  // namespace wheelyard::builder
