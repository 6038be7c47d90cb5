// A command that runs one operation: what its options mean, of which type they are and which are needed says
// the operation's row (registry/api/operation.hpp). It runs it on the data folder (--config, beside a running
// server or without one) or at a registry anywhere (--url and --token-file); an operation without an address
// has only the first.
//
//     of_operation({heading::withdrawing, "yank", "Hide a file …", "main six-1.16.0-py2.py3-none-any.whl"},
//                  "yankFile",
//                  {{"index"}, {"filename"}, {"--reason"}}, print_answer<print_changed>)
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/process/terminal.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "registry/commands/command.hpp"
#include "registry/commands/door.hpp"

namespace wheelyard::registry {

struct Option {
    std::string_view name;           // "index": a value by its position; "--from-upstream": after this name
    std::string_view argument = {};  // if the operation has another name than `from_upstream` for it
    std::string help = {};           // if its form, or what it means here, is not the operation's
    std::string_view value = {};     // of a flag that stands for this value
    base::Result<io::Json> (*read)(const std::string& text) =
        nullptr;            // of another form than the operation's
    bool may_lack = false;  // also if the operation needs it
};

class NewFile;  // token.cpp

struct Asked {
    std::string_view operation;
    io::Json arguments = io::Json::object();  // by their names in the operation
    io::Json own = io::Json::object();        // of the options that the operation does not have
    bool json = false;
    bool raw = false;
    std::shared_ptr<NewFile> file = {};
    DoorTarget target = {};
    std::vector<std::function<base::Status()>> readers = {};
};
// Asks, and prints what is answered.
using PrintAnswer = std::function<base::Status(Door& door, Asked& asked)>;
// Options that no argument of the operation has.
using MoreOptions = void (*)(CLI::App& command, Asked& asked);

inline constexpr std::string_view one_document = "One JSON document on standard output";

// `row` without its setup; `json`: the help of --json, and empty without it.
[[nodiscard]] Command of_operation(Command row, std::string_view operation, std::vector<Option> options,
                                   PrintAnswer answer, std::string_view json = one_document,
                                   MoreOptions more = nullptr);
// Where there is no data folder yet, it is made.
void on_new_store(CLI::App& command, Asked& asked);
// --raw: text as it is, also on a terminal.
void add_raw_option(CLI::App& command, Asked& asked);

// Error "lifecycle.answer": the answer is no document of a registry.
[[nodiscard]] base::Result<io::Json> ask_document(Door& door, const Asked& asked);

// The document as it is with --json; otherwise `print` shows it.
template <void (*print)(const io::Json& document)>
base::Status print_answer(Door& door, Asked& asked) {
    WHEELYARD_ASSIGN(const io::Json document, ask_document(door, asked));
    if (asked.json)
        base::print(stdout, document.render() + "\n");
    else
        print(document);
    return {};
}

// A long list comes in pieces: `next` of each is the argument `after` of the one that follows.
[[nodiscard]] base::Status for_each_piece(Door& door, Asked& asked,
                                          const std::function<void(const io::Json& piece)>& use);

}  // namespace wheelyard::registry
