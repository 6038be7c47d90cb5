#include "builder/attempt/claim_record.hpp"

#include <algorithm>

#include "builder/attempt/limits.hpp"
#include "builder/attempt/temporary_files.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;
using io::Json;

constexpr std::string_view claim_record_format = "wheelyard.claim_record/1";

}  // namespace

std::string render_claim_record(const ClaimRecord& record) {
    return Json::object({{"format", claim_record_format},
                         {"claim", record.claim},
                         {"asking", record.asking},
                         {"task", record.task ? wire::task_json(*record.task) : Json()},
                         {"waits", record.waits},
                         {"index", record.index},
                         {"cell", record.cell},
                         {"log_attempt", record.log_attempt},
                         {"log_base", record.log_base}})
        .render_pretty();
}

base::Result<ClaimRecord> parse_claim_record(std::string_view text) {
    const auto json = io::parse_json(text);
    ClaimRecord record;
    if (json) record.claim = json->string_or("claim", "");
    if (!json || json->string_or("format", "") != claim_record_format || !wire::is_claim_id(record.claim))
        return base::fail("claim.broken", "A claim file is not valid");
    record.asking = json->bool_or("asking", true);
    const Json* task = json->find("task");
    if (task != nullptr && !task->is_null()) {
        WHEELYARD_ASSIGN(record.task, wire::parse_task(task->render()));
    }
    if (!record.asking && !record.task)
        return base::fail("claim.broken", "A claim file names no task", record.claim);
    record.waits = json->string_or("waits", "");
    record.index = json->string_or("index", "");
    record.cell = json->string_or("cell", "");
    record.log_attempt = json->string_or("log_attempt", "");
    record.log_base = json->int_or("log_base", 0);
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
        if (record && record->claim == entry.path().stem().string())
            records.push_back(*std::move(record));
        else
            unread = true;
        if (records.size() == max_claims) break;
    }
    std::sort(records.begin(), records.end(),
              [](const ClaimRecord& a, const ClaimRecord& b) { return a.claim < b.claim; });
    return records;
}

base::Status ClaimFolder::write(const ClaimRecord& record) const {
    WHEELYARD_TRY(base::make_directories(folder_));
    return base::replace_file(folder_ / (record.claim + ".json"), render_claim_record(record), 0600);
}

base::Status ClaimFolder::remove(const std::string& claim) const {
    return base::remove_file(folder_ / (claim + ".json"));
}

void ClaimFolder::sweep() const {
    sweep_temporary_files(folder_);
}

}  // namespace wheelyard::builder
