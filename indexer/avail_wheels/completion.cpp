// Completion scripts and the manual page, generated from the parser's list of options.
#include <algorithm>
#include <ostream>

#include "indexer/avail_wheels/find_wheels.hpp"
#include "indexer/avail_wheels/run.hpp"
#include "indexer/avail_wheels/source/source.hpp"
#include "indexer/avail_wheels/source/wheel_list_cache.hpp"
#include "indexer/avail_wheels/words.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::avail_wheels {

namespace {

using Helps = std::vector<OptionHelp>;

// Escapes text for single quotes of any shell.
std::string in_single_quotes(std::string_view text) {
    return base::replace_all(text, "'", "'\\''");
}

bool takes_file(const OptionHelp& option) {
    return option.value == "FILE" || option.value == "DIR";
}

std::string all_names(const Helps& options) {
    std::vector<std::string> names;
    for (const auto& option : options)
        names.insert(names.end(), option.names.begin(), option.names.end());
    return base::join(names, " ");
}

std::string bash(const Helps& options) {
    std::string choices;
    for (const auto& option : options) {
        if (option.names.empty() || option.value.empty()) continue;
        const std::string pattern = base::join(option.names, "|");
        if (takes_file(option)) {
            choices += "        " + pattern + ") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n";
        } else if (!option.choices.empty()) {
            choices += "        " + pattern + ") COMPREPLY=($(compgen -W '" +
                       base::join(option.choices, " ") + "' -- \"$word\")); return ;;\n";
        }
    }
    return "# bash completion of avail_wheels: eval \"$(avail_wheels --completion bash)\"\n"
           "_avail_wheels() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} option= i\n"
           "    # The option that this word belongs to: the last one before it, with only its values in "
           "between.\n"
           "    for ((i = COMP_CWORD - 1; i > 0; i--)); do\n"
           "        if [[ ${COMP_WORDS[i]} == -* ]]; then option=${COMP_WORDS[i]}; break; fi\n"
           "    done\n"
           "    if [[ $word == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W '" +
           all_names(options) +
           "' -- \"$word\"))\n"
           "        return\n"
           "    fi\n"
           "    case $option in\n" +
           choices +
           "    esac\n"
           "    COMPREPLY=($(avail_wheels --complete-name \"$word\" 2>/dev/null))\n"
           "}\n"
           "complete -F _avail_wheels avail_wheels\n";
}

std::string zsh(const Helps& options) {
    std::string text =
        "#compdef avail_wheels\n"
        "# zsh completion of avail_wheels: eval \"$(avail_wheels --completion zsh)\"\n"
        "_avail_wheels_names() {\n"
        "    compadd -- ${(f)\"$(avail_wheels --complete-name \"$PREFIX\" 2>/dev/null)\"}\n"
        "}\n"
        "_avail_wheels() {\n"
        "    _arguments -s \\\n";
    for (const auto& option : options) {
        if (option.names.empty()) continue;
        std::string help = in_single_quotes(option.help);
        for (const auto* bracket : {"[", "]"})
            help = base::replace_all(help, bracket, std::string("\\") + bracket);
        std::string value;
        if (!option.value.empty()) {
            value = ":" + base::ascii_lower(option.value) + ":";
            if (takes_file(option)) value += "_files";
            if (!option.choices.empty()) value += "(" + base::join(option.choices, " ") + ")";
        }
        for (const auto& name : option.names)
            text += "        '*" + name + "[" + help + "]" + value + "' \\\n";
    }
    return text +
           "        '*:wheel:_avail_wheels_names'\n"
           "}\n"
           "compdef _avail_wheels avail_wheels\n";
}

std::string fish(const Helps& options) {
    std::string text =
        "# fish completion of avail_wheels: avail_wheels --completion fish | source\n"
        "complete -c avail_wheels -f -a '(avail_wheels --complete-name (commandline -ct) 2>/dev/null)'\n";
    for (const auto& option : options) {
        for (const auto& name : option.names) {
            text += "complete -c avail_wheels";
            text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            if (!option.value.empty()) text += takes_file(option) ? " -r -F" : " -x";
            if (!option.choices.empty()) text += " -a '" + base::join(option.choices, " ") + "'";
            text += " -d '" + in_single_quotes(option.help) + "'\n";
        }
    }
    return text;
}

// Escapes text for man(7): backslashes, hyphens that must stay ASCII, and dots at the start of a line.
std::string roff(std::string_view text) {
    std::string out = base::replace_all(text, "\\", "\\e");
    out = base::replace_all(out, "-", "\\-");
    out = base::replace_all(out, "'", "\\(aq");
    return base::replace_all(out, "\n.", "\n\\&.");
}

}  // namespace

const std::vector<std::string>& completion_shells() {
    static const std::vector<std::string> shells{"bash", "zsh", "fish"};
    return shells;
}

std::string render_completion(const std::string& shell, const Helps& options) {
    return shell == "bash" ? bash(options) : shell == "zsh" ? zsh(options) : fish(options);
}

std::string render_manual(const Helps& options, const std::string& description, const std::string& examples) {
    std::string text = ".TH AVAIL_WHEELS 1 \"\" \"Wheelyard " WHEELYARD_VERSION
                       "\" \"User Commands\"\n"
                       ".SH NAME\navail_wheels \\- list available wheels and which of them run on this node\n"
                       ".SH SYNOPSIS\n.B avail_wheels\n[\\fIOPTION\\fR]... [\\fIWHEEL\\fR]...\n"
                       ".SH DESCRIPTION\n.nf\n" +
                       roff(description) + "\n.fi\n.SH OPTIONS\n";
    std::vector<std::string> groups;
    for (const auto& option : options) {
        if (std::find(groups.begin(), groups.end(), option.group) == groups.end())
            groups.push_back(option.group);
    }
    for (const auto& group : groups) {
        text += ".SS " + roff(group) + "\n";
        for (const auto& option : options) {
            if (option.group != group) continue;
            std::vector<std::string> names;
            for (const auto& name : option.names)
                names.push_back("\\fB" + roff(name) + "\\fR");
            text += ".TP\n" + (names.empty() ? "\\fIWHEEL\\fR" : base::join(names, ", "));
            if (!names.empty() && !option.value.empty())
                text += " \\fI" + roff(option.value) + "\\fR" + (option.takes_many ? "..." : "");
            text += "\n" + roff(option.help) + "\n";
        }
    }
    return text +
           ".SH EXIT STATUS\n"
           "0, even when nothing matches; 1 when the index cannot be read; 2 for a wrong command line.\n"
           ".SH FILES\n"
           ".TP\n\\fI/etc/wheelyard/avail_wheels.toml\\fR\nThe site's settings: its index, node types, "
           "versions "
           "known to fail.\n"
           ".TP\n\\fI$XDG_CACHE_HOME/wheelyard\\fR\nCached wheel lists of indexes and properties of this "
           "node.\n"
           ".SH EXAMPLES\n.nf\n" +
           roff(examples) + "\n.fi\n";
}

// avail_wheels --complete-name: the projects that a shell's completion offers; only from what is cached.
int answer_completion(const Options& options, const CompletionMode& mode, const World& world,
                      std::ostream& out) {
    std::optional<simple::WheelList> wheel_list;
    if (options.source.index_url.empty()) {
        if (const auto folder = folder_with_wheel_list(options.source.wheelhouse); !folder.empty()) {
            if (auto opened = simple::WheelList::open(folder)) wheel_list = std::move(*opened);
        }
    } else if (auto answer =
                   fetch_wheel_list(world.get, options.source.index_url, cache_folder(world.environment),
                                    *world.clock, Freshness::cached)) {
        wheel_list = std::move(answer->wheel_list);
    }
    if (!wheel_list) return 0;
    const auto names = projects_of_wheel_list(*wheel_list, mode.start);
    for (const auto& name : names.value_or(std::vector<std::string>{}))
        out << name << '\n';
    return 0;
}

}  // namespace wheelyard::avail_wheels
