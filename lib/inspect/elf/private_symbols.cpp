#include "lib/inspect/elf/private_symbols.hpp"

namespace wheelyard::inspect {
namespace {

constexpr int every_minor = 1'000'000;
constexpr PrivateSymbol table[] = {
    {"__cxa_thread_atexit_impl", "libc.so.6", 17},
    {"__issignaling", "libc.so.6", 17},
    {"__issignalingf", "libc.so.6", 17},
    {"__issignalingl", "libc.so.6", 17},
    {"pthread_getattr_default_np", "libc.so.6", 17},
    {"pthread_setattr_default_np", "libc.so.6", 17},
    {"__issignaling", "libm.so.6", 17},
    {"__issignalingf", "libm.so.6", 17},
    {"__issignalingl", "libm.so.6", 17},
    {"pthread_getattr_default_np", "libpthread.so.0", 17},
    {"pthread_setattr_default_np", "libpthread.so.0", 17},
    {"uncompress2", "libz.so.1", 31, true},
    {"bi_windup", "libz.so.1", 35, true},
    {"crc_fold_512to32", "libz.so.1", 35, true},
    {"crc_fold_copy", "libz.so.1", 35, true},
    {"crc_fold_init", "libz.so.1", 35, true},
    {"deflate_medium", "libz.so.1", 35, true},
    {"fill_window", "libz.so.1", 35, true},
    {"flush_pending", "libz.so.1", 35, true},
    {"longest_match", "libz.so.1", 35, true},
    {"slide_hash_sse", "libz.so.1", 35, true},
    {"static_ltree", "libz.so.1", 35, true},
    {"x86_check_features", "libz.so.1", 35, true},
    {"x86_cpu_has_pclmul", "libz.so.1", 35, true},
    {"x86_cpu_has_sse2", "libz.so.1", 35, true},
    {"x86_cpu_has_sse42", "libz.so.1", 35, true},
    {"crc32_combine_gen", "libz.so.1", 36},
    {"crc32_combine_gen64", "libz.so.1", 36},
    {"crc32_combine_op", "libz.so.1", 36},
    {"_dist_code", "libz.so.1", every_minor, true},
    {"_length_code", "libz.so.1", every_minor, true},
    {"_tr_align", "libz.so.1", every_minor, true},
    {"_tr_flush_block", "libz.so.1", every_minor, true},
    {"_tr_init", "libz.so.1", every_minor, true},
    {"_tr_stored_block", "libz.so.1", every_minor, true},
    {"_tr_tally", "libz.so.1", every_minor, true},
    {"crc32_vpmsum", "libz.so.1", every_minor, true},
    {"deflate_copyright", "libz.so.1", every_minor, true},
    {"gzflags", "libz.so.1", every_minor, true},
    {"inflate_copyright", "libz.so.1", every_minor, true},
    {"inflate_fast", "libz.so.1", every_minor, true},
    {"inflate_table", "libz.so.1", every_minor, true},
    {"z_errmsg", "libz.so.1", every_minor, true},
    {"zcalloc", "libz.so.1", every_minor, true},
    {"zcfree", "libz.so.1", every_minor, true},
    {"adler32_default", "libz.so.1", every_minor},
    {"crc32_acle", "libz.so.1", every_minor},
    {"crc32_le_vgfm_16", "libz.so.1", every_minor},
    {"crc32_neon", "libz.so.1", every_minor},
    {"crc32_z_default", "libz.so.1", every_minor},
    {"sse2_slide_hash", "libz.so.1", every_minor},
    {"z_vstring", "libz.so.1", every_minor},
};

}  // namespace

std::vector<PrivateSymbol> private_symbols(std::string_view name) {
    std::vector<PrivateSymbol> found;
    for (const PrivateSymbol& row : table) {
        if (row.name == name) found.push_back(row);
    }
    return found;
}

}  // namespace wheelyard::inspect
