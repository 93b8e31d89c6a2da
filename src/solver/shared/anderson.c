/* anderson.c - a system of five equations and a combination of five vectors. */
#include "solver/shared/anderson.h"

#include <math.h>

enum { DEPTH = MGVI_ANDERSON_DEPTH };

mgv_status mgvi_anderson_new(mgvi_arena *arena, int64_t most, mgvi_anderson *out)
{
    *out = (mgvi_anderson){.n = most};
    for (int k = 0; k <= DEPTH; k++)
        if (!(out->history[k] = mgvi_arena_array(arena, (size_t)most, sizeof(double))))
            return MGV_E_MEMORY;
    return MGV_OK;
}

void mgvi_anderson_reset(mgvi_anderson *a, int64_t n)
{
    a->n = n;
    a->held = 0;
}

double *mgvi_anderson_slot(mgvi_anderson *a) { return a->history[a->held]; }

/* z of (G + tiny I) z = 1 by elimination; false: singular all the same. */
static bool solve_ones(double G[DEPTH][DEPTH + 1])
{
    double trace = 0;
    for (int k = 0; k < DEPTH; k++)
        trace += G[k][k];
    for (int k = 0; k < DEPTH; k++) {
        G[k][k] += 1e-12 * trace;
        G[k][DEPTH] = 1;
    }
    for (int k = 0; k < DEPTH; k++) {
        if (!(G[k][k] > 1e-14 * trace))
            return false;
        for (int i = 0; i < DEPTH; i++) {
            const double f = i == k ? 0 : G[i][k] / G[k][k];
            for (int j = k; j <= DEPTH; j++)
                G[i][j] -= f * G[k][j];
        }
    }
    return true;
}

bool mgvi_anderson_push(mgvi_anderson *a, double *out)
{
    double G[DEPTH][DEPTH + 1] = {{0}}, sum = 0;
    if (++a->held <= DEPTH)
        return false;
    a->held = 0;
    for (int64_t t = 0; t < a->n; t++)
        for (int i = 0; i < DEPTH; i++)
            for (int j = i; j < DEPTH; j++)
                G[i][j] += (a->history[i + 1][t] - a->history[i][t]) *
                           (a->history[j + 1][t] - a->history[j][t]);
    for (int i = 0; i < DEPTH; i++)
        for (int j = 0; j < i; j++)
            G[i][j] = G[j][i];
    if (!solve_ones(G))
        return false;
    for (int k = 0; k < DEPTH; k++)
        sum += G[k][DEPTH] /= G[k][k];
    if (!(fabs(sum) > 0) || !isfinite(sum))
        return false;
    for (int64_t t = 0; t < a->n; t++) {
        out[t] = 0;
        for (int k = 0; k < DEPTH; k++)
            out[t] += G[k][DEPTH] / sum * a->history[k + 1][t];
    }
    return true;
}
