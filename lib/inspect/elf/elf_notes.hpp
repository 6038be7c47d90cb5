// Processor features and the platform in an ELF file's notes (.note.gnu.property, .note.android.ident).
// Sources: Linux Extensions to gABI, "GNU program properties"; Android NDK, crtbrand.S; x86-64 psABI (x86 feature and ISA properties); AArch64 ELF ABI (BTI, PAC, GCS).
#pragma once

#include <cstdint>
#include <string_view>

namespace wheelyard::inspect {

struct FeatureNotes {
    // x86-64 micro-architecture levels, 1 (baseline) to 4; 0: no note, the default of most compilers.
    unsigned x86_needed = 0;  // the dynamic linker rejects lower processors
    unsigned x86_used = 0;    // contains code of this level, possibly behind a run-time check
    bool x86_ibt = false, x86_shstk = false;
    bool android = false;  // linked by the Android NDK, for bionic
    bool arm_bti = false, arm_pac = false, arm_gcs = false;
};

// Adds the content of the notes in `text` (a PT_NOTE or PT_GNU_PROPERTY segment). Skips malformed notes:
// notes are hints only.
void read_feature_notes(std::string_view text, unsigned bits, bool big_endian, std::uint16_t machine,
                        FeatureNotes& notes);

}  // namespace wheelyard::inspect
