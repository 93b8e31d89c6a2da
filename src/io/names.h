/* io/names.h - file names and extensions. */
#ifndef MGVI_IO_NAMES_H
#define MGVI_IO_NAMES_H

#include <stdbool.h>
#include <stdio.h>

/* Whether `path`, less a suffix such as .gz, ends in one of the words of `extensions`. */
bool mgvi_name_fits(const char *path, const char *extensions);

/* Fills the array `buffer` with "a, b, c" from a registry's count and at functions. */
#define MGVI_LIST_NAMES(buffer, count, at)                                                         \
    do {                                                                                           \
        size_t used_ = 0;                                                                          \
        for (int k_ = 0; k_ < count() && used_ < sizeof(buffer); k_++)                             \
            used_ += (size_t)snprintf((buffer) + used_, sizeof(buffer) - used_, "%s%s",            \
                                      k_ ? ", " : "", at(k_)->name);                               \
    } while (0)
#endif
