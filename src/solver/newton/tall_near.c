/* tall_near.c - the rows that are left to decide, of a pair near the solution. */
#include "solver/newton/tall_near.h"

#include "solver/newton/tall_place.h"

#include <math.h>

double mgvi_tall_near_tau(const mgvi_coef_array *s, const double *u, double *a, int64_t rows,
                          double *loss)
{
    double sum = 0;
    *loss = 0;
    for (int64_t i = 0; i < rows; i++) {
        const double most = mgvi_coef_pick(s, i, 0);
        a[i] = fmin(fmax(a[i], 0), most);
        *loss += most * fmax(u[i], 0);
        sum += u[i] > 0 ? (most - a[i]) * u[i] : -a[i] * u[i];
    }
    return rows > 0 ? sum / (2 * (double)rows) : 0;
}

bool mgvi_tall_near_inside(const mgvi_coef_array *s, const double *u, int64_t rows)
{
    static const double FEW = 0.01;
    int64_t outside = 0;
    for (int64_t i = 0; i < rows; i++) {
        const double most = mgvi_coef_pick(s, i, 0);
        outside += most > 0 && !(u[i] < 0 && u[i] > -most);
    }
    return (double)outside <= FEW * (double)rows;
}

double mgvi_tall_near_reach(const double *u, int64_t rows, int64_t wanted, double least)
{
    enum { HALVINGS = 40 };
    double low = least, high = least;
    for (int64_t i = 0; i < rows; i++)
        high = fmax(high, fabs(u[i]));
    for (int t = 0; t < HALVINGS && high > low * (1 + 1e-3); t++) {
        const double middle = low > 0 ? sqrt(low * high) : high / 2;
        int64_t count = 0;
        for (int64_t i = 0; i < rows; i++)
            count += fabs(u[i]) <= middle;
        if (count < wanted)
            low = middle;
        else
            high = middle;
    }
    return high;
}

void mgvi_tall_near_keep(const mgvi_coef_array *s, const double *u, const double *a, int64_t rows,
                         uint8_t *place)
{
    for (int64_t i = 0; i < rows; i++)
        if ((u[i] > 0) != (a[i] > mgvi_coef_pick(s, i, 0) / 2))
            place[i] = MGVI_ROW_KEPT;
}
