#include "registry/commands/operation_command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "lib/base/check.hpp"
#include "lib/base/text/text.hpp"
#include "registry/api/operation.hpp"
#include "registry/commands/command_line.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::string_view choice_prefix = "one of ";

std::string argument_name(const Option& option) {
    if (!option.argument.empty()) return std::string(option.argument);
    std::string name(option.name);
    name.erase(0, name.find_first_not_of('-'));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

const http::Argument& argument_of(const OperationRow& row, const std::string& name) {
    const auto found = std::find_if(row.http.arguments.begin(), row.http.arguments.end(),
                                    [&](const http::Argument& one) { return one.member.name == name; });
    WHEELYARD_CHECK(found != row.http.arguments.end());
    return *found;
}

// By the type of the argument, as documents name it.
CLI::Option* add_typed(CLI::App& command, const std::string& name, const std::string& type,
                       const std::string& help, const std::function<void(io::Json)>& set) {
    if (type == io::Plain<bool>::type())
        return command.add_flag_callback(
            name, [set] { set(true); }, help);
    if (type == io::Plain<std::int64_t>::type())
        return command.add_option_function<std::int64_t>(
            name, [set](const std::int64_t& value) { set(value); }, help);
    if (type.starts_with("list of"))
        return command.add_option_function<std::vector<std::string>>(
            name, [set](const std::vector<std::string>& values) { set(io::Json::array_of(values)); }, help);
    CLI::Option* const option = command.add_option_function<std::string>(
        name, [set](const std::string& value) { set(value); }, help);
    if (!type.starts_with(choice_prefix)) return option;
    std::vector<std::string> words;
    for (const std::string_view word : base::split(std::string_view(type).substr(choice_prefix.size()), ','))
        words.emplace_back(base::trim(word));
    return option->check(CLI::IsMember(words));
}

void add_option(CLI::App& command, const OperationRow& row, const Option& option, Asked& asked) {
    const std::string argument = argument_name(option);
    const http::Argument& known = argument_of(row, argument);
    const std::string name(option.name);
    const std::string help = option.help.empty() ? std::string(known.member.meaning) : option.help;
    const auto set = [&asked, argument](io::Json value) { asked.arguments.set(argument, std::move(value)); };
    if (!option.value.empty()) {
        command.add_flag_callback(
            name, [set, value = option.value] { set(value); }, help);
        return;
    }
    if (option.read == nullptr) {
        add_typed(command, name, known.member.type == nullptr ? "text" : known.member.type(), help, set)
            ->required(known.is_needed && !option.may_lack);
        return;
    }
    const auto read_later = [&asked, set, read = option.read](const std::string& text) {
        asked.readers.emplace_back([set, read, text]() -> base::Status {
            WHEELYARD_ASSIGN(io::Json value, read(text));
            set(std::move(value));
            return {};
        });
    };
    command.add_option_function<std::string>(name, read_later, help)->required(known.is_needed);
}

base::Status ask_and_print(Asked& asked, const PrintAnswer& answer, const Services& services) {
    for (const auto& read : asked.readers)
        WHEELYARD_TRY(read());
    WHEELYARD_ASSIGN(const auto door, Door::open(asked.target, services.open_publisher, services.clock));
    return answer(*door, asked);
}

}  // namespace

Command of_operation(Command row, std::string_view operation, std::vector<Option> options, PrintAnswer answer,
                     std::string_view json, MoreOptions more) {
    row.setup = [=](CLI::App& command) -> Run {
        const OperationRow* const of = find_row(operation);
        WHEELYARD_CHECK(of != nullptr);
        const auto asked = std::make_shared<Asked>();
        asked->operation = operation;
        for (const Option& option : options)
            add_option(command, *of, option, *asked);
        if (more != nullptr) more(command, *asked);
        if (!json.empty() && command.get_option_no_throw("--json") == nullptr)
            command.add_flag("--json", asked->json, std::string(json));
        if (of->right.callers == Callers::local)
            add_config_option(command, asked->target.config);
        else
            add_target(command, asked->target.config, asked->target.url, asked->target.token_file);
        return [asked, answer](const Services& services) -> base::Result<int> {
            WHEELYARD_TRY(ask_and_print(*asked, answer, services));
            return 0;
        };
    };
    return row;
}

void on_new_store(CLI::App&, Asked& asked) {
    asked.target.new_store = NewStore::created;
}

void add_raw_option(CLI::App& command, Asked& asked) {
    command.add_flag("--raw", asked.raw, "Print control characters as they are, also on a terminal");
}

base::Result<io::Json> ask_document(Door& door, const Asked& asked) {
    WHEELYARD_ASSIGN(const std::string answer, door.ask(asked.operation, asked.arguments));
    WHEELYARD_ASSIGN(io::Json document, io::parse_json(answer));
    if (const std::string format = document.string_or("format", ""); !format.starts_with("wheelyard."))
        return base::fail("lifecycle.answer", "The reply has an unknown format", format,
                          "check the URL: it must be a registry's");
    return document;
}

base::Status for_each_piece(Door& door, Asked& asked, const std::function<void(const io::Json& piece)>& use) {
    while (true) {
        WHEELYARD_ASSIGN(const io::Json piece, ask_document(door, asked));
        use(piece);
        const io::Json* next = piece.find("next");
        if (next == nullptr || next->is_null()) return {};
        asked.arguments.set("after", *next);
    }
}

}  // namespace wheelyard::registry
