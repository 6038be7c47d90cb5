#include "registry/intake/quota.hpp"

#include "lib/base/text/text.hpp"

namespace wheelyard::registry {
namespace {

wire::Answered<void> check_one(const Quota& quota, const catalog::Usage& used, std::uint64_t size_bytes,
                               const std::string& owner) {
    const bool has_files = used.files < quota.files;
    const bool has_bytes = used.bytes < quota.bytes && size_bytes <= quota.bytes - used.bytes;
    if (has_files && has_bytes) return {};
    const std::string limit =
        has_files ? base::render_bytes(quota.bytes) : std::to_string(quota.files) + " files";
    return wire::refuse("upload.quota", "The quota of " + owner + " is used up",
                        "The file does not fit into the quota of " + owner + ": " + limit + ".",
                        std::to_string(used.files) + " files, " + base::render_bytes(used.bytes),
                        "ask an administrator to delete files or to raise the quota");
}

}  // namespace

catalog::Usage usage_of(const std::vector<catalog::Usage>& usage, std::string_view uploaded_by) {
    catalog::Usage sum;
    for (const catalog::Usage& one : usage) {
        if (!uploaded_by.empty() && one.uploaded_by != uploaded_by) continue;
        sum.files += one.files;
        sum.bytes += one.bytes;
    }
    return sum;
}

wire::Answered<void> check_quota(const IndexConfig& index, const std::vector<catalog::Usage>& usage,
                                 const std::string& uploaded_by, std::uint64_t size_bytes) {
    if (auto fits = check_one(index.token_quota, usage_of(usage, uploaded_by), size_bytes, "this token");
        !fits)
        return fits;
    return check_one(index.quota, usage_of(usage, {}), size_bytes, "the index " + index.name);
}

}  // namespace wheelyard::registry
