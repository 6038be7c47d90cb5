// Parses GCC's, Clang's and nvcc's options only as far as the prediction needs.
#include "builder/governor/launch/compile_command.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "builder/governor/memory/limits.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

constexpr std::uint64_t max_response_file_bytes = 4 * mib;  // larger files are not read
constexpr unsigned max_response_file_depth = 4;

struct Extension {
    std::string_view suffix, language;
};
constexpr std::array extensions = {
    Extension{".c", "c"},         Extension{".i", "c"},         Extension{".cc", "c++"},
    Extension{".cpp", "c++"},     Extension{".cxx", "c++"},     Extension{".C", "c++"},
    Extension{".c++", "c++"},     Extension{".ii", "c++"},      Extension{".cu", "cuda"},
    Extension{".ptx", "cuda"},    Extension{".hip", "hip"},     Extension{".S", "asm"},
    Extension{".s", "asm"},       Extension{".asm", "asm"},     Extension{".f", "fortran"},
    Extension{".F", "fortran"},   Extension{".f90", "fortran"}, Extension{".F90", "fortran"},
    Extension{".f95", "fortran"}, Extension{".f03", "fortran"}, Extension{".f08", "fortran"},
    Extension{".for", "fortran"}, Extension{".FOR", "fortran"}, Extension{".m", "c"},
    Extension{".mm", "c++"},
};

// Options whose next word is a value, not an input.
constexpr std::array valued = {"-I",
                               "-isystem",
                               "-iquote",
                               "-idirafter",
                               "-include",
                               "-imacros",
                               "-L",
                               "-l",
                               "-MF",
                               "-MT",
                               "-MQ",
                               "-Xlinker",
                               "-Xcompiler",
                               "-T",
                               "-Xclang",
                               "-Xassembler",
                               "-Xpreprocessor",
                               "-U",
                               "-rpath",
                               "-soname",
                               "-z",
                               "-Xarch_host",
                               "-Xarch_device",
                               "-isysroot",
                               "--sysroot",
                               "-B",
                               "-ccbin",
                               "-aux-info",
                               "-target",
                               "-Xptxas",
                               "-Xnvlink",
                               "-Xcudafe",
                               "-framework",
                               "-D"};
// Queries: they produce no object file.
constexpr std::array queries = {"--version",
                                "-V",
                                "-###",
                                "--help",
                                "-E",
                                "-M",
                                "-MM",
                                "--dryrun",
                                "-dryrun",
                                "--list-gpu-arch",
                                "--list-gpu-code",
                                "-fsyntax-only",
                                "-show",
                                "-compile_info",
                                "-link_info",
                                "-qversion"};
// Prefixes of the arguments that affect memory or time. Others (paths, warnings, file names) are ignored.
constexpr std::array relevant_prefixes = {"-O",
                                          "-g",
                                          "-std",
                                          "--std",
                                          "-f",
                                          "-m",
                                          "-x",
                                          "-p",
                                          "--use_fast_math",
                                          "-rdc",
                                          "--relocatable-device-code",
                                          "-ftemplate",
                                          "-extended-lambda",
                                          "--expt-",
                                          "-static",
                                          "-shared",
                                          "-r"};
constexpr std::array architecture_options = {
    "-gencode",       "--generate-code", "-arch", "--gpu-architecture",
    "--offload-arch", "--cuda-gpu-arch", "-code", "--gpu-code"};

template <typename Table>
bool contains(const Table& table, std::string_view word) {
    return std::any_of(table.begin(), table.end(), [&](std::string_view each) { return each == word; });
}

std::string_view language_of(std::string_view path) {
    for (const auto& [suffix, language] : extensions) {
        if (path.ends_with(suffix)) return language;
    }
    return {};
}

void expand(const std::string& argument, unsigned depth, std::vector<std::string>& into) {
    if (argument.size() > 1 && argument[0] == '@' && depth < max_response_file_depth) {
        if (const auto text = base::read_file(argument.substr(1), max_response_file_bytes)) {
            for (const auto& word : split_response_file(*text))
                expand(word, depth + 1, into);
            return;
        }
    }
    into.push_back(argument);
}

std::string without_root(std::string_view path, const std::string& root) {
    if (!root.empty() && path.starts_with(root) && path.size() > root.size() && path[root.size()] == '/') {
        return std::string(path.substr(root.size() + 1));
    }
    while (path.starts_with("../") || path.starts_with("./"))
        path.remove_prefix(path.find('/') + 1);
    return std::string(path);
}

struct Reading {
    bool compiles = false;  // -c, -S, nvcc's -ptx …
    bool query = false, from_stdin = false;
    std::string source, output, object, forced_language, architectures, arguments;
    unsigned threads = 1;

    void take_architecture(std::string_view value) {
        if (!architectures.empty()) architectures += ' ';
        architectures += value;
    }
};

// The value of an option written "-x value" or "-x=value".
std::optional<std::string> value_of(std::string_view name, const std::vector<std::string>& words,
                                    std::size_t& i) {
    const std::string& word = words[i];
    if (word == name && i + 1 < words.size()) return words[++i];
    if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=') {
        return word.substr(name.size() + 1);
    }
    return std::nullopt;
}

void read_word(const std::vector<std::string>& words, std::size_t& i, Reading& reading) {
    const std::string& word = words[i];
    if (word == "-") {
        reading.from_stdin = true;
    } else if (word == "-c" || word == "-S" || word == "-dc" || word == "-dw" || word == "--device-c" ||
               word == "-ptx" || word == "--compile" || word == "-cubin" || word == "-fatbin") {
        reading.compiles = true;
    } else if (contains(queries, word) || word.starts_with("-print-") || word.starts_with("-dump") ||
               word.starts_with("--print-") || word.starts_with("-showme") || word.starts_with("--showme")) {
        reading.query = true;
    } else if (auto output = value_of("-o", words, i)) {
        reading.output = *output;
    } else if (word == "-x" && i + 1 < words.size()) {
        reading.forced_language = words[++i];
    } else if (auto threads = value_of("--threads", words, i)) {
        reading.threads = static_cast<unsigned>(
            std::clamp<std::uint64_t>(base::parse_decimal(*threads).value_or(1), 1, 64));
    } else if (!word.starts_with('-')) {
        if (!language_of(word).empty() || !reading.forced_language.empty()) {
            if (reading.source.empty()) reading.source = word;
        } else if (reading.object.empty()) {
            reading.object = word;
        }
    } else {
        for (const char* name : architecture_options) {
            if (auto value = value_of(name, words, i)) return reading.take_architecture(*value);
        }
        if (contains(valued, word)) {
            ++i;
            return;
        }
        if (std::any_of(relevant_prefixes.begin(), relevant_prefixes.end(),
                        [&](std::string_view start) { return word.starts_with(start); }) &&
            word.find('/') == std::string::npos) {
            reading.arguments += word + '\n';
        }
    }
}

}  // namespace

std::vector<std::string> split_response_file(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    bool inside = false;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
            word += text[++i];
            inside = true;
        } else if (quote != 0) {
            if (c == quote) {
                quote = 0;
            } else {
                word += c;
            }
        } else if (c == '"' || c == '\'') {
            quote = c;
            inside = true;
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            if (inside) words.push_back(std::move(word));
            word.clear();
            inside = false;
        } else {
            word += c;
            inside = true;
        }
    }
    if (inside) words.push_back(std::move(word));
    return words;
}

void distribute(CompileCommand& command, const std::string& distributor) {
    if (command.facts.language == "link") return;
    command.distributor = distributor;
    command.facts.language = "distributed";
}

CompileCommand parse_compile_command(const std::vector<std::string>& argv, const std::string& root) {
    CompileCommand command;
    std::string distributor;
    for (; command.compiler_at + 1 < argv.size(); ++command.compiler_at) {
        const auto name = name_of(argv[command.compiler_at]);
        if (is_distributor_name(name)) {
            distributor = argv[command.compiler_at];
        } else if (is_cache_name(name)) {
            command.cached = true;
        } else {
            break;
        }
    }
    // A call of ccache itself: -s, --max-size 5G
    if (command.compiler_at > 0 && argv[command.compiler_at].starts_with('-')) {
        command.direct = true;
        return command;
    }
    std::vector<std::string> words;
    for (std::size_t i = command.compiler_at + 1; i < argv.size(); ++i)
        expand(argv[i], 0, words);
    Reading reading;
    for (std::size_t i = 0; i < words.size(); ++i)
        read_word(words, i, reading);

    auto& facts = command.facts;
    const bool links = !reading.compiles && reading.source.empty();
    if (reading.query || reading.from_stdin || (links && reading.object.empty())) {
        command.direct = true;
        return command;
    }
    const std::string_view compiler = argv.empty() ? std::string_view() : name_of(argv[command.compiler_at]);
    if (links) {
        facts.language = "link";
        facts.source = without_root(reading.output.empty() ? reading.object : reading.output, root);
    } else {
        facts.source = without_root(reading.source.empty() ? reading.object : reading.source, root);
        facts.language = std::string(language_of(facts.source));
        if (reading.forced_language == "cu" || compiler == "nvcc") facts.language = "cuda";
        if (reading.forced_language == "hip" || compiler == "hipcc") facts.language = "hip";
        if (facts.language.empty()) facts.language = reading.forced_language;
    }
    if (!distributor.empty()) distribute(command, distributor);
    if (facts.source.size() > max_source_bytes) facts.source.resize(max_source_bytes);
    facts.architectures = reading.architectures.substr(0, max_source_bytes);
    facts.threads = reading.threads;
    facts.arguments = std::to_string(base::hash_text(reading.arguments));
    return command;
}

}  // namespace wheelyard::governor
