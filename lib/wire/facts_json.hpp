// Facts and verdicts as JSON, "wheelyard.facts/1": what the registry stores and `check --json` prints.
//
//     {"format":"wheelyard.facts/1","filename":"six-1.17.0-py2.py3-none-any.whl","accepted":true,
//      "outcome":"accepted",
//      "facts":{"size_bytes":11050,…,"machines":["aarch64"],"symbol_floors":{"GLIBC":"2.28"},…},
//      "verdicts":[{"code":"record.unlisted","severity":"reject","sentence":…,"member":…,"expected":…,
//                   "found":…,"advice":…}]}
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "lib/inspect/inspect.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::wire {

inline constexpr std::string_view facts_format = "wheelyard.facts/1";
// Every copy of a row has them, also each event: evidence for people, not a complete report.
inline constexpr std::size_t max_stored_findings = 40;

[[nodiscard]] io::Json facts_to_json(const inspect::Facts& facts);
// What the registry stores of a wheel: its facts, and as `findings` what the rules found, worst first, at
// most max_stored_findings. Sentence and advice are the rule table's.
//
//     "findings":[{"code":"zip.name_case","severity":"warn","member":"a/B.py","found":"a/b.py"}]
[[nodiscard]] io::Json stored_facts_to_json(const inspect::Inspection& inspection);
[[nodiscard]] io::Json verdicts_to_json(const std::vector<inspect::Verdict>& verdicts);
// The content of each ELF file (`check --json --facts`); not stored with the facts.
//
//     [{"name":"torch/lib/libc10.so","machine":"x86_64","soname":"libc10.so","needed":["libc.so.6"],
//       "version_needs":{"libc.so.6":["GLIBC_2.17"]},"search_paths":["$ORIGIN"],"cxx11_abi":"true",
//       "cuda_sm":[],"cuda_ptx":[],"hip_gfx":[]}]
[[nodiscard]] io::Json elves_to_json(const std::vector<inspect::ElfMember>& elves);
// The complete document about one wheel.
[[nodiscard]] io::Json inspection_to_json(std::string_view filename, const inspect::Inspection& inspection);

}  // namespace wheelyard::wire
