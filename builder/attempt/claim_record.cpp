#include "builder/attempt/claim_record.hpp"

#include <algorithm>
#include <utility>

#include "builder/attempt/limits.hpp"
#include "builder/attempt/temporary_files.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;
using io::Json;

constexpr std::string_view claim_record_format = "wheelyard.claim_record/2";
constexpr std::string_view earlier_format = "wheelyard.claim_record/1";

}  // namespace

std::string render_claim_record(const ClaimRecord& record) {
    return Json::object({{"format", claim_record_format},
                         {"task", wire::task_json(record.task)},
                         {"index", record.index},
                         {"cell", record.cell},
                         {"agents", Json::array_of(record.agents)}})
        .render_pretty();
}

base::Result<ClaimRecord> parse_claim_record(std::string_view text) {
    const auto json = io::parse_json(text);
    const std::string format = json ? json->string_or("format", "") : std::string();
    const Json* task = json ? json->find("task") : nullptr;
    if ((format != claim_record_format && format != earlier_format) || task == nullptr)
        return base::fail("claim.broken", "A claim file is not valid");
    ClaimRecord record;
    if (format == earlier_format && task->is_null()) return record;
    WHEELYARD_ASSIGN(record.task, wire::parse_task(task->render()));
    record.index = json->string_or("index", "");
    record.cell = json->string_or("cell", "");
    record.agents = json->texts("agents");
    return record;
}

std::vector<ClaimRecord> ClaimFolder::read(bool& unread) const {
    std::vector<ClaimRecord> records;
    std::error_code error;
    const fs::directory_iterator entries(folder_, error);
    unread = error && error != std::errc::no_such_file_or_directory;
    for (const auto& entry : entries) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(".") || entry.path().extension() != ".json") continue;
        const auto text = base::read_untrusted_file(entry.path(), max_record_bytes);
        auto record = text ? parse_claim_record(*text) : tl::unexpected(text.error());
        unread = unread || !record;
        if (!record || record->task.id.empty()) continue;
        record->file = entry.path().stem().string();
        records.push_back(*std::move(record));
        if (records.size() == max_claims) break;
    }
    std::sort(records.begin(), records.end(),
              [](const ClaimRecord& a, const ClaimRecord& b) { return a.task.id < b.task.id; });
    return records;
}

base::Status ClaimFolder::write(ClaimRecord& record) const {
    WHEELYARD_TRY(base::make_directories(folder_));
    WHEELYARD_TRY(
        base::replace_file(folder_ / (record.task.id + ".json"), render_claim_record(record), 0600));
    const std::string earlier = std::exchange(record.file, record.task.id);
    if (earlier.empty() || earlier == record.file) return {};
    return base::remove_file(folder_ / (earlier + ".json"));
}

base::Status ClaimFolder::remove(const ClaimRecord& record) const {
    return base::remove_file(folder_ / (record.file + ".json"));
}

std::string ClaimFolder::waits() const {
    return base::read_untrusted_file(folder_ / "waits", max_record_bytes).value_or(std::string());
}

base::Status ClaimFolder::note_wait(const std::string& why) const {
    if (why.empty()) return base::remove_file(folder_ / "waits");
    WHEELYARD_TRY(base::make_directories(folder_));
    return base::replace_file(folder_ / "waits", why, 0600);
}

void ClaimFolder::sweep() const {
    sweep_temporary_files(folder_);
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
        const auto text = base::read_untrusted_file(entry.path(), max_record_bytes);
        const auto record = text ? parse_claim_record(*text) : tl::unexpected(text.error());
        if (record && record->task.id.empty()) fs::remove(entry.path(), ignored);
    }
}

}  // namespace wheelyard::builder
