// Checks the individual fields of METADATA (core metadata specification 1.0 to 2.6) beyond what the parser
// enforces: problems that installers and indexes would hit later.
#include "lib/inspect/dist_info/dist_info.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "lib/base/text/text.hpp"
#include "lib/inspect/dist_info/license_expression.hpp"
#include "lib/wheel/limits.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::size_t max_nesting_of_installers =
    4096;                                  // of parentheses: pip ends at some 500, uv at some 4,000
constexpr std::size_t max_url_label = 32;  // of well-known project URLs (core metadata 1.2)

// Python's keywords, which `import` does not accept (the language reference, "Keywords").
constexpr std::string_view python_keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

bool is_identifier(std::string_view text) {
    if (text.empty() || base::is_ascii_digit(text.front())) return false;
    if (std::find(std::begin(python_keywords), std::end(python_keywords), text) != std::end(python_keywords))
        return false;
    return std::all_of(text.begin(), text.end(), [](char c) {
        return base::is_ascii_alpha(c) || base::is_ascii_digit(c) || c == '_' ||
               static_cast<unsigned char>(c) >= 0x80;  // not checked against Python's rules
    });
}

void check_license(const wheel::Metadata& metadata, std::string_view path, Findings& findings) {
    const std::string* license = metadata.headers.first("License-Expression");
    const bool is_valid = license != nullptr && is_license_expression(*license);
    if (license != nullptr && !is_valid)
        findings.add("metadata.license_invalid", path,
                     "an SPDX license expression, by the license list " + std::string(spdx_list_version),
                     *license);
    const std::vector<std::string>& allowed = findings.policy().licenses;
    if (allowed.empty()) return;
    if (!is_valid) {
        findings.add("metadata.license_unstated", path, "License-Expression",
                     license == nullptr ? "" : *license);
    } else if (const auto others = licenses_not_allowed(*license, allowed); !others.empty()) {
        findings.add("metadata.license_not_allowed", path, "one of " + base::join(allowed, ", "),
                     *license + ": not " + base::join(others, ", "));
    }
}

void check_newer_fields(const wheel::Metadata& metadata, std::string_view path, Findings& findings) {
    for (const std::string& field : metadata.newer_fields) {
        // setuptools and wheel wrote this field for years before metadata 2.4 defined it.
        if (base::equals_ignoring_case(field, "License-File")) continue;
        findings.add("metadata.field_too_new", path, "fields of metadata " + metadata.metadata_version,
                     field);
    }
}

// Says whether uv repairs the specifiers of what is no requirement: >=1.*, >=1<2, !=~1, >dev, >=1.0a1.0, '1',
// >=1,
bool is_repaired_by_uv(std::string_view text) {
    const std::string_view specifiers = base::trim(text.substr(0, text.find(';')));
    bool is_after_digit = false;
    for (const char c : specifiers) {
        if (is_after_digit && std::string_view("<>=~^!").find(c) != std::string_view::npos) return true;
        is_after_digit = base::is_ascii_digit(c);
    }
    return specifiers.ends_with(',') || specifiers.find_first_of("*'\"") != std::string_view::npos ||
           specifiers.find("!=~") != std::string_view::npos ||
           specifiers.find(">dev") != std::string_view::npos ||
           specifiers.find(".0") != std::string_view::npos;
}

// Says whether pip and uv, too, refuse what our parser refuses. It has limits that they do not have.
bool is_refused_by_all(std::string_view text) {
    const auto nesting = static_cast<std::size_t>(std::count(text.begin(), text.end(), '('));
    const auto commas = static_cast<std::size_t>(std::count(text.begin(), text.end(), ','));
    if (nesting > max_nesting_of_installers) return true;
    return text.size() <= wheel::max_requirement_bytes && nesting <= wheel::max_marker_nesting &&
           commas < wheel::max_extras && text.find('\\') == std::string_view::npos &&
           !is_repaired_by_uv(text);
}

// "file:///x", "git+file:///x", "./x", "/x"
bool is_local(std::string_view url) {
    const std::string scheme = base::ascii_lower(url.substr(0, url.find(':')));
    return !url.empty() && (scheme.size() == url.size() || scheme == "file" || scheme.ends_with("+file"));
}

void check_requirements(const wheel::Metadata& metadata, std::string_view path, bool is_of_variant,
                        Findings& findings) {
    for (const std::string& text : metadata.requires_dist) {
        const auto parsed = wheel::Requirement::parse(text);
        if (!parsed) {
            is_refused_by_all(text)
                ? findings.add_final("metadata.requirement_invalid", path, parsed.error().sentence, text)
                : findings.add("metadata.requirement_invalid", path, parsed.error().sentence, text);
            continue;
        }
        if (is_local(parsed->url))
            findings.add("metadata.requirement_local", path, "a name and a version", text);
        if (parsed->marker) {
            if (const std::string undefined = parsed->marker->undefined_comparison(is_of_variant);
                !undefined.empty())
                findings.add("metadata.marker_undefined", path, "no " + undefined, text);
            else if (!parsed->marker->undefined_comparison().empty())
                findings.add("metadata.marker_variant", path, {}, text);
        }
    }
    for (const std::string& extra : metadata.provides_extra) {
        const bool must_be_normal = metadata.is_at_least("2.3");
        const bool good =
            wheel::is_valid_name(extra) && (!must_be_normal || wheel::normalize_name(extra) == extra);
        if (!good)
            findings.add(
                "metadata.extra_invalid", path,
                must_be_normal ? "lower-case letters and digits, separated by single -" : "a valid name",
                extra);
    }
}

void check_urls(const wheel::Metadata& metadata, std::string_view path, Findings& findings) {
    for (const std::string& text : metadata.headers.all("Project-URL")) {
        const auto comma = text.find(',');
        const bool good = comma != std::string::npos && !base::trim(text.substr(0, comma)).empty() &&
                          base::trim(text.substr(0, comma)).size() <= max_url_label &&
                          !base::trim(text.substr(comma + 1)).empty();
        if (!good)
            findings.add(
                "metadata.url_invalid", path,
                "a label of at most " + std::to_string(max_url_label) + " characters, a comma, a URL", text);
    }
}

void check_description(const wheel::Metadata& metadata, std::string_view path, Findings& findings) {
    const std::string* type = metadata.headers.first("Description-Content-Type");
    if (type != nullptr && !is_content_type(*type))
        findings.add("metadata.content_type_invalid", path,
                     "text/plain, text/x-rst or text/markdown, in UTF-8", *type);
}

void check_imports(const wheel::Metadata& metadata, std::string_view path, Findings& findings) {
    constexpr std::string_view expected =
        "dotted identifiers, each in only one of Import-Name and Import-Namespace";
    std::set<std::string> names;
    const auto import_names = metadata.headers.all("Import-Name");
    for (const std::string& text : import_names) {
        names.insert(std::string(base::trim(text.substr(0, text.find(';')))));
        // An empty value means that there is nothing to import; it must be the only one.
        const bool nothing = text.empty() && import_names.size() == 1;
        if (!nothing && !is_import_name(text)) findings.add("metadata.import_invalid", path, expected, text);
    }
    for (const std::string& text : metadata.headers.all("Import-Namespace")) {
        const std::string name(base::trim(text.substr(0, text.find(';'))));
        if (!is_import_name(text) || names.count(name) != 0)
            findings.add("metadata.import_invalid", path, expected, text);
    }
}

}  // namespace

bool is_content_type(std::string_view text) {
    constexpr std::array<std::string_view, 3> types{"text/plain", "text/x-rst", "text/markdown"};
    const auto parts = base::split(text, ';');
    const std::string type = base::ascii_lower(base::trim(parts.front()));
    if (std::find(types.begin(), types.end(), type) == types.end()) return false;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const std::string_view part = base::trim(parts[i]);
        const auto equals = part.find('=');
        if (equals == std::string_view::npos) return false;
        const std::string key = base::ascii_lower(base::trim(part.substr(0, equals)));
        std::string_view value = base::trim(part.substr(equals + 1));
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
            value = value.substr(1, value.size() - 2);
        if (key == "charset" && !base::equals_ignoring_case(value, "UTF-8")) return false;
        if (key == "variant" && value != "GFM" && value != "CommonMark") return false;
    }
    return true;
}

bool is_import_name(std::string_view text) {
    const auto semicolon = text.find(';');
    if (semicolon != std::string_view::npos && base::trim(text.substr(semicolon + 1)) != "private")
        return false;
    const auto parts = base::split(base::trim(text.substr(0, semicolon)), '.');
    return std::all_of(parts.begin(), parts.end(), is_identifier);
}

void check_metadata_fields(const wheel::Metadata& metadata, std::string_view path, bool is_of_variant,
                           Findings& findings) {
    check_newer_fields(metadata, path, findings);
    check_requirements(metadata, path, is_of_variant, findings);
    check_urls(metadata, path, findings);
    check_description(metadata, path, findings);
    check_imports(metadata, path, findings);
    check_license(metadata, path, findings);
}

}  // namespace wheelyard::inspect
