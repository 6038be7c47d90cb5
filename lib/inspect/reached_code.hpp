// Which of a wheel's libraries its import needs: the extension modules that the import of its packages reaches, what these
// load of the wheel, and what Python code opens. Reads only the modules that are reached.
#pragma once

#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/truth/gather_facts.hpp"
#include "lib/inspect/zip/zip.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::inspect {

// Sets `opens`, `gone_names`, `needed_surely`, `needed_maybe`, `needed_later`, `avx_code`, `avx512_code`, `sve_code`,
// `pypy_names` and `pypy_later` of `facts`, whose requirements it reads; none where a limit is reached.
void gather_import_facts(const base::Reader& bytes, const Frame& frame, const wheel::WheelFilename& filename,
                         const std::vector<ElfMember>& elves, const ProvidedLibraries& provided,
                         Facts& facts);

}  // namespace wheelyard::inspect
