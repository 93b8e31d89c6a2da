/* simd/exponentials.h - the maps from scaled squared distances to kernel values; T and NAME say for
 * which type, once for each. Plain C that compilers turn into vectors, as in exp.h. */
#include "simd/exp.h"

#include <math.h>

static void NAME(exp_shift)(T *x, const T *b, T shift, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        const T s = x[j] + (shift + b[j]);
        x[j] = NAME(exp_below_0)(s < 0 ? s : 0);
    }
}

static void NAME(exp_root)(T *x, const T *b, T shift, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        const T s = x[j] + (shift + b[j]), square = s < 0 ? -2 * s : 0;
        x[j] = NAME(exp_below_0)(-(T)sqrt(square));
    }
}
