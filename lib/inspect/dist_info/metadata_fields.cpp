#include "lib/inspect/dist_info/metadata_fields.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "lib/base/text/text.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::size_t max_url_label = 32;  // of well-known project URLs (core metadata 1.2)

bool is_word(char c) {
    return base::is_ascii_alpha(c) || base::is_ascii_digit(c) || c == '-' || c == '.';
}

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

// Splits "(A OR B) AND C WITH D" into parentheses, names and operators.
std::vector<std::string_view> pieces_of(std::string_view text) {
    std::vector<std::string_view> pieces;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t length = 1;
        if (is_word(text[at])) {
            while (at + length < text.size() &&
                   (is_word(text[at + length]) || text[at + length] == '+' || text[at + length] == ':'))
                ++length;
        }
        if (text[at] != ' ') pieces.push_back(text.substr(at, length));
        at += length;
    }
    return pieces;
}

std::unordered_set<std::string_view> words_of(std::string_view list) {
    const auto words = base::split(list, ' ');
    return {words.begin(), words.end()};
}

bool is_spdx_exception(const std::string& lower) {
    static const auto known = words_of(spdx_exception_ids);
    return known.count(lower) != 0;
}

// An identifier of the list, with `+` for later versions, or LicenseRef-… with an optional DocumentRef-….
bool is_spdx_license(const std::string& lower) {
    static const auto known = words_of(spdx_license_ids);
    std::string_view name = lower;
    constexpr std::string_view document = "documentref-", reference = "licenseref-";
    const auto colon = name.find(':');
    if (colon != std::string_view::npos) {
        if (!name.starts_with(document) || colon == document.size()) return false;
        name.remove_prefix(colon + 1);
        if (!name.starts_with(reference)) return false;
    }
    if (name.starts_with(reference))
        return name.size() > reference.size() && std::all_of(name.begin(), name.end(), is_word);
    if (known.count(name) != 0) return true;
    if (name.ends_with('+')) name.remove_suffix(1);
    return known.count(name) != 0;
}

void check_newer_fields(const wheel::Metadata& metadata, std::string_view path, Findings& findings) {
    for (const std::string& field : metadata.newer_fields) {
        // setuptools and wheel wrote this field for years before metadata 2.4 defined it.
        if (base::equals_ignoring_case(field, "License-File")) continue;
        findings.add("metadata.field_too_new", path, "fields of metadata " + metadata.metadata_version,
                     field);
    }
}

void check_requirements(const wheel::Metadata& metadata, std::string_view path, Findings& findings) {
    for (const std::string& text : metadata.requires_dist) {
        const auto parsed = wheel::Requirement::parse(text);
        if (!parsed) {
            findings.add("metadata.requirement_invalid", path, parsed.error().sentence, text);
        } else if (parsed->marker) {
            if (const std::string undefined = parsed->marker->undefined_comparison(); !undefined.empty())
                findings.add("metadata.marker_undefined", path, "no " + undefined, text);
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

bool is_license_expression(std::string_view text) {
    // Names, operators and parentheses alternate correctly, and the list has the names.
    enum class Last { nothing, license, exception, closing, joining, with };
    Last last = Last::nothing;
    int open = 0;
    for (const std::string_view piece : pieces_of(text)) {
        const std::string lower = base::ascii_lower(piece);
        const bool complete = last == Last::license || last == Last::exception || last == Last::closing;
        if (piece == "(") {
            if (complete || last == Last::with) return false;
            ++open;
            last = Last::nothing;
        } else if (piece == ")") {
            if (!complete || open-- == 0) return false;
            last = Last::closing;
        } else if (lower == "and" || lower == "or") {
            if (!complete) return false;
            last = Last::joining;
        } else if (lower == "with") {
            if (last != Last::license) return false;
            last = Last::with;
        } else {
            const bool exception = last == Last::with;
            if (complete || !(exception ? is_spdx_exception(lower) : is_spdx_license(lower))) return false;
            last = exception ? Last::exception : Last::license;
        }
    }
    return open == 0 && (last == Last::license || last == Last::exception || last == Last::closing);
}

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

void check_metadata_fields(const wheel::Metadata& metadata, std::string_view path, Findings& findings) {
    check_newer_fields(metadata, path, findings);
    check_requirements(metadata, path, findings);
    check_urls(metadata, path, findings);
    check_description(metadata, path, findings);
    check_imports(metadata, path, findings);
    const std::string* license = metadata.headers.first("License-Expression");
    if (license != nullptr && !is_license_expression(*license))
        findings.add("metadata.license_invalid", path,
                     "an SPDX license expression, by the license list " + std::string(spdx_list_version),
                     *license);
}

}  // namespace wheelyard::inspect
