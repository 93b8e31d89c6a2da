/* linesearch_l1.c - sorted breakpoints, slopes by prefix sums: ties are exact, and no sign of a
 * rounded w + s d is ever asked for. */
#include "solver/baseline/linesearch_l1.h"

#include <math.h>
#include <stdlib.h>

static int by_place(const void *x, const void *y)
{
    const mgvi_breakpoint *p = x, *q = y;
    if (p->at != q->at)
        return p->at < q->at ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

double mgvi_linesearch_l1(int64_t n, const double *w, const double *d, const double *mu, double a,
                          double b, double most, mgvi_breakpoint *work, int64_t *landing)
{
    double slope = b; /* just to the right of `from` */
    int64_t count = 0;
    *landing = -1;
    for (int64_t j = 0; j < n; j++) {
        slope += mu[j] * (w[j] == 0 ? fabs(d[j]) : copysign(d[j], w[j] * d[j]));
        if (w[j] * d[j] < 0)
            work[count++] = (mgvi_breakpoint){-w[j] / d[j], 2 * mu[j] * fabs(d[j]), j};
    }
    if (slope >= 0)
        return 0;
    qsort(work, (size_t)count, sizeof *work, by_place);
    double from = 0;
    for (int64_t k = 0; k < count && work[k].at < most; k++) {
        const double before = slope + 2 * a * (work[k].at - from);
        if (before > 0)
            break; /* the minimum lies between */
        slope = before + work[k].jump;
        from = work[k].at;
        if (slope >= 0) {
            *landing = work[k].index;
            return from;
        }
    }
    return a > 0 ? fmin(most, from - slope / (2 * a)) : most;
}
