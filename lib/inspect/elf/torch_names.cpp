#include "lib/inspect/elf/torch_names.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "lib/base/digest/digest.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/elf/torch_abi.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::size_t max_torch_imports = 16'384;  // per file; torchaudio 2.8 has 244
constexpr std::size_t max_torch_import_bytes = 2 * base::mib;
constexpr std::size_t max_torch_definitions = 1'000'000;  // per file; libtorch_cpu of torch 2.4 has 50,000
constexpr std::size_t max_readable_bytes = 300;

struct OperatorName {
    std::string_view code, text;
};
// Itanium C++ ABI 5.1.3, those that members of torch's classes have.
constexpr OperatorName operators[] = {{"eq", "=="}, {"ne", "!="}, {"lt", "<"},  {"gt", ">"},  {"le", "<="},
                                      {"ge", ">="}, {"pl", "+"},  {"mi", "-"},  {"ml", "*"},  {"dv", "/"},
                                      {"rm", "%"},  {"pL", "+="}, {"mI", "-="}, {"mL", "*="}, {"dV", "/="},
                                      {"aS", "="},  {"ix", "[]"}, {"cl", "()"}, {"ls", "<<"}, {"rs", ">>"},
                                      {"an", "&"},  {"or", "|"},  {"eo", "^"},  {"nt", "!"},  {"ng", "-"}};
struct Special {
    std::string_view code, text;
};
constexpr Special specials[] = {
    {"TI", "typeinfo for "}, {"TV", "vtable for "}, {"TS", "typeinfo name for "}, {"GV", "guard of "}};

// Takes "5zeros" off the front of `rest`.
std::optional<std::string_view> take_source_name(std::string_view& rest) {
    constexpr std::size_t max_digits = 5;
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits == 0 || digits > max_digits) return std::nullopt;
    const auto length = base::parse_decimal(rest.substr(0, digits));
    if (!length || *length == 0 || *length > rest.size() - digits) return std::nullopt;
    const std::string_view name = rest.substr(digits, *length);
    rest.remove_prefix(digits + *length);
    return name;
}

// The text of a constructor, destructor or operator at the front of `rest`, the class's own name being
// `last`; empty: none.
std::string take_special_name(std::string_view& rest, std::string_view last) {
    if (rest.size() < 2) return {};
    const std::string_view code = rest.substr(0, 2);
    std::string text;
    if (code[0] == 'C' && base::is_ascii_digit(code[1])) text = last;
    if (code[0] == 'D' && base::is_ascii_digit(code[1])) text = "~" + std::string(last);
    for (const OperatorName& row : operators) {
        if (code == row.code) text = "operator" + std::string(row.text);
    }
    if (!text.empty()) rest.remove_prefix(2);
    return text;
}

}  // namespace

bool is_stable_torch_name(std::string_view symbol) {
    return symbol.starts_with("aoti_torch_") || symbol.starts_with("torch_");
}

bool is_torch_name(std::string_view symbol) {
    if (is_stable_torch_name(symbol) || is_torch_api(symbol)) return true;
    constexpr std::string_view casters = "_ZN8pybind116detail11type_casterIN";
    if (!symbol.starts_with(casters)) return false;
    const std::string_view type = symbol.substr(casters.size());
    return type.starts_with("2at") || type.starts_with("3c10") || type.starts_with("5torch");
}

std::uint64_t torch_name_hash(std::string_view symbol) {
    base::Digest digest(base::DigestKind::sha256);
    digest.update(symbol);
    const std::string bytes = digest.finish();
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < sizeof hash; ++i)
        hash = hash << 8U | static_cast<unsigned char>(bytes.at(i));
    return hash;
}

std::string readable_torch_name(std::string_view symbol) {
    std::string_view rest = symbol;
    if (!rest.starts_with("_Z")) return std::string(symbol);
    rest.remove_prefix(2);
    std::string prefix;
    for (const Special& special : specials) {
        if (!rest.starts_with(special.code)) continue;
        prefix = special.text;
        rest.remove_prefix(special.code.size());
        break;
    }
    if (!rest.starts_with('N')) return std::string(symbol);
    rest.remove_prefix(1);
    while (!rest.empty() && std::string_view("rVKRO").find(rest.front()) != std::string_view::npos)
        rest.remove_prefix(1);
    std::string text;
    std::string_view last;
    while (!rest.empty() && rest.front() != 'E' && text.size() < max_readable_bytes) {
        if (rest.front() == 'B') {  // an ABI tag, of the name before it
            rest.remove_prefix(1);
            if (!take_source_name(rest)) break;
            continue;
        }
        if (rest.front() == 'I') {
            text += "<…>";
            break;
        }
        std::string part;
        if (const auto name = take_source_name(rest)) {
            part = last = *name;
        } else {
            part = take_special_name(rest, last);
        }
        if (part.empty()) break;
        if (!text.empty()) text += "::";
        text += part;
    }
    return text.empty() ? std::string(symbol) : prefix + text;
}

std::string name_for_any_torch(std::string_view member) {
    constexpr std::string_view torch = "torch";
    const auto is_release = [&](std::size_t at) {
        const bool is_separator = member[at] == '.' || member[at] == '_';
        return base::is_ascii_digit(member[is_separator && at + 1 < member.size() ? at + 1 : at]);
    };
    for (auto at = member.find(torch); at != std::string_view::npos; at = member.find(torch, at + 1)) {
        const std::size_t begin = at + torch.size();
        std::size_t end = begin;
        while (end < member.size() && is_release(end))
            ++end;
        if (end != begin) return std::string(member.substr(0, begin)) + "#" + std::string(member.substr(end));
    }
    return std::string(member);
}

void TorchNames::take(const DynamicSymbol& symbol) {
    if (is_cut || !is_torch_name(symbol.name)) return;
    if (!symbol.imported) {
        definitions.push_back(torch_name_hash(symbol.name));
    } else if (!symbol.weak) {
        imports.emplace_back(symbol.name);
        import_bytes_ += symbol.name.size();
    }
    is_cut = imports.size() > max_torch_imports || import_bytes_ > max_torch_import_bytes ||
             definitions.size() > max_torch_definitions;
}

std::uint64_t TorchNames::bytes() const {
    return imports.size() * sizeof(std::string) + import_bytes_ + definitions.size() * sizeof(std::uint64_t);
}

}  // namespace wheelyard::inspect
