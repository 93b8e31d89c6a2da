/* print.c - the C locale for the length of one call. */
#include "base/print.h"

#include <pthread.h>
#include <stdio.h>

static locale_t plain;
static void make_plain(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

locale_t mgvi_c_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_plain);
    return plain;
}

int mgvi_vprint(char *buffer, size_t size, const char *format, va_list args)
{
    const locale_t caller = uselocale(mgvi_c_locale()); /* of this thread alone */
    const int length = vsnprintf(buffer, size, format, args);
    uselocale(caller);
    return length;
}

int mgvi_print(char *buffer, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = mgvi_vprint(buffer, size, format, args);
    va_end(args);
    return length;
}
