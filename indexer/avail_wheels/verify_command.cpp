// `avail_wheels verify FILE…`: what proves a wheel at hand.
#include <algorithm>
#include <ostream>
#include <variant>

#include "indexer/avail_wheels/run.hpp"
#include "indexer/avail_wheels/words.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::avail_wheels {
namespace {

constexpr std::size_t name_width = 12;

void print_line(std::ostream& out, std::string name, std::string_view text) {
    name.resize(std::max(name_width, name.size() + 1), ' ');
    // A second line of a text could look like ours.
    out << "  " << name << base::printable_line(text) << '\n';
}

void print_proof(const Proof& proof, std::ostream& out) {
    const auto decides = [](const ProofStep& step) { return step.proved != Proved::nothing; };
    const bool is_decided = std::any_of(proof.steps.begin(), proof.steps.end(), decides);
    out << base::printable_line(proof.filename)
        << (proof.holds() ? ": verified\n"
            : is_decided  ? ": NOT verified\n"
                          : ": not verified: nothing to compare with\n");
    for (const auto& step : proof.steps)
        print_line(out, step.name, (step.proved == Proved::no ? "NO: " : "") + step.text);
    for (const auto& [name, text] : proof.told)
        print_line(out, name, text);
    if (!is_decided)
        print_line(out, "advice",
                   "name its index with --index-url, give --sha256, trust its registry with --root, or name "
                   "its publisher with --publisher");
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

// The index that the other commands ask; empty: there is none, so that the files beside the wheel count.
base::Result<std::string> usual_index(const VerifyWords& given, const EnvironmentMap& environment) {
    const bool is_named = !given.index_url.empty() || !given.site_file.empty();
    Words words;
    words.index_url = given.index_url;
    words.site_file = given.site_file;
    const auto options = understand(words, environment);
    if (!options && !is_named && options.error().kind == base::ErrorKind::missing) return std::string();
    if (!options) return tl::unexpected(options.error());
    if (is_named && options->source.index_url.empty())
        return base::fail("usage.folder", "A folder has no page to compare with", options->source.wheelhouse,
                          "name an index by its http or https URL, or give --sha256 and --offline");
    return options->source.index_url;
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
            err << "avail_wheels: error: " << index.error().text() << "\nSee avail_wheels verify --help.\n";
            return 2;
        }
        words.question.index_url = *std::move(index);
    }
    int status = 0;
    io::Json files = io::Json::array();
    for (const auto& file : words.files) {
        const auto proof = world.prove(file, words.question, world.get, world.clock->now());
        if (!proof) {
            const std::string text = proof.error().text();
            err << "avail_wheels: " << base::printable_line(file.native()) << ": " << text << '\n';
            files.push(io::Json::object(
                {{"filename", file.filename().string()}, {"verified", false}, {"error", text}}));
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
