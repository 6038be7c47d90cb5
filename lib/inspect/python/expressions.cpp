#include "lib/inspect/python/expressions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "lib/base/text/text.hpp"
#include "lib/inspect/python/gone_names.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::size_t max_argument_tokens = 400;  // of a call; what follows is not looked at

constexpr std::array<std::string_view, 4> open_names{"CDLL", "PyDLL", "LoadLibrary", "dlopen"};
constexpr std::array<std::string_view, 2> import_names{"import_module", "__import__"};

bool is_one_of(const auto& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// From an opening bracket on: the tokens up to the one that closes it, at most max_argument_tokens.
Tokens inside_brackets(Tokens tokens) {
    std::size_t depth = 0;
    const std::size_t last = std::min(tokens.size(), max_argument_tokens);
    for (std::size_t at = 0; at < last; ++at) {
        const Token& token = tokens[at];
        if (token.opens_bracket()) ++depth;
        if (!token.closes_bracket()) continue;
        if (--depth == 0) return tokens.subspan(1, at - 1);
    }
    return tokens.subspan(1, last - 1);
}

Tokens first_argument(Tokens arguments) {
    std::size_t depth = 0;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        const Token& token = arguments[at];
        if (token.opens_bracket()) ++depth;
        if (token.closes_bracket()) --depth;
        if (depth == 0 && token.is_sign(',')) return arguments.first(at);
    }
    return arguments;
}

// What find_library takes: "magic".
bool is_searched_name(std::string_view text) {
    if (text.empty() || text.ends_with(".dylib") || text.ends_with(".dll")) return false;
    return std::all_of(text.begin(), text.end(), [](char c) {
        return base::is_ascii_alnum(c) || c == '-' || c == '_' || c == '.' || c == '+';
    });
}

void add_once(std::vector<std::string>& list, std::string text) {
    if (list.size() < max_candidates && std::find(list.begin(), list.end(), text) == list.end())
        list.push_back(std::move(text));
}

}  // namespace

bool is_library_name(std::string_view text) {
    const std::string_view file = base::base_name(text);
    constexpr std::size_t longest = 80;
    const std::size_t dot = file.find(".so");
    if (dot == std::string_view::npos || dot == 0 || file.size() > longest) return false;
    const std::string_view version = file.substr(dot + 3);
    return version.find_first_not_of(".0123456789") == std::string_view::npos &&
           (version.empty() || version.front() == '.') && is_searched_name(file);
}

std::string ExpressionReader::full_name(std::string_view head, std::string_view rest) const {
    std::string full(head);
    if (const auto found = names_.imported.find(head); found != names_.imported.end()) full = found->second;
    if ((head == "self" || head == "cls") && !class_name_.empty()) full = class_name_;
    return full.append(rest);
}

const KnownTexts* ExpressionReader::known(std::string_view name) const {
    if (const auto own = own_.find(name); own != own_.end()) return &own->second;
    const auto found = names_.known.find(name);
    return found == names_.known.end() ? nullptr : &found->second;
}

void ExpressionReader::add_candidate(std::string text) {
    add_once(into_.candidates, std::move(text));
}

// Plain strings, lists of them, what find_library finds, and names of these; joined by `or`.
KnownTexts ExpressionReader::value_of(Tokens tokens) const {
    KnownTexts value;
    const std::size_t last = std::min(tokens.size(), max_argument_tokens);
    value.is_computed = tokens.size() > last;
    for (std::size_t at = 0; at < last; ++at) {
        const Token& token = tokens[at];
        if (token.kind == TokenKind::text) {
            add_once(value.texts, std::string(token.text));
        } else if (token.kind == TokenKind::other_text) {
            value.is_computed = true;
        } else if (token.kind == TokenKind::sign) {
            const bool is_list = std::string_view("()[]{},").find(token.text) != std::string_view::npos;
            value.is_computed = value.is_computed || !is_list;
        } else if (token.is_name("or") || token.is_name("None")) {
            continue;
        } else {
            std::size_t end = at + 1;
            while (end + 1 < last && tokens[end].is_sign('.') && tokens[end + 1].kind == TokenKind::name)
                end += 2;
            std::string rest;
            for (std::size_t part = at + 1; part < end; ++part)
                rest += tokens[part].text;
            const std::string full = full_name(token.text, rest);
            const bool is_call = end < last && tokens[end].is_sign('(');
            if (is_call && full.ends_with("find_library") && !names_.defined.contains(full)) {
                const Tokens inside = inside_brackets(tokens.subspan(end));
                const KnownTexts searched = value_of(inside);
                for (const std::string& text : searched.texts)
                    if (is_searched_name(text))
                        add_once(value.texts, text.starts_with("-l") ? text : "-l" + text);
                value.is_computed = value.is_computed || searched.is_computed || searched.texts.empty();
                at = end + inside.size() + 1;
                continue;
            }
            const KnownTexts* const one = end == at + 1 && !is_call ? known(token.text) : nullptr;
            if (one == nullptr) {
                value.is_computed = true;
            } else {
                for (const std::string& text : one->texts)
                    add_once(value.texts, text);
                value.is_computed = value.is_computed || one->is_computed;
            }
            at = end - 1;
        }
    }
    return value;
}

void ExpressionReader::learn(std::string_view name, Tokens value) {
    KnownNames& names = is_body_ ? names_.known : own_;
    constexpr std::size_t empty_list = 2;  // tokens
    const bool says_something =
        value.size() <= empty_list || std::any_of(value.begin(), value.end(), [&](const Token& token) {
            return token.kind == TokenKind::text || token.is_name("None") ||
                   (token.kind == TokenKind::name && known(token.text) != nullptr);
        });
    if (!says_something) {  // as most values; a name that is not known is computed, too
        if (const auto found = names.find(name); found != names.end()) found->second.is_computed = true;
        return;
    }
    KnownTexts learned = value_of(value);
    KnownTexts& all = names[std::string(name)];
    for (std::string& text : learned.texts)
        add_once(all.texts, std::move(text));
    all.is_computed = all.is_computed || learned.is_computed;
}

void ExpressionReader::read_call(const std::string& full, std::string_view last, bool is_local, bool is_found,
                                 Tokens arguments, const Guard& guard) {
    const Tokens first = first_argument(arguments);
    if (!is_local && is_one_of(open_names, last)) {
        KnownTexts value = value_of(first);
        if (value.texts.empty() && !value.is_computed) return;  // CDLL(None): the process itself
        std::erase_if(value.texts, [](const std::string& text) {
            return !text.starts_with("-l") && !is_library_name(text);  // "foo.dll", a part of a path
        });
        if (value.texts.empty()) value.is_computed = true;
        add({EffectKind::opens, guard, {}, std::move(value.texts), value.is_computed});
        return;
    }
    if (!is_local && last == "find_library") {
        for (const std::string& text : value_of(first).texts)
            if (is_searched_name(text)) add_candidate(text.starts_with("-l") ? text : "-l" + text);
        return;
    }
    if (!is_local && is_one_of(import_names, last)) {
        const KnownTexts value = value_of(first);
        const bool is_plain =
            value.texts.size() == 1 && !value.is_computed && !value.texts.front().starts_with('.');
        add({EffectKind::imports, guard, is_plain ? value.texts.front() : std::string(), {}, true});
        return;
    }
    Effect call{EffectKind::calls, guard, full};
    for (const Token& token : arguments)
        if (token.kind == TokenKind::text && is_library_name(token.text))
            add_once(call.texts, std::string(token.text));
    if (is_found || !call.texts.empty()) add(std::move(call));
}

void ExpressionReader::read(Tokens tokens, const Guard& guard) {
    for (std::size_t at = 0; at < tokens.size(); ++at) {
        const Token& token = tokens[at];
        if (token.kind == TokenKind::text && is_library_name(token.text))
            add_candidate(std::string(token.text));
        if (token.kind != TokenKind::name) continue;
        const bool is_attribute = at > 0 && tokens[at - 1].is_sign('.');
        std::size_t end = at + 1;
        while (end + 1 < tokens.size() && tokens[end].is_sign('.') && tokens[end + 1].kind == TokenKind::name)
            end += 2;
        const bool is_called = end < tokens.size() && tokens[end].is_sign('(');
        const bool is_imported =
            !is_attribute && (is_called || end > at + 1) && names_.imported.contains(token.text);
        std::string full;
        if (is_called || is_imported) {
            std::string rest;
            for (std::size_t part = at + 1; part < end && rest.size() < max_argument_tokens; ++part)
                rest += tokens[part].text;
            full = is_attribute ? std::string(token.text) + rest : full_name(token.text, rest);
        }
        if (is_imported && end > at + 1 && gone_name(full) != nullptr) add({EffectKind::uses, guard, full});
        // ctypeslib2: `_libraries['libamd_smi.so'].amdsmi_init`, whether or not it was opened before.
        if (token.text == "_libraries" && end + 3 < tokens.size() && tokens[end].is_sign('[') &&
            tokens[end + 1].kind == TokenKind::text && tokens[end + 2].is_sign(']') &&
            tokens[end + 3].is_sign('.'))
            add({EffectKind::opens, guard, {}, {std::string(tokens[end + 1].text)}, true});
        if (is_called) {
            const bool is_local = !is_attribute && end == at + 1 && names_.defined.contains(token.text);
            const Tokens arguments = inside_brackets(tokens.subspan(end));
            // The methods of other objects are not followed.
            const bool is_found =
                is_imported || names_.defined.contains(std::string_view(full).substr(0, full.find('.')));
            read_call(full, tokens[end - 1].text, is_local, is_found, arguments, guard);
        }
        at = end - 1;
    }
}

}  // namespace wheelyard::inspect
