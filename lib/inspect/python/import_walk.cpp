// A queue of modules with the conditions under which they are imported. Functions are walked where they are
// called.
#include "lib/inspect/python/import_walk.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/inspect/python/expressions.hpp"
#include "lib/inspect/python/gone_names.hpp"
#include "lib/inspect/python/source_lines.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint64_t max_all_source_bytes = 32 * base::mib;  // that one import reaches
constexpr std::size_t max_modules_read = 3'000;                 // torch's import reaches 1,200
constexpr std::size_t max_call_depth = 12;
constexpr std::size_t max_walk_steps = 2'000'000;  // effects that one import looks at: a second

// The C library's, which the process has already.
constexpr std::array<std::string_view, 13> loaded_libraries{
    "-lc",       "-lm",        "-ldl",       "-lrt",         "-lpthread",       "-lutil", "libc.so.6",
    "libm.so.6", "libdl.so.2", "librt.so.1", "libutil.so.1", "libpthread.so.0", "libc.so"};

bool is_loaded_library(const std::string& name) {
    return std::find(loaded_libraries.begin(), loaded_libraries.end(), name) != loaded_libraries.end();
}

Reach reach_of(const Guard& guard, std::uint8_t failure) {
    if ((guard.caught & failure) != 0) return Reach::never;
    return guard.maybe ? Reach::maybe : Reach::always;
}

std::string_view parent_of(std::string_view module) {
    const std::size_t dot = module.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : module.substr(0, dot);
}

bool ends_import(const Effect& effect) {
    return effect.kind == EffectKind::raises && !effect.guard.in_handler && effect.guard.caught == 0;
}

// What the functions of one call open, together.
struct Collected {
    std::vector<std::string> candidates;
    bool has_caught = false;    // a library whose absence is caught; a later `raise` makes it a need
    bool has_computed = false;  // one is opened by a name that is not known
    Reach needed = Reach::never;

    void add(const std::vector<std::string>& texts) {
        for (const std::string& text : texts) {
            if (candidates.size() == max_candidates) return;
            if (std::find(candidates.begin(), candidates.end(), text) == candidates.end())
                candidates.push_back(text);
        }
    }
};

class Walker {
  public:
    explicit Walker(const WheelModules& wheel) : wheel_(wheel) {}

    ImportWalk walk(const std::vector<std::string>& roots) {
        for (const std::string& root : roots)
            walk_root(root, 0);
        return std::move(found_);
    }

  private:
    // Sources that were read stay where they are, so that functions and effects are known by their address.
    struct Function {
        const std::string* module = nullptr;
        const FunctionSource* source = nullptr;  // nullptr: none of the wheel's
    };
    using Visited = std::set<const FunctionSource*>;

    void walk_root(const std::string& root, std::size_t depth) {
        const auto module = wheel_.modules.find(root);
        const std::size_t before = seen_.size();
        if (module != wheel_.modules.end()) {
            reach(root, {});
            work();
            if (seen_.size() > before + 1 || !module->second.is_package || !module->second.extensions.empty())
                return;
        }
        const bool is_namespace = module == wheel_.modules.end();
        std::set<std::string> below;
        for (auto at = wheel_.modules.lower_bound(root + "."); at != wheel_.modules.end(); ++at) {
            if (!at->first.starts_with(root + ".")) break;
            const std::size_t dot = at->first.find('.', root.size() + 1);
            if (is_namespace || (dot == std::string::npos && !at->second.extensions.empty()))
                below.insert(at->first.substr(0, dot));
        }
        // pyzbar.pyzbar: the module of the same name is what an empty package is for.
        std::string same = root + "." + root.substr(root.rfind('.') + 1);
        if (wheel_.modules.contains(same)) below.insert(std::move(same));
        if (depth >= max_call_depth) return;
        for (const std::string& child : below)
            walk_root(child, depth + 1);
    }

    void work() {
        for (; !queue_.empty(); queue_.pop_front()) {
            const auto [name, guard] = queue_.front();
            const auto& module = wheel_.modules.find(name)->second;
            for (const std::size_t file : module.extensions)
                mark(file, reach_of(guard, caught_import));
            const ModuleSource* source = source_of(name);
            if (source == nullptr) continue;
            Collected all;
            walk_effects(name, source->body, guard, all, nullptr, 0);
            emit_collected(name, all);
        }
    }

    // "a.b.c" imports a, a.b and a.b.c.
    void reach(std::string_view dotted, Guard guard) {
        guard.in_handler = false;
        for (std::size_t dot = dotted.find('.');; dot = dotted.find('.', dot + 1)) {
            const auto module = wheel_.modules.find(dotted.substr(0, dot));
            if (module != wheel_.modules.end() && is_new(module->first, guard))
                queue_.emplace_back(module->first, guard);
            if (dot == std::string_view::npos) return;
        }
    }

    // Says whether no import of it came before under conditions that ask as much.
    bool is_new(const std::string& module, const Guard& guard) {
        auto& guards = seen_[module];
        const bool is_known = std::any_of(guards.begin(), guards.end(), [&](const Guard& one) {
            return (!one.maybe || guard.maybe) && (one.caught & ~guard.caught) == 0;
        });
        if (is_known) return false;
        guards.push_back(guard);
        return true;
    }

    const ModuleSource* source_of(const std::string& name) {
        if (const auto known = sources_.find(name); known != sources_.end()) return &known->second;
        const auto module = wheel_.modules.find(name);
        if (module == wheel_.modules.end() || !module->second.has_source) return nullptr;
        const auto text = sources_.size() < max_modules_read ? wheel_.read(name) : std::nullopt;
        bytes_ += text ? text->size() : 0;
        if (!text || bytes_ > max_all_source_bytes) {
            found_.is_whole = false;
            return nullptr;
        }
        return &sources_.emplace(name, read_module_source(*text, name, module->second.is_package))
                    .first->second;
    }

    // `calls`: the functions that led here; nullptr: the body of a module.
    void walk_effects(const std::string& module, const FunctionSource& source, const Guard& outer,
                      Collected& into, Visited* calls, std::size_t depth) {
        into.add(source.candidates);
        std::size_t raises_from = source.effects.size();  // the last `raise` that is no handler's
        while (raises_from > 0 && !ends_import(source.effects[raises_from - 1]))
            --raises_from;
        const std::size_t outer_depth = std::exchange(depth_, depth);
        const Effect* lost = nullptr;  // a caught import of a module that some Pythons lack
        for (const Effect& effect : source.effects) {
            if (++steps_ > max_walk_steps) {
                found_.is_whole = false;
                return;
            }
            Guard guard = effect.guard.within(outer);
            const auto at = static_cast<std::size_t>(&effect - source.effects.data());
            // psycopg: every import of a list is caught, and then "no pq wrapper available" is raised.
            if (effect.kind == EffectKind::imports && guard.caught != 0 && at < raises_from) {
                guard.caught = outer.caught;
                guard.maybe = true;
            }
            switch (effect.kind) {
                case EffectKind::imports:
                    walk_import(module, effect, guard);
                    note_replaced(module, effect, outer, lost);
                    break;
                case EffectKind::uses:
                    note_gone(module, effect.name, guard, caught_attribute);
                    break;
                case EffectKind::opens:
                    walk_open(module, effect, guard, into);
                    break;
                case EffectKind::calls:
                    walk_call(module, effect, guard, into, calls, depth);
                    break;
                case EffectKind::raises:
                    if (into.has_caught && !guard.in_handler)
                        into.needed = std::max(into.needed, reach_of(guard, caught_os | caught_import));
                    break;
            }
        }
        depth_ = outer_depth;
    }

    void walk_import(const std::string& module, const Effect& effect, const Guard& guard) {
        if (!is_new_import(effect, guard)) return;
        const std::string_view top = std::string_view(module).substr(0, module.find('.'));
        if (effect.is_computed && (effect.name.empty() || effect.name == top)) {
            for (auto at = wheel_.modules.lower_bound(top); at != wheel_.modules.end(); ++at) {
                if (!at->first.starts_with(top)) break;
                for (const std::size_t file : at->second.extensions)
                    mark(file, reach_of(guard, caught_import));
            }
            return;
        }
        reach(effect.name, guard);
        note_gone(module, effect.name, guard, caught_missing);
        note_foreign(module, effect, guard);
        for (const std::string& name : effect.texts) {
            reach(effect.name + "." + name, guard);
            if (const GoneName* row = gone_name(effect.name + "." + name); row != nullptr && !row->is_module)
                note_gone(module, effect.name + "." + name, guard, caught_import);
        }
    }

    // Functions are walked for each of their callers; an import says nothing new the second time.
    bool is_new_import(const Effect& effect, const Guard& guard) {
        constexpr unsigned caught_bits = 4;
        const unsigned flags = (guard.maybe ? 1U : 0U) + (guard.in_handler ? 2U : 0U);
        const std::uint64_t bit = std::uint64_t{1} << ((flags << caught_bits) + guard.caught);
        std::uint64_t& known = imported_[&effect];
        return std::exchange(known, known | bit) != known;
    }

    // The first part of the name of a module that the wheel and the standard library lack; empty: they have
    // it.
    [[nodiscard]] std::string foreign_top(const std::string& name) const {
        std::string top = name.substr(0, name.find('.'));
        const auto own = wheel_.modules.lower_bound(top);
        const bool is_own = own != wheel_.modules.end() && own->first.starts_with(top) &&
                            (own->first.size() == top.size() || own->first[top.size()] == '.');
        const bool is_known = is_own || is_standard_module(top) || gone_name(top) != nullptr;
        return is_known ? std::string() : top;
    }

    void note_foreign(const std::string& module, const Effect& effect, const Guard& guard) {
        if (effect.is_computed || reach_of(guard, caught_missing) != Reach::always ||
            found_.foreign.size() == max_opened)
            return;
        if (std::string top = foreign_top(effect.name); !top.empty())
            found_.foreign.emplace(std::move(top), module);
    }

    // pydub: `import audioop`, and where that fails, `import pyaudioop`.
    void note_replaced(const std::string& module, const Effect& effect, const Guard& outer,
                       const Effect*& lost) {
        const bool is_handled = effect.guard.in_handler && effect.guard.caught == 0;
        if (!effect.guard.in_handler) {
            const auto* row = gone_name(effect.name);
            const bool is_lost = row != nullptr && row->is_module && !effect.guard.maybe &&
                                 (effect.guard.caught & caught_missing) != 0;
            lost = is_lost ? &effect : nullptr;
        } else if (is_handled && lost != nullptr && reach_of(outer, caught_missing) == Reach::always) {
            if (std::string top = foreign_top(effect.name); !top.empty())
                found_.replaced.emplace(lost->name, std::pair(std::move(top), module));
        }
    }

    void note_gone(const std::string& module, const std::string& name, const Guard& guard,
                   std::uint8_t failure) {
        if (reach_of(guard, failure) != Reach::always || found_.gone.size() == max_opened) return;
        const auto* row = gone_name(name);
        if (row == nullptr || wheel_.modules.contains(std::string_view(name).substr(0, name.find('.'))))
            return;
        // yt_dlp: what a function needs of Windows is behind a question for the system that is not always
        // seen.
        if (row->since == only_windows && depth_ != 0) return;
        found_.gone.emplace(name, module);
    }

    void walk_open(const std::string& module, const Effect& effect, const Guard& guard, Collected& into) {
        const Reach reach = reach_of(guard, caught_os);
        into.add(effect.texts);
        if (reach == Reach::never) {
            into.has_caught = true;
        } else if (!effect.is_computed && !(guard.in_handler && into.has_caught)) {
            emit(module, effect.texts, reach, false);
        } else {
            into.needed = std::max(into.needed, guard.in_handler ? Reach::always : reach);
            into.has_computed = into.has_computed || effect.is_computed;
        }
    }

    void walk_call(const std::string& module, const Effect& effect, const Guard& guard, Collected& into,
                   Visited* calls, std::size_t depth) {
        const auto [at, is_new] = functions_.try_emplace(&effect);
        if (is_new) at->second = function_of(module, effect.name);
        const Function function = at->second;
        if (function.source == nullptr || depth == max_call_depth) return;
        if (calls == nullptr && effect.texts.empty() && !called_.emplace(function.source, guard).second)
            return;
        Visited own;
        Visited& visited = calls == nullptr ? own : *calls;
        if (!visited.insert(function.source).second) return;
        if (calls != nullptr) {
            into.add(effect.texts);
            walk_effects(*function.module, *function.source, guard, into, &visited, depth + 1);
            return;
        }
        Collected of_call;
        of_call.add(effect.texts);
        walk_effects(*function.module, *function.source, guard, of_call, &visited, depth + 1);
        emit_collected(*function.module, of_call);
        into.add(of_call.candidates);
        into.has_caught = into.has_caught || (of_call.has_caught && of_call.needed == Reach::never);
    }

    // "load" of this module, "pkg.loader.load" of another, also where a module has imported it from a third.
    Function function_of(std::string module, std::string name) {
        constexpr int max_hops = 4;
        for (int hop = 0; hop < max_hops; ++hop) {
            const ModuleSource* source = source_of(module);
            if (source == nullptr) return {};
            if (const auto found = source->functions.find(name); found != source->functions.end())
                return {&sources_.find(module)->first, &found->second};
            if (hop > 0) {
                const auto imported = source->imported.find(std::string_view(name).substr(0, name.find('.')));
                if (imported == source->imported.end()) return {};
                name = imported->second +
                       (name.find('.') == std::string::npos ? "" : name.substr(name.find('.')));
            }
            std::string_view owner = parent_of(name);
            while (!owner.empty() && !wheel_.modules.contains(owner))
                owner = parent_of(owner);
            if (owner.empty()) return {};
            module = owner;
            name = name.substr(module.size() + 1);
        }
        return {};
    }

    // Of several names one is enough. That of the C library is another's where it is not known which of them
    // is opened: psycopg opens libpq, and then libc for itself.
    void emit_collected(const std::string& module, const Collected& all) {
        if (all.needed == Reach::never) return;
        std::vector<std::string> names = all.candidates;
        const bool has_loaded = std::erase_if(names, is_loaded_library) > 0;
        if (has_loaded && (names.empty() || !all.has_computed)) return;
        emit(module, names, has_loaded ? std::min(all.needed, Reach::maybe) : all.needed, true);
    }

    void emit(const std::string& module, const std::vector<std::string>& any, Reach reach, bool is_computed) {
        if (std::any_of(any.begin(), any.end(), is_loaded_library)) return;
        std::vector<std::size_t> own = wheel_.own_libraries(any);
        if (own.empty() && any.empty()) own = wheel_.loose_libraries;
        for (const std::size_t file : own)
            mark(file, reach);
        if (!own.empty() || found_.opened.size() == max_opened) return;
        OpenedLibrary opened{{}, module, reach == Reach::always};
        for (const std::string& one : any) {
            std::string file(base::base_name(one));
            if (std::find(opened.any.begin(), opened.any.end(), file) == opened.any.end())
                opened.any.push_back(std::move(file));
        }
        // A path that is put together may lead elsewhere.
        const bool has_folder = std::any_of(any.begin(), any.end(), [](const std::string& one) {
            return one.find('/') != std::string::npos;
        });
        if (is_computed && has_folder) opened.is_certain = false;
        if (std::find(found_.opened.begin(), found_.opened.end(), opened) == found_.opened.end())
            found_.opened.push_back(std::move(opened));
    }

    void mark(std::size_t file, Reach reach) {
        auto& known = found_.files[file];
        known = std::max(known, reach);
    }

    const WheelModules& wheel_;
    ImportWalk found_;
    std::map<std::string, ModuleSource, std::less<>> sources_;
    std::map<std::string, std::vector<Guard>, std::less<>> seen_;
    std::deque<std::pair<std::string, Guard>> queue_;
    std::set<std::pair<const FunctionSource*, Guard>> called_;  // by bodies of modules
    std::unordered_map<const Effect*, Function> functions_;     // that are called
    std::unordered_map<const Effect*, std::uint64_t>
        imported_;  // a bit for each guard that it was walked with
    std::uint64_t bytes_ = 0;
    std::size_t steps_ = 0;
    std::size_t depth_ = 0;  // of the function whose effects are walked; 0: a module
};

}  // namespace

ImportWalk walk_imports(const WheelModules& wheel, const std::vector<std::string>& roots) {
    return Walker(wheel).walk(roots);
}

}  // namespace wheelyard::inspect
