#include "lib/inspect/inspect.hpp"

#include <algorithm>
#include <iterator>

#include "lib/base/text/text.hpp"
#include "lib/inspect/dist_info/dist_info.hpp"
#include "lib/inspect/dist_info/installed_tree.hpp"
#include "lib/inspect/truth/gather_facts.hpp"
#include "lib/inspect/truth/tag_truth.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::string_view sdist_extension = ".tar.gz";  // PEP 625 has no other

void check_length(std::string_view filename, Findings& findings) {
    if (filename.size() > max_wheel_filename_bytes)
        findings.add_final("filename.invalid", {},
                           "at most " + std::to_string(max_wheel_filename_bytes) + " bytes",
                           std::to_string(filename.size()));
}

bool has_capitals(const std::vector<std::string>& tags) {
    return std::any_of(tags.begin(), tags.end(),
                       [](const std::string& tag) { return base::ascii_lower(tag) != tag; });
}

void check_torches(const Inspection& inspection, const TorchesFor& torches_for, Findings& findings) {
    if (!torches_for) return;
    const CompanionUses companion = companion_uses(inspection.filename, inspection.elves);
    if (companion.files.empty()) return;
    const auto torches = torches_for(inspection.filename, inspection.facts.torch_requires);
    if (const auto fit = fits_none(companion, torches))
        findings.add("torch.cannot_load", fit->file, {}, fit->sentence);
}

base::Status check(const base::Reader& bytes, const InspectOptions& options, Findings& findings,
                   Inspection& result) {
    WHEELYARD_ASSIGN(const auto frame, read_frame(bytes, findings, options.policy.sizes));
    if (!frame) return {};
    result.facts.members = frame->members.size();
    result.facts.unpacked_bytes = frame->unpacked_bytes;

    WHEELYARD_ASSIGN(DistInfo info, read_dist_info(bytes, *frame, result.filename, findings));
    check_dist_info(info, *frame, result.filename, findings);
    check_installed_tree(*frame, info, result.filename, findings);
    if (info.wheel) {
        result.facts.tags = info.wheel->tags;
        result.facts.root_is_purelib = info.wheel->root_is_purelib;
    }
    if (info.metadata) {
        result.facts.requires_python = info.metadata->requires_python;
        result.facts.requires_dist = info.metadata->requires_dist;
        result.facts.torch_requires = torch_requirements(info.metadata->requires_dist);
    }

    result.facts.components = std::move(info.components);

    std::optional<RecordCheck> record;
    if (info.record) {
        record.emplace(std::move(*info.record), info.folder);
        record->check_listing(frame->members, findings);
    }
    WHEELYARD_ASSIGN(Contents contents,
                     check_contents(bytes, *frame, record ? &*record : nullptr, options, findings));
    Facts& facts = result.facts;
    const Promise promise = read_promise(result.filename);
    facts.not_judged = promise.not_judged;
    std::vector<ElfMember> data = take_data(contents.elves, promise, findings);
    const ProvidedLibraries provided(contents.elves);
    leave_out_other_python_names(contents.elves, provided);
    const RequiredLibraries required(facts.requires_dist, options.libraries_of);
    gather_elf_facts(contents.elves, provided, required, facts);
    gather_import_facts(bytes, *frame, result.filename, contents.elves, provided, facts);
    if (!promise.is_judged()) facts.manylinux_fit.clear(), facts.musllinux_fit.clear();
    for (const auto& [fact, names] : contents.gpu.code)
        facts.device_code[fact].assign(names.begin(), names.end());
    facts.device_code_not_read.assign(contents.gpu.not_read.begin(), contents.gpu.not_read.end());
    check_tag_truth(contents.elves, provided, required, result.filename, promise, facts, options.policy,
                    contents.has_foreign_programs, findings);
    if (info.variant) {
        check_variant_truth(*info.variant, facts, findings);
        facts.variant = std::move(info.variant->document);
    }
    result.elves = std::move(contents.elves);
    std::move(data.begin(), data.end(), std::back_inserter(result.elves));
    std::sort(result.elves.begin(), result.elves.end(),
              [](const ElfMember& a, const ElfMember& b) { return a.name < b.name; });
    check_torches(result, options.torches_for, findings);

    if (info.metadata) result.metadata = std::move(*info.metadata);
    result.metadata_bytes = std::move(info.metadata_bytes);
    return {};
}

}  // namespace

Severity Inspection::worst() const {
    return verdicts.empty() ? Severity::note : verdicts.front().severity;
}

std::string_view rule_of(wheel::NameForm form) {
    switch (form) {
        case wheel::NameForm::normal:
            break;
        case wheel::NameForm::other_spelling:
            return "filename.not_normalized";
        case wheel::NameForm::other_text:
            return "filename.version_not_normalized";
    }
    return {};
}

std::string_view Inspection::outcome() const {
    return refused() ? "refused" : accepted() ? "accepted" : "quarantined";
}

base::Result<Inspection> inspect_wheel(const base::Reader& bytes, std::string_view filename,
                                       const InspectOptions& options) {
    Findings findings(options.policy);
    Inspection result;
    result.facts.size_bytes = bytes.size();
    auto name = wheel::parse_wheel_filename(filename);
    check_length(filename, findings);
    if (name) {
        result.filename = std::move(*name);
        if (const auto rule = rule_of(wheel::form_of(result.filename)); !rule.empty()) {
            findings.add(
                rule, {},
                wheel::escape_name(result.filename.project) + "-" + result.filename.version.text() + "-…",
                filename);
        }
        if (has_capitals(result.filename.pythons) || has_capitals(result.filename.abis) ||
            has_capitals(result.filename.platforms))
            findings.add("filename.tags_not_normalized", {}, {}, filename);
        // Installers without variants do not install such a wheel under any policy.
        if (result.filename.variant && !options.policy.variants)
            findings.add_final("filename.variant", {}, {}, *result.filename.variant);
        WHEELYARD_TRY(check(bytes, options, findings, result));
    } else {
        findings.add_final("filename.invalid", {}, {}, name.error().text());
    }
    result.verdicts = findings.take();
    return result;
}

base::Result<Inspection> inspect_sdist(const base::Reader& bytes, std::string_view filename,
                                       const InspectOptions& options) {
    Findings findings(options.policy);
    Inspection result;
    result.facts.size_bytes = bytes.size();
    check_length(filename, findings);
    auto name = wheel::parse_sdist_filename(filename);
    if (name && name->extension == sdist_extension) {
        result.filename.project = name->project;
        result.filename.version = name->version;
        if (const auto rule = rule_of(wheel::form_of(*name)); !rule.empty())
            findings.add(
                rule, {},
                wheel::escape_name(name->project) + "-" + name->version.text() + std::string(sdist_extension),
                filename);
        WHEELYARD_ASSIGN(Sdist sdist, check_sdist(bytes, *name, options.policy.sizes, findings));
        result.facts.members = sdist.members;
        result.facts.unpacked_bytes = sdist.unpacked_bytes;
        if (sdist.metadata) {
            result.facts.requires_python = sdist.metadata->requires_python;
            result.facts.static_metadata = has_static_metadata(*sdist.metadata);
            result.metadata = std::move(*sdist.metadata);
        }
        result.metadata_bytes = std::move(sdist.metadata_bytes);
    } else {
        findings.add_final("filename.invalid", {}, {},
                           name ? "not a " + std::string(sdist_extension) : name.error().text());
    }
    result.verdicts = findings.take();
    return result;
}

base::Result<Inspection> inspect_file(const base::Reader& bytes, std::string_view filename,
                                      const InspectOptions& options) {
    return wheel::is_sdist_filename(filename) ? inspect_sdist(bytes, filename, options)
                                              : inspect_wheel(bytes, filename, options);
}

}  // namespace wheelyard::inspect
