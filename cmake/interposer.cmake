# Compiles the governor's interposer and embeds its bytes in the module `launch`. A library for LD_PRELOAD, without libc and
# without what CMAKE_CXX_FLAGS adds (sanitizers, fortification): it runs in processes of any C library, of any age.

set(interposer_source ${CMAKE_SOURCE_DIR}/builder/governor/interposer/interposer.cpp)
set(interposer_object ${CMAKE_BINARY_DIR}/generated/interposer.o)
set(interposer_library ${CMAKE_BINARY_DIR}/generated/libwheelyard-exec.so)
set(interposer_bytes ${CMAKE_BINARY_DIR}/generated/interposer_bytes.cpp)
add_custom_command(OUTPUT ${interposer_library}
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -Os -fPIC -fvisibility=hidden -fno-exceptions -fno-rtti -fno-sanitize=all
            -fno-stack-protector -fno-asynchronous-unwind-tables -fno-threadsafe-statics -U_FORTIFY_SOURCE
            -U_GLIBCXX_ASSERTIONS -D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE -Wall -Wextra -Wshadow -Wconversion
            -Wsign-conversion -Werror -I ${CMAKE_SOURCE_DIR} -c ${interposer_source} -o ${interposer_object}
    COMMAND ${CMAKE_CXX_COMPILER} -Os -shared -nostdlib -s -Wl,--gc-sections -Wl,-z,now -Wl,-z,noexecstack
            -Wl,--build-id=none -Wl,--hash-style=both ${interposer_object} -o ${interposer_library}
    DEPENDS ${interposer_source} ${CMAKE_SOURCE_DIR}/builder/governor/launch/compiler_names.hpp
            ${CMAKE_SOURCE_DIR}/builder/governor/launch/message.hpp
    VERBATIM)
add_custom_command(OUTPUT ${interposer_bytes}
    COMMAND ${CMAKE_COMMAND} -D FROM=${interposer_library} -D TO=${interposer_bytes}
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_interposer.cmake
    DEPENDS ${interposer_library} ${CMAKE_SOURCE_DIR}/cmake/embed_interposer.cmake
    VERBATIM)
target_sources(wheelyard_launch PRIVATE ${interposer_bytes})
