// Parses lines of two or three fields, and recognises names that look secret.
#include "builder/steps/provenance.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "builder/attempt/limits.hpp"
#include "builder/plan/request.hpp"
#include "builder/script/script_frame.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/simple/pip_config.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::array<std::string_view, 7> secret_words = {"token",  "secret", "pass", "credential",
                                                          "apikey", "_key",   "auth"};
constexpr const char* hidden = "(hidden)";

std::string clean(std::string_view text) {
    std::string shown;
    for (const char c : base::cut_utf8(base::trim(text), max_error_line_bytes))
        shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    return shown;
}

// Compilers and their options, and what PyTorch and CMake read: everything else may name people, paths or
// accounts.
// clang-format off
constexpr std::array<std::string_view, 28> published_variables = {
    "AR", "BLAS", "CC", "CFLAGS", "CMAKE_ARGS", "CMAKE_BUILD_TYPE", "CPPFLAGS", "CUDAARCHS", "CXX", "CXXFLAGS", "FC",
    "FFLAGS", "LD", "LDFLAGS", "MAX_JOBS", "MPICC", "MPICXX", "MPIFC", "NVCC", "PYTORCH_BUILD_NUMBER",
    "PYTORCH_BUILD_VERSION", "PYTORCH_ROCM_ARCH", "SETUPTOOLS_SCM_PRETEND_VERSION", "SOURCE_DATE_EPOCH",
    "TORCH_CUDA_ARCH_LIST", "USE_CUDA", "USE_MPI", "USE_ROCM"};
// clang-format on

// The build's environment, without the changes by modules and by the job's shell.
EnvironmentMap build_environment(const Attempt& attempt, const Ports& ports) {
    EnvironmentMap environment = job_environment(ports.environment);
    const Recipe recipe = ports.recipe_of(attempt);
    const Site site = sized_for(ports.site, recipe, attempt);
    for (const auto& group :
         exports_of_job(site, site.accelerator(attempt.asked.accelerator),
                        own_environment(recipe, attempt.asked.purpose),
                        placeholders_of({site, attempt.asked.version, attempt.asked.against,
                                         attempt.asked.accelerator}))) {
        for (const auto& [name, value] : group.variables)
            environment.insert_or_assign(name, value);
    }
    return environment;
}

// The digest of a file that is as old as `since`; empty: it has changed, or cannot be read.
std::string unchanged_sha256(const std::filesystem::path& file, base::UnixMicros since) {
    struct stat seen = {};
    if (file.empty() || ::stat(file.c_str(), &seen) != 0) return {};
    if (seen.st_mtim.tv_sec * base::second_us + seen.st_mtim.tv_nsec / 1'000 > since) return {};
    return base::sha256_hex_of_file(file).value_or(std::string());
}

bool is_secret_name(const std::string& name) {
    const std::string lower = base::ascii_lower(name);
    return std::any_of(secret_words.begin(), secret_words.end(),
                       [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

}  // namespace

wire::Provenance parse_built_by(std::string_view text) {
    wire::Provenance found;
    std::size_t count = 0;
    for (const auto line : base::split_lines(text)) {
        if (++count > max_provenance_lines) break;
        const auto fields = base::split(line, '\t');
        if (fields.size() == 2 && fields[0] == "host") found.host = clean(fields[1]);
        if (fields.size() == 2 && fields[0] == "system") found.system = clean(fields[1]);
        if (fields.size() == 2 && fields[0] == "modules") {
            for (const auto name : base::split(fields[1], ':')) {
                if (!name.empty()) found.modules.push_back(clean(name));
            }
        }
        if (fields.size() == 3 && fields[0] == "tool" && !base::trim(fields[2]).empty())
            found.tools.emplace_back(clean(fields[1]), clean(fields[2]));
        if (fields.size() == 3 && fields[0] == "requirement")
            found.requirements.emplace_back(clean(fields[1]), clean(fields[2]));
    }
    return found;
}

wire::Provenance read_provenance(const AttemptFolder& folder, const EnvironmentMap& environment) {
    const auto text = base::read_untrusted_file(folder.built_by(), max_record_bytes);
    wire::Provenance found = text ? parse_built_by(*text) : wire::Provenance{};
    if (const auto digest = base::sha256_hex_of_file(folder.script())) found.script_sha256 = *digest;
    found.environment = without_secrets(environment);
    return found;
}

wire::Provenance provenance_of_build(const Attempt& attempt, const Ports& ports) {
    return read_provenance(ports.folder_of(attempt), build_environment(attempt, ports));
}

wire::WheelProvenance provenance_of_wheel(const Attempt& attempt, const wire::WheelFile& wheel,
                                          const Ports& ports) {
    wire::WheelProvenance provenance;
    provenance.wheel = wheel;
    provenance.site = ports.site.name;
    provenance.program = "wheelyard-builder " WHEELYARD_VERSION;
    provenance.attempt = attempt.id;
    provenance.number = attempt.number;
    provenance.cell = attempt.asked.cell;
    provenance.package = attempt.asked.package;
    provenance.version = attempt.asked.version;
    provenance.python = attempt.asked.python;
    provenance.accelerator = attempt.asked.accelerator;
    provenance.began = attempt.created;
    provenance.source = static_cast<const wire::SourceFile&>(attempt.source);
    provenance.build = provenance_of_build(attempt, ports);
    provenance.build.host.clear();
    if (attempt.asked.closure)  // hashes of requirements files hold beside it
        provenance.build.requirements.insert(provenance.build.requirements.end(),
                                             attempt.asked.closure->lock.begin(),
                                             attempt.asked.closure->lock.end());
    std::erase_if(provenance.build.environment, [](const auto& variable) {
        return std::find(published_variables.begin(), published_variables.end(), variable.first) ==
               published_variables.end();
    });
    const Recipe recipe = ports.recipe_of(attempt);
    provenance.recipe = recipe.file.filename().string();
    provenance.recipe_sha256 = unchanged_sha256(recipe.file, attempt.created);
    if (const NodeType* node = ports.site.build_node_type()) provenance.node_type = node->name;
    provenance.governed = attempt.job.governed;
    if (provenance.governed) {
        provenance.governed->worst.clear();
        provenance.governed->messages.clear();
    }
    provenance.notice = attempt.wheel.notice;
    provenance.log = "wheelyard-builder logs " + attempt.id;
    return provenance;
}

wire::NamedTexts without_secrets(const EnvironmentMap& environment) {
    wire::NamedTexts shown;
    for (const auto& [name, value] : environment)
        shown.emplace_back(name, is_secret_name(name) || simple::holds_credentials(value) ? hidden : value);
    return shown;
}

}  // namespace wheelyard::builder
