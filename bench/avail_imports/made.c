/* One extension module for the Stable ABI of Python 3.9, which needs what its macro says. ../avail_imports.py compiles it. */
#include <Python.h>
#ifdef NEEDS_GSL
#include <gsl/gsl_sf_bessel.h>
#endif
#ifdef NEEDS_RPATH
int yard_answer(void);
#endif
#ifdef NEEDS_CXX30
#include <vector>
#endif
#ifdef NEEDS_CXX32
#include <iostream>
#endif

static double use(int number) {
#if defined NEEDS_GSL
    return gsl_sf_bessel_J0(number);
#elif defined NEEDS_GOMP
    int sum = 0;
#pragma omp parallel
#pragma omp scope reduction(+ : sum)
    sum += number;
    return sum;
#elif defined NEEDS_GLIBC238
    return (double)strtol("12", NULL, number + 10);
#elif defined NEEDS_RPATH
    return yard_answer() + number;
#elif defined NEEDS_CXX30
    std::vector<int> numbers(static_cast<std::size_t>(number + 2), number);
    return numbers[static_cast<std::size_t>(number)];
#elif defined NEEDS_CXX32
    std::cout << std::flush;
    return number;
#else
    return number;
#endif
}

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, MODULE, NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC INIT(void) {
    if (use((int)(size_t)definition.m_size + 1) < 0) return NULL;
    return PyModule_Create(&definition);
}
