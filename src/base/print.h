/* base/print.h - printf with a point in its numbers, whatever language the host program speaks.
 * Nothing else in src/ prints numbers: tests/layout/numbers.sh looks for the C library's own. */
#ifndef MGVI_BASE_PRINT_H
#define MGVI_BASE_PRINT_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

locale_t mgvi_c_locale(void); /* made once, kept for ever */
/* As snprintf and vsnprintf. */
int mgvi_print(char *buffer, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int mgvi_vprint(char *buffer, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
#endif
