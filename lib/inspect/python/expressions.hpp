// The calls and names in the statements of one function or module body.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/inspect/python/module_source.hpp"
#include "lib/inspect/python/source_lines.hpp"

namespace wheelyard::inspect {

inline constexpr std::size_t max_candidates = 40;  // names of libraries in one function

// What is known of a name's value: the strings that it may be, and whether it may be others.
struct KnownTexts {
    std::vector<std::string> texts;
    bool is_computed = false;
};
using KnownNames = std::map<std::string, KnownTexts, std::less<>>;

struct ModuleNames {
    std::set<std::string, std::less<>> defined;                // functions and classes of the module
    std::map<std::string, std::string, std::less<>> imported;  // local names: {"loader", "magic.loader"}
    KnownNames known;                                          // of the module's body
};

class ExpressionReader {
  public:
    // `class_name`: whose method the function is; empty: none.
    ExpressionReader(ModuleNames& names, FunctionSource& into, bool is_body, std::string class_name)
        : names_(names), into_(into), is_body_(is_body), class_name_(std::move(class_name)) {}

    // Adds the effects of a statement that runs under `guard`.
    void read(Tokens tokens, const Guard& guard);
    // What `name` is given: `name = …`, `for name in …`.
    void learn(std::string_view name, Tokens value);
    void add(Effect effect) { into_.effects.push_back(std::move(effect)); }

  private:
    [[nodiscard]] std::string full_name(std::string_view head, std::string_view rest) const;
    [[nodiscard]] const KnownTexts* known(std::string_view name) const;
    [[nodiscard]] KnownTexts value_of(Tokens tokens) const;
    // `is_local`: a function or class of the module itself; `is_found`: one of it, or of an imported module.
    void read_call(const std::string& full, std::string_view last, bool is_local, bool is_found,
                   Tokens arguments, const Guard& guard);
    void add_candidate(std::string text);

    ModuleNames& names_;
    FunctionSource& into_;
    bool is_body_;
    std::string class_name_;
    KnownNames own_;  // of a function
};

}  // namespace wheelyard::inspect
