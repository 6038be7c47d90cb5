// `wheelyard-registry attest verify-index`: whether a tree or a server has the pages of an index that the registry signed.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/attest/index_folder.hpp"
#include "lib/attest/limits.hpp"
#include "lib/attest/verify_index.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/printable.hpp"
#include "lib/io/http_client.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/client.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"

namespace wheelyard::registry {
namespace {

using io::Json;

struct AttestIndexArguments {
    std::string index;  // URL or folder, above simple/
    std::filesystem::path root;
    std::string name;            // empty: the last part of `index`
    std::filesystem::path seen;  // the newest state that was verified; empty: not remembered
    bool json = false;
};

constexpr std::string_view json_root_path = "simple/index.json";

bool is_url(std::string_view place) {
    return place.starts_with("http://") || place.starts_with("https://");
}

// Without slashes at the end and without simple/, as pip is given it.
std::string without_end(std::string place) {
    const auto drop_slashes = [&] {
        while (place.size() > 1 && place.ends_with('/'))
            place.pop_back();
    };
    drop_slashes();
    if (place.ends_with("/simple")) place.resize(place.size() - 7);
    drop_slashes();
    return place;
}

base::Result<std::optional<std::string>> fetch_page(io::HttpClient& client, const std::string& url) {
    WHEELYARD_ASSIGN(io::HttpAnswer answer, client.get(url, {}, attest::max_index_page_bytes));
    if (answer.status == 404) return std::nullopt;
    if (answer.status == 200) return std::optional(std::move(answer.body));
    return base::fail(simple::error_of_answer("http.status", answer, url, "see the log of its server"));
}

// `serve` adds them for mirrors (docs/reference/simple-pages.md); the page of the tree, which is signed, has none.
std::string without_serials(std::string_view text) {
    constexpr std::string_view member = R"("_last-serial":)";
    std::string page;
    for (auto at = text.find(member); at != std::string_view::npos; at = text.find(member)) {
        page.append(text.substr(0, at));
        text.remove_prefix(at + member.size());
        text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
        if (text.starts_with(',')) text.remove_prefix(1);
    }
    return page.append(text);
}

attest::ReadFile reader_of_index(const std::string& place, io::HttpClient& client) {
    if (!is_url(place)) return attest::reader_of_folder(place);
    return [place, &client](const std::string& path) -> base::Result<std::optional<std::string>> {
        WHEELYARD_ASSIGN(auto text, fetch_page(client, place + "/" + path));
        if (text && path == json_root_path) text = without_serials(*text);
        return text;
    };
}

void print_index(const attest::VerifiedIndex& found, const std::vector<std::string>& unlisted) {
    for (const std::string& path : found.changed)
        print_part("changed", path);
    for (const std::string& path : unlisted)
        print_part("unsigned", path);
    if (found.changed.empty() && unlisted.empty())
        print_part("verified", found.state.index + ": " + std::to_string(found.pages) + " pages of " +
                                   std::to_string(found.projects.size()) + " projects");
    print_part("serial",
               std::to_string(found.state.serial) + " of history " + std::to_string(found.state.history));
    print_part("signed", base::render_rfc3339(found.state.time) + ", valid until " +
                             base::render_rfc3339(found.state.valid_until));
    for (const std::string& warning : found.warnings)
        print_part("warning", warning);
}

Json index_json(const attest::VerifiedIndex& found, const std::vector<std::string>& unlisted) {
    return Json::object({{"format", "wheelyard.verified_index/1"},
                         {"index", found.state.index},
                         {"history", found.state.history},
                         {"serial", found.state.serial},
                         {"time", base::render_rfc3339(found.state.time)},
                         {"valid_until", base::render_rfc3339(found.state.valid_until)},
                         {"pages", found.pages},
                         {"projects", static_cast<std::uint64_t>(found.projects.size())},
                         {"changed", Json::array_of(found.changed)},
                         {"unlisted", Json::array_of(unlisted)},
                         {"warnings", Json::array_of(found.warnings)}});
}

void add_attest_index_options(CLI::App& command, AttestIndexArguments& arguments) {
    command.add_option("index", arguments.index, "URL or folder of the index, the one above simple/")
        ->required();
    command.add_option("--root", arguments.root, "The registry's root document, which you trust")->required();
    command.add_option("--name", arguments.name,
                       "The registry's name of the index (default: the last part of its URL or folder)");
    command.add_option("--seen", arguments.seen,
                       "File that remembers the newest state: an older one is refused from then on");
    command.add_flag("--json", arguments.json, "One JSON document");
}

// Errors: those of attest::verify_index(), "attest.changed_pages", "attest.unlisted_pages".
base::Status run_attest_index(const AttestIndexArguments& arguments, base::Clock& clock) {
    WHEELYARD_ASSIGN(const std::string root_text, base::read_file(arguments.root, attest::max_signed_bytes));
    WHEELYARD_ASSIGN(const attest::Root root, attest::read_root(root_text));
    WHEELYARD_ASSIGN(const attest::SeenState seen,
                     arguments.seen.empty() ? attest::SeenState{} : attest::read_seen(arguments.seen));
    const std::string place = without_end(arguments.index);
    const std::string name = arguments.name.empty() ? place.substr(place.rfind('/') + 1) : arguments.name;
    io::HttpClient client;
    WHEELYARD_ASSIGN(attest::VerifiedIndex found,
                     attest::verify_index(reader_of_index(place, client), root, name, seen, clock));
    attest::Beside beside;
    if (!is_url(place) && found.changed.empty()) {
        WHEELYARD_ASSIGN(beside, attest::look_beside(place, found.projects, clock));
        found.changed = beside.changed;
    }
    const std::vector<std::string>& unlisted = beside.unlisted;
    if (arguments.json)
        base::print(stdout, "%s\n", index_json(found, unlisted).render().c_str());
    else
        print_index(found, unlisted);
    if (!found.changed.empty())
        return base::fail(
            "attest.changed_pages", "Pages are not the signed ones",
            std::to_string(found.changed.size()) + ", the first is " + found.changed.front(),
            "do not install from here; of your own tree `wheelyard-indexer check --repair`, of a "
            "mirror the registry itself");
    if (!unlisted.empty())
        return base::fail("attest.unlisted_pages", "The tree has pages that nobody has signed",
                          std::to_string(unlisted.size()) + ", the first is " + unlisted.front(),
                          "do not install from here: pip finds them by their name");
    if (arguments.seen.empty()) return {};
    return attest::write_seen(arguments.seen, {found.state.history, found.state.serial});
}

}  // namespace

std::vector<Command> attest_index_commands() {
    return {
        {"attest", "verify-index",
         "Verify that a server or a folder has the pages of an index that the registry signed",
         "https://wheels.example.org/main --root root.json --seen main.seen",
         setup(add_attest_index_options, run_attest_index),
         "Exit status: 0 every page is the signed one, the state is valid and not older than what --seen "
         "remembers;\n"
         "1 it is not (see standard error), 2 wrong usage.\n"},
    };
}

}  // namespace wheelyard::registry
