// What a node is, as far as wheels care: machine, glibc, processor level, GPUs and their driver, Pythons and
// loaded modules. What could not be found out is absent, and judged as unknown, never as missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/node/python.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::avail_wheels {

// "2.36" or "550.54.15": numbers, compared one by one, missing ones 0. Not a PEP 440 version.
struct Dotted {
    std::vector<int> numbers;
    [[nodiscard]] static std::optional<Dotted> parse(std::string_view text);  // digits and dots alone
    [[nodiscard]] std::string text() const;
    [[nodiscard]] int at(std::size_t position) const {
        return position < numbers.size() ? numbers[position] : 0;
    }
    std::strong_ordering operator<=>(const Dotted& other) const;
    bool operator==(const Dotted& other) const { return (*this <=> other) == 0; }
};

struct Gpus {
    std::vector<std::string> archs;  // "sm_90", "gfx90a:xnack-"; empty: this node has no GPU
    std::vector<std::string> names;  // "NVIDIA H100 80GB HBM3"
};

struct Node {
    std::string name;              // a node type's, or this host's
    std::string machine;           // "aarch64"
    std::optional<Dotted> glibc;   // 2.36
    std::string cpu;               // "x86-64-v3"; empty: unknown
    std::optional<Gpus> gpus;      // absent: unknown (a login node's tools say nothing of the others)
    std::optional<Dotted> driver;  // NVIDIA's, 550.54.15
    std::vector<Python> pythons;   // empty: unknown
    std::string python_program;    // where the Python was found
    std::optional<std::vector<std::string>> modules;  // "cuda/12.2"; absent: no module system, unknown
};

// The highest x86-64 level (x86-64 psABI) whose features `flags` (of /proc/cpuinfo) has: "x86-64-v3".
[[nodiscard]] std::string x86_level(std::string_view flags);
// The level that an architecture folder of a wheelhouse asks for: "avx2" → "x86-64-v3"; empty: none.
[[nodiscard]] std::string level_of_folder(std::string_view folder);

// "wheelyard.node/1", the cache's form; what is unknown is left out.
[[nodiscard]] io::Json node_to_json(const Node& node);
[[nodiscard]] Node node_from_json(const io::Json& json);

}  // namespace wheelyard::avail_wheels
