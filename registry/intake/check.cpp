#include "registry/intake/check.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/result.hpp"
#include "lib/base/text/assigned_text.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/abi/torch_fit.hpp"
#include "lib/inspect/elf/elf.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/inspect/verdict/verdict.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wire/facts_json.hpp"
#include "registry/config/policy_config.hpp"
#include "registry/intake/torch_tables.hpp"

namespace wheelyard::registry {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t max_torch_files = 1000;  // in `lib`; torch 2.6 has 17
constexpr std::uint64_t max_version_file_bytes = 64 * base::kib;
constexpr std::string_view module_prefix = "_C.cpython-";

auto not_installed(const fs::path& folder, std::string_view lacks) {
    return base::fail("torch.not_installed", "This is not the folder of an installed torch", folder.string(),
                      std::string(lacks) + " is not there; name the folder `torch` in site-packages");
}

base::Result<std::vector<fs::path>> files_in(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code failed;
    for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
        if (it->path().filename().native().find(".so") != std::string::npos) files.push_back(it->path());
        if (files.size() > max_torch_files) break;
    }
    if (failed) return not_installed(folder.parent_path(), folder.filename().native());
    std::sort(files.begin(), files.end());
    return files;
}

// "_C.cpython-313t-x86_64-linux-gnu.so" → "313t"; empty: another file.
std::string python_of(const fs::path& file) {
    const std::string name = file.filename().string();
    if (!name.starts_with(module_prefix)) return {};
    return name.substr(module_prefix.size(), name.find('-', module_prefix.size()) - module_prefix.size());
}

// What an installed torch defines: the folder `torch` of an environment or of a module, instead of a wheel.
// Its libraries are read as files; nothing is loaded.
//
//     site-packages/torch/version.py                                     __version__ = '2.6.0+cu124'
//     site-packages/torch/_C.cpython-311-x86_64-linux-gnu.so             which Python
//     site-packages/torch/lib/libtorch_cpu.so, libc10.so, …
//
// Errors: "torch.not_installed": it is no such folder; "torch.no_libraries"; those of reading the files.
base::Result<inspect::TorchExports> read_installed_torch(const fs::path& folder) {
    const auto version_file = base::read_file(folder / "version.py", max_version_file_bytes);
    const std::string version = version_file ? base::assigned_text(*version_file, "__version__") : "";
    if (version.empty()) return not_installed(folder, "version.py with its __version__");
    WHEELYARD_ASSIGN(std::vector<fs::path> files, files_in(folder / "lib"));
    WHEELYARD_ASSIGN(const std::vector<fs::path> modules, files_in(folder));
    std::string python;
    for (const fs::path& module : modules) {
        if (python_of(module).empty()) continue;
        python = python_of(module);
        files.push_back(module);
    }
    if (python.empty()) return not_installed(folder, std::string(module_prefix) + "*.so");

    std::vector<inspect::ElfMember> elves;
    for (const fs::path& file : files) {
        WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(file));
        inspect::ElfMember member;
        member.name = file.filename().string();
        auto elf = inspect::parse_elf(
            reader, [&member](const inspect::DynamicSymbol& symbol) { member.torch.take(symbol); });
        if (!elf && elf.error().kind == base::ErrorKind::malformed) continue;  // a linker script
        if (!elf) return base::fail(std::move(elf.error()));
        member.elf = std::move(*elf);
        elves.push_back(std::move(member));
    }
    // The Python tag has no `t` (PEP 703): cp313-cp313t.
    const std::string version_digits = python.substr(0, python.find_first_not_of("0123456789"));
    WHEELYARD_ASSIGN(const wheel::WheelFilename filename,
                     wheel::parse_wheel_filename("torch-" + version + "-cp" + version_digits + "-cp" +
                                                 python + "-linux.whl"));
    return inspect::torch_exports(filename, elves);
}

constexpr std::uint64_t progress_from_bytes = 256u
                                              << 20;  // smaller wheels finish too fast for a progress line

// The files that the arguments mean: as given, and the sorted *.whl and *.tar.gz of each folder.
base::Result<std::vector<fs::path>> find_wheels(const std::vector<fs::path>& paths) {
    std::vector<fs::path> wheels;
    for (const auto& path : paths) {
        std::error_code failed;
        if (!fs::is_directory(path, failed)) {
            wheels.push_back(path);
            continue;
        }
        std::vector<fs::path> inside;
        for (fs::directory_iterator it(path, failed), end; !failed && it != end; it.increment(failed)) {
            if (it->path().extension() == ".whl" || it->path().native().ends_with(".tar.gz"))
                inside.push_back(it->path());
        }
        if (failed)
            return base::fail("check.unreadable", "The folder cannot be read.", path.string(),
                              failed.message());
        if (inside.empty())
            return base::fail("check.no_wheels", "The folder contains no wheels or source distributions.",
                              path.string());
        std::sort(inside.begin(), inside.end());
        wheels.insert(wheels.end(), inside.begin(), inside.end());
    }
    return wheels;
}

// Shows "  12 MiB of 1.1 GiB" on a terminal, rewritten in place at most ten times a second.
class ProgressLine {
  public:
    explicit ProgressLine(std::string name) : name_(std::move(name)), shown_(isatty(STDERR_FILENO) == 1) {}
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine() {
        if (printed_) std::fputs(clear_line, stderr);
    }
    void update(std::uint64_t done, std::uint64_t total) {
        const auto now = std::chrono::steady_clock::now();
        if (!shown_ || total < progress_from_bytes || now - last_ < std::chrono::milliseconds(100)) return;
        last_ = now;
        printed_ = true;
        std::fputs(clear_line, stderr);
        base::print(stderr, name_ + ": " + base::render_bytes(done) + " of " + base::render_bytes(total));
    }

  private:
    static constexpr const char* clear_line = "\r\033[K";
    std::string name_;
    bool shown_;
    bool printed_ = false;
    std::chrono::steady_clock::time_point last_{};
};

base::Result<inspect::Inspection> check_one(const fs::path& path, unsigned threads,
                                            const inspect::Policy& policy, bool torch_names = false,
                                            inspect::LibrariesOf libraries_of = {}) {
    WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(path));
    ProgressLine line(path.filename().string());
    inspect::InspectOptions options;
    options.policy = policy;
    options.threads = threads;
    options.torch_names = torch_names;
    options.libraries_of = std::move(libraries_of);
    options.progress = [&](std::uint64_t done, std::uint64_t total) { line.update(done, total); };
    return inspect::inspect_file(reader, path.filename().string(), options);
}

// The libraries that the wheels of the call have, by project: read when one that requires it needs some.
inspect::LibrariesOf libraries_of_call(const std::vector<fs::path>& wheels, unsigned threads) {
    const auto known = std::make_shared<std::map<std::string, inspect::LibraryNames>>();
    return [&wheels, threads, known](std::string_view project) {
        const auto [row, is_new] = known->try_emplace(std::string(project));
        for (const fs::path& path : wheels) {
            const auto name = wheel::parse_wheel_filename(path.filename().string());
            if (!is_new || !name || wheel::normalize_name(name->project) != project) continue;
            const auto inspection = check_one(path, threads, inspect::Policy());
            if (inspection)
                row->second.insert(inspection->facts.provides.begin(), inspection->facts.provides.end());
        }
        return row->second;
    };
}

base::Result<inspect::TorchExports> read_torch(const fs::path& path, unsigned threads) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return read_installed_torch(path);
    WHEELYARD_ASSIGN(const auto inspection, check_one(path, threads, inspect::Policy(), true));
    return inspect::torch_exports(inspection.filename, inspection.elves);
}

std::string render_fit(const inspect::TorchFit& fit) {
    std::string text = fit.fit == inspect::Fit::yes  ? "  fits  "
                       : fit.fit == inspect::Fit::no ? "  DOES NOT FIT  "
                                                     : "  NOT KNOWN TO FIT  ";
    text += fit.sentence;
    return text + (fit.file.empty() ? "" : "  [" + fit.file + "]") + "\n";
}

std::string render_report(const fs::path& path, const inspect::Inspection& inspection,
                          const std::optional<inspect::TorchFit>& fit, const CheckArguments& arguments) {
    std::string text = inspection.accepted()  ? "accepted     "
                       : inspection.refused() ? "REFUSED      "
                                              : "QUARANTINED  ";
    text += path.filename().string() + "\n";
    for (const auto& verdict : inspection.verdicts) {
        text += "  " + std::string(inspect::severity_text(verdict.severity)) + "  " + verdict.text() + "\n";
        if (verdict.severity < inspect::Severity::quarantine) continue;
        const inspect::Rule* rule = inspect::find_rule(verdict.code);
        if (rule != nullptr) text += "          → " + std::string(rule->advice) + "\n";
    }
    if (fit) text += render_fit(*fit);
    if (arguments.facts) text += render_facts_text(inspection.facts);
    return text;
}

int explain(const CheckArguments& arguments) {
    if (arguments.explain == "all") {
        base::print(stdout,
                    arguments.markdown ? inspect::render_rules_markdown() : inspect::render_rules_text());
        return 0;
    }
    const inspect::Rule* rule = inspect::find_rule(arguments.explain);
    if (rule != nullptr) {
        base::print(stdout, inspect::render_rule_text(*rule));
        return 0;
    }
    std::vector<std::string> codes;
    for (const auto& known : inspect::rules())
        codes.emplace_back(known.code);
    const auto near = base::nearest(arguments.explain, codes);
    base::print(stderr, "There is no rule `" + arguments.explain + "`" +
                            (near ? "; did you mean `" + *near + "`?" : ".") +
                            " `--explain all` lists them.\n");
    return 2;
}

}  // namespace

int run_check(const CheckArguments& arguments) {
    if (!arguments.explain.empty()) return explain(arguments);
    inspect::Policy policy;
    if (!arguments.policy.empty()) {
        auto loaded = load_policy(arguments.policy);
        if (!loaded) {
            base::print(stderr, loaded.error().text() + "\n");
            return 2;
        }
        policy = std::move(*loaded);
    }
    const auto wheels = find_wheels(arguments.paths);
    if (!wheels || wheels->empty()) {
        base::print(
            stderr,
            (wheels ? std::string("Name at least one wheel or folder.") : wheels.error().text()) + "\n");
        return 2;
    }
    const unsigned threads =
        arguments.threads != 0 ? arguments.threads : std::max(1u, std::thread::hardware_concurrency());
    std::optional<inspect::TorchExports> torch;
    if (!arguments.with.empty()) {
        auto read = read_torch(arguments.with, threads);
        if (!read) {
            base::print(stderr, arguments.with.string() + ": " + read.error().text() + "\n");
            return 2;
        }
        torch = std::move(*read);
    }
    io::Json documents = io::Json::array();
    bool refused = false;
    bool unread = false;
    const inspect::LibrariesOf libraries_of = libraries_of_call(*wheels, threads);
    for (const auto& path : *wheels) {
        const auto inspection = check_one(path, threads, policy, torch.has_value(), libraries_of);
        if (!inspection) {
            base::print(stderr, path.string() + ": " + inspection.error().text() + "\n");
            unread = true;
            continue;
        }
        std::optional<inspect::TorchFit> fit;
        if (torch) fit = fits(inspect::companion_uses(inspection->filename, inspection->elves), *torch);
        const bool accepted = inspection->accepted() && (!fit || fit->fit == inspect::Fit::yes);
        refused = refused || !accepted;
        if (arguments.json) {
            io::Json document = wire::inspection_to_json(path.filename().string(), *inspection);
            if (arguments.facts) document.set("elf_files", wire::elves_to_json(inspection->elves));
            if (fit) document.set("with", torch_fit_to_json(arguments.with.filename().string(), *fit));
            documents.push(std::move(document));
        } else if (!arguments.quiet || !accepted) {
            base::print(stdout, render_report(path, *inspection, fit, arguments));
        }
    }
    if (arguments.json) {
        base::print(
            stdout,
            io::Json::object({{"format", "wheelyard.check/1"}, {"wheels", documents}}).render_pretty());
    }
    return unread ? 2 : refused ? 1 : 0;
}

}  // namespace wheelyard::registry
