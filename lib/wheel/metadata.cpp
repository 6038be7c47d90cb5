// The rules of the core metadata specification; known_fields lists all of its fields.
#include "lib/wheel/metadata.hpp"

#include <algorithm>
#include <array>

#include "lib/base/text/text.hpp"
#include "lib/wheel/excerpt.hpp"
#include "lib/wheel/limits.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::wheel {
namespace {

// "2.0" was never accepted as a standard, but `wheel` wrote it for years, with the fields of 2.1.
constexpr std::array<std::string_view, 10> metadata_versions{"1.0", "1.1", "1.2", "2.0", "2.1",
                                                             "2.2", "2.3", "2.4", "2.5", "2.6"};

enum class Use { once, many };
struct Field {
    std::string_view name;
    std::string_view since;
    Use use;
};
constexpr std::array<Field, 32> known_fields{{{"metadata-version", "1.0", Use::once},
                                              {"name", "1.0", Use::once},
                                              {"version", "1.0", Use::once},
                                              {"platform", "1.0", Use::many},
                                              {"summary", "1.0", Use::once},
                                              {"description", "1.0", Use::once},
                                              {"keywords", "1.0", Use::once},
                                              {"home-page", "1.0", Use::once},
                                              {"author", "1.0", Use::once},
                                              {"author-email", "1.0", Use::once},
                                              {"license", "1.0", Use::once},
                                              {"supported-platform", "1.1", Use::many},
                                              {"classifier", "1.1", Use::many},
                                              {"download-url", "1.1", Use::once},
                                              {"requires", "1.1", Use::many},
                                              {"provides", "1.1", Use::many},
                                              {"obsoletes", "1.1", Use::many},
                                              {"maintainer", "1.2", Use::once},
                                              {"maintainer-email", "1.2", Use::once},
                                              {"requires-python", "1.2", Use::once},
                                              {"requires-external", "1.2", Use::many},
                                              {"requires-dist", "1.2", Use::many},
                                              {"provides-dist", "1.2", Use::many},
                                              {"obsoletes-dist", "1.2", Use::many},
                                              {"project-url", "1.2", Use::many},
                                              {"provides-extra", "2.1", Use::many},
                                              {"description-content-type", "2.1", Use::once},
                                              {"dynamic", "2.2", Use::many},
                                              {"license-expression", "2.4", Use::once},
                                              {"license-file", "2.4", Use::many},
                                              {"import-name", "2.5", Use::many},
                                              {"import-namespace", "2.5", Use::many}}};

constexpr std::array<std::string_view, 3> never_dynamic{"metadata-version", "name", "version"};
constexpr std::string_view first_with_license_expression = "2.4";

const Field* find_field(std::string_view lower_name) {
    const auto* field = std::find_if(known_fields.begin(), known_fields.end(),
                                     [&](const Field& candidate) { return candidate.name == lower_name; });
    return field == known_fields.end() ? nullptr : field;
}

std::size_t age_of(std::string_view metadata_version) {
    return static_cast<std::size_t>(
        std::find(metadata_versions.begin(), metadata_versions.end(), metadata_version) -
        metadata_versions.begin());
}

base::Status check_known_fields(const HeaderFile& headers) {
    std::array<int, known_fields.size()> uses{};
    for (const auto& [name, value] : headers.fields) {
        const auto* field = find_field(base::ascii_lower(name));
        if (field == nullptr || field->use == Use::many) continue;
        if (++uses[static_cast<std::size_t>(field - known_fields.data())] > 1) {
            return base::fail("metadata.repeated", "This metadata field may occur only once", excerpt(name));
        }
    }
    return {};
}

// The value of a mandatory, non-empty field.
base::Result<std::string> required(const HeaderFile& headers, std::string_view name) {
    const auto* value = headers.first(name);
    if (value == nullptr || value->empty()) {
        return base::fail("metadata.missing", "METADATA lacks the field " + std::string(name));
    }
    return *value;
}

// An unknown version counts as the newest.
base::Status read_metadata_version(const HeaderFile& headers, std::string& version) {
    WHEELYARD_ASSIGN(version, required(headers, "Metadata-Version"));
    if (is_metadata_version(version)) return {};
    return base::fail("metadata.metadata_version", "Unknown Metadata-Version", excerpt(version),
                      "1.0 to 2.6 are supported");
}

base::Status check_dynamic(const HeaderFile& headers) {
    for (const auto& value : headers.all("Dynamic")) {
        const auto lower = base::ascii_lower(value);
        const bool never =
            std::find(never_dynamic.begin(), never_dynamic.end(), lower) != never_dynamic.end();
        if (never || find_field(lower) == nullptr) {
            return base::fail("metadata.dynamic",
                              "Dynamic names a field that does not exist or may not be dynamic",
                              excerpt(value));
        }
    }
    return {};
}

base::Status check_license(const HeaderFile& headers, std::string_view metadata_version) {
    if (age_of(metadata_version) < age_of(first_with_license_expression)) return {};
    if (headers.first("License") != nullptr && headers.first("License-Expression") != nullptr) {
        return base::fail("metadata.license", "METADATA has both License and License-Expression",
                          excerpt(*headers.first("License-Expression")), "remove License");
    }
    return {};
}

base::Status read_purelib(const HeaderFile& headers, bool& root_is_purelib) {
    const auto* purelib = headers.first("Root-Is-Purelib");
    if (purelib == nullptr) return base::fail("wheel_info.missing", "WHEEL lacks the field Root-Is-Purelib");
    root_is_purelib = base::equals_ignoring_case(*purelib, "true");
    if (root_is_purelib || base::equals_ignoring_case(*purelib, "false")) return {};
    return base::fail("wheel_info.purelib", "Root-Is-Purelib must be true or false", excerpt(*purelib));
}

std::vector<std::string> fields_newer_than(std::string_view metadata_version, const HeaderFile& headers) {
    std::vector<std::string> newer;
    std::array<bool, known_fields.size()> seen{};
    for (const auto& [name, value] : headers.fields) {
        const auto* field = find_field(base::ascii_lower(name));
        if (field == nullptr || age_of(field->since) <= age_of(metadata_version)) continue;
        auto& was_seen = seen[static_cast<std::size_t>(field - known_fields.data())];
        if (!was_seen) newer.push_back(name);
        was_seen = true;
    }
    return newer;
}

}  // namespace

bool is_metadata_version(std::string_view version) {
    return age_of(version) < metadata_versions.size();
}

bool Metadata::is_at_least(std::string_view format) const {
    return age_of(metadata_version) >= age_of(format);
}

base::Result<Metadata> parse_metadata(std::string_view text, Faults* faults) {
    if (text.size() > max_metadata_bytes) return base::fail("metadata.too_long", "METADATA is too long");
    if (!base::is_utf8(text)) return base::fail("metadata.encoding", "METADATA is not UTF-8");
    Metadata metadata;
    WHEELYARD_ASSIGN(metadata.headers, parse_headers(text, faults));
    const auto& headers = metadata.headers;
    WHEELYARD_TRY(tolerate(check_known_fields(headers), faults));
    WHEELYARD_TRY(tolerate(read_metadata_version(headers, metadata.metadata_version), faults));
    WHEELYARD_ASSIGN(metadata.name, required(headers, "Name"));
    if (metadata.name.size() > max_name_bytes || !is_valid_name(metadata.name)) {
        return base::fail("metadata.name", "The Name in METADATA is not a valid project name",
                          excerpt(metadata.name), "use letters and digits with - _ . between them");
    }
    WHEELYARD_ASSIGN(const auto version_text, required(headers, "Version"));
    auto version = Version::parse(version_text);
    if (!version) {
        return base::fail("metadata.version", "The Version in METADATA is not valid", excerpt(version_text),
                          version.error().advice);
    }
    metadata.version = std::move(*version);

    if (const auto* summary = headers.first("Summary")) metadata.summary = *summary;
    if (const auto* python = headers.first("Requires-Python")) {
        const auto specifiers = SpecifierSet::parse(*python);
        if (!specifiers) {
            WHEELYARD_TRY(tolerate(
                base::fail("metadata.requires_python", "Requires-Python is not a set of version specifiers",
                           excerpt(*python), "e.g. >=3.9"),
                faults));
        }
        metadata.requires_python = *python;
    }
    metadata.requires_dist = headers.all("Requires-Dist");
    metadata.provides_extra = headers.all("Provides-Extra");
    WHEELYARD_TRY(tolerate(check_dynamic(headers), faults));
    WHEELYARD_TRY(tolerate(check_license(headers, metadata.metadata_version), faults));
    metadata.newer_fields = fields_newer_than(metadata.metadata_version, headers);
    return metadata;
}

StatedLicense stated_license(const HeaderFile& headers) {
    if (const auto* text = headers.first("License-Expression")) return {*text, "License-Expression"};
    const auto* text = headers.first("License");
    if (text != nullptr && !text->empty() && text->find('\n') == std::string::npos) return {*text, "License"};
    // "License :: OSI Approved :: MIT License"
    std::vector<std::string> names;
    for (const std::string& classifier : headers.all("Classifier")) {
        if (classifier.starts_with("License ::"))
            names.push_back(classifier.substr(classifier.rfind(":: ") + 3));
    }
    if (names.empty()) return {};
    return {base::join(names, ", "), "Classifier"};
}

namespace {

// "1.0". PEP 427: readers refuse a greater major version and may warn about a greater minor one.
bool is_wheel_version(std::string_view text) {
    return text.starts_with("1.") && base::parse_decimal(text.substr(2)).has_value();
}

// pip or uv: also 0.1, which wheel 0.9.7 wrote, and 1.0.0.
bool is_read_by_installers(std::string_view text) {
    const auto parts = base::split(text, '.');
    const auto major = base::parse_decimal(parts.front());
    return major && *major <= 1 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
               return base::parse_decimal(part).has_value();
           });
}

}  // namespace

base::Result<WheelInfo> parse_wheel_info(std::string_view text, Faults* faults) {
    if (text.size() > max_wheel_info_bytes) return base::fail("wheel_info.too_long", "WHEEL is too long");
    if (!base::is_utf8(text)) return base::fail("wheel_info.encoding", "WHEEL is not UTF-8");
    WHEELYARD_ASSIGN(const auto headers, parse_headers(text, faults));
    WheelInfo info;
    const auto* version = headers.first("Wheel-Version");
    if (version == nullptr) return base::fail("wheel_info.missing", "WHEEL lacks the field Wheel-Version");
    const bool is_exact = std::any_of(headers.fields.begin(), headers.fields.end(),
                                      [](const auto& field) { return field.first == "Wheel-Version"; });
    if (!is_exact || !is_wheel_version(*version)) {
        auto unsupported = base::fail("wheel_info.wheel_version", "Unsupported Wheel-Version",
                                      excerpt(*version), "1.x is supported");
        WHEELYARD_TRY(tolerate(std::move(unsupported), is_read_by_installers(*version) ? faults : nullptr));
    }
    info.wheel_version = *version;
    if (const auto* generator = headers.first("Generator")) info.generator = *generator;
    if (const auto* build = headers.first("Build")) info.build = *build;

    WHEELYARD_TRY(tolerate(read_purelib(headers, info.root_is_purelib), faults));
    const auto values = headers.all("Tag");
    for (const auto& value : values) {
        auto tags = parse_tag_set(value);
        if (!tags) {
            WHEELYARD_TRY(tolerate(base::fail(std::move(tags.error())), faults));
            continue;
        }
        if (info.tags.size() + tags->size() > max_tags) {
            return base::fail("wheel_info.tags", "WHEEL has too many tags", excerpt(value));
        }
        info.tags.insert(info.tags.end(), tags->begin(), tags->end());
    }
    if (values.empty())
        WHEELYARD_TRY(tolerate(base::fail("wheel_info.missing", "WHEEL lacks the field Tag"), faults));
    std::sort(info.tags.begin(), info.tags.end());
    info.tags.erase(std::unique(info.tags.begin(), info.tags.end()), info.tags.end());
    return info;
}

}  // namespace wheelyard::wheel
