// What was prefetched and is kept: one record for each index and name, replaced by the next run. The limit of
// a cache evicts none of these files.
//
//     DIR/prefetch/<index>/<name>.json
//     {"format":"wheelyard.prefetch/1","index":"base","name":"gh200","made":1795000000000000,
//      "targets":["Python 3.12 on manylinux_2_28_aarch64"],
//      "files":[{"filename":"six-1.17.0-py2.py3-none-any.whl","project":"six","sha256":"4721…","size":11050}]}
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::registry {

struct KeptFile {
    std::string filename;
    std::string project;
    std::string sha256;
    std::uint64_t size_bytes = 0;  // 0: unknown
    bool operator<(const KeptFile& other) const { return filename < other.filename; }
};

struct Kept {
    std::string index;
    std::string name;
    base::UnixMicros made = 0;
    std::vector<std::string> targets = {};
    std::set<KeptFile> files = {};
};

[[nodiscard]] io::Json render_kept(const Kept& kept);
// Durable on return; replaces the record of this name.
[[nodiscard]] base::Status write_kept(const std::filesystem::path& store, const Kept& kept);
// False: there was none.
[[nodiscard]] base::Result<bool> forget_kept(const std::filesystem::path& store, const std::string& index,
                                             const std::string& name);
// The hashes of all records. An unreadable record is an error: what it keeps is unknown.
[[nodiscard]] base::Result<std::set<std::string>> read_kept_hashes(const std::filesystem::path& store);

inline constexpr std::uint64_t max_kept_bytes = 64 * base::mib;  // some 300,000 files
inline constexpr std::int64_t file_wait_ms = 16 * 60'000;  // the server answers after at most 15 minutes
inline constexpr int max_file_tries = 3;
inline constexpr std::int64_t file_pause_ms = 11'000;  // for 10 s the server remembers that a file failed

}  // namespace wheelyard::registry
