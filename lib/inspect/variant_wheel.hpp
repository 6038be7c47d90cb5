// Makes a variant wheel (PEP 825) of a wheel: the same files with variant.json, a label in the name, and without the local
// version, which the label replaces.
//
//     torch-2.9.0+cu126.gh200-cp312-cp312-linux_aarch64.whl  ─►  torch-2.9.0-cp312-cp312-linux_aarch64-gh200.whl
#pragma once

#include <string>
#include <string_view>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/zip/zip_writer.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/variant.hpp"

namespace wheelyard::inspect {

[[nodiscard]] std::string variant_filename(wheel::WheelFilename filename, const std::string& label);

// Writes it: equal bytes of equal wheels. `against` is the version of another package that it requires with its local version,
// "2.9.0+cu126.gh200"; the variant requires it without. Errors: those of reading and of `write`, and "variant.not_a_wheel":
// its members cannot be read, or are signed.
[[nodiscard]] base::Status write_variant_wheel(const base::Reader& bytes,
                                               const wheel::WheelFilename& filename,
                                               const wheel::LabelledVariant& variant,
                                               std::string_view against, const ZipWriter::Write& write);

}  // namespace wheelyard::inspect
