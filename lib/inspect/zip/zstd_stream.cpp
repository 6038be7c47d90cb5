#include "lib/inspect/zip/zstd_stream.hpp"

#include "lib/base/check.hpp"

#ifdef WHEELYARD_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

#include <new>

namespace wheelyard::inspect {

namespace {

constexpr int max_zstd_window_log = 27;  // 128 MiB: clang's maximum

}  // namespace

struct ZstdStream::State {
    ZSTD_DCtx* context = ZSTD_createDCtx();
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() { ZSTD_freeDCtx(context); }
};

bool ZstdStream::available() {
    return true;
}

ZstdStream::ZstdStream() : state_(std::make_unique<State>()) {
    if (state_->context == nullptr) throw std::bad_alloc();
    const std::size_t code =
        ZSTD_DCtx_setParameter(state_->context, ZSTD_d_windowLogMax, max_zstd_window_log);
    WHEELYARD_CHECK(ZSTD_isError(code) == 0);
}

Inflater::Step ZstdStream::step(std::string_view packed, char* into, std::size_t capacity) {
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    ZSTD_outBuffer out{into, capacity, 0};
    const std::size_t code = ZSTD_decompressStream(state_->context, &out, &in);
    if (ZSTD_isError(code) != 0 && ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
        throw std::bad_alloc();
    Inflater::Step step;
    step.consumed = in.pos;
    step.produced = out.pos;
    step.finished = code == 0;
    step.damaged = ZSTD_isError(code) != 0;
    return step;
}

}  // namespace wheelyard::inspect

#else

namespace wheelyard::inspect {

struct ZstdStream::State {};

bool ZstdStream::available() {
    return false;
}

ZstdStream::ZstdStream() {
    WHEELYARD_CHECK(available());
}

Inflater::Step ZstdStream::step(std::string_view, char*, std::size_t) {
    return {.damaged = true};
}

}  // namespace wheelyard::inspect

#endif

namespace wheelyard::inspect {

ZstdStream::~ZstdStream() = default;

}  // namespace wheelyard::inspect
