// The launcher's own steps (launcher.cpp, run_launcher), as far as they need no environment but PATH.
#include "builder/governor/launch/plain_compile.hpp"

#include <algorithm>
#include <utility>

#include "builder/governor/launch/build_tools.hpp"
#include "builder/governor/launch/compile_command.hpp"
#include "builder/governor/launch/compiler_cache.hpp"
#include "builder/governor/launch/shims.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::governor {

std::optional<PlainCompile> read_plain_compile(const std::vector<std::string>& words, const std::string& path,
                                               const std::string& shims, const std::string& root) {
    if (words.empty() || is_ninja(name_of(words[0])) || is_make(name_of(words[0]))) return std::nullopt;
    const bool response_file = std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return word.size() > 1 && word.starts_with('@');
    });
    if (response_file) return std::nullopt;
    const auto command = past_shims(words, shims, path);
    if (!std::equal(command.begin() + 1, command.end(), words.begin() + 1, words.end())) return std::nullopt;

    PlainCompile plain;
    plain.path = path_without(path, shims);
    // Where the launcher is called must play no part in the search.
    const bool searched = command[0] != words[0] || !command[0].starts_with('/');
    const auto folders = base::split(plain.path, ':');
    const auto is_absolute = [](std::string_view folder) { return folder.starts_with('/'); };
    if (searched && !std::all_of(folders.begin(), folders.end(), is_absolute)) return std::nullopt;
    const auto program = find_real(command[0], plain.path);
    if (!program || !program->starts_with('/')) return std::nullopt;
    auto parsed = parse_compile_command(command, root);
    if (parsed.direct || parsed.cached || !parsed.distributor.empty()) return std::nullopt;
    const auto file = canonical(*program);
    if (is_ccache(file) || is_cache_name(name_of(file)) || is_distributor_name(name_of(file)))
        return std::nullopt;
    plain.facts = std::move(parsed.facts);
    plain.program = *program;
    return plain;
}

}  // namespace wheelyard::governor
