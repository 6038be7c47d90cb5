// The declaration and facts in, a wheel out, which is inspected by the registry's own rules like the one that the job wrote:
// `variant.promise` among them.
#include "builder/steps/variant_of_wheel.hpp"

#include <algorithm>
#include <array>

#include "builder/attempt/failpoints.hpp"
#include "builder/steps/built_wheel.hpp"
#include "builder/steps/provenance.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/truth/declared_variant.hpp"
#include "lib/inspect/variant_wheel.hpp"
#include "lib/wire/cpu_options.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

const wheel::LabelledVariant* declared_variant(const Attempt& attempt, const Ports& ports) {
    const Accelerator* accelerator = ports.site.accelerator(attempt.asked.accelerator);
    return accelerator == nullptr || !accelerator->variant ? nullptr : &*accelerator->variant;
}

// A section that was read in part names some GPUs only.
base::Status check_all_was_read(const inspect::Inspection& inspection) {
    constexpr std::array<std::string_view, 3> unread{"gpu.malformed", "gpu.compressed", "gpu.not_read"};
    for (const auto& verdict : inspection.verdicts) {
        if (std::find(unread.begin(), unread.end(), verdict.code) != unread.end())
            return base::fail("variant.unproven", "Not all of its GPU code was read", verdict.text());
    }
    return {};
}

base::Result<wheel::LabelledVariant> prove(const Attempt& attempt, const Ports& ports,
                                           const inspect::Inspection& inspection) {
    WHEELYARD_TRY(check_all_was_read(inspection));
    const auto build = provenance_of_build(attempt, ports);
    return inspect::prove_variant(
        *declared_variant(attempt, ports), inspection.facts,
        {accelerator::find_accelerator_kind(ports.site.accelerator(attempt.asked.accelerator)->kind),
         wire::level_of_options(build.environment), inspection.filename.version.local_text(), build.modules});
}

}  // namespace

bool wants_variant(const Attempt& attempt, const Ports& ports) {
    return ports.variants != nullptr && !attempt.asked.for_task && attempt.variant.not_made.empty() &&
           declared_variant(attempt, ports) != nullptr && !attempt.wheel.filename.ends_with("-any.whl");
}

base::Status make_variant(Attempt& attempt, Ports& ports) {
    WHEELYARD_ASSIGN(const auto file, find_wheel(attempt, ports));
    WHEELYARD_ASSIGN(const auto* inspection, inspection_of(attempt, ports, file));
    WHEELYARD_ASSIGN(const auto variant, prove(attempt, ports, *inspection));
    const auto name = inspection->filename;
    const std::string& against = attempt.asked.against;
    const std::string version = against.empty() ? "" : against.substr(against.find("==") + 2);

    const fs::path folder = ports.folder_of(attempt).variant();
    WHEELYARD_TRY(base::make_directories(folder));
    const fs::path made = folder / inspect::variant_filename(name, variant.label);
    WHEELYARD_ASSIGN(const auto bytes, base::FileReader::open(file));
    WHEELYARD_ASSIGN(auto into, base::FileReplacement::begin(made));
    const auto write = [&](std::string_view piece) -> base::Status {
        WHEELYARD_TRY(ports.still_ours());
        return into.write(piece);
    };
    WHEELYARD_TRY(inspect::write_variant_wheel(bytes, name, variant, version, write));
    WHEELYARD_TRY(into.commit());

    WHEELYARD_ASSIGN(inspection, inspection_of(attempt, ports, made));
    VariantRecord record;
    for (const auto& verdict : inspection->verdicts)
        record.verdicts.push_back(verdict.text());
    if (inspection->refused())
        return base::fail("variant.refused",
                          "The variant breaks the registry's rules: " + base::join(record.verdicts, "; "),
                          made.filename().string());
    record.filename = made.filename().string();
    WHEELYARD_ASSIGN(record.sha256, base::sha256_hex_of_file(made));
    WHEELYARD_ASSIGN(record.size, base::file_size(made));
    attempt.variant = std::move(record);
    ports.failpoints.hit("variant.made");
    ports.report(attempt, "made the variant " + attempt.variant.filename);
    return {};
}

}  // namespace wheelyard::builder
