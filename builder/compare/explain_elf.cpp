// Sections with the same name are pairs. A pair without an explanation of its own follows from a cause that another
// pair shows: a longer text moves what lies behind it, and code and tables contain the offsets.
#include "builder/compare/explain_bytes.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "lib/base/text/encoding.hpp"
#include "lib/inspect/elf/elf.hpp"

namespace wheelyard::builder {
namespace {

using inspect::ElfSection;

struct SectionRow {
    std::string_view prefix;  // of the section's name
    Cause cause;              // of any difference there
};
constexpr std::array<SectionRow, 6> section_rows = {{{".note.gnu.build-id", Cause::build_id},
                                                     {".comment", Cause::compiler},
                                                     {".text", Cause::code},
                                                     {".init", Cause::code},
                                                     {".fini", Cause::code},
                                                     {".plt", Cause::code}}};

// Tables of symbol names: the linker writes them in the order of its inputs.
bool has_symbol_names(std::string_view section) {
    return section == ".strtab" || section == ".dynstr";
}

// Texts that the linker merges, in an order that changes with the texts.
bool has_merged_texts(std::string_view section) {
    return section == ".debug_str" || section == ".debug_line_str";
}

base::Result<std::string> read_section(const base::Reader& bytes, const ElfSection& section) {
    std::string text(std::min(section.size, max_explained_bytes), '\0');
    WHEELYARD_TRY(bytes.read_at(section.offset, text.data(), text.size()));
    return text;
}

class ElfExplainer {
  public:
    ElfExplainer(const base::Reader& recorded, const base::Reader& again, const BuildNames& names)
        : recorded_(recorded), again_(again), names_(names) {}

    base::Result<std::vector<Evidence>> explain() {
        WHEELYARD_ASSIGN(const auto recorded, inspect::parse_elf(recorded_));
        WHEELYARD_ASSIGN(const auto again, inspect::parse_elf(again_));
        std::vector<ElfSection> others = again.sections;
        for (const ElfSection& section : recorded.sections) {
            const auto other = std::find_if(others.begin(), others.end(),
                                            [&](const ElfSection& one) { return one.name == section.name; });
            if (other == others.end()) {
                add({Cause::bytes, section.name, "a section", "no such section"});
                continue;
            }
            WHEELYARD_TRY(explain_pair(section, *other));
            others.erase(other);
        }
        for (const ElfSection& section : others)
            add({Cause::bytes, section.name, "no such section", "a section"});
        return conclude();
    }

  private:
    base::Status explain_pair(const ElfSection& recorded, const ElfSection& again) {
        WHEELYARD_ASSIGN(const std::string old_bytes, read_section(recorded_, recorded));
        WHEELYARD_ASSIGN(const std::string new_bytes, read_section(again_, again));
        if (old_bytes == new_bytes && recorded.size == again.size) return {};
        const auto* row = std::find_if(section_rows.begin(), section_rows.end(), [&](const SectionRow& one) {
            return recorded.name.starts_with(one.prefix);
        });
        if (row != section_rows.end() && row->cause == Cause::build_id) {
            constexpr std::size_t header_bytes = 16;  // sizes, type and the name "GNU"
            add({row->cause, recorded.name,
                 base::encode_hex(old_bytes.substr(std::min(header_bytes, old_bytes.size()))),
                 base::encode_hex(new_bytes.substr(std::min(header_bytes, new_bytes.size())))});
            return {};
        }
        for (Evidence& one : explain_bytes(old_bytes, new_bytes, names_)) {
            one.where = recorded.name;
            if (row != section_rows.end()) one.cause = row->cause;
            if (one.cause == Cause::order && has_symbol_names(recorded.name)) one.cause = Cause::symbol_order;
            add(std::move(one));
        }
        return {};
    }

    void add(Evidence evidence) { found_.push_back(std::move(evidence)); }

    std::vector<Evidence> conclude() {
        const auto is_unclear = [](const Evidence& one) {
            return one.cause == Cause::bytes || one.cause == Cause::code ||
                   (one.cause == Cause::order && has_merged_texts(one.where));
        };
        const bool has_cause = std::any_of(found_.begin(), found_.end(), [&](const Evidence& one) {
            return !is_unclear(one) && !cause_row(one.cause).follows;
        });
        for (Evidence& one : found_) {
            if (has_cause && is_unclear(one)) one = {Cause::offsets, one.where, "", ""};
        }
        if (found_.empty()) add({Cause::bytes, "outside its sections", "", ""});
        return std::move(found_);
    }

    const base::Reader& recorded_;
    const base::Reader& again_;
    const BuildNames& names_;
    std::vector<Evidence> found_;
};

}  // namespace

base::Result<std::vector<Evidence>> explain_elf(const base::Reader& recorded, const base::Reader& again,
                                                const BuildNames& names) {
    return ElfExplainer(recorded, again, names).explain();
}

}  // namespace wheelyard::builder
