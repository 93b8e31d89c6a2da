/* margin_system.c - a Cholesky factor of the smaller matrix, borders by their Schur complement. */
#include "solver/margin/margin_system.h"

#include "linalg/gemm.h"

#include <math.h>
#include <string.h>

mgv_status mgvi_margin_system_new(mgvi_arena *arena, const mgvi_margin_block *Z,
                                  mgvi_margin_system *s)
{
    const size_t n = (size_t)Z->rows, d = (size_t)Z->cols, order = (size_t)Z->order;
    *s = (mgvi_margin_system){.Z = Z};
    s->D = mgvi_arena_array(arena, n, sizeof(double));
    s->of_rows = mgvi_arena_array(arena, n, sizeof(double));
    s->H = mgvi_arena_scratch(arena, order * order, sizeof(double));
    if (!s->D || !s->of_rows || !s->H)
        return MGV_E_MEMORY;
    MGVI_TRY(MGVI_VECTORS(arena, order, &s->u, &s->F[0], &s->F[1], &s->F[2], &s->Y[0], &s->Y[1],
                          &s->Y[2]));
    return MGVI_VECTORS(arena, d, &s->K, &s->S, &s->e, &s->of_cols);
}

static double dot(const mgvi_margin_system *s, const double *x, const double *y, int64_t n)
{
    return s->Z->ctx->simd->dot_f64(x, y, n);
}

/* ---- the factor ------------------------------------------------------------------------------ */

/* The matrix of (2) or (3), upper triangle. */
static mgv_status assemble(mgvi_margin_system *s)
{
    const mgvi_margin_block *Z = s->Z;
    const int64_t m = Z->order;
    const double *weight = s->K;
    if (Z->by_columns) {
        for (int64_t i = 0; i < Z->rows; i++)
            s->of_rows[i] = 1 / s->D[i];
        weight = s->of_rows;
    }
    MGVI_TRY(mgvi_margin_block_gram(Z, weight, s->H));
    for (int64_t i = 0; i < m; i++) {
        double *row = s->H + i * m;
        for (int64_t j = i; Z->by_columns && j < m; j++)
            row[j] *= s->S[i] * s->S[j];
        row[i] += Z->by_columns ? 1 : s->D[i];
    }
    return MGV_OK;
}

/* A ridge of the size of rounding where the factor needs it; refinement undoes it. */
static mgv_status factor_matrix(mgvi_margin_system *s, bool *definite)
{
    static const double RIDGES[] = {0, 1e-14, 1e-12, 1e-10};
    const int64_t m = s->Z->order;
    int64_t pivot = 0;
    for (size_t k = 0; k < sizeof RIDGES / sizeof *RIDGES && pivot >= 0; k++) {
        MGVI_TRY(assemble(s));
        for (int64_t i = 0; i < m; i++)
            s->H[i * m + i] *= 1 + RIDGES[k];
        MGVI_TRY(mgvi_cholesky(s->Z->ctx, m, s->H, m, &pivot));
        s->work += s->Z->work;
    }
    *definite = pivot < 0;
    return MGV_OK;
}

/* The borders as columns of (2) or (3), and their own block G. */
static void make_borders(mgvi_margin_system *s)
{
    const mgvi_margin_block *Z = s->Z;
    memset(s->G, 0, sizeof s->G);
    for (int c = 0; c < s->rims; c++) {
        if (!Z->by_columns) {
            memcpy(s->F[c], s->B[c], (size_t)Z->rows * sizeof *s->F[c]);
            continue;
        }
        for (int64_t i = 0; i < Z->rows; i++)
            s->of_rows[i] = s->B[c][i] / s->D[i];
        for (int k = 0; k < s->rims; k++)
            s->G[k][c] = dot(s, s->B[k], s->of_rows, Z->rows);
        mgvi_margin_block_mul_t(Z, s->of_rows, s->F[c]);
        for (int64_t j = 0; j < Z->cols; j++)
            s->F[c][j] *= s->S[j];
    }
    if (!s->coupled)
        return;
    double *F = s->F[s->rims], square = 0;
    for (int64_t j = 0; j < Z->cols; j++) {
        square += s->K[j] * s->e[j] * s->e[j];
        s->of_cols[j] = -s->K[j] * s->e[j];
    }
    if (!Z->by_columns)
        mgvi_margin_block_mul(Z, s->of_cols, F);
    for (int64_t j = 0; Z->by_columns && j < Z->cols; j++)
        F[j] = s->S[j] * s->e[j];
    s->G[s->rims][s->rims] = Z->by_columns ? square - s->kappa : s->kappa;
}

mgv_status mgvi_margin_system_factor(mgvi_margin_system *s, bool *definite)
{
    const mgvi_margin_block *Z = s->Z;
    s->borders = s->rims + (s->coupled ? 1 : 0);
    for (int64_t j = 0; j < Z->cols; j++)
        s->S[j] = sqrt(s->K[j]);
    MGVI_TRY(factor_matrix(s, definite));
    if (!*definite)
        return MGV_OK;
    make_borders(s);
    for (int c = 0; c < s->borders; c++) {
        memcpy(s->Y[c], s->F[c], (size_t)Z->order * sizeof *s->Y[c]);
        MGVI_TRY(mgvi_cholesky_solve(Z->ctx, Z->order, s->H, Z->order, 1, s->Y[c]));
        for (int k = 0; k < s->borders; k++)
            s->G[k][c] -= dot(s, s->F[k], s->Y[c], Z->order);
    }
    return MGV_OK;
}

/* ---- solving --------------------------------------------------------------------------------- */

/* G x = b in place, by elimination with row pivots. A pivot of 0 leaves its unknown 0. */
static void solve_borders(const mgvi_margin_system *s, double *b)
{
    enum { M = MGVI_SYSTEM_BORDERS };
    double a[M][M + 1];
    const int m = s->borders;
    for (int i = 0; i < m; i++) {
        memcpy(a[i], s->G[i], sizeof s->G[i]);
        a[i][m] = b[i];
    }
    for (int c = 0; c < m; c++) {
        int best = c;
        for (int i = c + 1; i < m; i++)
            best = fabs(a[i][c]) > fabs(a[best][c]) ? i : best;
        for (int k = 0; k <= m; k++) {
            const double x = a[c][k];
            a[c][k] = a[best][k];
            a[best][k] = x;
        }
        for (int i = c + 1; i < m && a[c][c] != 0; i++)
            for (int k = m; k >= c; k--)
                a[i][k] -= a[i][c] / a[c][c] * a[c][k];
    }
    for (int c = m - 1; c >= 0; c--) {
        b[c] = a[c][m];
        for (int k = c + 1; k < m; k++)
            b[c] -= a[c][k] * b[k];
        b[c] = a[c][c] != 0 ? b[c] / a[c][c] : 0;
    }
}

/* u and the borders' rim: in the right-hand sides of (2) or (3), out their solution. */
static mgv_status solve_bordered(mgvi_margin_system *s, double *rim)
{
    const int64_t m = s->Z->order;
    MGVI_TRY(mgvi_cholesky_solve(s->Z->ctx, m, s->H, m, 1, s->u));
    for (int c = 0; c < s->borders; c++)
        rim[c] -= dot(s, s->F[c], s->u, m);
    solve_borders(s, rim);
    for (int c = 0; c < s->borders; c++)
        s->Z->ctx->simd->axpy_f64(-rim[c], s->Y[c], s->u, m);
    s->work += (double)m * (double)m;
    return MGV_OK;
}

static double k_at(const mgvi_system_sides *b, int64_t j) { return b->k ? b->k[j] : 0; }

/* of_rows = r - Z dw - B dx */
static void rows_left(mgvi_margin_system *s, const mgvi_system_sides *b, const mgvi_system_step *x)
{
    const int64_t n = s->Z->rows;
    mgvi_margin_block_mul(s->Z, x->w, s->of_rows);
    for (int64_t i = 0; i < n; i++) {
        double left = b->r[i] - s->of_rows[i];
        for (int c = 0; c < s->rims; c++)
            left -= s->B[c][i] * x->rim[c];
        s->of_rows[i] = left;
    }
}

/* (2): u and rim become what is missing at x; g and w follow from q. */
static void residual_by_rows(mgvi_margin_system *s, const mgvi_system_sides *b, mgvi_system_step *x,
                             double *rim)
{
    const mgvi_margin_block *Z = s->Z;
    const double dt = s->coupled ? x->rim[s->rims] : 0;
    double along = 0;
    mgvi_margin_block_mul_t(Z, x->q, x->g);
    for (int64_t j = 0; j < Z->cols; j++) {
        const double e = s->coupled ? s->e[j] : 0;
        x->w[j] = s->K[j] * (x->g[j] - e * dt + k_at(b, j));
        along += s->K[j] * e * x->g[j];
    }
    rows_left(s, b, x);
    for (int64_t i = 0; i < Z->rows; i++)
        s->u[i] = s->of_rows[i] - s->D[i] * x->q[i];
    for (int c = 0; c < s->rims; c++)
        rim[c] = b->rim[c] - dot(s, s->B[c], x->q, Z->rows);
    if (s->coupled)
        rim[s->rims] = along - s->kappa * dt - b->rim[s->rims];
}

/* (3): the same; q and g follow from w. */
static void residual_by_columns(mgvi_margin_system *s, const mgvi_system_sides *b,
                                mgvi_system_step *x, double *rim)
{
    const mgvi_margin_block *Z = s->Z;
    const double dt = s->coupled ? x->rim[s->rims] : 0;
    double last = 0;
    rows_left(s, b, x);
    for (int64_t i = 0; i < Z->rows; i++)
        x->q[i] = s->of_rows[i] / s->D[i];
    mgvi_margin_block_mul_t(Z, x->q, x->g);
    for (int64_t j = 0; j < Z->cols; j++) {
        const double e = s->coupled ? s->e[j] : 0, k = k_at(b, j);
        s->u[j] = s->S[j] > 0 ? s->S[j] * (x->g[j] - e * dt + k) - x->w[j] / s->S[j] : 0;
        last += e * (s->K[j] * (k - e * dt) - x->w[j]);
    }
    for (int c = 0; c < s->rims; c++)
        rim[c] = dot(s, s->B[c], x->q, Z->rows) - b->rim[c];
    if (s->coupled)
        rim[s->rims] = b->rim[s->rims] + s->kappa * dt + last;
}

mgv_status mgvi_margin_system_solve(mgvi_margin_system *s, const mgvi_system_sides *b,
                                    int refinements, mgvi_system_step *x)
{
    const mgvi_margin_block *Z = s->Z;
    double rim[MGVI_SYSTEM_BORDERS];
    memset(x->q, 0, (size_t)Z->rows * sizeof *x->q);
    memset(x->w, 0, (size_t)Z->cols * sizeof *x->w);
    memset(x->rim, 0, sizeof x->rim);
    for (int pass = 0; pass <= refinements; pass++) {
        (Z->by_columns ? residual_by_columns : residual_by_rows)(s, b, x, rim);
        MGVI_TRY(solve_bordered(s, rim));
        for (int64_t i = 0; !Z->by_columns && i < Z->order; i++)
            x->q[i] += s->u[i];
        for (int64_t j = 0; Z->by_columns && j < Z->order; j++)
            x->w[j] += s->S[j] * s->u[j];
        for (int c = 0; c < s->borders; c++)
            x->rim[c] += rim[c];
    }
    (Z->by_columns ? residual_by_columns : residual_by_rows)(s, b, x, rim);
    return MGV_OK;
}
