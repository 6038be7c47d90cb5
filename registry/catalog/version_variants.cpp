// The rules are those of variantlib's merge, and `$schema` besides: a newer one may give a member another meaning.
#include "registry/catalog/version_variants.hpp"

#include <algorithm>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/filename.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::catalog {
namespace {

using io::Json;

tl::unexpected<base::Error> differs(std::string code, std::string sentence, std::string value) {
    return base::fail("variants." + std::move(code), std::move(sentence), std::move(value),
                      "build the wheel with the variant metadata that the other wheels of this version have");
}

// Adds the members that are new; the first one that another wheel has with another value.
std::optional<std::string> merge(const Json* from, std::map<std::string, Json>& into) {
    if (from == nullptr || from->as_object() == nullptr) return std::nullopt;
    for (const auto& [name, value] : *from->as_object()) {
        const auto [there, is_new] = into.try_emplace(name, value);
        if (!is_new && there->second != value) return name;
    }
    return std::nullopt;
}

Json object_of(const std::map<std::string, Json>& members) {
    return Json::Object(members.begin(), members.end());
}

}  // namespace

bool is_variant_wheel(std::string_view filename) {
    constexpr std::ptrdiff_t min_dashes = 5;  // of name, version, three tags, label
    if (!filename.ends_with(".whl") || std::count(filename.begin(), filename.end(), '-') < min_dashes)
        return false;
    const auto name = wheel::parse_wheel_filename(filename);
    return name && name->variant;
}

base::Status VersionVariants::add(const FileRow& wheel) {
    const auto facts = io::parse_json(wheel.facts_json);
    const Json* variant = facts ? facts->find("variant") : nullptr;
    if (variant == nullptr)
        return base::fail("variants.unknown", "What this variant wheel's label means is not known",
                          wheel.filename, "upload it again");
    const std::string schema = variant->string_or("$schema", "");
    const Json* priorities = variant->find("default-priorities");
    const std::vector<std::string> order =
        priorities == nullptr ? std::vector<std::string>() : priorities->texts("namespace");
    const Json* providers = variant->find("providers");
    if (labels_.empty()) {
        schema_ = schema;
        if (providers != nullptr) providers_.emplace();
    } else if (schema != schema_) {
        return differs("schema", "Other wheels of this version have another $schema in variant.json",
                       schema + ", theirs is " + schema_);
    } else if (providers_.has_value() != (providers != nullptr)) {
        return differs("providers", "Of the wheels of this version only some have providers in variant.json",
                       wheel.filename);
    }
    const std::size_t common = std::min(order.size(), namespaces_.size());
    if (!std::equal(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(common), namespaces_.begin()))
        return differs("namespaces", "Other wheels of this version have another order of namespaces",
                       base::join(order, " ") + ", theirs is " + base::join(namespaces_, " "));
    if (order.size() > namespaces_.size()) namespaces_ = order;
    if (providers_) {
        if (auto other = merge(providers, *providers_))
            return differs("provider", "Another wheel of this version has another provider of this namespace",
                           *std::move(other));
    }
    if (auto other = merge(variant->find("variants"), labels_))
        return differs("label", "Another wheel of this version has this label with other properties",
                       *std::move(other));
    if (const std::size_t bytes = render().size(); bytes > max_variants_file_bytes)
        return base::fail("variants.large", "The variants of this version make a file of more than 1 MiB",
                          std::to_string(bytes) + " bytes", "use shorter labels, or fewer of them");
    return {};
}

std::string VersionVariants::render() const {
    Json json =
        Json::object({{"$schema", schema_},
                      {"default-priorities", Json::object({{"namespace", Json::array_of(namespaces_)}})}});
    if (providers_) json.set("providers", object_of(*providers_));
    json.set("variants", object_of(labels_));
    return json.render();
}

std::vector<VariantsFile> variants_files(std::span<const FileRow> rows) {
    std::vector<VariantsFile> files;
    for (std::size_t at = 0; at < rows.size();) {
        const std::string& version = rows[at].version;
        VersionVariants variants;
        VariantsFile file;
        for (; at < rows.size() && rows[at].version == version; ++at) {
            if (!is_variant_wheel(rows[at].filename) || !variants.add(rows[at])) continue;
            file.upload_time = std::max(file.upload_time, rows[at].upload_time);
            file.filename =
                wheel::escape_name(rows[at].project) + "-" + version + std::string(variants_suffix);
        }
        if (file.filename.empty()) continue;
        file.bytes = variants.render();
        file.sha256 = base::sha256_hex(file.bytes);
        files.push_back(std::move(file));
    }
    return files;
}

}  // namespace wheelyard::catalog
