#include "builder/attempt/site_check_record.hpp"

#include "builder/attempt/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::string_view check_format = "wheelyard.site_check/1";

std::filesystem::path check_file(const std::filesystem::path& state_directory) {
    return state_directory / "site_check.json";
}

}  // namespace

SiteCheckRecord read_site_check(const std::filesystem::path& state_directory) {
    const auto text = base::read_untrusted_file(check_file(state_directory), max_record_bytes);
    const auto json = text ? io::parse_json(*text) : base::Result<io::Json>(tl::unexpected(text.error()));
    if (!json || json->string_or("format", "") != check_format) return {};
    return {base::parse_rfc3339(json->string_or("at", "")).value_or(0), json->texts("failed")};
}

base::Status write_site_check(const std::filesystem::path& state_directory, const SiteCheckRecord& record) {
    WHEELYARD_TRY(base::make_directories(state_directory));
    const auto json = io::Json::object({{"format", std::string(check_format)},
                                        {"at", base::render_rfc3339(record.at)},
                                        {"failed", io::Json::array_of(record.failed)}});
    return base::replace_file(check_file(state_directory), json.render() + "\n");
}

std::string why_nothing_begins(const SiteCheckRecord& record, const std::string& command) {
    if (record.failed.empty()) return "";
    return "`site check` failed at " + base::render_rfc3339(record.at) + ": " +
           base::join(record.failed, "; ") + ". Once that is fixed, `" + command +
           "` lets jobs begin; `--unchecked` does not wait for it";
}

}  // namespace wheelyard::builder
