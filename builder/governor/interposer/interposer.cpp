// The interposer: LD_PRELOAD puts it into every process of a governed build. An exec of a compiler, by name
// or by path, becomes an exec of the launcher; every other exec passes unchanged.
//
//     execve("/opt/cuda/bin/nvcc", {"nvcc", "-c", "k.cu"}, envp)
//     → execve(WHEELYARD_GOVERNOR_PROGRAM, {…, "launch", "--", "/opt/cuda/bin/nvcc", "-c", "k.cu"}, envp)
//
// It runs in processes of any libc, of any age, between fork and exec. So it links nothing and has no symbol
// versions, allocates on the stack, and finds the next execve in the loader's list itself: the dlsym of a
// newer glibc would keep it out of an older one, and before 2.34 not every process has a dlsym. An
// environment that somebody cleared gets the governor's variables back. Where it ends:
// docs/explanation/decisions/0020-compilers-by-path-pass-an-interposer.md.
#include <elf.h>
#include <link.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "builder/governor/launch/compiler_names.hpp"
#include "builder/governor/launch/message.hpp"

// NOLINTBEGIN(performance-no-int-to-ptr): the dynamic section (elf(5)) has addresses as numbers.

extern "C" char** environ;

namespace {

using namespace wheelyard::governor;
using Words = char* const*;

constexpr std::size_t max_stack_bytes = 64 * 1024;  // of one array: threads may have small stacks
constexpr std::size_t max_kept_bytes = 32 * 1024;
constexpr std::size_t max_path_bytes = 4096;

// What comes back into an environment that lacks it. LD_PRELOAD and ASAN_OPTIONS are edited instead.
constexpr const char* kept_names[] = {socket_variable,  root_variable,  jobs_variable,      capped_variable,
                                      cores_variable,   held_variable,  raised_variable,    shims_variable,
                                      program_variable, probe_variable, interposer_variable};
constexpr std::size_t kept_count = sizeof kept_names / sizeof *kept_names;
constexpr std::size_t no_index = kept_count;
constexpr const char* preload_name = "LD_PRELOAD";
constexpr const char* asan_name = "ASAN_OPTIONS";

struct Next {
    int (*execve)(const char*, Words, Words);
    int (*execvpe)(const char*, Words, Words);
    int (*posix_spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                       Words, Words);
    int (*posix_spawnp)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                        Words, Words);
};

bool is_ready = false;
Next next;
char kept_text[max_kept_bytes];
char* kept[kept_count];  // "NAME=value", or null

// The value, if `text` is "NAME=value".
const char* value_of(const char* text, const char* name) {
    while (*name != '\0' && *text == *name) {
        ++text;
        ++name;
    }
    return *name == '\0' && *text == '=' ? text + 1 : nullptr;
}

const char* value_in(Words envp, const char* name) {
    for (; envp != nullptr && *envp != nullptr; ++envp) {
        if (const char* value = value_of(*envp, name)) return value;
    }
    return nullptr;
}

std::size_t index_of(const char* text) {
    for (std::size_t i = 0; i < kept_count; ++i) {
        if (value_of(text, kept_names[i]) != nullptr) return i;
    }
    return no_index;
}

std::size_t count_of(Words words) {
    std::size_t count = 0;
    while (words != nullptr && words[count] != nullptr)
        ++count;
    return count;
}

char* append(char* to, std::string_view text) {
    for (const char c : text)
        *to++ = c;
    *to = '\0';
    return to;
}

// ---- the next execve

const char* const next_names[] = {"execve", "execvpe", "posix_spawn", "posix_spawnp"};
constexpr std::size_t next_count = sizeof next_names / sizeof *next_names;

struct Search {
    bool passed_ours = false;
    void* found[next_count] = {};
};

struct Tables {
    const ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
    const std::uint32_t *gnu_hash = nullptr, *hash = nullptr;
    const std::uint16_t* versions = nullptr;
};

// glibc relocates the addresses of the dynamic section in memory, other loaders do not.
template <typename To>
const To* at(ElfW(Addr) base, ElfW(Addr) address) {
    return reinterpret_cast<const To*>(address < base ? base + address : address);
}

Tables tables_of(ElfW(Addr) base, const ElfW(Dyn) * dynamic) {
    Tables tables;
    for (; dynamic->d_tag != DT_NULL; ++dynamic) {
        const auto address = dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_SYMTAB) tables.symbols = at<ElfW(Sym)>(base, address);
        if (dynamic->d_tag == DT_STRTAB) tables.names = at<char>(base, address);
        if (dynamic->d_tag == DT_GNU_HASH) tables.gnu_hash = at<std::uint32_t>(base, address);
        if (dynamic->d_tag == DT_HASH) tables.hash = at<std::uint32_t>(base, address);
        if (dynamic->d_tag == DT_VERSYM) tables.versions = at<std::uint16_t>(base, address);
    }
    return tables;
}

// Says whether the symbol is a function of that name, and not an old version of it.
bool is_wanted(const Tables& tables, std::uint32_t index, std::string_view name) {
    const auto& symbol = tables.symbols[index];
    constexpr std::uint16_t hidden_version = 0x8000;
    return symbol.st_shndx != SHN_UNDEF && (symbol.st_info & 0xf) == STT_FUNC &&
           name == tables.names + symbol.st_name &&
           (tables.versions == nullptr || (tables.versions[index] & hidden_version) == 0);
}

void* find_by_gnu_hash(const Tables& tables, ElfW(Addr) base, std::string_view name) {
    std::uint32_t wanted = 5381;
    for (const char c : name)
        wanted = wanted * 33 + static_cast<unsigned char>(c);
    const std::uint32_t buckets = tables.gnu_hash[0], first = tables.gnu_hash[1], blooms = tables.gnu_hash[2];
    if (buckets == 0) return nullptr;
    const std::uint32_t* bucket = tables.gnu_hash + 4 + blooms * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
    const std::uint32_t* chain = bucket + buckets;
    std::uint32_t index = bucket[wanted % buckets];
    if (index < first) return nullptr;
    while (true) {
        const std::uint32_t hash = chain[index - first];
        if ((hash | 1) == (wanted | 1) && is_wanted(tables, index, name))
            return reinterpret_cast<void*>(base + tables.symbols[index].st_value);
        if ((hash & 1) != 0) return nullptr;
        ++index;
    }
}

void* find_in(const Tables& tables, ElfW(Addr) base, std::string_view name) {
    if (tables.symbols == nullptr || tables.names == nullptr) return nullptr;
    if (tables.gnu_hash != nullptr) return find_by_gnu_hash(tables, base, name);
    for (std::uint32_t i = 0; tables.hash != nullptr && i < tables.hash[1]; ++i) {
        if (is_wanted(tables, i, name)) return reinterpret_cast<void*>(base + tables.symbols[i].st_value);
    }
    return nullptr;
}

// Takes the objects in the order in which the loader searches them: what another preloaded library wraps, it
// keeps.
int visit(dl_phdr_info* object, std::size_t, void* data) {
    auto& search = *static_cast<Search*>(data);
    const auto here = reinterpret_cast<ElfW(Addr)>(&kept_names);
    const ElfW(Dyn)* dynamic = nullptr;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& header = object->dlpi_phdr[i];
        const auto begin = object->dlpi_addr + header.p_vaddr;
        if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
        if (header.p_type == PT_LOAD && here >= begin && here < begin + header.p_memsz) {
            search.passed_ours = true;
            return 0;
        }
    }
    if (!search.passed_ours || dynamic == nullptr) return 0;
    const Tables tables = tables_of(object->dlpi_addr, dynamic);
    for (std::size_t i = 0; i < next_count; ++i) {
        if (search.found[i] == nullptr) search.found[i] = find_in(tables, object->dlpi_addr, next_names[i]);
    }
    return 0;
}

// Copies the governor's variables, since the program may overwrite its environment.
void remember() {
    if (is_ready || environ == nullptr) return;
    char* end = kept_text;
    for (char** each = environ; *each != nullptr; ++each) {
        const std::size_t index = index_of(*each);
        if (index == no_index || kept[index] != nullptr) continue;
        const std::string_view text = *each;
        if (text.size() + 1 > static_cast<std::size_t>(kept_text + max_kept_bytes - end)) continue;
        kept[index] = end;
        end = append(end, text) + 1;
    }
    Search search;
    dl_iterate_phdr(visit, &search);
    next = {reinterpret_cast<decltype(next.execve)>(search.found[0]),
            reinterpret_cast<decltype(next.execvpe)>(search.found[1]),
            reinterpret_cast<decltype(next.posix_spawn)>(search.found[2]),
            reinterpret_cast<decltype(next.posix_spawnp)>(search.found[3])};
    is_ready = true;
}

__attribute__((constructor)) void at_load() {
    remember();
}

// ---- what an exec becomes

bool is_program(std::string_view path) {
    char inside[max_path_bytes + 3];
    if (path.size() > max_path_bytes) return false;
    append(append(inside, path), "/.");
    return access(path.data(), X_OK) == 0 && access(inside, F_OK) != 0;  // no folder
}

bool is_called_otherwise(std::string_view file, Words argv) {
    return argv != nullptr && argv[0] != nullptr && name_of(argv[0]) != name_of(file);
}

// Says whether `file`, a name or a path, is a compiler, a cache in front of one, or called as a compiler is.
// Not under another name: the launcher starts a program by its path, and both clang, which takes its language
// from its first word, and ccache under a compiler's name would do something else.
bool is_compile(std::string_view file, Words argv) {
    if (argv == nullptr || argv[0] == nullptr) return false;
    const auto name = name_of(file);
    if (is_called_otherwise(file, argv) || begins_in(name, "wheelyard-governor")) return false;
    return is_compiler_name(name) || is_cache_name(name) || is_distributor_name(name) ||
           looks_like_compile(count_of(argv), [argv](std::size_t i) { return std::string_view(argv[i]); });
}

bool is_below(std::string_view path, const char* folder) {
    const std::string_view above = folder == nullptr ? std::string_view() : folder;
    return !above.empty() && path.size() > above.size() && begins_in(path, above) &&
           path.data()[above.size()] == '/';
}

const char* variable(Words envp, std::size_t index) {
    if (const char* value = value_in(envp, kept_names[index])) return value;
    return kept[index] == nullptr ? nullptr : value_of(kept[index], kept_names[index]);
}
const char* variable(Words envp, const char* name) {
    for (std::size_t i = 0; i < kept_count; ++i) {
        if (kept_names[i] == name) return variable(envp, i);
    }
    return nullptr;
}
bool is_set(const char* value) {
    return value != nullptr && *value != '\0';
}

// Says whether an element of `list`, which has separators in it, is `wanted`.
bool names(std::string_view list, std::string_view wanted) {
    const auto found = list.find(wanted);
    if (found == std::string_view::npos) return false;
    const auto end = found + wanted.size();
    const auto separates = [](char c) { return c == ':' || c == ' '; };
    return (found == 0 || separates(list.data()[found - 1])) &&
           (end == list.size() || separates(list.data()[end]));
}

struct Missing {
    std::size_t variables = 0, environment = 0;
    bool preload = false, asan = false;
};

Missing missing_in(Words envp, std::string_view library) {
    Missing missing;
    missing.environment = count_of(envp);
    for (std::size_t i = 0; i < kept_count; ++i) {
        if (kept[i] != nullptr && value_in(envp, kept_names[i]) == nullptr) ++missing.variables;
    }
    const char *preload = value_in(envp, preload_name), *asan = value_in(envp, asan_name);
    missing.preload = preload == nullptr || !names(preload, library);
    missing.asan = asan == nullptr || !names(asan, asan_option);
    return missing;
}

// "LD_PRELOAD=ours:theirs" and "ASAN_OPTIONS=theirs:ours" are written to `text`, the rest are pointers.
void complete(Words envp, const Missing& missing, std::string_view library, char** into, char* text) {
    const char *preload = nullptr, *asan = nullptr;
    for (; envp != nullptr && *envp != nullptr; ++envp) {
        const char* value = value_of(*envp, preload_name);
        if (missing.preload && value != nullptr) {
            preload = value;
        } else if (value = value_of(*envp, asan_name); missing.asan && value != nullptr) {
            asan = value;
        } else {
            *into++ = *envp;
        }
    }
    if (missing.preload) {
        *into++ = text;
        text = append(append(append(text, preload_name), "="), library);
        if (is_set(preload)) text = append(append(text, ":"), preload);
        ++text;
    }
    if (missing.asan) {
        *into++ = text;
        text = append(append(text, asan_name), "=");
        if (is_set(asan)) text = append(append(text, asan), ":");
        append(text, asan_option);
    }
    *into = nullptr;
}

// Given back when posix_spawn has returned, or an exec has failed.
struct Pages {
    void* start = MAP_FAILED;
    std::size_t bytes = 0;
    Pages() = default;
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    ~Pages() {
        if (start != MAP_FAILED) munmap(start, bytes);
    }
    void* take(std::size_t wanted) {
        bytes = wanted;
        start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return start;
    }
};

// On the stack of the caller; large ones in `pages`.
#define ROOM_FOR(bytes, pages) ((bytes) <= max_stack_bytes ? __builtin_alloca(bytes) : (pages).take(bytes))

// Calls `call` with what `path`, `argv` and `envp` become; `as_given` is used in place of the path if nothing
// changes.
template <typename Call>
int rerouted(const char* path, const char* as_given, Words argv, Words envp, Call call) {
    const char *library = variable(envp, interposer_variable), *program = variable(envp, program_variable);
    // What a launcher starts is one compile with all below it, and gets the environment without us.
    if (is_set(value_in(envp, held_variable)) || !is_set(variable(envp, socket_variable)) ||
        !is_set(library) || !is_set(program))
        return call(as_given, argv, envp);
    Pages text_pages, array_pages, word_pages;
    const Missing missing = missing_in(envp, library);
    if (missing.variables > 0 || missing.preload || missing.asan) {
        const char *preload = value_in(envp, preload_name), *asan = value_in(envp, asan_name);
        const std::size_t text_bytes = 64 + std::string_view(library).size() +
                                       std::string_view(asan_option).size() +
                                       (preload == nullptr ? 0 : std::string_view(preload).size()) +
                                       (asan == nullptr ? 0 : std::string_view(asan).size());
        const std::size_t array_bytes = (missing.environment + kept_count + 3) * sizeof(char*);
        auto* text = static_cast<char*>(ROOM_FOR(text_bytes, text_pages));
        auto** array = static_cast<char**>(ROOM_FOR(array_bytes, array_pages));
        if (text == MAP_FAILED || static_cast<void*>(array) == MAP_FAILED) return call(as_given, argv, envp);
        char** back = array;
        for (std::size_t i = 0; i < kept_count; ++i) {
            if (kept[i] != nullptr && value_in(envp, kept_names[i]) == nullptr) *back++ = kept[i];
        }
        complete(envp, missing, library, back, text);
        envp = array;
    }
    if (path != nullptr && !is_set(variable(envp, held_variable)) && is_compile(path, argv) &&
        !is_below(path, variable(envp, shims_variable)) && is_program(path)) {
        const std::size_t bytes = (count_of(argv) + 5) * sizeof(char*);
        auto** words = static_cast<char**>(ROOM_FOR(bytes, word_pages));
        if (static_cast<void*>(words) != MAP_FAILED) {
            char** word = words;
            for (const char* each : {program, "launch", "--", path})
                *word++ = const_cast<char*>(each);
            for (Words each = argv + 1; *each != nullptr; ++each)
                *word++ = *each;
            *word = nullptr;
            if (call(program, words, envp) == 0) return 0;  // an exec does not return
        }
    }
    return call(as_given, argv, envp);
}

// The path that an exec of `file` by PATH reaches behind our links there, in `buffer`; `file` itself if it
// has a slash; null if it is no compile.
const char* found_on_path(const char* file, Words argv, char* buffer) {
    const std::string_view name = file;
    if (name.find('/') != std::string_view::npos) return file;
    // Our links go by their first word, too.
    const bool passes_links = is_called_otherwise(name, argv) && is_compiler_name(name);
    if (!is_compile(name, argv) && !passes_links) return nullptr;
    const char *path = value_in(environ, "PATH"), *shims = variable(environ, shims_variable);
    const std::string_view links = shims == nullptr ? "" : shims;
    std::string_view rest = path == nullptr ? "/bin:/usr/bin" : path;
    while (true) {
        const auto colon = rest.find(':');
        const std::string_view folder(rest.data(), colon == std::string_view::npos ? rest.size() : colon);
        if (folder.size() + name.size() + 2 <= max_path_bytes && (folder.empty() || folder != links)) {
            append(append(append(buffer, folder.empty() ? "." : folder), "/"), name);
            if (is_program(buffer)) return buffer;
        }
        if (colon == std::string_view::npos) return nullptr;
        rest.remove_prefix(colon + 1);
    }
}

// What an exec that is not rerouted gets in place of `file`.
const char* given(const char* file, const char* path, Words argv) {
    return path != nullptr && is_called_otherwise(file, argv) ? path : file;
}

int exec_path(const char* path, Words argv, Words envp) {
    remember();
    return rerouted(path, path, argv, envp, [](const char* file, Words words, Words variables) {
        return next.execve(file, words, variables);
    });
}

int exec_name(const char* file, Words argv, Words envp) {
    remember();
    char buffer[max_path_bytes];
    const char* path = found_on_path(file, argv, buffer);
    return rerouted(
        path, given(file, path, argv), argv, envp,
        [](const char* name, Words words, Words variables) { return next.execvpe(name, words, variables); });
}

}  // namespace

// Other names for the compiler, because C libraries declare theirs with different exception specifications.
#define REPLACES(name) __asm__(name) __attribute__((visibility("default")))

extern "C" {
int our_execve(const char* path, Words argv, Words envp) REPLACES("execve");
int our_execv(const char* path, Words argv) REPLACES("execv");
int our_execvp(const char* file, Words argv) REPLACES("execvp");
int our_execvpe(const char* file, Words argv, Words envp) REPLACES("execvpe");
int our_execl(const char* path, const char* word, ...) REPLACES("execl");
int our_execlp(const char* file, const char* word, ...) REPLACES("execlp");
int our_execle(const char* path, const char* word, ...) REPLACES("execle");
int our_posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                    const posix_spawnattr_t* attributes, Words argv, Words envp) REPLACES("posix_spawn");
int our_posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                     const posix_spawnattr_t* attributes, Words argv, Words envp) REPLACES("posix_spawnp");

int our_execve(const char* path, Words argv, Words envp) {
    return exec_path(path, argv, envp);
}
int our_execv(const char* path, Words argv) {
    return exec_path(path, argv, environ);
}
int our_execvp(const char* file, Words argv) {
    return exec_name(file, argv, environ);
}
int our_execvpe(const char* file, Words argv, Words envp) {
    return exec_name(file, argv, envp);
}

int our_posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                    const posix_spawnattr_t* attributes, Words argv, Words envp) {
    remember();
    return rerouted(path, path, argv, envp, [&](const char* file, Words words, Words variables) {
        return next.posix_spawn(pid, file, actions, attributes, words, variables);
    });
}

int our_posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                     const posix_spawnattr_t* attributes, Words argv, Words envp) {
    remember();
    char buffer[max_path_bytes];
    const char* path = found_on_path(file, argv, buffer);
    return rerouted(path, given(file, path, argv), argv, envp,
                    [&](const char* name, Words words, Words variables) {
                        return next.posix_spawnp(pid, name, actions, attributes, words, variables);
                    });
}

// The words from `first` to a null; `end` is left behind that null, where execle's environment is.
#define TAKE_WORDS(words, first, end)                                                  \
    std::size_t count = 1;                                                             \
    va_start(end, first);                                                              \
    while (va_arg(end, char*) != nullptr)                                              \
        ++count;                                                                       \
    va_end(end);                                                                       \
    auto** words = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
    va_start(end, first);                                                              \
    words[0] = const_cast<char*>(first);                                               \
    for (std::size_t i = 1; i <= count; ++i)                                           \
    words[i] = va_arg(end, char*)

int our_execl(const char* path, const char* word, ...) {
    va_list more;
    TAKE_WORDS(words, word, more);
    va_end(more);
    return exec_path(path, words, environ);
}
int our_execlp(const char* file, const char* word, ...) {
    va_list more;
    TAKE_WORDS(words, word, more);
    va_end(more);
    return exec_name(file, words, environ);
}
int our_execle(const char* path, const char* word, ...) {
    va_list more;
    TAKE_WORDS(words, word, more);
    Words envp = va_arg(more, Words);
    va_end(more);
    return exec_path(path, words, envp);
}
}
// NOLINTEND(performance-no-int-to-ptr)
