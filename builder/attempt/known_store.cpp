#include "builder/attempt/known_store.hpp"

#include "builder/attempt/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::string_view store_format = "wheelyard.known_store/1";

std::filesystem::path file_in(const std::filesystem::path& state_directory) {
    return state_directory / "store.json";
}

}  // namespace

std::string read_known_store(const std::filesystem::path& state_directory) {
    const auto text = base::read_untrusted_file(file_in(state_directory), max_record_bytes);
    const auto json = text ? io::parse_json(*text) : base::Result<io::Json>(tl::unexpected(text.error()));
    if (!json || json->string_or("format", "") != store_format) return {};
    return json->string_or("store", "");
}

base::Status write_known_store(const std::filesystem::path& state_directory, const std::string& store) {
    const auto json = io::Json::object({{"format", std::string(store_format)}, {"store", store}});
    return base::replace_file(file_in(state_directory), json.render() + "\n");
}

}  // namespace wheelyard::builder
