// The rules are those of variantlib's merge and of its `generate-index-json`, and `$schema` besides: a newer
// one may give a member another meaning.
#include "lib/store/catalog/version_variants.hpp"

#include <algorithm>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::catalog {
namespace {

using io::Json;

tl::unexpected<base::Error> differs(std::string code, std::string sentence, std::string value) {
    return base::fail("variants." + std::move(code), std::move(sentence), std::move(value),
                      "build the wheel with the variant metadata that the other wheels of this version have");
}

const Json::Object& members_of(const Json* json) {
    static const Json::Object none;
    return json == nullptr || json->as_object() == nullptr ? none : *json->as_object();
}

// The first member that another wheel has with another value.
const std::string* find_other(const Json::Object& members, const std::map<std::string, Json>& there) {
    for (const auto& [name, value] : members) {
        const auto other = there.find(name);
        if (other != there.end() && other->second != value) return &name;
    }
    return nullptr;
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
    const Json::Object& labels = members_of(variant->find("variants"));
    const bool is_first = labels_.empty();
    if (!is_first && schema != schema_)
        return differs("schema", "Other wheels of this version have another $schema in variant.json",
                       schema + ", theirs is " + schema_);
    if (!is_first && providers_.has_value() != (providers != nullptr))
        return differs("providers", "Of the wheels of this version only some have providers in variant.json",
                       wheel.filename);
    const std::size_t common = std::min(order.size(), namespaces_.size());
    if (!std::equal(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(common), namespaces_.begin()))
        return differs("namespaces", "Other wheels of this version have another order of namespaces",
                       base::join(order, " ") + ", theirs is " + base::join(namespaces_, " "));
    if (providers_) {
        if (const std::string* other = find_other(members_of(providers), *providers_))
            return differs("provider", "Another wheel of this version has another provider of this namespace",
                           *other);
    }
    if (const std::string* other = find_other(labels, labels_))
        return differs("label", "Another wheel of this version has this label with other properties", *other);
    for (const auto& [label, properties] : labels) {
        const auto same = label_of_.find(properties.render());
        if (same != label_of_.end() && same->second != label)
            return base::fail("variants.same_properties",
                              "Another wheel of this version has these properties with another label",
                              label + ", theirs is " + same->second, "use that label");
    }
    // Counted, since rendering all for each wheel is quadratic. The rest of the file is one wheel's at most.
    const std::size_t rest_bytes = std::max(rest_bytes_, variant->render().size());
    std::size_t labels_bytes = labels_bytes_;
    for (const auto& [label, properties] : labels) {
        if (!labels_.contains(label)) labels_bytes += Json::object({{label, properties}}).render().size();
    }
    if (rest_bytes + labels_bytes > max_variants_file_bytes)
        return base::fail("variants.large", "The variants of this version make a file of more than 1 MiB",
                          std::to_string(rest_bytes + labels_bytes) + " bytes",
                          "use shorter labels, or fewer of them");

    schema_ = schema;
    if (order.size() > namespaces_.size()) namespaces_ = order;
    if (providers != nullptr) {
        if (!providers_) providers_.emplace();
        providers_->insert(members_of(providers).begin(), members_of(providers).end());
    }
    labels_.insert(labels.begin(), labels.end());
    for (const auto& [label, properties] : labels)
        label_of_.emplace(properties.render(), label);
    rest_bytes_ = rest_bytes;
    labels_bytes_ = labels_bytes;
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

std::string variants_filename(std::string_view project, std::string_view version) {
    return wheel::escape_name(project) + "-" + std::string(version) + std::string(variants_suffix);
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
            file.filename = variants_filename(rows[at].project, version);
        }
        if (file.filename.empty()) continue;
        file.bytes = variants.render();
        file.size_bytes = file.bytes.size();
        file.sha256 = base::sha256_hex(file.bytes);
        files.push_back(std::move(file));
    }
    return files;
}

}  // namespace wheelyard::catalog
