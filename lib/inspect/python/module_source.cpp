// One pass over the lines, with a stack of the blocks that are open.
#include "lib/inspect/python/module_source.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <utility>

#include "lib/inspect/python/source_lines.hpp"

namespace wheelyard::inspect {
namespace {

bool has_name(Tokens tokens, std::initializer_list<std::string_view> names) {
    return std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) {
        return token.kind == TokenKind::name &&
               std::find(names.begin(), names.end(), token.text) != names.end();
    });
}

// "a.b.c" at the start of `tokens`; how many of them it takes.
std::size_t dotted_name(Tokens tokens, std::string& name) {
    std::size_t at = 0;
    while (at < tokens.size() && (tokens[at].kind == TokenKind::name || tokens[at].is_sign('.'))) {
        if (tokens[at].is_name("as") || tokens[at].is_name("import")) break;
        name += tokens[at++].text;
    }
    return at;
}

class ModuleReader {
  public:
    ModuleReader(std::string_view source, std::string_view module, bool is_package)
        : source_(read_source_lines(source)),
          lines_(source_.lines),
          top_(module.substr(0, module.find('.'))),
          package_(module) {
        if (!is_package) package_.resize(package_.rfind('.') == std::string::npos ? 0 : package_.rfind('.'));
        const auto has = [&](std::string_view text) { return source.find(text) != std::string_view::npos; };
        module_.opens_libraries = has("CDLL(") || has("PyDLL(") || has("LoadLibrary(") || has("dlopen(");
    }

    ModuleSource read() {
        for (std::size_t at = 0; at < lines_.size(); ++at)
            read_line(at);
        return std::move(module_);
    }

  private:
    struct Block {
        std::size_t indent;
        Reach reach;
    };

    // The colon that ends the header of a block; nullopt: a plain statement.
    static std::optional<std::size_t> colon_of(Tokens tokens) {
        if (!has_name(tokens.first(1), {"if", "elif", "else", "try", "except", "finally", "for", "while",
                                        "with", "class", "def", "async", "match", "case"}))
            return std::nullopt;
        std::size_t depth = 0, lambdas = 0;
        for (std::size_t at = 1; at < tokens.size(); ++at) {
            const Token& token = tokens[at];
            if (token.opens_bracket()) ++depth;
            if (token.closes_bracket() && depth > 0) --depth;
            if (depth > 0) continue;
            if (token.is_name("lambda")) ++lambdas;
            if (token.is_sign(':') && lambdas-- == 0) return at;
        }
        return std::nullopt;
    }

    void read_line(std::size_t at) {
        const SourceLine& line = lines_[at];
        while (!line.is_continued && !blocks_.empty() && blocks_.back().indent >= line.indent)
            blocks_.pop_back();
        const Block outer = blocks_.empty() ? Block{0, Reach::plain} : blocks_.back();
        const auto colon = colon_of(line.tokens);
        if (!colon) return read_statement(line.tokens, outer);
        const Tokens header = line.tokens.first(*colon);
        const Block inside{line.indent, std::min(outer.reach, reach_in(at, header))};
        if (*colon + 1 < line.tokens.size()) read_statement(line.tokens.subspan(*colon + 1), inside);
        blocks_.push_back(inside);
    }

    [[nodiscard]] Reach reach_in(std::size_t at, Tokens header) const {
        if (header.front().is_name("try")) return lines_[at].is_continued ? Reach::maybe : reach_in_try(at);
        if (header.front().is_name("class") || header.front().is_name("finally")) return Reach::always;
        // SWIG writes `if __package__ or "." in __name__:` around the import of the extension module.
        const bool is_main = std::any_of(header.begin(), header.end(), [](const Token& token) {
            return token.kind == TokenKind::text && token.text == "__main__";
        });
        const bool is_negated = header.size() > 1 && header[1].is_name("not");
        const bool is_apart = is_main || has_name(header, {"TYPE_CHECKING", "suppress"});
        return is_apart && !is_negated ? Reach::never : Reach::maybe;
    }

    // What fails in a `try` matters where each handler ends with `raise`, and perhaps where one contains it.
    [[nodiscard]] Reach reach_in_try(std::size_t at) const {
        const std::size_t indent = lines_[at].indent;
        Reach reach = Reach::always;
        bool is_handler = false, raises = false;
        const SourceLine* last = nullptr;  // statement of the handler itself, in none of its blocks
        const auto end_handler = [&] {
            const bool ends_in_raise = last != nullptr && last->tokens.front().is_name("raise");
            if (is_handler && !ends_in_raise) reach = std::min(reach, raises ? Reach::maybe : Reach::never);
            raises = false, last = nullptr;
        };
        for (++at; at < lines_.size() && lines_[at].indent >= indent; ++at) {
            const SourceLine& line = lines_[at];
            if (line.indent == indent && !line.is_continued) {
                if (!has_name(line.tokens.first(1), {"except", "else", "finally"})) break;
                end_handler();
                is_handler = line.tokens.front().is_name("except");
            } else if (last == nullptr || line.indent <= last->indent) {
                last = &line;
            }
            raises = raises || has_name(line.tokens, {"raise"});
        }
        end_handler();
        return reach;
    }

    void read_statement(Tokens tokens, const Block& block) {
        if (tokens.front().is_name("import")) return read_import(tokens.subspan(1), block.reach);
        if (tokens.front().is_name("from")) return read_from(tokens.subspan(1), block.reach);
        for (std::size_t at = 0; at + 2 < tokens.size(); ++at) {
            if (has_name(tokens.subspan(at, 1), {"import_module", "__import__"}) &&
                tokens[at + 1].is_sign('('))
                read_call(tokens.subspan(at + 2), block.reach);
            if (tokens[at].is_name("sys") && changes_imports(tokens.subspan(at + 2)))
                module_.changes_imports = true;
        }
    }

    // After "sys.": `path.insert(…)`, `path[:0] = …`, `modules["imp"] = …`, `modules.update(…)`, `meta_path`.
    static bool changes_imports(Tokens tokens) {
        const bool is_changed =
            tokens.size() > 2 &&
            ((tokens[1].is_sign('[') && tokens[2].kind == TokenKind::text) ||
             (tokens[1].is_sign('.') && has_name(tokens.subspan(2, 1), {"setdefault", "update"})));
        return has_name(tokens.first(1), {"meta_path", "path_hooks"}) ||
               (tokens.front().is_name("modules") && is_changed) ||
               (tokens.front().is_name("path") && tokens.size() > 1 && !tokens[1].closes_bracket());
    }

    // cv2: `importlib.import_module("cv2")` in its own __init__ finds the extension module of that name.
    void read_call(Tokens arguments, Reach reach) {
        const bool is_known = arguments.front().kind == TokenKind::text && arguments.size() > 1 &&
                              (arguments[1].is_sign(')') || arguments[1].is_sign(',')) &&
                              !arguments.front().text.starts_with('.') && arguments.front().text != top_;
        module_.imports.push_back({std::string(is_known ? arguments.front().text : std::string_view()),
                                   {},
                                   std::min(reach, is_known ? Reach::always : Reach::maybe)});
    }

    void read_import(Tokens tokens, Reach reach) {
        for (std::size_t at = 0; at < tokens.size(); ++at) {
            std::string module;
            at += dotted_name(tokens.subspan(at), module);
            if (module.empty()) return;
            if (at + 1 < tokens.size() && tokens[at].is_name("as")) {
                module_.changes_imports = module_.changes_imports || module == "sys";  // by the other name
                at += 2;
            }
            module_.imports.push_back({std::move(module), {}, reach});
        }
    }

    void read_from(Tokens tokens, Reach reach) {
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
        Import& import = module_.imports.emplace_back(Import{std::move(module), {}, reach});
        const bool is_of_sys = import.module == "sys";
        const bool is_all = at + 1 < tokens.size() && tokens[at + 1].is_sign('*');
        if (is_of_sys &&
            (is_all || has_name(tokens.subspan(at), {"path", "modules", "meta_path", "path_hooks"})))
            module_.changes_imports = true;
        for (++at; at < tokens.size(); ++at) {
            if (tokens[at].kind == TokenKind::name) import.names.emplace_back(tokens[at].text);
            if (at + 2 < tokens.size() && tokens[at + 1].is_name("as")) at += 2;
        }
    }

    SourceLines source_;
    const std::vector<SourceLine>& lines_;
    std::string_view top_;
    std::string package_;  // what relative imports start from
    std::vector<Block> blocks_;
    ModuleSource module_;
};

}  // namespace

ModuleSource read_module_source(std::string_view source, std::string_view module, bool is_package) {
    return ModuleReader(source, module, is_package).read();
}

}  // namespace wheelyard::inspect
