#include "lib/wire/facts.hpp"

#include <string>
#include <utility>
#include <vector>

namespace wheelyard::wire {

io::Json render_facts(const inspect::Facts& facts) {
    std::vector<std::string> tags;
    for (const wheel::Tag& tag : facts.tags)
        tags.push_back(tag.text());
    io::Json floors = io::Json::object();
    for (const auto& [prefix, version] : facts.symbol_floors)
        floors.set(prefix, version);
    return io::Json::object({{"size_bytes", facts.size_bytes},
                             {"unpacked_bytes", facts.unpacked_bytes},
                             {"members", facts.members},
                             {"tags", io::Json::array_of(tags)},
                             {"root_is_purelib", facts.root_is_purelib},
                             {"requires_python", facts.requires_python},
                             {"elf_files", facts.elf_files},
                             {"machines", io::Json::array_of(facts.machines)},
                             {"symbol_floors", std::move(floors)},
                             {"needed_external", io::Json::array_of(facts.needed_external)},
                             {"cuda_sm", io::Json::array_of(facts.cuda_sm)},
                             {"cuda_ptx", io::Json::array_of(facts.cuda_ptx)},
                             {"hip_gfx", io::Json::array_of(facts.hip_gfx)}});
}

}  // namespace wheelyard::wire
