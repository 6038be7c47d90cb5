#include "builder/steps/built_wheel.hpp"

#include <vector>

#include "lib/base/files/file.hpp"

namespace wheelyard::builder {

namespace fs = std::filesystem;

base::Result<fs::path> find_wheel(const Attempt& attempt, const Ports& ports) {
    const fs::path folder = ports.folder_of(attempt).wheel();
    std::vector<fs::path> wheels;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().extension() == ".whl") wheels.push_back(entry.path());
    }
    // An unreadable folder is not a failure of the build.
    if (error && error != std::errc::no_such_file_or_directory)
        return base::fail_errno("reading the folder", folder.native(), error.value());
    if (wheels.size() == 1) return wheels.front();
    return base::fail(
        "wheel.count",
        "A build must produce exactly one wheel; this one produced " + std::to_string(wheels.size()),
        folder.string());
}

base::Result<const inspect::Inspection*> inspection_of(const Attempt& attempt, Ports& ports,
                                                       const fs::path& file) {
    if (ports.inspected != file.native() || !ports.inspection) {
        WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(file));
        inspect::InspectOptions options;
        options.threads = static_cast<unsigned>(ports.site.cores);
        // The index configures the allowed module trees, so its registry makes the final decision.
        options.policy.severities.emplace("elf.search_path", inspect::Severity::warn);
        options.policy.search_path_prefixes = ports.site.search_path_prefixes;
        options.policy.variants = file.parent_path() == ports.folder_of(attempt).variant();
        const Accelerator* accelerator = ports.site.accelerator(attempt.asked.accelerator);
        if (accelerator != nullptr) options.policy.gpu_architectures = accelerator->architectures;
        WHEELYARD_ASSIGN(ports.inspection, inspect::inspect_wheel(reader, file.filename().string(), options));
        ports.inspected = file.native();
    }
    return &*ports.inspection;
}

fs::path kept_wheel(const Attempt& attempt, const Ports& ports) {
    return ports.site.work_directory / "wheels" / attempt.wheel.filename;
}

}  // namespace wheelyard::builder
