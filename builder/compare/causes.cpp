// The rows, in the order in which reports name them.
#include "builder/compare/causes.hpp"

#include <algorithm>
#include <array>

namespace wheelyard::builder {
namespace {

constexpr std::array<CauseRow, 19> rows = {{
    {Cause::settings, "inputs.settings",
     "The recipe or the site's settings have changed since the recorded build.",
     "the two builds have different keys of their inputs",
     "Set the recipe back; a wheel of the new settings needs a version or label of its own."},
    {Cause::tools, "inputs.tools", "The two builds used different tools or machines' software.",
     "the versions that the two jobs recorded differ",
     "Load the same modules; pin `requires` in [build] of the recipe."},
    {Cause::build_path, "path.build", "The folder of the build is in the bytes.",
     "the bytes are equal once both builds' folders have the same name",
     "Set CFLAGS and CXXFLAGS to `-ffile-prefix-map=${build}=.` in [build] environment of the recipe; CMake "
     "adds them to "
     "its own."},
    {Cause::temporary_path, "path.temporary", "The name of a temporary folder is in the bytes.",
     "two differing texts have a path below /tmp", "Patch the build to use a fixed folder below its own."},
    {Cause::build_time, "time.build", "The time of the build is in the bytes.",
     "two differing texts are equal without their dates, times and seconds since 1970",
     "GCC and Clang replace __DATE__ and __TIME__ by SOURCE_DATE_EPOCH, which every build has; a program "
     "that asks the "
     "clock needs a patch that reads SOURCE_DATE_EPOCH."},
    {Cause::order, "order.texts", "The same lines or texts come in another order.",
     "the sorted lines or strings are equal",
     "Set PYTHONHASHSEED = \"0\" in [build] environment; sort the list in the code that writes it (sets, "
     "globs, listed "
     "folders)."},
    {Cause::symbol_order, "order.symbols", "The same symbols come in another order.",
     "the sorted names of a symbol table are equal",
     "Sort the sources that are linked: `sorted(glob(…))` in setup.py, list(SORT …) in CMake."},
    {Cause::compiler, "elf.compiler", "The wheels were made by different compilers.",
     "the sections .comment differ",
     "Load the same compiler modules; name compilers with their version in [compilers] of site.toml."},
    {Cause::code, "elf.code", "Machine code differs, and no path, time or order explains it.",
     "a section with code differs",
     "Look for -march=native, profiles (PGO), and random names; set -frandom-seed and one job for link-time "
     "optimisation."},
    {Cause::generator, "wheel.generator", "Different versions of the back end packed the wheels.",
     "the lines Generator: of WHEEL differ", "Pin the back end in `requires` in [build] of the recipe."},
    {Cause::members, "zip.members", "A member exists in one of the wheels only.", "the names of the members",
     "Look for files that a build leaves or picks up by accident: caches, logs, optional libraries on the "
     "machine."},
    {Cause::member_order, "zip.order", "The members come in another order.",
     "the order of the members in the archive",
     "Use a back end that sorts them (setuptools with wheel 0.32, flit, hatchling, scikit-build-core)."},
    {Cause::member_time, "zip.time", "Members have other times.", "the times in the archive",
     "Use a back end that obeys SOURCE_DATE_EPOCH, which every build has."},
    {Cause::member_mode, "zip.mode", "The executable bit of members differs.",
     "the executable bits in the archive", "Set the umask and the files' modes in the recipe's `before`."},
    {Cause::packing, "zip.packing",
     "The same bytes are compressed in another way, or the archive has other fields.",
     "members or archives differ, their contents do not",
     "Use the same Python and zlib; pin the back end in `requires` in [build] of the recipe."},
    {Cause::bytes, "bytes", "Bytes differ, and no cause was recognised.", "none of the other rows",
     "Compare the members with diffoscope; the rows above show what to look for."},
    {Cause::build_id, "elf.build_id", "The build ID is a digest of the linked bytes.",
     "the sections .note.gnu.build-id differ", "", true},
    {Cause::offsets, "elf.offsets", "Offsets and sizes have moved with the bytes above.",
     "a section without texts differs beside one of the causes above", "", true},
    {Cause::record, "wheel.record", "RECORD has the digests of the members above.",
     "RECORD differs beside other members", "", true},
}};

}  // namespace

const CauseRow& cause_row(Cause cause) {
    return *std::find_if(rows.begin(), rows.end(),
                         [cause](const CauseRow& row) { return row.cause == cause; });
}

std::string render_causes() {
    std::string text = "| code | cause | recognised by | what to do |\n|---|---|---|---|\n";
    for (const CauseRow& row : rows) {
        text += "| `" + std::string(row.code) + "` | " + std::string(row.sentence) + " | " +
                std::string(row.recognised) + " | " +
                (row.follows ? "nothing: it goes with the others" : std::string(row.cure)) + " |\n";
    }
    return text;
}

}  // namespace wheelyard::builder
