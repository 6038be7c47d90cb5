// The features of the processor that an ELF file notes about itself (.note.gnu.property): Linux Extensions to
// gABI, "GNU program properties"; x86-64 psABI (x86 feature and ISA properties); AArch64 ELF ABI (BTI, PAC,
// GCS).
#pragma once

#include <cstdint>
#include <string_view>

namespace wheelyard::inspect {

struct FeatureNotes {
    // x86-64 micro-architecture levels, 1 (baseline) to 4; 0: nothing is noted, as by most compilers'
    // defaults.
    unsigned x86_needed = 0;  // the loader refuses a lower processor
    unsigned x86_used = 0;    // code of this level is in it, perhaps behind a test
    bool x86_ibt = false, x86_shstk = false;
    bool arm_bti = false, arm_pac = false, arm_gcs = false;
};

// Adds what the notes in `text` (a PT_NOTE or PT_GNU_PROPERTY segment) say. What does not follow the format
// is passed over: notes are hints, and many segments hold other things.
void read_feature_notes(std::string_view text, unsigned bits, bool big_endian, std::uint16_t machine,
                        FeatureNotes& notes);

}  // namespace wheelyard::inspect
