// Renders the rule table.
#include "lib/inspect/verdict/verdict.hpp"

#include <vector>

#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"

namespace wheelyard::inspect {
namespace {

// What breaks for whom if the rule only warned. The longest beginning of a code applies.
struct Consequence {
    std::string_view beginning;  // of a code
    std::string_view text;
};
constexpr Consequence consequences[] = {
    {"filename.invalid", "The file is published, and no installer finds it."},
    {"filename.version_not_normalized",
     "One version has two names, which installers and mirrors take for two files."},
    {"filename.tags_not_normalized", "Users of uv cannot install it."},
    {"filename.variant", "Installers without variants pass the version over."},
    {"zip.", "Two readers can see two wheels: another one is installed than was checked."},
    {"zip.no_end_record", "No installer opens the file."},
    {"zip.truncated", "The install stops for everybody."},
    {"zip.encrypted", "The install stops for everybody."},
    {"zip.method", "The install stops for everybody."},
    {"zip.version_needed", "The install stops for everybody."},
    {"zip.too_many_members", "The check and each install take a node's memory and time."},
    {"zip.member_too_large", "The check takes the registry's memory."},
    {"zip.bomb", "Each install fills the disk of a node."},
    {"zip.name_control", "uv refuses the wheel, and a terminal shows another name than is installed."},
    {"zip.name_path", "A file is written outside of the environment, or over another one."},
    {"zip.name_too_long", "The install stops for everybody."},
    {"zip.name_conflict", "The install stops half-way, and leaves an environment that is broken."},
    {"zip.symlink", "Users get a file with the link's text where a library should be."},
    {"zip.special_file", "Users get an empty file, or none."},
    {"zip.deflate_invalid", "The install stops, or damaged files are installed."},
    {"zip.size_mismatch", "The install stops, or damaged files are installed."},
    {"zip.crc_mismatch", "The install stops, or damaged files are installed."},
    {"sdist.", "pip refuses to build it, or a file is written outside of the build's folder."},
    {"dist_info.", "Installers refuse the wheel, or list another project than its page."},
    {"dist_info.variant", "Installers with variants and those without install different wheels."},
    {"variant.", "Nodes choose the wheel for a processor or GPU on which it does not run."},
    {"metadata.", "Resolvers pass the version over, or stop for everybody who asks for the project."},
    {"metadata.name_mismatch", "The page shows one project and version, and `pip list` another."},
    {"metadata.version_mismatch", "The page shows one project and version, and `pip list` another."},
    {"metadata.requirement_local", "The install stops on each machine but that of the build."},
    {"metadata.license_", "Users of the index get files under terms that it does not know or allow."},
    {"metadata.license_file_missing", "Users get the files without the licence that must come with them."},
    {"metadata.import_invalid", "Tools that look for the project of a module name the wrong one."},
    {"wheel_info.", "Installers refuse the wheel, or put compiled code where Python does not look."},
    {"entry_points.", "pip or uv refuses the wheel, or users lack the command."},
    {"data_folder.", "pip or uv refuses the wheel, or the two install different files."},
    {"installed.path_twice", "Users import a module or start a program that nobody checked."},
    {"installed.distribution",
     "`pip list`, audits and resolvers see a distribution that was never published."},
    {"installed.interpreter", "The environment's Python does not start any more."},
    {"installed.program", "Who activates the environment, or runs its pip, runs the wheel's script."},
    {"installed.other_python",
     "The file is missing for every other Python, or appears in one without the wheel."},
    {"installed.bytecode", "An import runs other code than the source beside it."},
    {"record.", "Installers do not notice changed files, and uninstalling leaves files behind."},
    {"record.invalid", "pip or uv refuses the wheel, or changed files are not noticed."},
    {"tag.any_with_elf", "Every other machine installs it, and its import fails there."},
    {"elf.", "The wheel is installed where its tag allows, and the import fails there."},
    {"elf.malformed", "The import fails, or the program does not know what it needs."},
    {"elf.needed_unknown", "The import fails on nodes without the library."},
    {"elf.search_path", "Another user of a node can choose the library that everybody's import loads."},
    {"torch.", "The import fails with each torch that is installed beside it."},
    {"gpu.", "The wheel is installed on nodes for whose GPUs it has no code, and fails at the first kernel."},
};

// What is refused in every preset although pip or uv installs it. tests/system/mirror_test.py asks both.
struct Exception {
    std::string_view code;
    std::string_view installers;  // what they do
    std::string_view why;
};
constexpr std::string_view is_hidden = "What is installed is not what was checked.";
constexpr std::string_view is_a_limit =
    "A limit: one wheel could take the registry's memory or a node's disk.";
constexpr Exception exceptions[] = {
    {"zip.name_path", "Both write the file where `..` leads; uv skips what leads out of the environment.",
     is_hidden},
    {"zip.name_control", "pip ends a name at its zero byte; uv refuses the wheel.", is_hidden},
    {"zip.name_duplicate", "pip installs the last of the members, uv the first.", is_hidden},
    {"zip.name_case",
     "Both install a file of `.data` or `.dist-info` beside one whose name differs in case only.",
     "A file system that ignores case keeps one of them. Elsewhere in the wheel it is a warning."},
    {"zip.name_conflict", "uv leaves out the file or its folder; pip stops half-way.", is_hidden},
    {"zip.method", "pip unpacks bzip2 and LZMA; uv refuses the wheel.",
     "What cannot be unpacked is not checked."},
    {"zip.too_many_members, zip.member_too_large, zip.bomb", "Both install.", is_a_limit},
    {"dist_info.several", "Both ignore a second folder `.DIST-INFO` in capitals.",
     "Python ignores the case, and lists both distributions."},
    {"metadata.invalid",
     "Both install with more than 200,000 headers; uv also with a name that is folded or no UTF-8.",
     "A limit; and a name or version that only one of them reads cannot be compared with the page."},
    {"metadata.version_mismatch", "pip installs it, uv refuses.",
     "`pip list` shows another version than the page."},
    {"wheel_info.invalid", "One of them reads a Wheel-Version such as `+1.0` or `1.a`.",
     "The major version, which decides how the wheel is unpacked, is not known."},
    {"data_folder.name_mismatch", "pip installs what is in it into the schemes; uv leaves it a folder.",
     "The two install different files."},
    {"installed.distribution", "Both install.", is_hidden},
    {"installed.path_twice", "Both install one over the other.", is_hidden},
    {"installed.interpreter",
     "Both write a `pyvenv.cfg` and files of the standard library; pip also a script `python`.",
     "The environment's Python does not start any more."},
};

std::string_view consequence_of(const Rule& rule) {
    if (rule.severity < Severity::quarantine) return {};
    const std::string_view name = rule.code;
    const Consequence* best = nullptr;
    for (const Consequence& one : consequences) {
        if (name.starts_with(one.beginning) &&
            (best == nullptr || one.beginning.size() > best->beginning.size()))
            best = &one;
    }
    return best == nullptr ? std::string_view() : best->text;
}

std::string_view group_of(std::string_view code) {
    return code.substr(0, code.find('.'));
}

}  // namespace

std::string render_rules_markdown() {
    std::string text =
        "# Rules for wheels\n\n"
        "*Reference for operators and staff of a site: every rule of the wheel inspection, with its "
        "severity\n"
        "and what to do.*\n\n"
        "<!-- Generated from lib/inspect/verdict/rules.cpp by `wheelyard-registry check --explain all "
        "--markdown`; do not edit. -->\n\n"
        "The registry checks every uploaded and mirrored wheel against these rules. Agents check every "
        "wheel\n"
        "before they upload it. An index's [policy](registry-config.md#indexpolicy) can change the severity "
        "of\n"
        "a rule. If the rest of a wheel cannot be read after a finding, the wheel is always refused.\n\n"
        "| severity | effect |\n|---|---|\n"
        "| reject | the wheel is refused |\n"
        "| quarantine | the wheel is kept but not published until a person decides |\n"
        "| warn, note | the finding is shown |\n"
        "| ignore | the finding is shown only if an index's policy raises the rule's severity |\n";
    std::string_view group;
    for (const Rule& rule : rules()) {
        if (group_of(rule.code) != group) {
            group = group_of(rule.code);
            text +=
                "\n## " + std::string(group) +
                "\n\n| code | severity | problem | what to do | what breaks if it only warned | source |\n"
                "|---|---|---|---|---|---|\n";
        }
        text += "| `" + std::string(rule.code) + "` | " + std::string(severity_text(rule.severity)) + " | " +
                std::string(rule.sentence) + " | " + std::string(rule.advice) + " | " +
                std::string(consequence_of(rule)) + " | " + std::string(rule.source) + " |\n";
    }
    text +=
        "\n## Refused in every preset\n\n"
        "No preset takes what neither pip nor uv installs, and these, which one of them or both install:\n\n"
        "| code | what pip and uv do | why it is refused |\n|---|---|---|\n";
    for (const Exception& one : exceptions) {
        const auto codes = base::split(one.code, ' ');
        std::string listed;
        for (const std::string_view code : codes)
            listed += (listed.empty() ? "`" : ", `") + std::string(code.substr(0, code.find(','))) + "`";
        text += "| " + listed + " | " + std::string(one.installers) + " | " + std::string(one.why) + " |\n";
    }
    return text;
}

std::string render_rules_text() {
    std::vector<base::TableRow> rows;
    for (const Rule& rule : rules())
        rows.push_back(
            {std::string(rule.code), std::string(severity_text(rule.severity)), std::string(rule.sentence)});
    return base::render_table(rows);
}

std::string render_rule_text(const Rule& rule) {
    const std::string_view consequence = consequence_of(rule);
    return std::string(rule.code) + " (" + std::string(severity_text(rule.severity)) + ")\n  " +
           std::string(rule.sentence) + "\n  What to do: " + std::string(rule.advice) +
           (consequence.empty() ? "" : "\n  If it only warned: " + std::string(consequence)) +
           "\n  Source: " + std::string(rule.source) + "\n";
}

}  // namespace wheelyard::inspect
