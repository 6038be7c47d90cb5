// Facts in, variant.json and RECORD out; the finished wheel is inspected like the one that the job wrote.
#include "builder/steps/variant_of_wheel.hpp"

#include "builder/steps/built_wheel.hpp"
#include "builder/steps/provenance.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/variant_wheel.hpp"
#include "lib/wire/cpu_options.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

bool is_for_gpus(const Attempt& attempt, const Ports& ports) {
    const Accelerator* accelerator = ports.site.accelerator(attempt.asked.accelerator);
    return accelerator != nullptr && accelerator->kind != accelerator::cpu;
}

base::Result<inspect::ProvenVariant> prove(const Attempt& attempt, const Ports& ports,
                                           const inspect::Facts& facts) {
    const auto provenance = provenance_of_wheel(attempt, attempt.wheel, ports);
    WHEELYARD_ASSIGN(auto variant,
                     inspect::prove_variant(facts, wire::cpu_of_options(provenance.build.environment)));
    // The null variant is for every node.
    if (variant.properties.empty() && is_for_gpus(attempt, ports))
        return base::fail("variant.unproven", "It was built for GPUs, and its files do not say for which",
                          attempt.wheel.filename);
    return variant;
}

}  // namespace

bool wants_variant(const Attempt& attempt, const Ports& ports) {
    const auto name = wheel::parse_wheel_filename(attempt.wheel.filename);
    return ports.variants != nullptr && !attempt.asked.for_task && attempt.variant.not_made.empty() && name &&
           name->version.has_local();
}

base::Status make_variant(Attempt& attempt, Ports& ports) {
    WHEELYARD_ASSIGN(const auto file, find_wheel(attempt, ports));
    WHEELYARD_ASSIGN(const auto* inspection, inspection_of(attempt, ports, file));
    WHEELYARD_ASSIGN(const auto variant, prove(attempt, ports, inspection->facts));
    const auto name = inspection->filename;
    const std::string& against = attempt.asked.against;
    const std::string version = against.empty() ? "" : against.substr(against.find("==") + 2);

    const fs::path folder = ports.folder_of(attempt).variant();
    WHEELYARD_TRY(base::make_directories(folder));
    const fs::path made = folder / inspect::variant_filename(name, variant.label);
    WHEELYARD_ASSIGN(const auto bytes, base::FileReader::open(file));
    WHEELYARD_ASSIGN(auto into, base::FileReplacement::begin(made));
    WHEELYARD_TRY(inspect::write_variant_wheel(bytes, name, variant, version,
                                               [&](std::string_view piece) -> base::Status {
                                                   WHEELYARD_TRY(ports.still_ours());
                                                   return into.write(piece);
                                               }));
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
    ports.failpoints.hit(variant_failpoint);
    ports.report(attempt, "made the variant " + attempt.variant.filename);
    return {};
}

}  // namespace wheelyard::builder
