#include "indexer/avail_wheels/query/needs.hpp"

#include <doctest/doctest.h>

#include "lib/accelerator/cuda.hpp"
#include "tests/indexer/avail_wheels/query/judged.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

TEST_CASE("needs are derived from labels, modules and libraries") {
    const auto cuda = [](const std::string& filename, const std::string& facts = {}) {
        const Needs needs = needs_of(wheel_of(filename, facts));
        for (const GpuNeeds& one : needs.gpus) {
            if (one.kind == &accelerator::cuda::kind) return one.toolkit;
        }
        return std::string();
    };
    CHECK(cuda("torch-2.4.0+cu126-cp311-cp311-linux_x86_64.whl") == "12.6");
    CHECK(cuda("torch-2.4.0+cu118.pt-cp311-cp311-linux_x86_64.whl") == "11.8");
    CHECK(cuda("jaxlib-0.4.30+cuda12.cudnn91-cp311-cp311-linux_x86_64.whl") == "12");
    CHECK(cuda("torch-2.4.0+cpu-cp311-cp311-linux_x86_64.whl") == "");
    CHECK(cuda("torch-2.4.0+computecanada-cp311-cp311-linux_x86_64.whl",
               R"({"modules":["gcc/12","cudacore/12.2.2"],"needed":{}})") == "12.2");
    CHECK(cuda(x86, R"({"needed":{"cuda":["libcublas.so.12","libcudart.so.11.0"]}})") == "11.0");
    CHECK(modules_of(wheel_of(x86, R"({"modules":["a/1","b/2"]})")) ==
          std::vector<std::string>{"a/1", "b/2"});
    CHECK(mpi_family("libmpi.so.40")->name == "Open MPI");
    CHECK(mpi_family("libmpi.so.12")->name == "MPICH");
    CHECK_FALSE(mpi_family("libfabric.so.1"));
}
