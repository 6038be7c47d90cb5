// `avail_wheels verify FILE…`: what proves a wheel at hand.
#include <algorithm>
#include <ostream>
#include <variant>

#include "indexer/avail_wheels/run.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::avail_wheels {
namespace {

constexpr std::size_t name_width = 12;

void print_line(std::ostream& out, std::string name, std::string_view text) {
    name.resize(std::max(name_width, name.size() + 1), ' ');
    // A second line of a text could look like ours.
    out << "  " << name << base::replace_all(text, "\n", " ") << '\n';
}

void print_proof(const Proof& proof, std::ostream& out) {
    out << proof.filename << (proof.holds() ? ": verified\n" : ": NOT verified\n");
    for (const auto& step : proof.steps)
        print_line(out, step.name, (step.proved == Proved::no ? "NO: " : "") + step.text);
    for (const auto& [name, text] : proof.told)
        print_line(out, name, text);
    const auto decides = [](const ProofStep& step) { return step.proved != Proved::nothing; };
    if (std::none_of(proof.steps.begin(), proof.steps.end(), decides))
        print_line(
            out, "advice",
            "nothing proves it: name its index with --index-url, or give --sha256, or --root with what "
            "was signed beside the wheel");
    for (const auto& warning : proof.warnings)
        print_line(out, "warning", warning);
}

io::Json document_of(const Proof& proof) {
    io::Json steps = io::Json::array();
    for (const auto& step : proof.steps) {
        io::Json proved;  // null: there is nothing to prove it
        if (step.proved != Proved::nothing) proved = step.proved == Proved::yes;
        steps.push(io::Json::object({{"name", step.name}, {"proved", proved}, {"text", step.text}}));
    }
    return io::Json::object({{"filename", proof.filename},
                             {"sha256", proof.sha256},
                             {"verified", proof.holds()},
                             {"steps", std::move(steps)},
                             {"statement", proof.statement},
                             {"attested", proof.attested},
                             {"warnings", io::Json::array_of(proof.warnings)}});
}

// The index that the other commands ask; empty: none, such as a folder.
base::Result<std::string> usual_index(const VerifyWords& words, const EnvironmentMap& environment) {
    std::vector<std::string> source;
    if (!words.index_url.empty()) source = {"--index-url", words.index_url};
    if (!words.site_file.empty()) source.insert(source.end(), {"--site", words.site_file});
    const auto parsed = parse_command_line(source, environment);
    if (const auto* options = std::get_if<Options>(&parsed)) return options->source.index_url;
    // Without a source of any kind the files beside the wheel count.
    if (source.empty()) return std::string();
    return base::fail("proof.source", std::string(base::trim(std::get<Leave>(parsed).text)));
}

}  // namespace

int run_verify(const std::vector<std::string>& arguments, const World& world, std::ostream& out,
               std::ostream& err) {
    const auto parsed = parse_verify(arguments, world.help_columns);
    if (const auto* leave = std::get_if<Leave>(&parsed)) {
        (leave->status == 0 ? out : err) << leave->text;
        return leave->status;
    }
    auto words = std::get<VerifyWords>(parsed);
    if (!world.prove) {
        err << "avail_wheels: this program has no cryptography; the one of `pip install avail-wheels` "
               "verifies\n";
        return 1;
    }
    if (!words.is_offline) {
        auto index = usual_index(words, world.environment);
        if (!index) {
            err << index.error().sentence << '\n';
            return 2;
        }
        words.question.index_url = *std::move(index);
    }
    int status = 0;
    io::Json files = io::Json::array();
    for (const auto& file : words.files) {
        const auto proof = world.prove(file, words.question, world.get, world.clock->now());
        if (!proof) {
            err << "avail_wheels: " << file.native() << ": " << proof.error().text() << '\n';
            status = 1;
            continue;
        }
        if (!proof->holds()) status = 1;
        if (words.json)
            files.push(document_of(*proof));
        else
            print_proof(*proof, out);
    }
    if (words.json)
        out << io::Json::object({{"format", "wheelyard.verified/1"}, {"files", std::move(files)}}).render()
            << '\n';
    return status;
}

}  // namespace wheelyard::avail_wheels
