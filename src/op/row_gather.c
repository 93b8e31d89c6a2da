/* row_gather.c - sets of rows: all of a problem's, or copies of some. */
#include "base/limit.h"
#include "base/threads.h"
#include "op/row_kernels.h"
#include "op/row_set.h"
#include "simd/simd.h"

#include <string.h>

/* Above this share of entries rows are made dense: measured on 0.6 (three times faster), 0.11 and
 * 0.04 (slower). */
static const double DENSE_FROM = 0.3;

enum { ROWS_AT_LEAST = 512 };

static mgv_status describe(const mgvi_rows *rows, double *touched, mgvi_row_set *s)
{
    if (rows->view.centre && rows->view.row_scale)
        return MGVI_FAIL(rows->ctx, MGV_E_UNSUPPORTED,
                         "rows are divided by their norms and columns centred: no sums over rows");
    s->ctx = rows->ctx;
    s->kernels = rows->ctx->simd->row_kernels;
    s->m = rows->m;
    s->cols = rows->m.cols + (rows->view.intercept ? 1 : 0);
    s->view = rows->view;
    s->touched = touched;
    s->sparse = rows->m.layout == MGV_CSR &&
                (double)rows->m.nnz <= DENSE_FROM * (double)rows->m.rows * (double)rows->m.cols;
    return MGV_OK;
}

/* Copies of all rows. */
static mgv_status gather_all(const mgvi_rows *rows, double most, mgvi_arena *arena, double *touched,
                             mgvi_row_set *set)
{
    int32_t *list;
    MGVI_TRY(MGVI_SCRATCH(arena, list, rows->count));
    for (int64_t i = 0; i < rows->count; i++)
        list[i] = (int32_t)i;
    return mgvi_row_set_gather(rows, list, rows->count, false, most, arena, touched, set);
}

void mgvi_row_set_share(const mgvi_row_set *other, mgvi_row_set *set)
{
    set->partial = other->partial;
    set->partial_capacity = other->partial_capacity;
}

double mgvi_row_set_bytes(const mgvi_rows *rows, int64_t count, bool exact)
{
    mgvi_row_set like = {0};
    double touched;
    if (describe(rows, &touched, &like) != MGV_OK)
        return 0;
    if (!like.sparse)
        return (double)count * (double)like.cols * (exact ? sizeof(double) : sizeof(float));
    const double entry = (double)(mgvi_dtype_size(rows->m.dtype) + sizeof *rows->m.idx);
    return (double)count * ((double)rows->m.nnz / (double)rows->m.rows * entry + 24);
}

mgv_status mgvi_row_set_all(const mgvi_rows *rows, double most, mgvi_arena *arena, double *touched,
                            mgvi_row_set *set)
{
    memset(set, 0, sizeof *set);
    MGVI_TRY(describe(rows, touched, set));
    set->plain = set->m.layout == MGV_DENSE && set->m.dtype == MGV_F32 && !set->view.intercept &&
                 !set->view.centre && !set->view.scale && !set->view.row_scale;
    /* rows that would be brought into form in every pass are copied, if there is room */
    const double bytes = mgvi_row_set_bytes(rows, rows->count, false);
    if (rows->view.row || (!set->sparse && !set->plain && bytes <= most)) {
        memset(set, 0, sizeof *set);
        return gather_all(rows, most, arena, touched, set);
    }
    set->entries = (double)set->m.nnz;
    return mgvi_row_set_reserve(set, arena);
}

/* ---- one row --------------------------------------------------------------------------------- */

static void fetch_dense(const mgvi_row_set *s, int64_t i, double factor, void *out)
{
    const mgvi_row_kernel_table *k = s->kernels;
    const mgvi_matrix *m = &s->m;
    const float *x32 = (const float *)m->val + i * m->row_stride;
    const double *x64 = (const double *)m->val + i * m->row_stride;
    const bool f32 = m->dtype == MGV_F32;
    if (s->exact && f32)
        k->f32_to_f64(x32, s->view.centre, s->view.scale, factor, m->cols, out);
    else if (s->exact)
        k->f64_to_f64(x64, s->view.centre, s->view.scale, factor, m->cols, out);
    else if (f32)
        k->f32_to_f32(x32, s->view.centre, s->view.scale, factor, m->cols, out);
    else
        k->f64_to_f32(x64, s->view.centre, s->view.scale, factor, m->cols, out);
}

static void fetch_sparse(const mgvi_row_set *s, int64_t i, double factor, void *out)
{
    const mgvi_matrix *m = &s->m;
    double *d64 = out;
    float *d32 = out;
    for (int64_t j = 0; j < m->cols; j++) {
        double x = s->view.centre ? -factor * s->view.centre[j] : 0;
        if (s->view.scale)
            x *= s->view.scale[j];
        if (s->exact)
            d64[j] = x;
        else
            d32[j] = (float)x;
    }
    for (int64_t t = m->ptr[i]; t < m->ptr[i + 1]; t++) {
        const int32_t j = m->idx[t];
        double x = mgvi_matrix_value(m, t) - mgvi_view_centre(&s->view, j);
        x *= s->view.scale ? factor * s->view.scale[j] : factor;
        if (s->exact)
            d64[j] = x;
        else
            d32[j] = (float)x;
    }
}

/* Row i of the matrix. */
static void fetch(const mgvi_row_set *s, int64_t i, double sign, double row_scale, void *out)
{
    const double factor = sign * row_scale;
    if (s->m.layout == MGV_DENSE)
        fetch_dense(s, i, factor, out);
    else
        fetch_sparse(s, i, factor, out);
    if (s->view.intercept && s->exact)
        ((double *)out)[s->m.cols] = sign;
    else if (s->view.intercept)
        ((float *)out)[s->m.cols] = (float)sign;
}

/* Row i of those it was made from. */
static void fetch_source(const mgvi_row_set *s, const mgvi_rows *rows, int64_t i, void *out)
{
    fetch(s, mgvi_rows_source(rows, i), mgvi_view_sign(&rows->view, i),
          mgvi_view_row_scale(&rows->view, i), out);
}

void mgvi_row_set_row(const mgvi_row_set *s, int64_t i, void *out)
{
    if (s->list)
        fetch_source(s, s->whole, s->list[i], out);
    else
        fetch(s, i, mgvi_view_sign(&s->view, i), mgvi_view_row_scale(&s->view, i), out);
}

void mgvi_row_set_unsigned(const mgvi_row_set *s, int64_t i, void *out)
{
    if (s->list)
        fetch_source(s, s->whole, s->list[i], out);
    else
        fetch(s, i, 1, mgvi_view_row_scale(&s->view, i), out);
}

/* ---- copies ---------------------------------------------------------------------------------- */

typedef struct gather_job {
    const mgvi_rows *rows;
    const int32_t *list;
    mgvi_row_set from, *to;
    int64_t blocks;
} gather_job;

static void gather_block(void *arg, int64_t block)
{
    const gather_job *job = arg;
    const mgvi_rows *rows = job->rows;
    mgvi_row_set *to = job->to;
    const size_t size = to->exact ? sizeof(double) : sizeof(float);
    MGVI_FOR_BLOCK (t, to->m.rows, job->blocks, block) {
        const int64_t i = job->list[t], r = mgvi_rows_source(rows, i);
        if (!to->sparse) {
            fetch_source(&job->from, rows, i, (char *)to->own_val + (size_t)(t * to->cols) * size);
            continue;
        }
        const size_t width = mgvi_dtype_size(rows->m.dtype);
        const size_t count = (size_t)(rows->m.ptr[r + 1] - rows->m.ptr[r]);
        to->own_sign[t] = mgvi_view_sign(&rows->view, i);
        to->own_row_scale[t] = mgvi_view_row_scale(&rows->view, i);
        if (count == 0) /* where all are empty there is nothing to copy to, either */
            continue;
        memcpy(to->own_idx + to->own_ptr[t], rows->m.idx + rows->m.ptr[r],
               count * sizeof *to->own_idx);
        memcpy((char *)to->own_val + (size_t)to->own_ptr[t] * width,
               (const char *)rows->m.val + (size_t)rows->m.ptr[r] * width, count * width);
    }
}

/* Room for the copies; the arena keeps what is outgrown, so by an eighth more than
 * needed. */
static mgv_status grow(mgvi_row_set *s, mgvi_arena *arena, int64_t count, int64_t nnz, size_t size)
{
    if (!s->own_ptr || count > s->capacity) {
        s->capacity = count + count / 8;
        MGVI_TRY(MGVI_SCRATCH(arena, s->own_ptr, (size_t)s->capacity + 1));
        MGVI_TRY(MGVI_SCRATCH(arena, s->own_sign, s->capacity));
        MGVI_TRY(MGVI_SCRATCH(arena, s->own_row_scale, s->capacity));
    }
    if (nnz > s->nnz_capacity) {
        s->nnz_capacity = nnz + nnz / 8;
        s->own_val = mgvi_arena_scratch(arena, (size_t)s->nnz_capacity, size);
        s->own_idx = s->sparse
                         ? mgvi_arena_scratch(arena, (size_t)s->nnz_capacity, sizeof *s->own_idx)
                         : NULL;
        if (!s->own_val || (s->sparse && !s->own_idx))
            return MGV_E_MEMORY;
    }
    return MGV_OK;
}

/* The matrix of the copies. Dense ones have everything in them, the intercept too. */
static void bind_copies(mgvi_row_set *s, int64_t count, int64_t nnz)
{
    s->m.rows = count;
    s->m.nnz = nnz;
    s->m.val = s->own_val;
    if (s->sparse) {
        s->m.ptr = s->own_ptr;
        s->m.idx = s->own_idx;
        s->view.sign = s->own_sign;
        s->view.row_scale = s->view.row_scale ? s->own_row_scale : NULL;
        return;
    }
    s->m.layout = MGV_DENSE;
    s->m.dtype = s->exact ? MGV_F64 : MGV_F32;
    s->m.cols = s->m.row_stride = s->cols;
    s->m.col_stride = 1;
    s->plain = true;
    s->view.intercept = false;
    s->view.sign = NULL;
    s->view.row_scale = s->view.centre = s->view.scale = NULL;
}

/* The rows where they lie; what is fetched has everything in it. */
static void bind_list(const mgvi_rows *rows, const int32_t *list, int64_t count, int64_t entries,
                      mgvi_row_set *s)
{
    s->whole = rows;
    s->list = list;
    s->m.rows = count;
    s->m.nnz = entries;
    s->plain = false;
    s->view.sign = NULL;
    s->view.row_scale = NULL;
}

mgv_status mgvi_row_set_gather(const mgvi_rows *rows, const int32_t *list, int64_t count,
                               bool exact, double most, mgvi_arena *arena, double *touched,
                               mgvi_row_set *set)
{
    gather_job job = {.rows = rows, .list = list, .to = set};
    MGVI_TRY(describe(rows, touched, &job.from));
    job.from.exact = set->exact = exact;
    MGVI_TRY(describe(rows, touched, set));
    set->list = NULL;
    int64_t nnz = 0, entries = 0;
    const size_t size = set->sparse ? mgvi_dtype_size(rows->m.dtype) : exact ? 8 : 4;
    for (int64_t t = 0; t < count; t++)
        entries += mgvi_rows_nnz(rows, list[t]);
    nnz = set->sparse ? entries : count * set->cols;
    if (!set->sparse && (double)nnz * (double)size > most) {
        bind_list(rows, list, count, entries, set);
        set->entries = (double)entries;
        return mgvi_row_set_reserve(set, arena);
    }
    MGVI_TRY(grow(set, arena, count, nnz, size));
    set->own_ptr[0] = 0;
    for (int64_t t = 0; set->sparse && t < count; t++)
        set->own_ptr[t + 1] = set->own_ptr[t] + mgvi_rows_nnz(rows, list[t]);
    set->m.rows = count;
    job.blocks = mgvi_block_count(count, ROWS_AT_LEAST, 16);
    mgvi_ctx_run(set->ctx, job.blocks, gather_block, &job);
    bind_copies(set, count, nnz);
    set->entries = (double)entries;
    *touched += set->entries;
    return mgvi_row_set_reserve(set, arena);
}
