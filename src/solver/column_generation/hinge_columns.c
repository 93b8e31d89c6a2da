/* hinge_columns.c - how columns are stored, and what joins them. */
#include "solver/column_generation/hinge_columns.h"

#include "linalg/gemm.h"

#include <math.h>
#include <string.h>

enum {
    SOME = 512,            /* columns over all rows, before those without weight leave */
    GRAM_ENTRIES = 1 << 21 /* of A made dense at a time: 16 MiB */
};

/* Columns of A over the rows with weight, n apart. */
static void gather(const mgvi_hinge_columns *W, const int32_t *cols, int64_t count, double *out)
{
    const int64_t n = W->n, all = W->all_rows;
    if (!W->scratch) {
        mgvi_gather_columns(W->columns, cols, count, out, n);
        return;
    }
    for (int64_t first = 0; first < count; first += SOME) {
        const int64_t some = count - first < SOME ? count - first : SOME;
        mgvi_gather_columns(W->columns, cols + first, some, W->scratch, all);
        for (int64_t t = 0; t < some; t++)
            for (int64_t i = 0; i < n; i++)
                out[(first + t) * n + i] = W->scratch[t * all + W->row[i]];
    }
}

/* As many columns at a time as fit in Z. */
mgv_status mgvi_hinge_columns_gram(mgvi_run *run, mgvi_hinge_columns *W)
{
    const int64_t n = W->n;
    for (int64_t first = 0; first < W->d; first += W->capacity) {
        const int64_t count = W->d - first < W->capacity ? W->d - first : W->capacity;
        double *out = first == 0 ? W->gram : W->part;
        for (int64_t t = 0; t < count; t++)
            W->col[t] = (int32_t)(first + t);
        gather(W, W->col, count, W->Z);
        MGVI_TRY(mgvi_gram_f64(run->ctx, count, n, W->Z, n, NULL, out, n));
        for (int64_t t = 0; first > 0 && t < n * n; t++)
            W->gram[t] += out[t];
    }
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(W->gram[i * n + i]))
            return MGVI_FAIL(run->ctx, MGV_E_INPUT,
                             "row %d is too large: its square overflows (--scale std?)",
                             (int)W->row[i] + 1);
    return MGV_OK;
}

static mgv_status room_for(mgvi_run *run, mgvi_hinge_columns *W, int64_t cols)
{
    if (cols <= W->capacity)
        return MGV_OK;
    int64_t capacity = W->capacity > 0 ? W->capacity : cols;
    while (capacity < cols) /* the arena keeps what is outgrown, so by half only */
        capacity += capacity / 2 + 1;
    W->capacity = capacity < W->d ? capacity : W->d;
    if (W->table) /* squares are too large to be left behind */
        return MGV_OK;
    const double *old_Z = W->Z;
    MGVI_TRY(MGVI_SCRATCH(&run->arena, W->Z, (size_t)W->capacity * (size_t)W->n));
    MGVI_TRY(MGVI_RUN_ARRAY(run, W->part, W->capacity));
    if (W->size > 0)
        memcpy(W->Z, old_Z, (size_t)(W->size * W->n) * sizeof *W->Z);
    return mgvi_hinge_interior_new(&run->arena, W->n, W->capacity, false, &W->interior);
}

mgv_status mgvi_hinge_columns_join(mgvi_run *run, mgvi_hinge_columns *W, const mgvi_ranked *joining,
                                   int64_t count)
{
    const int64_t first = W->size;
    MGVI_TRY(room_for(run, W, first + count));
    for (int64_t t = 0; t < count; t++) {
        const int32_t j = joining[t].index;
        W->col[W->size++] = j;
        W->in[j] = true;
    }
    if (!W->table)
        gather(W, W->col + first, count, W->Z + first * W->n);
    return MGV_OK;
}

mgv_status mgvi_hinge_columns_pack(mgvi_run *run, mgvi_hinge_columns *W,
                                   const mgvi_hinge_sparse **out)
{
    mgvi_hinge_sparse *z;
    if (!W->of_sparse && !(W->of_sparse = mgvi_arena_within(&run->arena)))
        return MGV_E_MEMORY;
    mgvi_arena_free(W->of_sparse);
    MGVI_TRY(MGVI_ARRAY(W->of_sparse, W->part, W->size));
    MGVI_TRY(mgvi_hinge_sparse_new(W->of_sparse, W->table, W->row, W->n, W->col, W->size, &z));
    *out = z;
    run->touched += (double)W->table->m.nnz;
    return mgvi_hinge_interior_new(W->of_sparse, W->n, W->size, true, &W->interior);
}

/* ---- binding --------------------------------------------------------------------------------- */

/* Whether the normal matrix of all columns, half of sum_j nnz_j^2, is less work entry by entry than
 * by a matrix product, which is some twenty times as fast. */
static mgv_status compare_storage(mgvi_run *run, bool *sparse)
{
    static const double SLOWER = 20;
    const mgvi_matrix *m = run->problem->A->stored;
    double squares = 0;
    *sparse = false;
    if (m->layout == MGV_DENSE || m->nnz > INT32_MAX / 2)
        return MGV_OK;
    int64_t *entries = mgvi_zeros(run->ctx, (size_t)m->cols, sizeof *entries);
    if (!entries)
        return MGV_E_MEMORY;
    for (int64_t t = 0; m->layout == MGV_CSR && t < m->nnz; t++)
        entries[m->idx[t]]++;
    for (int64_t j = 0; j < m->cols; j++) {
        const double nnz = (double)(m->layout == MGV_CSR ? entries[j] : m->ptr[j + 1] - m->ptr[j]);
        squares += nnz * nnz;
    }
    mgvi_release(run->ctx, entries);
    *sparse = SLOWER * squares < (double)m->rows * (double)m->rows * (double)m->cols;
    return MGV_OK;
}

static mgv_status room_for_gram(mgvi_run *run, mgvi_hinge_columns *W)
{
    const size_t n = (size_t)W->n;
    const int64_t most = GRAM_ENTRIES / W->n + 1;
    W->capacity = W->d < most ? W->d : most;
    W->gram = mgvi_arena_scratch(&run->arena, n * n, sizeof *W->gram);
    W->part = mgvi_arena_scratch(&run->arena, W->capacity < W->d ? n * n : 0, sizeof *W->part);
    W->Z = mgvi_arena_scratch(&run->arena, (size_t)W->capacity * n, sizeof *W->Z);
    W->col = mgvi_run_array(run, (size_t)W->capacity, sizeof *W->col);
    MGVI_TRY(mgvi_hinge_interior_new(&run->arena, W->n, 0, false, &W->interior));
    return W->gram && W->part && W->Z && W->col ? MGV_OK : MGV_E_MEMORY;
}

/* Whether the rows are those of A, each once. */
static bool are_all(const mgvi_hinge_rows *rows, const mgv_problem *p)
{
    bool all = rows->n == p->A->rows;
    for (int64_t i = 0; all && i < rows->n; i++)
        all = rows->row[i] == i;
    return all;
}

mgv_status mgvi_hinge_columns_bind(mgvi_run *run, const mgvi_hinge_rows *rows, bool square,
                                   mgvi_hinge_columns *W)
{
    const mgv_problem *p = run->problem;
    const int64_t n = rows->n, d = mgvi_problem_penalised(p), wide = d < 3 * n ? d : 3 * n;
    bool sparse = false;
    *W = (mgvi_hinge_columns){.n = n, .d = d, .row = rows->row, .all_rows = p->A->rows};
    if (!square)
        MGVI_TRY(compare_storage(run, &sparse));
    if (sparse)
        MGVI_TRY(mgvi_rows_bare(p->A, &run->arena, &W->table));
    else
        MGVI_TRY(mgvi_gather_new(p->A, &run->arena, &W->columns));
    if (!sparse && !are_all(rows, p) &&
        !(W->scratch = mgvi_run_array(run, SOME * (size_t)W->all_rows, sizeof *W->scratch)))
        return MGV_E_MEMORY;
    if (square)
        return room_for_gram(run, W);
    MGVI_TRY(MGVI_RUN_ARRAY(run, W->col, d));
    MGVI_TRY(MGVI_RUN_ARRAY(run, W->in, d));
    return sparse ? MGV_OK : room_for(run, W, wide);
}

void mgvi_hinge_columns_outline(const mgvi_hinge_columns *W, mgvi_hinge_block *block)
{
    block->cols = W->gram ? 0 : W->size;
    block->Z = W->Z;
    block->row_stride = 1;
    block->col_stride = block->gram_stride = W->n;
    block->gram = W->gram;
}
