#include "registry/intake/check.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/abi/torch_fit.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/inspect/verdict/verdict.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/facts_json.hpp"
#include "registry/config/policy_config.hpp"
#include "registry/intake/facts_text.hpp"
#include "registry/intake/installed_torch.hpp"
#include "registry/intake/torch_tables.hpp"

namespace wheelyard::registry {
namespace {

namespace fs = std::filesystem;
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
        base::print_untrusted(stderr,
                              name_ + ": " + base::render_bytes(done) + " of " + base::render_bytes(total));
    }

  private:
    static constexpr const char* clear_line = "\r\033[K";
    std::string name_;
    bool shown_;
    bool printed_ = false;
    std::chrono::steady_clock::time_point last_{};
};

base::Result<inspect::Inspection> check_one(const fs::path& path, unsigned threads,
                                            const inspect::Policy& policy, bool torch_names = false) {
    WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(path));
    ProgressLine line(path.filename().string());
    inspect::InspectOptions options;
    options.policy = policy;
    options.threads = threads;
    options.torch_names = torch_names;
    options.progress = [&](std::uint64_t done, std::uint64_t total) { line.update(done, total); };
    return inspect::inspect_file(reader, path.filename().string(), options);
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
        base::print_untrusted(
            stdout, arguments.markdown ? inspect::render_rules_markdown() : inspect::render_rules_text());
        return 0;
    }
    const inspect::Rule* rule = inspect::find_rule(arguments.explain);
    if (rule != nullptr) {
        base::print_untrusted(stdout, inspect::render_rule_text(*rule));
        return 0;
    }
    std::vector<std::string> codes;
    for (const auto& known : inspect::rules())
        codes.emplace_back(known.code);
    const auto near = base::nearest(arguments.explain, codes);
    base::print_untrusted(stderr, "There is no rule `" + arguments.explain + "`" +
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
            base::print_untrusted(stderr, loaded.error().text() + "\n");
            return 2;
        }
        policy = std::move(*loaded);
    }
    const auto wheels = find_wheels(arguments.paths);
    if (!wheels || wheels->empty()) {
        base::print_untrusted(
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
            base::print_untrusted(stderr, arguments.with.string() + ": " + read.error().text() + "\n");
            return 2;
        }
        torch = std::move(*read);
    }
    io::Json documents = io::Json::array();
    bool refused = false;
    bool unread = false;
    for (const auto& path : *wheels) {
        const auto inspection = check_one(path, threads, policy, torch.has_value());
        if (!inspection) {
            base::print_untrusted(stderr, path.string() + ": " + inspection.error().text() + "\n");
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
            base::print_untrusted(stdout, render_report(path, *inspection, fit, arguments));
        }
    }
    if (arguments.json) {
        base::print_untrusted(
            stdout,
            io::Json::object({{"format", "wheelyard.check/1"}, {"wheels", documents}}).render_pretty());
    }
    return unread ? 2 : refused ? 1 : 0;
}

}  // namespace wheelyard::registry
