// Classifies one line of a log: whether it is an error, and which line of which file it names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/base/text/words.hpp"

namespace wheelyard::builder {

// A file, a line number or the name of a probe is looked for in this part of a line only.
inline constexpr std::size_t max_parsed_line_bytes = 4096;

// A line that contains one of these (lower case) counts as an error, unless is_harmless.
[[nodiscard]] std::span<const std::string_view> error_signs();
// Words with which tools end without a sign: "last words" of a log in which no line is an error.
[[nodiscard]] std::span<const std::string_view> faint_signs();
// Says whether a line (in lower case) that contains a sign or a rule's words is nevertheless not an error.
[[nodiscard]] bool is_harmless(std::string_view lower);
// A sign that names the step which failed: the step's own output, which follows, says why.
[[nodiscard]] bool is_only_a_step(std::string_view sign);
// A line that its writer calls a warning or a note, and what a library says that it does without:
// "[WARNING] … accepting this combination", "W tensorflow/…/dso_loader.cc:64] …; dlerror: …".
[[nodiscard]] bool is_remark(std::string_view lower);
// Says whether an error (in lower case) only says that a command failed: another line says why.
[[nodiscard]] bool is_consequence(std::string_view lower);
// A line of source that a compiler quotes: "   12 | f(\"error: none\");".
[[nodiscard]] bool is_source_quote(std::string_view line);
// In the words of the rules, what a line says with a single one: "Killed", "sh: line 1: 42 Killed  nvcc -c
// a.cu" and "MemoryError" give "process killed by signal 9" and "memoryerror: ". Empty: the line is none of
// these.
[[nodiscard]] std::string_view bare_word(std::string_view lower);
// Says whether a compiler's error holds these words only as a name or a text of the source that it quotes:
// "x.c:10:5: error: 'virtual memory exhausted' undeclared". The line and the words are in lower case.
[[nodiscard]] bool quotes_source(std::string_view lower, std::string_view words);
// Says whether an error (in lower case) says why something failed, not only that it did.
[[nodiscard]] bool names_a_reason(std::string_view lower);
// The dynamic loader's word about LD_PRELOAD: it says "ERROR", and goes on.
[[nodiscard]] bool is_ignored_preload(std::string_view lower);
// Where an error's text goes on: "https://example.org/why".
[[nodiscard]] bool is_only_a_url(std::string_view lower);
// Like is_harmless, but does not count warnings as harmless: for rules with in_warnings.
[[nodiscard]] bool is_only_a_check(std::string_view lower);

// Who writes a line that begins with the name of a program.
enum class Speaker {
    license_manager,
    batch_system,
    compiler,
    linker,
    files,
    service,
    mpi,
    remote_login,
    download
};
struct SpeakerRow {
    Speaker value;
    std::string_view text;
    std::string_view programs;  // between spaces
};
inline constexpr auto speakers = base::words<Speaker, SpeakerRow>({
    {Speaker::license_manager, "license manager", " lmgrd lmutil lmstat "},
    {Speaker::batch_system, "batch system",
     " srun sbatch salloc slurmstepd slurmd scontrol squeue sacct sacctmgr qsub qstat qdel pbs pbs_iff "
     "pbs_mom bsub flux "},
    {Speaker::compiler, "compiler",
     " gcc g++ cc c++ cc1 cc1plus f951 gfortran clang clang++ flang icc icpc icx icpx ifort ifx nvc nvc++ "
     "nvfortran pgcc pgc++ pgfortran armclang armclang++ armflang hipcc nvcc cicc ptxas craycc ftn rustc "},
    {Speaker::linker, "linker", " ld ld.bfd ld.gold ld.lld lld mold collect2 ar ranlib "},
    {Speaker::files, "files", " cp mv ln rm mkdir rmdir install cat tar touch chmod chown dd unzip gzip "},
    // What a program of the job talks to, by the program or by the package of a Python exception.
    {Speaker::service, "service",
     " docker podman redis psycopg2 pymysql pymongo sqlalchemy torch ray distributed x11 "},
    {Speaker::mpi, "mpi", " mpirun mpiexec mpiexec.hydra orterun orted prte prterun prted hydra_pmi_proxy "},
    {Speaker::remote_login, "remote login", " ssh scp kex_exchange_identification "},
    // git's own lines begin with "fatal" and "remote".
    {Speaker::download, "download",
     " curl wget aria2c rsync git fatal remote pip pip3 uv cargo conda mamba "},
});

// "srun: error: …" is of the batch system, "/usr/bin/ld: …" of a linker, "fatal: …", which is git's, of a
// download. Absent: the line (in lower case) does not show its writer.
[[nodiscard]] std::optional<Speaker> speaker_of(std::string_view lower);

struct SourceLine {
    std::string file;
    std::uint64_t line = 0;
};
// Recognises "a.cpp:12:5: error: …", "a.cu(12): error: …", "CMake Error at a/CMakeLists.txt:12 (message):",
// "File \"a.py\", line 12, in f". Returns an empty file if the line names none.
[[nodiscard]] SourceLine source_line_of(std::string_view line);

// For display: trimmed, printable characters only, at most max_error_line_bytes.
[[nodiscard]] std::string shorten_line(std::string_view line);
// Without colour codes; of a line overwritten with carriage returns, only the final text.
[[nodiscard]] std::string plain_line(std::string_view line);

// The program's name without folder: "bash: line 3: cmake: command not found", "/bin/sh: 1: cmake: not found"
// and "error: command '/opt/bin/cmake' failed: No such file or directory" give "cmake". Empty: the line (in
// lower case) says something else.
[[nodiscard]] std::string missing_program(std::string_view lower);

// The object, archive or file to copy that is not there although an earlier step should have made it:
// "/usr/bin/ld: cannot find /b/bin/isa-l.a: No such file or directory" gives "/b/bin/isa-l.a". Empty: the
// line (in lower case) says something else. A library that the linker looks for (-lfoo) is none.
[[nodiscard]] std::string missing_output(std::string_view lower);

}  // namespace wheelyard::builder
