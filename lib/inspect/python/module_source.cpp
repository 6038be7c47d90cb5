#include "lib/inspect/python/module_source.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "lib/inspect/python/expressions.hpp"
#include "lib/inspect/python/gone_names.hpp"
#include "lib/inspect/python/source_lines.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::size_t max_block_depth = 100;  // Python refuses more levels of indentation

// A header with what belongs to it: `if x:` and the lines that are further in, or what follows the colon.
struct Clause {
    std::string_view word;
    Tokens header;                    // between the word and the colon
    Tokens rest;                      // after the colon, in the same line
    std::size_t first = 0, last = 0;  // its lines
};

struct Function {
    std::string name, class_name;
    Clause clause;
    Guard guard;  // of its body: in a branch that is not known it may be another one that is called
};

constexpr std::string_view clause_words[] = {"if",    "elif", "else",  "try", "except", "finally", "for",
                                             "while", "with", "class", "def", "match",  "case"};

class ModuleReader {
  public:
    ModuleReader(std::string_view source, std::string_view module, bool is_package)
        : source_(read_source_lines(source)),
          lines_(source_.lines),
          package_(is_package ? module
                              : module.substr(
                                    0, module.rfind('.') == std::string_view::npos ? 0 : module.rfind('.'))) {
    }

    ModuleSource read() {
        for (const SourceLine& line : lines_) {
            evaluates_annotations_ = evaluates_annotations_ && !is_future(line.tokens);
            const std::size_t at = line.tokens.front().is_name("async") ? 1 : 0;
            if (line.tokens.size() > at + 1 &&
                (line.tokens[at].is_name("def") || line.tokens[at].is_name("class")))
                names_.defined.emplace(line.tokens[at + 1].text);
        }
        ModuleSource module;
        ExpressionReader body(names_, module.body, true, {});
        read_lines({0, lines_.size()}, {}, body, {}, 0);
        is_in_function_ = true;
        for (std::size_t i = 0; i < functions_.size(); ++i) {  // functions in functions are added meanwhile
            const Function function = functions_[i];
            const std::string name =
                function.class_name.empty() ? function.name : function.class_name + "." + function.name;
            const bool is_constructor = function.name == "__init__" || function.name == "__new__";
            FunctionSource& into =
                module.functions[is_constructor && !function.class_name.empty() ? function.class_name : name];
            ExpressionReader reader(names_, into, false, function.class_name);
            read_clause(function.clause, function.guard, reader, {}, 1);
        }
        module.imported = std::move(names_.imported);
        return module;
    }

  private:
    struct Range {
        std::size_t first, last;
    };

    // nullopt: a plain statement.
    [[nodiscard]] std::optional<Clause> clause_at(std::size_t at, std::size_t last) const {
        Tokens tokens = lines_[at].tokens;
        if (tokens.front().is_name("async")) tokens = tokens.subspan(1);
        if (tokens.empty()) return std::nullopt;
        const std::string_view word = tokens.front().text;
        if (tokens.front().kind != TokenKind::name ||
            std::find(std::begin(clause_words), std::end(clause_words), word) == std::end(clause_words))
            return std::nullopt;
        std::size_t depth = 0, lambdas = 0, colon = 1;
        for (; colon < tokens.size(); ++colon) {
            const Token& token = tokens[colon];
            if (token.opens_bracket()) ++depth;
            if (token.closes_bracket() && depth > 0) --depth;
            if (depth > 0) continue;
            if (token.is_name("lambda")) ++lambdas;
            if (token.is_sign(':') && lambdas-- == 0) break;
        }
        if (colon == tokens.size()) return std::nullopt;
        Clause clause{word, tokens.subspan(1, colon - 1), tokens.subspan(colon + 1), at + 1, at + 1};
        while (clause.last < last && (lines_[clause.last].indent > lines_[at].indent ||
                                      (!clause.rest.empty() && lines_[clause.last].is_continued)))
            ++clause.last;
        return clause;
    }

    void read_clause(const Clause& clause, const Guard& guard, ExpressionReader& into,
                     const std::string& class_name, std::size_t depth) {
        if (!clause.rest.empty()) read_statement(clause.rest, guard, into);
        read_lines({clause.first, clause.last}, guard, into, class_name, depth + 1);
    }

    void read_lines(Range range, const Guard& guard, ExpressionReader& into, const std::string& class_name,
                    std::size_t depth) {
        if (depth > max_block_depth) return;
        for (std::size_t at = range.first; at < range.last;) {
            const auto clause = clause_at(at, range.last);
            if (!clause) {
                read_statement(lines_[at++].tokens, guard, into);
                continue;
            }
            at = clause->last;
            if (clause->word == "if") {
                read_if(*clause, at, range.last, guard, into, class_name, depth);
            } else if (clause->word == "try") {
                read_try(*clause, at, range.last, guard, into, class_name, depth);
            } else if (clause->word == "def") {
                read_annotation(clause->header, guard, into);
                if (!clause->header.empty())
                    functions_.push_back({std::string(clause->header.front().text), class_name, *clause,
                                          Guard{.maybe = guard.maybe}});
            } else if (clause->word == "class") {
                // Not its name, which with its bases looks like a call.
                into.read(clause->header.subspan(std::min<std::size_t>(1, clause->header.size())), guard);
                const std::string name(clause->header.empty() ? std::string_view()
                                                              : clause->header.front().text);
                read_clause(*clause, guard, into, name, depth);
            } else {
                read_clause(*clause, read_header(*clause, guard, into), into, class_name, depth);
            }
        }
    }

    // `from __future__ import annotations`: no annotation is evaluated.
    static bool is_future(Tokens tokens) {
        return tokens.size() > 3 && tokens[0].is_name("from") && tokens[1].is_name("__future__") &&
               std::any_of(tokens.begin(), tokens.end(),
                           [](const Token& token) { return token.is_name("annotations"); });
    }

    // `X | None` raises where the types that are no union have no such operator.
    void read_annotation(Tokens tokens, const Guard& guard, ExpressionReader& into) const {
        for (std::size_t at = 1; evaluates_annotations_ && at + 1 < tokens.size(); ++at) {
            if (!tokens[at].is_sign('|') ||
                (!tokens[at - 1].is_name("None") && !tokens[at + 1].is_name("None")))
                continue;
            into.add({EffectKind::uses, guard, std::string(union_type)});
            return;
        }
    }

    // Of `for`, `while`, `with` and what is left; the guard of its lines.
    Guard read_header(const Clause& clause, Guard guard, ExpressionReader& into) {
        if (clause.word == "for" && clause.header.size() > 2 && clause.header[1].is_name("in"))
            into.learn(clause.header.front().text, clause.header.subspan(2));
        const bool suppresses =
            clause.word == "with" && std::any_of(clause.header.begin(), clause.header.end(),
                                                 [](const Token& one) { return one.is_name("suppress"); });
        if (suppresses)
            guard.caught |= caught_by(clause.header);
        else
            into.read(clause.header, guard);
        if (clause.word == "case") guard.maybe = true;
        return guard;
    }

    void read_if(const Clause& first, std::size_t& at, std::size_t last, const Guard& guard,
                 ExpressionReader& into, const std::string& class_name, std::size_t depth) {
        std::optional<Clause> clause = first;
        Guard here = guard;
        bool is_decided = false;
        while (clause) {
            const auto holds = clause->word == "else" ? std::optional(true) : condition_holds(clause->header);
            if (!is_decided && clause->word != "else") into.read(clause->header, here);
            if (!is_decided && holds.value_or(true)) {
                Guard inside = here;
                inside.maybe = inside.maybe || !holds;
                read_clause(*clause, inside, into, class_name, depth);
            }
            is_decided = is_decided || holds.value_or(false);
            here.maybe = here.maybe || !holds;
            clause = next_clause(at, last, {"elif", "else"});
        }
    }

    // The clause that goes on with the same statement.
    std::optional<Clause> next_clause(std::size_t& at, std::size_t last,
                                      std::initializer_list<std::string_view> words) const {
        if (at >= last) return std::nullopt;
        auto clause = clause_at(at, last);
        if (!clause || std::find(words.begin(), words.end(), clause->word) == words.end())
            return std::nullopt;
        at = clause->last;
        return clause;
    }

    void read_try(const Clause& body, std::size_t& at, std::size_t last, const Guard& guard,
                  ExpressionReader& into, const std::string& class_name, std::size_t depth) {
        std::vector<Clause> handlers, others;
        while (const auto clause = next_clause(at, last, {"except", "else", "finally"}))
            (clause->word == "except" ? handlers : others).push_back(*clause);
        Guard inside = guard;
        for (const Clause& handler : handlers) {
            switch (raises(handler)) {
                case Raises::never:
                    inside.caught |= caught_by(handler.header);
                    break;
                case Raises::maybe:
                    inside.maybe = true;
                    break;
                case Raises::always:
                    break;
            }
        }
        read_clause(body, inside, into, class_name, depth);
        for (const Clause& other : others)
            if (other.word == "else") read_clause(other, guard, into, class_name, depth);
        Guard handling = guard;
        handling.maybe = handling.in_handler = true;
        for (const Clause& handler : handlers)
            read_clause(handler, handling, into, class_name, depth);
        for (const Clause& other : others)
            if (other.word == "finally") read_clause(other, guard, into, class_name, depth);
    }

    enum class Raises { never, maybe, always };
    // Says whether a handler raises in the end, whatever it tried before.
    [[nodiscard]] Raises raises(const Clause& clause, std::size_t depth = 0) const {
        if (depth > max_block_depth) return Raises::maybe;
        if (!clause.rest.empty() && clause.rest.front().is_name("raise")) return Raises::always;
        Raises found = Raises::never;
        for (std::size_t at = clause.first; at < clause.last;) {
            if (lines_[at].tokens.front().is_name("raise")) return Raises::always;
            auto inner = clause_at(at, clause.last);
            at = inner ? inner->last : at + 1;
            if (!inner || inner->word == "def" || inner->word == "class") continue;
            bool is_decided = false, is_known = inner->word == "if";
            for (; inner; inner = next_clause(at, clause.last, {"elif", "else", "except", "finally"})) {
                const bool has_condition = inner->word == "if" || inner->word == "elif";
                const auto holds = has_condition ? condition_holds(inner->header) : std::optional(true);
                if (is_decided || !holds.value_or(true)) continue;
                const Raises inside = raises(*inner, depth + 1);
                if (inside == Raises::always && holds && is_known) return Raises::always;
                if (inside != Raises::never) found = Raises::maybe;
                is_known = is_known && holds;
                is_decided = is_known && holds.value_or(false);
            }
        }
        return found;
    }

    void read_statement(Tokens tokens, const Guard& guard, ExpressionReader& into);
    void remember(std::string local, std::string means, const Guard& guard);
    void read_import(Tokens tokens, const Guard& guard, ExpressionReader& into);
    void read_from(Tokens tokens, const Guard& guard, ExpressionReader& into);

    SourceLines source_;
    const std::vector<SourceLine>& lines_;
    std::string package_;  // what relative imports start from
    ModuleNames names_;
    std::vector<Function> functions_;
    bool evaluates_annotations_ = true;
    bool is_in_function_ = false;  // annotations of local variables are not evaluated
};

// "a.b.c" at the start of `tokens`; how many of them it takes.
std::size_t dotted_name(Tokens tokens, std::string& name) {
    std::size_t at = 0;
    while (at < tokens.size() && (tokens[at].kind == TokenKind::name || tokens[at].is_sign('.'))) {
        if (tokens[at].is_name("as") || tokens[at].is_name("import")) break;
        name += tokens[at++].text;
    }
    return at;
}

// What a handler imports in its place has the name only where the first import failed.
void ModuleReader::remember(std::string local, std::string means, const Guard& guard) {
    if (guard.in_handler)
        names_.imported.try_emplace(std::move(local), std::move(means));
    else
        names_.imported.insert_or_assign(std::move(local), std::move(means));
}

void ModuleReader::read_import(Tokens tokens, const Guard& guard, ExpressionReader& into) {
    for (std::size_t at = 0; at < tokens.size(); ++at) {
        std::string module;
        at += dotted_name(tokens.subspan(at), module);
        if (module.empty()) return;
        std::string local = module.substr(0, module.find('.'));
        std::string means = local;
        if (at + 1 < tokens.size() && tokens[at].is_name("as")) {
            local = tokens[at + 1].text;
            means = module;
            at += 2;
        }
        remember(std::move(local), std::move(means), guard);
        into.add({EffectKind::imports, guard, std::move(module)});
    }
}

void ModuleReader::read_from(Tokens tokens, const Guard& guard, ExpressionReader& into) {
    std::string written;
    std::size_t at = dotted_name(tokens, written);
    const std::size_t dots = std::min(written.find_first_not_of('.'), written.size());
    std::string module = written.substr(dots);
    if (dots > 0) {
        std::string base = package_;
        for (std::size_t up = 1; up < dots && !base.empty(); ++up)
            base.resize(base.rfind('.') == std::string::npos ? 0 : base.rfind('.'));
        module = base + (base.empty() || module.empty() ? "" : ".") + module;
    }
    if (module.empty() || at >= tokens.size() || !tokens[at].is_name("import")) return;
    Effect effect{EffectKind::imports, guard, module};
    for (++at; at < tokens.size(); ++at) {
        if (tokens[at].kind != TokenKind::name) continue;
        const std::string name(tokens[at].text);
        std::string local = name;
        if (at + 2 < tokens.size() && tokens[at + 1].is_name("as")) {
            local = tokens[at + 2].text;
            at += 2;
        }
        remember(std::move(local), module + "." + name, guard);
        effect.texts.push_back(name);
    }
    into.add(std::move(effect));
}

void ModuleReader::read_statement(Tokens tokens, const Guard& guard, ExpressionReader& into) {
    const Token& first = tokens.front();
    if (first.is_name("import")) return read_import(tokens.subspan(1), guard, into);
    if (first.is_name("from")) return read_from(tokens.subspan(1), guard, into);
    std::size_t value = 1;  // `name: str = …`
    if (tokens.size() > 1 && tokens[1].is_sign(':'))
        while (value < tokens.size() && !tokens[value].is_sign('='))
            ++value;
    if (value > 1 && !is_in_function_) read_annotation(tokens.subspan(0, value), guard, into);
    if (first.kind == TokenKind::name && value + 1 < tokens.size() &&
        (tokens[value].is_sign('=') || tokens[value].is_sign("+=")))
        into.learn(first.text, tokens.subspan(value + 1));
    into.read(tokens, guard);
    if (first.is_name("raise")) into.add({EffectKind::raises, guard});
}

}  // namespace

ModuleSource read_module_source(std::string_view source, std::string_view module, bool is_package) {
    return ModuleReader(source, module, is_package).read();
}

}  // namespace wheelyard::inspect
