// Renders a wheel's facts as the lines of `check --facts`.
#include "registry/intake/check.hpp"

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::registry {
namespace {

class Lines {
  public:
    void add(std::string_view name, const std::string& value) {
        if (value.empty()) return;
        text_ += "    ";
        text_ += name;
        text_ += ": ";
        text_ += value;
        text_ += "\n";
    }
    void add(std::string_view name, const std::vector<std::string>& values) {
        add(name, base::join(values, " "));
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

// The labels of the kinds of libraries in a report; those of accelerators come after `system`.
struct KindLine {
    std::string_view kind, name;
};
constexpr KindLine first_kinds[] = {{"inside", "bundled libraries"}, {"system", "system libraries"}};
constexpr KindLine last_kinds[] = {
    {"opencl", "OpenCL libraries"},   {"intel", "Intel libraries"},     {"mpi", "MPI libraries"},
    {"network", "network libraries"}, {"blas", "BLAS libraries"},       {"torch", "torch libraries"},
    {"python", "Python libraries"},   {"unknown", "unknown libraries"},
};

void add_libraries(Lines& lines, const inspect::Facts& facts) {
    const auto add = [&](std::string_view kind, std::string_view name) {
        const auto found = facts.needed.find(std::string(kind));
        if (found != facts.needed.end()) lines.add(name, found->second);
    };
    for (const KindLine& line : first_kinds)
        add(line.kind, line.name);
    for (const auto* kind : accelerator::accelerator_kinds()) {
        if (!kind->is_library_kind_shared) add(kind->library_kind, std::string(kind->title) + " libraries");
    }
    for (const KindLine& line : last_kinds)
        add(line.kind, line.name);
}

std::string share(std::uint64_t part, std::uint64_t whole) {
    const std::uint64_t percent = whole == 0 ? 0 : part * 100 / whole;
    if (percent == 0) return {};
    return base::render_bytes(part) + ", " + std::to_string(percent) + " % of the ELF files";
}

std::string torch_range(const inspect::Facts& facts) {
    std::string text;
    if (!facts.torch_at_least.empty()) text += ">= " + facts.torch_at_least;
    if (!facts.torch_below.empty()) {
        if (!text.empty()) text += ", ";
        text += "< " + facts.torch_below;
    }
    return text;
}

}  // namespace

std::string render_facts_text(const inspect::Facts& facts) {
    Lines lines;
    std::vector<std::string> tags;
    for (const auto& tag : facts.tags)
        tags.push_back(tag.text());
    std::vector<std::string> floors;
    for (const auto& [prefix, version] : facts.symbol_floors)
        floors.push_back(prefix + " " + version);
    lines.add("size", base::render_bytes(facts.size_bytes) + ", " + base::render_bytes(facts.unpacked_bytes) +
                          " unpacked, " + std::to_string(facts.members) + " members");
    lines.add("tags", tags);
    lines.add("requires python", facts.requires_python);
    if (facts.elf_files != 0)
        lines.add("elf files", std::to_string(facts.elf_files) + " for " + base::join(facts.machines, " "));
    lines.add("C library", facts.libc);
    lines.add("needs at least", base::join(floors, ", "));
    lines.add("manylinux", facts.manylinux_fit);
    lines.add("musllinux", facts.musllinux_fit);
    lines.add("not judged", facts.not_judged);
    add_libraries(lines, facts);
    lines.add("library search paths", facts.search_paths);
    lines.add("needs modules", facts.modules);
    lines.add("Python stable ABI", facts.stable_abi_floor);
    lines.add("C++11 std::string", facts.cxx11_abi);
    lines.add("needs processor", facts.isa_needed);
    lines.add("uses processor", facts.isa_used);
    lines.add("processor features", facts.cpu_features);
    lines.add("debug sections", share(facts.debug_bytes, facts.elf_bytes));
    lines.add("torch by its symbols", torch_range(facts));
    lines.add("torch's std::string", facts.torch_cxx11_abi);
    lines.add("torch's stable ABI only", facts.torch_stable_abi);
    lines.add("torch from METADATA", base::join(facts.torch_requires, ", "));
    for (const auto* kind : accelerator::accelerator_kinds()) {
        for (const auto& list : kind->device_code)
            lines.add(list.title, facts.code(list.fact));
    }
    lines.add("device code not read", facts.device_code_not_read);
    return lines.take();
}

}  // namespace wheelyard::registry
