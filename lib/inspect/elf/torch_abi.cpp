#include "lib/inspect/elf/torch_abi.hpp"

#include <algorithm>
#include <iterator>

#include "lib/base/text/text.hpp"
#include "lib/base/text/words.hpp"

namespace wheelyard::inspect {

namespace {

// A name that exists in torch from one minor version on (`since`) or until before one (`until`); a `*` at its
// end: any name that begins so. {}: unbounded. A new torch: scripts/torch-bounds holds the rows to real
// wheels and finds names for others.
struct Known {
    std::string_view name;
    TorchVersion since;
    TorchVersion until;
};
constexpr Known known_symbols[] = {
    {"_ZN3c106SymInt19promote_to_negativeEv", {2, 1}, {}},
    {"_ZNK2at10TensorBase16mutable_data_ptrI*", {2, 1}, {}},
    {"aoti_torch_empty_strided*", {2, 2}, {}},
    {"_ZN3c104impl3cow23materialize_cow_storageE*", {2, 3}, {2, 13}},
    {"_ZN3c1021throwNullDataPtrErrorEv", {2, 4}, {}},
    {"_ZNK3c1011StorageImpl27throw_data_ptr_access_errorEv", {2, 6}, {}},
    {"aoti_torch_call_dispatcher*", {2, 7}, {}},
    {"aoti_torch_dtype_element_size", {2, 8}, {}},
    {"_ZNK3c106SymInt22maybe_as_int_slow_pathEv", {2, 9}, {}},
    {"torch_call_dispatcher", {2, 10}, {}},
    {"torch_dtype_float8_e8m0fnu", {2, 11}, {}},
    {"torch_from_blob", {2, 11}, {}},
    {"_ZNK3c104cuda10CUDAStream11synchronizeEv", {2, 11}, {}},
    {"torch_library_def_with_tags", {2, 12}, {}},
    {"_ZNR5torch7Library4_defEON3c1014FunctionSchemaEPNS1_12OperatorNameERKSt6vectorINS_10headeronly3Tag*",
     {2, 12},
     {}},
    {"torch_exception_get_what", {2, 13}, {}},
    {"torch_new_stable_ivalue", {2, 13}, {}},
    {"_ZN3c1019NotImplementedErrorC1ENS_14SourceLocationE*", {2, 13}, {}},
    {"torch_has_storage", {2, 14}, {}},
    {"_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_jbP*", {2, 14}, {}},
    {"torch_device_from_pyobject", {2, 15}, {}},
    {"_ZNK3c106SymInt6sym_neERKS0_", {}, {2, 9}},
    {"_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_ib", {}, {2, 10}},
    {"_ZNR5torch7Library4_defEON3c1014FunctionSchemaEPNS1_12OperatorNameERKSt6vectorIN2at3Tag*", {}, {2, 12}},
    {"_ZN5torch8autograd10deleteNodeEPNS0_4NodeE", {}, {2, 13}},
    {"_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_jb", {}, {2, 14}},
    {"_ZN3c1015report_overflowEPKc", {}, {2, 15}},
};
bool is_of(std::string_view symbol, const Known& known) {
    return known.name.ends_with('*') ? symbol.starts_with(known.name.substr(0, known.name.size() - 1))
                                     : symbol == known.name;
}

// torch 2.2 made c10::optional an alias of std::optional: interfaces use c10's before that version and std's
// since.
constexpr TorchVersion std_optional_since{2, 2};

// The namespace of the optional that `symbol` contains, if any.
enum class Optional { none, std, c10 };
Optional optional_in(std::string_view symbol) {
    constexpr std::string_view optional = "8optionalI";
    const auto at = symbol.find(optional);
    if (at == std::string_view::npos) return Optional::none;
    return symbol.substr(0, at).ends_with("St") ? Optional::std : Optional::c10;
}

void raise(TorchVersion version, std::string_view symbol, TorchVersion& highest, std::string& of) {
    if (!version.known() || version <= highest) return;
    highest = version;
    of = symbol;
}
void lower(TorchVersion version, std::string_view symbol, TorchVersion& lowest, std::string& of) {
    if (!version.known() || (lowest.known() && version >= lowest)) return;
    lowest = version;
    of = symbol;
}

}  // namespace

std::string TorchVersion::text() const {
    return std::to_string(major) + "." + std::to_string(minor);
}

bool is_torch_api(std::string_view symbol) {
    if (symbol.starts_with("aoti_torch_")) return true;
    if (symbol.starts_with("torch_"))
        return std::any_of(std::begin(known_symbols), std::end(known_symbols),
                           [&](const Known& known) { return known.name == symbol; });
    for (const std::string_view prefix : {"_ZN", "_ZNK", "_ZNR", "_ZNKR", "_ZNO", "_ZNKO", "_ZTIN", "_ZTVN",
                                          "_ZTSN", "_ZGVN", "_ZTHN", "_ZTWN"}) {
        if (!symbol.starts_with(prefix)) continue;
        const std::string_view rest = symbol.substr(prefix.size());
        for (const std::string_view space : {"3c10", "2at", "5torch", "6caffe2"}) {
            if (rest.starts_with(space)) return true;
        }
    }
    return false;
}

void TorchImports::take(std::string_view symbol, const StringUse& use) {
    ++count;
    strings.cxx11 += use.cxx11 ? 1 : 0;
    strings.old += use.old ? 1 : 0;
    for (const Known& known : known_symbols) {
        if (!is_of(symbol, known)) continue;
        raise(known.since, symbol, at_least, at_least_symbol);
        lower(known.until, symbol, below, below_symbol);
    }
    const Optional optional = optional_in(symbol);
    if (optional == Optional::std) raise(std_optional_since, symbol, at_least, at_least_symbol);
    if (optional == Optional::c10) lower(std_optional_since, symbol, below, below_symbol);
}

void TorchImports::add_counts(const TorchImports& other) {
    count += other.count;
    outside_stable += other.outside_stable;
    strings.cxx11 += other.strings.cxx11;
    strings.old += other.strings.old;
}

void TorchImports::add_alternative(const TorchImports& other) {
    add_counts(other);
    if (other.at_least < at_least) at_least = other.at_least, at_least_symbol = other.at_least_symbol;
    if (below.known() && (!other.below.known() || other.below > below))
        below = other.below, below_symbol = other.below_symbol;
}

void TorchImports::add(const TorchImports& other) {
    add_counts(other);
    raise(other.at_least, other.at_least_symbol, at_least, at_least_symbol);
    lower(other.below, other.below_symbol, below, below_symbol);
}

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
