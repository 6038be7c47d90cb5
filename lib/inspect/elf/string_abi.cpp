#include "lib/inspect/elf/string_abi.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"
#include "lib/base/text/words.hpp"

namespace wheelyard::inspect {
namespace {

bool is_sequence_character(char c) {
    return base::is_ascii_digit(c) || (c >= 'A' && c <= 'Z');
}

// Scans a mangled name without parsing its structure: identifiers have a length prefix, so that letters
// inside them are never mistaken for codes of the ABI.
class NameWalk {
  public:
    explicit NameWalk(std::string_view rest) : rest_(rest) {}

    StringUse walk() {
        while (!rest_.empty()) {
            const char c = rest_.front();
            if (base::is_ascii_digit(c)) {
                if (!take_identifier()) break;
            } else if (c == 'S') {
                take_substitution();
            } else if (c == 'T') {
                take_numbered();  // a template parameter: T_, T0_
            } else if (c == 'L') {
                take_literal();
            } else if (c == 'B') {
                skip(1);  // an ABI tag: functions that return the new std::string have one
                if (rest_.starts_with("5cxx11")) use_.cxx11 = true;
            } else {
                skip(1);
            }
        }
        return use_;
    }

  private:
    void skip(std::size_t count) { rest_.remove_prefix(std::min(count, rest_.size())); }

    bool take_identifier() {
        constexpr std::size_t max_length = 6;
        const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
        if (digits > max_length) return false;
        const auto length = base::parse_decimal(rest_.substr(0, digits));
        skip(digits);
        if (!length || *length > rest_.size()) return false;
        if (rest_.substr(0, *length) == "__cxx11") use_.cxx11 = true;
        skip(*length);
        return true;
    }

    void take_substitution() {
        const char kind = rest_.size() > 1 ? rest_[1] : '\0';
        if (kind == 's' || kind == 'b') use_.old = true;
        if (kind == '_' || is_sequence_character(kind)) {
            take_numbered();  // a back reference: S_, S1A_
        } else {
            skip(2);  // std:: and its abbreviations
        }
    }

    void take_numbered() {
        skip(1);
        while (!rest_.empty() && is_sequence_character(rest_.front()))
            skip(1);
        if (!rest_.empty() && rest_.front() == '_') skip(1);
    }

    // "Lj16E", "Lb1E", "Lin5E": numbers that are not lengths.
    void take_literal() {
        skip(1);
        if (rest_.empty() || rest_.front() < 'a' || rest_.front() > 'z') return;
        std::size_t end = 1;
        if (end < rest_.size() && rest_[end] == 'n') ++end;
        while (end < rest_.size() && base::is_ascii_digit(rest_[end]))
            ++end;
        if (end < rest_.size() && rest_[end] == 'E') skip(end + 1);
    }

    std::string_view rest_;
    StringUse use_;
};

bool is_in_std(std::string_view rest) {
    // Skip the prefixes of vtables, type information, guards and transaction clones.
    for (const std::string_view special : {"TV", "TI", "TS", "TT", "GV", "GTt", "GTn"}) {
        if (rest.starts_with(special)) {
            rest.remove_prefix(special.size());
            break;
        }
    }
    if (rest.starts_with('N')) rest.remove_prefix(1);
    if (rest.starts_with('K')) rest.remove_prefix(1);
    constexpr std::string_view abbreviations = "tabsiod";
    return rest.size() > 1 && rest[0] == 'S' && abbreviations.find(rest[1]) != std::string_view::npos;
}

}  // namespace

StringUse string_use(std::string_view name) {
    constexpr std::string_view mangled = "_Z";
    if (!name.starts_with(mangled)) return {};
    name.remove_prefix(mangled.size());
    StringUse use = NameWalk(name).walk();
    use.in_std = is_in_std(name);
    return use;
}

std::string_view string_abi_text(StringAbi abi) {
    static constexpr auto words = base::words<StringAbi>({{StringAbi::unknown, "unknown"},
                                                          {StringAbi::old, "false"},
                                                          {StringAbi::cxx11, "true"},
                                                          {StringAbi::mixed, "mixed"}});
    return words.text(abi);
}

StringAbi StringNames::abi() const {
    constexpr std::uint64_t mixed_from = 20;
    if (cxx11 == 0 && old == 0) return StringAbi::unknown;
    if (std::min(cxx11, old) * mixed_from > cxx11 + old) return StringAbi::mixed;
    return cxx11 > old ? StringAbi::cxx11 : StringAbi::old;
}

}  // namespace wheelyard::inspect
