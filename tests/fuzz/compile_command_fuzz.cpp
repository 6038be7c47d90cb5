// Compiler commands: splits any response file, and parses or passes through any command. Removes "@" from
// words so that the fuzzer names no file.
#include <cstdlib>

#include "builder/governor/launch/compile_command.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::governor;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    auto words = split_response_file(text);
    std::size_t total = 0;
    for (auto& word : words) {
        total += word.size();
        if (word.starts_with('@')) word[0] = '_';
    }
    if (total > size) std::abort();
    (void)is_compiler_name(text);
    if (words.empty()) return 0;
    const auto command = parse_compile_command(words, "/build");
    if (command.compiler_at >= words.size()) std::abort();
    if (command.facts.source.size() > max_source_bytes) std::abort();
    if (!command.direct && (command.facts.threads < 1 || command.facts.threads > 64)) std::abort();
    return 0;
}
