// `wheelyard-registry explain|provenance|sbom`: what the registry knows of a project and of a wheel.
#include <cstdio>
#include <string>
#include <vector>

#include "lib/attest/wheel_statements.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wire/wheel_provenance.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/operation_command.hpp"
#include "registry/upstream/explain.hpp"

namespace wheelyard::registry {
namespace {

base::Status print_explained(Door& door, Asked& asked) {
    WHEELYARD_ASSIGN(const io::Json document, ask_document(door, asked));
    if (asked.json)
        base::print(stdout, "%s", document.render_pretty().c_str());
    else
        base::print_message(stdout, render_explanation(document));
    return {};
}

// The text comes from the build: control characters are not printed.
void print(const char* name, const std::string& text) {
    if (!text.empty()) print_part(name, text, 12);
}

void print_all(const char* name, const wire::NamedTexts& texts) {
    for (const auto& [key, text] : texts)
        print(name, key + ": " + text);
}

void print_provenance(const wire::WheelProvenance& provenance) {
    print("wheel", provenance.wheel.filename);
    print("sha256", provenance.wheel.sha256);
    print("site", provenance.site);
    print("program", provenance.program);
    print("attempt", provenance.attempt + " (number " + std::to_string(provenance.number) + ")");
    print("began", base::render_rfc3339(provenance.began));
    print("source", provenance.source.origin);
    print("", provenance.source.sha256);
    print("recipe", provenance.recipe);
    print("", provenance.recipe_sha256);
    print("script", provenance.build.script_sha256);
    print("node type", provenance.node_type);
    if (!provenance.notice.empty()) print("notice", provenance.notice);
    if (provenance.governed) print("governor", wire::describe(*provenance.governed));
    print("system", provenance.build.system);
    print("modules", base::join(provenance.build.modules, " "));
    print_all("tool", provenance.build.tools);
    print_all("variable", provenance.build.environment);
    print_all("requirement", provenance.build.requirements);
    print("log", provenance.log);
    if (provenance.is_cut) print("cut", "lists were left out: the document would be too large");
}

base::Status print_stored_provenance(Door& door, Asked& asked) {
    WHEELYARD_ASSIGN(const std::string text, door.ask(asked.operation, asked.arguments));
    if (asked.json) {
        base::print_untrusted(stdout, text);
        return {};
    }
    WHEELYARD_ASSIGN(const auto parts, attest::split_statements(text));
    WHEELYARD_ASSIGN(const auto provenance, wire::parse_wheel_provenance(parts.document));
    print_provenance(provenance);
    if (!parts.statements.empty())
        print("signed",
              std::to_string(parts.statements.size()) + " statements; `avail_wheels verify` verifies them");
    return {};
}

base::Status print_sbom(Door& door, Asked& asked) {
    WHEELYARD_ASSIGN(const std::string document, door.ask(asked.operation, asked.arguments));
    base::print_untrusted(stdout, document + "\n");
    return {};
}

}  // namespace

std::vector<Command> reading_commands() {
    const std::vector<Option> file{{"index"}, {"filename"}};
    return {
        of_operation(
            {heading::reasons,
             "explain",
             "Explain which index or upstream supplies a project, and why",
             "main requests -c registry.toml",
             {},
             "Asks no upstream: it shows what the server knows.\n"
             "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage or configuration.\n"},
            "explainProject", {{"index"}, {"project"}}, print_explained),
        of_operation(
            {heading::reasons,
             "provenance",
             "What made a wheel: source, script, tools, site and attempt",
             "main torch-2.4.0-cp312-cp312-linux_aarch64.whl -c registry.toml",
             {},
             "It is the statement of the agent that uploaded the wheel; the registry has not "
             "verified it, but "
             "signs\n"
             "which token said it (`avail_wheels verify`).\n"
             "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage or configuration.\n"},
            "readProvenance", file, print_stored_provenance, "The document as it is stored"),
        of_operation(
            {heading::reasons,
             "sbom",
             "Print a software bill of materials of a stored wheel (CycloneDX 1.6)",
             "main torch-2.4.0-cp312-cp312-linux_aarch64.whl -c registry.toml",
             {},
             "It has what the wheel's own SBOMs state, the libraries inside that its bytes prove, and, of a "
             "wheel of an\n"
             "agent, the source and the wheels that it was built with. Static libraries are only in what an "
             "SBOM "
             "states.\n"
             "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage or configuration.\n"},
            "readSbom", file, print_sbom, {}),
    };
}

}  // namespace wheelyard::registry
