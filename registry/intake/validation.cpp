#include "registry/intake/validation.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/wheel/metadata.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wire/wheel_provenance.hpp"

namespace wheelyard::registry {
namespace {

using wire::refuse;

struct FieldRow {
    std::string_view name;
    std::optional<std::string> UploadForm::*member;
};
constexpr std::array fields{
    FieldRow{":action", &UploadForm::action},
    FieldRow{"protocol_version", &UploadForm::protocol_version},
    FieldRow{"name", &UploadForm::name},
    FieldRow{"version", &UploadForm::version},
    FieldRow{"filetype", &UploadForm::filetype},
    FieldRow{"attestations", &UploadForm::attestations},
    FieldRow{"metadata_version", &UploadForm::metadata_version},
    FieldRow{"md5_digest", &UploadForm::md5_digest},
    FieldRow{"sha256_digest", &UploadForm::sha256_digest},
    FieldRow{"wheelyard_provenance", &UploadForm::provenance},
    FieldRow{"wheelyard_task", &UploadForm::task},
};

struct DigestRow {
    std::string_view field;
    std::optional<std::string> UploadForm::*sent;
    std::string ContentDigests::*counted;
    std::size_t hex_length;
};
constexpr std::array digests{
    DigestRow{"sha256_digest", &UploadForm::sha256_digest, &ContentDigests::sha256, 64},
    DigestRow{"md5_digest", &UploadForm::md5_digest, &ContentDigests::md5, 32},
};

}  // namespace

wire::Answered<void> check_action(const UploadForm& form) {
    if (!form.action)
        return refuse("upload.no_action", "The form has no :action", "The field `:action` is missing.", {},
                      "send :action=file_upload");
    if (*form.action == "file_upload") return {};
    constexpr std::array<std::string_view, 3> retired{"submit", "submit_pkg_info", "doc_upload"};
    if (std::find(retired.begin(), retired.end(), *form.action) != retired.end()) {
        return refuse("upload.action_retired", "This action is no longer supported; upload files instead",
                      "Projects are not registered and documentation is not hosted: the first file creates a "
                      "project.",
                      *form.action, "send :action=file_upload");
    }
    return refuse("upload.unknown_action", "Unknown :action", "The only action of this form is file_upload.",
                  wire::one_line_title(*form.action), "send :action=file_upload");
}

namespace {

tl::unexpected<wire::Problem> refuse_sdist(std::string_view filename) {
    return refuse(
        "upload.sdist", "This index accepts wheels only, not source distributions",
        "The file name is that of a source distribution.", wire::one_line_title(filename),
        "upload the wheels only (dist/*.whl), or ask an administrator to set `sdists = true` for this index");
}

constexpr std::string_view wheel_filetype = "bdist_wheel";
constexpr std::string_view sdist_filetype = "sdist";

wire::Answered<void> check_filetype(const UploadForm& form) {
    if (!form.filetype)
        return refuse("upload.field_missing", "The form has no filetype", "The field `filetype` is missing.",
                      "filetype", "send filetype=bdist_wheel, or sdist for a source distribution");
    if (*form.filetype == wheel_filetype || *form.filetype == sdist_filetype) return {};
    return refuse("upload.unknown_filetype", "Unknown filetype", "The known ones are bdist_wheel and sdist.",
                  wire::one_line_title(*form.filetype));
}

wire::Answered<void> check_digest_fields(const UploadForm& form) {
    bool any = false;
    for (const DigestRow& row : digests) {
        const auto& sent = form.*row.sent;
        if (!sent) continue;
        any = true;
        const auto is_hex = [](char c) {
            return base::is_ascii_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        };
        if (sent->size() != row.hex_length || !std::all_of(sent->begin(), sent->end(), is_hex)) {
            return refuse("upload.bad_digest", "Invalid digest: " + std::string(row.field),
                          "The field `" + std::string(row.field) + "` must be " +
                              std::to_string(row.hex_length) + " hexadecimal digits.",
                          wire::one_line_title(*sent));
        }
    }
    if (any) return {};
    return refuse("upload.no_digest", "The form has no digest of the file",
                  "One of sha256_digest and md5_digest is required.", {}, "send sha256_digest");
}

std::string normal_filename(const wheel::WheelFilename& name) {
    wheel::WheelFilename normal = name;
    normal.name = wheel::escape_name(name.name);
    normal.version_text = name.version.text();
    return normal.text();
}

// What refuses every kind of file.
wire::Answered<void> check_characters(std::string_view filename) {
    const bool separator = filename.find_first_of("/\\") != std::string_view::npos;
    const bool unprintable =
        std::any_of(filename.begin(), filename.end(), [](char c) { return c <= ' ' || c > '~'; });
    if (filename.empty() || separator || unprintable) {
        return refuse("upload.bad_filename", "Invalid file name",
                      "A file name must consist of printable ASCII characters without spaces, `/` and `\\`.",
                      wire::one_line_title(filename));
    }
    constexpr std::size_t max_bytes = inspect::max_wheel_filename_bytes;
    if (filename.size() <= max_bytes) return {};
    return refuse("upload.bad_filename", "File name too long",
                  "A file name may have at most " + std::to_string(max_bytes) + " bytes.",
                  wire::one_line_title(filename), "use fewer tags, or a shorter local version");
}

tl::unexpected<wire::Problem> refuse_filename(std::string_view filename, const base::Error& why) {
    return refuse("upload.bad_filename", "Invalid file name (" + std::string(filename) + ")", why.sentence,
                  wire::one_line_title(filename), why.advice);
}

tl::unexpected<wire::Problem> refuse_not_normal(std::string_view sent, const std::string& right) {
    return refuse("upload.name_not_normalized", "File name is not normalized; it should be " + right,
                  "The name and version in a file name must be in normal form (PEP 427, PEP 625, PEP 440): " +
                      right + ".",
                  wire::one_line_title(sent), "build it again with a current build backend");
}

wire::Answered<void> check_normal(std::string_view filename, wheel::NameForm form, const std::string& right,
                                  const inspect::Policy& policy) {
    const std::string_view rule = inspect::rule_of(form);
    if (rule.empty() || inspect::severity_under(policy, rule) != inspect::Severity::reject) return {};
    return refuse_not_normal(filename, right);
}

wire::Answered<UploadName> check_wheel_filename(std::string_view filename, const inspect::Policy& policy) {
    auto parsed = wheel::parse_wheel_filename(filename);
    if (!parsed) return refuse_filename(filename, parsed.error());
    if (parsed->variant && !policy.variants) {
        const inspect::Rule& rule = *inspect::find_rule("filename.variant");
        return refuse(wire::Refusal::coded(400, rule.code), std::string(rule.sentence),
                      std::string(rule.sentence), *parsed->variant, std::string(rule.advice));
    }
    if (auto normal = check_normal(filename, wheel::form_of(*parsed), normal_filename(*parsed), policy);
        !normal)
        return tl::unexpected(std::move(normal.error()));
    return UploadName{.project = parsed->project, .version = parsed->version};
}

// The only archive of source distributions (PEP 625); the others are those of older ones.
constexpr std::string_view sdist_extension = ".tar.gz";
constexpr std::array<std::string_view, 4> older_sdist_extensions{".zip", ".tgz", ".tar.bz2", ".tar.xz"};

std::string normal_sdist_filename(const std::string& project, const wheel::Version& version) {
    return wheel::escape_name(project) + "-" + version.text() + std::string(sdist_extension);
}

wire::Answered<UploadName> check_sdist_filename(std::string_view filename, const inspect::Policy& policy) {
    if (!filename.ends_with(sdist_extension))
        return refuse("upload.sdist_archive", "A source distribution must be a .tar.gz file",
                      "PEP 625 names {name}-{version}.tar.gz only.", wire::one_line_title(filename),
                      "make it again with `python -m build --sdist`");
    const auto parsed = wheel::parse_sdist_filename(filename);
    if (!parsed) return refuse_filename(filename, parsed.error());
    const std::string right = normal_sdist_filename(parsed->project, parsed->version);
    if (auto normal = check_normal(filename, wheel::form_of(*parsed), right, policy); !normal)
        return tl::unexpected(std::move(normal.error()));
    return UploadName{.project = parsed->project, .version = parsed->version, .is_sdist = true};
}

}  // namespace

std::optional<std::string>* UploadForm::field(std::string_view wanted) {
    for (const FieldRow& row : fields) {
        if (row.name == wanted) return &(this->*row.member);
    }
    return nullptr;
}

wire::Answered<UploadName> check_filename(std::string_view filename, const inspect::Policy& policy,
                                          AcceptedFiles accepted) {
    const bool is_older_sdist = filename.find(".whl") == std::string_view::npos &&
                                std::any_of(older_sdist_extensions.begin(), older_sdist_extensions.end(),
                                            [&](auto extension) { return filename.ends_with(extension); });
    const bool is_sdist = is_older_sdist || filename.ends_with(sdist_extension);
    if (is_sdist && accepted == AcceptedFiles::wheels) return refuse_sdist(filename);
    if (auto good = check_characters(filename); !good) return tl::unexpected(std::move(good.error()));
    if (is_sdist) return check_sdist_filename(filename, policy);
    if (!filename.ends_with(".whl")) {
        return refuse("upload.not_a_wheel",
                      accepted == AcceptedFiles::wheels_and_sdists
                          ? "This index accepts wheels (.whl) and source distributions (.tar.gz) only"
                          : "This index accepts wheels (.whl) only",
                      "The file name does not end in .whl.", wire::one_line_title(filename),
                      "build a wheel and upload it");
    }
    return check_wheel_filename(filename, policy);
}

wire::Answered<void> check_size(std::uint64_t size_bytes, std::uint64_t limit_bytes) {
    if (size_bytes <= limit_bytes) return {};
    return refuse("upload.too_large",
                  "File too large; the limit of this index is " + base::render_bytes(limit_bytes),
                  "The index accepts files of up to " + std::to_string(limit_bytes) + " bytes.", {},
                  "ask an administrator to raise max_file_mib of this index");
}

wire::Answered<void> check_form(const UploadForm& form) {
    if (auto action = check_action(form); !action) return action;
    if (form.protocol_version && *form.protocol_version != "1") {
        return refuse("upload.unknown_protocol", "Unknown protocol version",
                      "The only protocol_version is 1.", wire::one_line_title(*form.protocol_version));
    }
    if (auto filetype = check_filetype(form); !filetype) return filetype;
    for (const auto& [name, sent] : {std::pair("name", &form.name), std::pair("version", &form.version)}) {
        if (*sent) continue;
        return refuse("upload.field_missing", "The form has no " + std::string(name),
                      "The field `" + std::string(name) + "` is missing.", name);
    }
    if (form.metadata_version && !wheel::is_metadata_version(*form.metadata_version)) {
        return refuse("upload.unknown_metadata_version", "Unknown metadata_version",
                      "Metadata versions 1.0 to 2.6 are supported.",
                      wire::one_line_title(*form.metadata_version));
    }
    return check_digest_fields(form);
}

wire::Answered<void> check_form_against(const UploadForm& form, const UploadName& filename) {
    if (form.filetype != (filename.is_sdist ? sdist_filetype : wheel_filetype)) {
        return refuse("upload.filetype_differs", "The form's filetype and the file name differ",
                      filename.is_sdist ? "The file name is that of a source distribution."
                                        : "The file name is that of a wheel.",
                      wire::one_line_title(form.filetype.value_or("")),
                      filename.is_sdist ? "send filetype=sdist" : "send filetype=bdist_wheel");
    }
    const std::string project = wheel::normalize_name(form.name.value_or(""));
    const auto version = wheel::Version::parse(form.version.value_or(""));
    if (project != filename.project) {
        // leo-6.7.8-9.tar.gz reads as version 9 of leo-6.7.8, and is version 6.7.8.post9 of leo.
        const bool is_split_elsewhere =
            wheel::normalize_name(project + "-" + form.version.value_or("")) ==
            wheel::normalize_name(filename.project + "-" + filename.version.text());
        if (filename.is_sdist && version && is_split_elsewhere)
            return refuse_not_normal(*form.version, normal_sdist_filename(project, *version));
        return refuse("upload.name_differs", "The form's name and the file name differ",
                      "The form's project differs from the file's, `" + filename.project + "`.",
                      wire::one_line_title(form.name.value_or("")));
    }
    if (!version || version->text() != filename.version.text()) {
        return refuse("upload.version_differs", "The form's version and the file name differ",
                      "The form's version differs from the file's, `" + filename.version.text() + "`.",
                      wire::one_line_title(form.version.value_or("")));
    }
    // `pyversion` is not compared: old setuptools sends "3.8" for any wheel, and the tags are in the file
    // name.
    return {};
}

wire::Answered<void> check_digests(const UploadForm& form, const ContentDigests& content) {
    for (const DigestRow& row : digests) {
        const auto& sent = form.*row.sent;
        if (!sent || base::ascii_lower(*sent) == content.*row.counted) continue;
        return refuse("upload.digest_mismatch",
                      "The file's digest differs from the form's (" + std::string(row.field) + ")",
                      "The received bytes have " + std::string(row.field) + " " + content.*row.counted + ".",
                      *sent, "send it again: the file was changed or damaged in transit");
    }
    return {};
}

namespace {

// The findings that refuse or quarantine a wheel, one per line.
std::string reported_verdicts(const inspect::Inspection& inspection) {
    std::string detail;
    std::size_t count = 0;
    for (const inspect::Verdict& verdict : inspection.verdicts) {
        if (verdict.severity < inspect::Severity::quarantine) continue;
        if (count++ == max_verdicts_reported) {
            detail += "\n(and more)";
            break;
        }
        if (!detail.empty()) detail += "\n";
        detail += verdict.text();
    }
    return detail;
}

// What a client shows of the finding: the member where it is the fault, else the value, and in which member
// it is unless the rule says so.
std::string offending_value(const inspect::Verdict& verdict) {
    constexpr std::array<std::string_view, 5> of_members{"zip", "record", "sdist", "dist_info",
                                                         "data_folder"};
    const std::string_view group = verdict.code.substr(0, verdict.code.find('.'));
    const bool is_member = std::find(of_members.begin(), of_members.end(), group) != of_members.end();
    if (verdict.found.empty() || (is_member && !verdict.member.empty())) return verdict.member;
    std::string value = wire::one_line_title(verdict.found);
    const bool is_named = verdict.member.empty() || verdict.member.find(".dist-info/") != std::string::npos ||
                          verdict.member.ends_with("/PKG-INFO");
    return is_named ? value : value + " in " + verdict.member;
}

}  // namespace

std::string quarantine_reason(const inspect::Inspection& inspection) {
    return inspection.accepted() || inspection.refused() ? std::string() : reported_verdicts(inspection);
}

wire::Answered<std::string> check_provenance(const UploadForm& form, std::string_view filename,
                                             std::string_view sha256, std::string_view bound_site) {
    if (!form.provenance || base::trim(*form.provenance).empty()) return std::string();
    const auto provenance = wire::parse_wheel_provenance(*form.provenance);
    if (!provenance)
        return refuse("upload.provenance", "The provenance of the wheel cannot be read",
                      provenance.error().sentence + ".", wire::one_line_title(provenance.error().value),
                      provenance.error().advice);
    if (provenance->wheel.filename != filename || provenance->wheel.sha256 != sha256)
        return refuse("upload.provenance_of_another", "The provenance is about another wheel than the file",
                      "The field `wheelyard_provenance` names another file or digest.",
                      wire::one_line_title(provenance->wheel.filename), "send the provenance of this wheel");
    if (!bound_site.empty() && provenance->site != bound_site)
        return refuse("upload.provenance_site", "The provenance names another site than the agent's",
                      "The token is that of an agent that enrolled for `" + std::string(bound_site) +
                          "`; the registry does not sign that another site built the wheel.",
                      wire::one_line_title(provenance->site),
                      "build it with the agent of the site, or enrol for the site that site.toml names");
    return wire::render_wheel_provenance(*provenance);
}

wire::Answered<void> check_inspection(const inspect::Inspection& inspection) {
    if (!inspection.refused()) return {};
    const inspect::Verdict& first = inspection.verdicts.front();
    const inspect::Rule* rule = inspect::find_rule(first.code);
    std::string title = rule != nullptr ? std::string(rule->sentence) : std::string(first.code);
    return refuse(wire::Refusal::coded(400, first.code), title, reported_verdicts(inspection),
                  offending_value(first), rule != nullptr ? std::string(rule->advice) : std::string());
}

wire::Problem name_taken(std::string_view filename, const catalog::Added& there) {
    const bool inherited = !there.index_there.empty();
    const std::string title = "File already exists (" + std::string(filename) + ")";
    if (!there.filename_there.empty())
        return wire::make_problem("upload.name_taken", title,
                                  (inherited ? "The index inherits from `" + there.index_there + "` a file"
                                             : std::string("The index has a file")) +
                                      " of this project, version, build and tags under the name " +
                                      there.filename_there + ".",
                                  std::string(filename), "raise the version or the build number");
    const std::string where =
        inherited ? "The index inherits a file of this name from `" + there.index_there + "`, "
                  : "The index has a file of this name ";
    return wire::make_problem("upload.name_taken", title,
                              where + "with different bytes (sha256 " + there.sha256_there +
                                  "). A published name never changes its bytes.",
                              std::string(filename),
                              inherited
                                  ? "raise the version or the build number, or let this index own the project"
                                  : "raise the version or the build number");
}

wire::Problem name_was_deleted(std::string_view filename, std::string_view deleted) {
    const std::string spelled = deleted.empty() ? "" : ", as `" + std::string(deleted) + "`";
    return wire::make_problem(
        "upload.name_was_deleted",
        "This filename was previously used by a file that has since been deleted" + spelled,
        "Lock files may contain the old file's hash, so a deleted name is never used again, in any spelling.",
        std::string(filename), "raise the version or the build number");
}

std::optional<wire::Problem> refusal_of(const catalog::Added& added, const catalog::FileRow& row) {
    switch (added.outcome) {
        case catalog::AddOutcome::name_taken:
            return name_taken(row.filename, added);
        case catalog::AddOutcome::name_was_deleted:
            return name_was_deleted(row.filename, added.filename_there);
        case catalog::AddOutcome::project_closed:
            return wire::make_problem(
                "upload.project_closed", "The project " + row.project + " accepts no new files",
                "The project's status in this index (archived or quarantined, PEP 792) refuses uploads.",
                row.project,
                "see its page for the reason; an administrator can change it with `wheelyard-registry "
                "status`");
        case catalog::AddOutcome::variants_differ:
            return wire::make_problem("upload.variants_differ",
                                      "The wheel contradicts another variant wheel of this version",
                                      added.why.sentence + ": " + added.filename_there + ".",
                                      wire::one_line_title(added.why.value), added.why.advice);
        case catalog::AddOutcome::added:
        case catalog::AddOutcome::already_there:
            break;
    }
    return std::nullopt;
}

}  // namespace wheelyard::registry
