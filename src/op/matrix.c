/* matrix.c - checking stored matrices. Looking for a fault is fast and parallel; once one is known
 * to be there, a plain serial scan finds the first, so the sentence is always the same. */
#include "op/matrix.h"

#include "base/limit.h"
#include "base/memory.h"
#include "base/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRAIN = 1 << 16, BLOCKS = 64 };

mgvi_matrix mgvi_matrix_transpose(const mgvi_matrix *m)
{
    mgvi_matrix t = *m;
    t.layout = m->layout == MGV_CSR ? MGV_CSC : m->layout == MGV_CSC ? MGV_CSR : MGV_DENSE;
    t.rows = m->cols;
    t.cols = m->rows;
    t.row_stride = m->col_stride;
    t.col_stride = m->row_stride;
    return t;
}

bool mgvi_matrix_by_columns(const mgvi_matrix *m)
{
    if (m->layout == MGV_DENSE)
        return m->row_stride == 1 && m->col_stride != 1;
    return m->layout == MGV_CSC;
}

int64_t mgvi_matrix_cut(const mgvi_matrix *m, int64_t blocks, int64_t block)
{
    if (m->layout == MGV_DENSE)
        return mgvi_block_begin(m->rows, blocks, block);
    if (block >= blocks)
        return m->rows;
    /* The first row that has `goal` entries and rows before it: empty rows are work, too. */
    const int64_t goal = mgvi_block_begin(m->nnz + m->rows, blocks, block);
    int64_t low = 0, high = m->rows;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (m->ptr[middle] + middle < goal)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- shape and pointers --------------------------------------------------------------------- */
static mgv_status check_dense_shape(mgv_ctx *ctx, const mgvi_matrix *m)
{
    int64_t count, down, across, reach;
    if (__builtin_mul_overflow(m->rows, m->cols, &count))
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%" PRId64 " x %" PRId64 " dense entries are too many to count", m->rows,
                         m->cols);
    if (count == 0)
        return MGV_OK;
    if (m->row_stride == INT64_MIN || m->col_stride == INT64_MIN ||
        __builtin_mul_overflow(m->rows - 1, llabs(m->row_stride), &down) ||
        __builtin_mul_overflow(m->cols - 1, llabs(m->col_stride), &across) ||
        __builtin_add_overflow(down, across, &reach) ||
        reach >= PTRDIFF_MAX / (int64_t)mgvi_dtype_size(m->dtype))
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "a dense matrix of %" PRId64 " x %" PRId64 " with strides %" PRId64
                         " and %" PRId64 " does not fit in memory",
                         m->rows, m->cols, m->row_stride, m->col_stride);
    if (m->nnz != count)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "a dense matrix of %" PRId64 " x %" PRId64 " has %" PRId64 " entries",
                         m->rows, m->cols, m->nnz);
    return MGV_OK;
}

/* `m` is CSR here; `what` names its rows: "row", or "column" when the original was CSC. */
static mgv_status check_pointers(mgv_ctx *ctx, const mgvi_matrix *m, const char *what)
{
    if (m->rows >= PTRDIFF_MAX / 8 || m->nnz >= PTRDIFF_MAX / 8)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "a sparse matrix of %" PRId64 " x %" PRId64 " with %" PRId64
                         " entries does not fit in memory",
                         m->rows, m->cols, m->nnz);
    if (!m->ptr)
        return MGVI_FAIL(ctx, MGV_E_ARG, "the sparse matrix has no %s pointers", what);
    if (m->ptr[0] != 0)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "the first %s pointer is %" PRId64 ", not 0", what,
                         m->ptr[0]);
    bool falls = false;
    for (int64_t i = 0; i < m->rows; i++)
        falls |= m->ptr[i] > m->ptr[i + 1];
    for (int64_t i = 0; falls && i < m->rows; i++)
        if (m->ptr[i] > m->ptr[i + 1])
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "%s %" PRId64 " starts at entry %" PRId64 " and ends at %" PRId64,
                             what, i + 1, m->ptr[i], m->ptr[i + 1]);
    if (m->ptr[m->rows] != m->nnz)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "the last %s pointer is %" PRId64 ", but there are %" PRId64 " entries",
                         what, m->ptr[m->rows], m->nnz);
    return MGV_OK;
}

/* ---- entries -------------------------------------------------------------------------------- */
/* The largest |v|, NaN where a number is not finite: a comparison loses a NaN, so that exponents
 * are looked at apart. One of all ones and one more (STEP) carries into the sign. WIDE maxima side
 * by side are what makes the loop vectorise. */
#define LARGEST(T, U, S, ONES, STEP)                                                               \
    static inline U carry_##S(T x)                                                                 \
    {                                                                                              \
        U bits;                                                                                    \
        memcpy(&bits, &x, sizeof bits);                                                            \
        return (bits & (ONES)) + (STEP);                                                           \
    }                                                                                              \
    static double largest_##S(const T *v, int64_t count)                                           \
    {                                                                                              \
        enum { WIDE = 16 };                                                                        \
        T most[WIDE] = {0};                                                                        \
        U carry = 0;                                                                               \
        int64_t t = 0;                                                                             \
        for (; t + WIDE <= count; t += WIDE)                                                       \
            for (int i = 0; i < WIDE; i++) {                                                       \
                const T size = size_##S(v[t + i]);                                                 \
                carry |= carry_##S(v[t + i]);                                                      \
                most[i] = size > most[i] ? size : most[i];                                         \
            }                                                                                      \
        for (int i = 0; t < count; t++, i++) {                                                     \
            const T size = size_##S(v[t]);                                                         \
            carry |= carry_##S(v[t]);                                                              \
            most[i] = size > most[i] ? size : most[i];                                             \
        }                                                                                          \
        for (int i = 1; i < WIDE; i++)                                                             \
            most[0] = most[i] > most[0] ? most[i] : most[0];                                       \
        return carry & ~((U)-1 >> 1) ? NAN : (double)most[0];                                      \
    }                                                                                              \
    /* Raises most[j] to |v_j|; false: a number is not finite. */                                  \
    static bool raise_##S(const T *restrict v, int64_t count, T *restrict most)                    \
    {                                                                                              \
        U carry = 0;                                                                               \
        for (int64_t j = 0; j < count; j++) {                                                      \
            const T size = size_##S(v[j]);                                                         \
            carry |= carry_##S(v[j]);                                                              \
            most[j] = size > most[j] ? size : most[j];                                             \
        }                                                                                          \
        return !(carry & ~((U)-1 >> 1));                                                           \
    }
static inline float size_f32(float x) { return fabsf(x); }
static inline double size_f64(double x) { return fabs(x); }
LARGEST(float, uint32_t, f32, 0x7f800000u, 0x00800000u)
LARGEST(double, uint64_t, f64, 0x7ff0000000000000u, 0x0010000000000000u)

static double largest(const mgvi_matrix *m, int64_t first, int64_t count)
{
    return m->dtype == MGV_F32 ? largest_f32((const float *)m->val + first, count)
                               : largest_f64((const double *)m->val + first, count);
}

/* Strictly increasing, so that only the ends need a look for the range. */
static bool indices_fit(const int32_t *idx, int64_t count, int64_t cols)
{
    if (count == 0)
        return true;
    bool bad = idx[0] < 0 || idx[count - 1] >= cols;
    for (int64_t t = 1; t < count; t++)
        bad |= idx[t] <= idx[t - 1];
    return !bad;
}

typedef struct scan {
    const mgvi_matrix *m; /* CSR, or dense with col_stride the smaller */
    int64_t blocks;
    double most[BLOCKS]; /* of every block; NaN: there is a fault */
    double *line;        /* sizes of lines that are wanted, or NULL */
    void *room;          /* blocks x columns of the matrix's type, where sizes of columns are */
} scan;

/* NaN where one of the two is. */
static double larger(double a, double b) { return a >= b || isnan(a) ? a : b; }

/* The largest |entry| of these rows; NaN: they have a fault. */
static double scan_rows(const mgvi_matrix *m, int64_t first, int64_t last)
{
    double most = 0;
    if (m->layout == MGV_CSR) {
        bool fine = true;
        for (int64_t i = first; i < last; i++)
            fine &= indices_fit(m->idx + m->ptr[i], m->ptr[i + 1] - m->ptr[i], m->cols);
        return fine ? largest(m, m->ptr[first], m->ptr[last] - m->ptr[first]) : NAN;
    }
    for (int64_t i = first; i < last; i++) {
        if (m->col_stride == 1)
            most = larger(most, largest(m, i * m->row_stride, m->cols));
        else
            for (int64_t j = 0; j < m->cols; j++) {
                const double v = fabs(mgvi_matrix_value(m, i * m->row_stride + j * m->col_stride));
                most = larger(most, isfinite(v) ? v : NAN);
            }
    }
    return most;
}

/* Rows of a dense matrix, side by side, with the sizes of their columns in block `at` of the room.
 */
static double scan_columns(const scan *job, int64_t first, int64_t last, int64_t at)
{
    const mgvi_matrix *m = job->m;
    bool fine = true;
    double most = 0;
    float *const f32 = (float *)job->room + at * m->cols;
    double *const f64 = (double *)job->room + at * m->cols;
    for (int64_t i = first; i < last; i++)
        fine &= m->dtype == MGV_F32
                    ? raise_f32((const float *)m->val + i * m->row_stride, m->cols, f32)
                    : raise_f64((const double *)m->val + i * m->row_stride, m->cols, f64);
    for (int64_t j = 0; j < m->cols; j++)
        most = larger(most, m->dtype == MGV_F32 ? (double)f32[j] : f64[j]);
    return fine ? most : NAN;
}

/* The same where the sizes of the lines themselves are wanted. */
static double scan_lines(const scan *job, int64_t first, int64_t last)
{
    double most = 0;
    for (int64_t i = first; i < last; i++) {
        job->line[i] = scan_rows(job->m, i, i + 1);
        most = larger(most, job->line[i]);
    }
    return most;
}

static void scan_block(void *arg, int64_t block)
{
    scan *job = arg;
    const int64_t first = mgvi_matrix_cut(job->m, job->blocks, block),
                  last = mgvi_matrix_cut(job->m, job->blocks, block + 1);
    job->most[block] = job->room   ? scan_columns(job, first, last, block)
                       : job->line ? scan_lines(job, first, last)
                                   : scan_rows(job->m, first, last);
}

static void join_sizes(const scan *job, double *size)
{
    const mgvi_matrix *m = job->m;
    memset(size, 0, (size_t)m->cols * sizeof *size);
    for (int64_t t = 0; t < job->blocks * m->cols; t++) {
        const double x = m->dtype == MGV_F32 ? (double)((const float *)job->room)[t]
                                             : ((const double *)job->room)[t];
        size[t % m->cols] = fmax(size[t % m->cols], x);
    }
}

/* Looks at all entries; *most is NaN where there is a fault. */
static mgv_status look(mgv_ctx *ctx, const mgvi_matrix *by_rows, bool by_columns, double *most,
                       double *size)
{
    enum { ROWS = 64 }; /* of a block at least, so that the room is small beside the matrix */
    scan job = {.m = by_rows, .blocks = mgvi_block_count(by_rows->nnz, GRAIN, BLOCKS)};
    if (by_columns)
        job.line = size;
    else if (size && by_rows->layout == MGV_DENSE && by_rows->col_stride == 1) {
        job.blocks = job.blocks < by_rows->rows / ROWS + 1 ? job.blocks : by_rows->rows / ROWS + 1;
        job.room = mgvi_zeros(ctx, (size_t)job.blocks * (size_t)by_rows->cols,
                              mgvi_dtype_size(by_rows->dtype));
        if (!job.room)
            return MGV_E_MEMORY;
    }
    mgvi_ctx_run(ctx, job.blocks, scan_block, &job);
    *most = job.most[0];
    for (int64_t b = 1; b < job.blocks; b++)
        *most = larger(*most, job.most[b]);
    if (job.room)
        join_sizes(&job, size);
    else if (size && !by_columns)
        for (int64_t j = 0; j < by_rows->cols; j++)
            size[j] = *most;
    mgvi_release(ctx, job.room);
    return mgvi_ctx_whole(ctx);
}

/* Names the first fault of a matrix that has one. Rows and columns are counted from 1, as in every
 * sentence; indices are quoted as they are stored. */
static mgv_status dense_fault(mgv_ctx *ctx, const mgvi_matrix *m)
{
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < m->cols; j++) {
            const double v = mgvi_matrix_value(m, i * m->row_stride + j * m->col_stride);
            if (!isfinite(v))
                return MGVI_FAIL(ctx, MGV_E_INPUT,
                                 "row %" PRId64 ", column %" PRId64 ": the value is %g", i + 1,
                                 j + 1, v);
        }
    return MGVI_FAIL(ctx, MGV_E_INTERNAL, "the matrix changed while it was checked");
}

static mgv_status sparse_fault(mgv_ctx *ctx, const mgvi_matrix *m, const char *what,
                               const char *other)
{
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t t = m->ptr[i]; t < m->ptr[i + 1]; t++) {
            if (m->idx[t] < 0 || m->idx[t] >= m->cols)
                return MGVI_FAIL(ctx, MGV_E_INPUT,
                                 "%s %" PRId64 ": %s index %" PRId32 " is not in 0 to %" PRId64,
                                 what, i + 1, other, m->idx[t], m->cols - 1);
            if (t > m->ptr[i] && m->idx[t] <= m->idx[t - 1])
                return MGVI_FAIL(ctx, MGV_E_INPUT,
                                 "%s %" PRId64 ": %s index %" PRId32 " follows %" PRId32
                                 "; indices must increase",
                                 what, i + 1, other, m->idx[t], m->idx[t - 1]);
            if (!isfinite(mgvi_matrix_value(m, t)))
                return MGVI_FAIL(ctx, MGV_E_INPUT,
                                 "%s %" PRId64 ", %s %" PRId64 ": the value is %g", what, i + 1,
                                 other, (int64_t)m->idx[t] + 1, mgvi_matrix_value(m, t));
        }
    return MGVI_FAIL(ctx, MGV_E_INTERNAL, "the matrix changed while it was checked");
}

mgv_status mgvi_matrix_check(mgv_ctx *ctx, const mgvi_matrix *m, double *most, double *size)
{
    double largest_entry = 0;
    const bool by_columns = mgvi_matrix_by_columns(m);
    const char *what = by_columns ? "column" : "row", *other = by_columns ? "row" : "column";
    const mgvi_matrix by_rows = by_columns ? mgvi_matrix_transpose(m) : *m;
    if ((unsigned)m->layout > MGV_CSC || (unsigned)m->dtype > MGV_F64)
        return MGVI_FAIL(ctx, MGV_E_ARG, "there is no layout %d with type %d", (int)m->layout,
                         (int)m->dtype);
    if (m->rows < 0 || m->cols < 0 || m->nnz < 0)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "a matrix of %" PRId64 " x %" PRId64 " with %" PRId64
                         " entries is not possible",
                         m->rows, m->cols, m->nnz);
    if (m->layout == MGV_DENSE)
        MGVI_TRY(check_dense_shape(ctx, m));
    else
        MGVI_TRY(check_pointers(ctx, &by_rows, what));
    if (m->nnz == 0)
        return MGV_OK;
    if (!m->val || (m->layout != MGV_DENSE && !m->idx))
        return MGVI_FAIL(ctx, MGV_E_ARG, "the matrix has %" PRId64 " entries but no array of %s",
                         m->nnz, m->val ? "indices" : "values");
    MGVI_TRY(look(ctx, &by_rows, by_columns, &largest_entry, size));
    if (!isnan(largest_entry)) {
        if (most)
            *most = largest_entry;
        return MGV_OK;
    }
    return m->layout == MGV_DENSE ? dense_fault(ctx, m) : sparse_fault(ctx, &by_rows, what, other);
}
