/* peel.c - rows that can be in no proof of inseparability, found without arithmetic.
 *
 * If a column has entries y_i x_ij of one sign only over the live rows, then sum_i q_i y_i x_ij = 0
 * with q >= 0 forces q_i = 0 wherever it is not zero: those rows go, the column is then empty, and
 * other columns may have become one-signed. On pixels used by one class only this removes a tenth
 * of the rows and makes what is left much better conditioned. */
#include "problem/problem.h"

typedef struct peeling {
    const mgv_problem *p;
    bool *row, *col;              /* alive */
    int64_t *positive, *negative; /* per column, over the live rows */
} peeling;

/* Calls visit(s, i, j, sign of y_i x_ij) for the entries of row i that are not zero. */
static void visit_row(peeling *s, int64_t i,
                      void (*visit)(peeling *s, int64_t i, int64_t j, bool positive))
{
    const mgvi_matrix *X = &s->p->data->X;
    const bool sparse = X->layout == MGV_CSR;
    const int64_t first = sparse ? X->ptr[i] : i * X->row_stride;
    const int64_t count = sparse ? X->ptr[i + 1] - first : X->cols;
    const double y = mgvi_problem_free_entry(s->p, i);
    for (int64_t t = 0; t < count; t++) {
        const double v = y * mgvi_matrix_value(X, first + t);
        if (v != 0)
            visit(s, i, sparse ? X->idx[first + t] : t, v > 0);
    }
}

static void count(peeling *s, int64_t i, int64_t j, bool positive)
{
    (void)i;
    ++*(positive ? &s->positive[j] : &s->negative[j]);
}

static void discount(peeling *s, int64_t i, int64_t j, bool positive)
{
    (void)i;
    --*(positive ? &s->positive[j] : &s->negative[j]);
}

/* A column of one sign takes the row with it. */
static void condemn(peeling *s, int64_t i, int64_t j, bool positive)
{
    (void)positive;
    if (s->positive[j] == 0 || s->negative[j] == 0)
        s->row[i] = false;
}

mgv_status mgvi_problem_peel(const mgv_problem *p, mgvi_arena *arena, bool *row, bool *col)
{
    const mgvi_matrix *X = &p->data->X;
    const int64_t n = p->A->rows, d = X->cols;
    peeling s = {.p = p, .row = row, .col = col};
    for (int64_t i = 0; i < n; i++)
        row[i] = mgvi_coef_pick(&p->row.scale, i, 0) > 0;
    for (int64_t j = 0; j < p->A->cols; j++)
        col[j] = true;
    /* Contrasts are not rows of the data. Centred columns without an intercept are another problem;
     * columns are not read from CSC. */
    if (mgvi_problem_has_contrasts(p) || (p->view.centre && !p->free_cols) ||
        X->layout == MGV_CSC || (X->layout == MGV_DENSE && X->col_stride != 1))
        return MGV_OK;
    s.positive = mgvi_arena_array(arena, (size_t)d, sizeof *s.positive);
    s.negative = mgvi_arena_array(arena, (size_t)d, sizeof *s.negative);
    if (!s.positive || !s.negative)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < n; i++)
        if (row[i])
            visit_row(&s, i, count);
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t i = 0; i < n; i++) {
            if (!row[i])
                continue;
            visit_row(&s, i, condemn);
            if (!row[i]) {
                visit_row(&s, i, discount);
                changed = true;
            }
        }
    }
    for (int64_t j = 0; j < d; j++) /* now of both signs, or empty */
        col[j] = s.positive[j] > 0;
    return MGV_OK;
}
