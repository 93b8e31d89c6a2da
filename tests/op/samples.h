/* samples.h - one random matrix in every form it can be stored in, beside a plain copy of it. */
#ifndef MGV_TESTS_OP_SAMPLES_H
#define MGV_TESTS_OP_SAMPLES_H

#include "base/rng.h"
#include "check.h"
#include "op/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { C_ORDER, C_PADDED, F_ORDER, F_PADDED, STRIDED, REVERSED, CSR, CSC, FORMS };
static const char *const form_names[] = {
    "C order",      "C order, padded",  "Fortran order", "F order, pad",
    "both strides", "negative strides", "CSR",           "CSC"};

typedef struct sample {
    mgvi_matrix m;
    double *ref; /* rows x cols, C order */
    void *val;
    int64_t *ptr;
    int32_t *idx;
} sample;

static inline void *sample_memory(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p)
        abort();
    return p;
}

static inline void sample_store(const sample *s, int64_t at, double value)
{
    if (s->m.dtype == MGV_F32)
        ((float *)s->val)[at] = (float)value;
    else
        ((double *)s->val)[at] = value;
}

static inline void sample_dense(sample *s, int form)
{
    const int64_t rows = s->m.rows, cols = s->m.cols;
    const int64_t row_stride[] = {cols, cols + 3, 1, 1, 2 * cols + 1, -cols};
    const int64_t col_stride[] = {1, 1, rows, rows + 2, 2, -1};
    int64_t start = 0, size = 1;
    s->m.layout = MGV_DENSE;
    s->m.row_stride = row_stride[form];
    s->m.col_stride = col_stride[form];
    if (form == REVERSED && rows && cols)
        start = rows * cols - 1;
    if (rows && cols)
        size += (rows - 1) * llabs(s->m.row_stride) + (cols - 1) * llabs(s->m.col_stride);
    s->m.nnz = rows * cols;
    s->val = sample_memory((size_t)size, 8);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            sample_store(s, start + i * s->m.row_stride + j * s->m.col_stride,
                         s->ref[i * cols + j]);
    s->m.val = (const char *)s->val + start * (int64_t)mgvi_dtype_size(s->m.dtype);
}

static inline void sample_sparse(sample *s, int form)
{
    const int64_t rows = s->m.rows, cols = s->m.cols;
    const int64_t outer = form == CSR ? rows : cols, inner = form == CSR ? cols : rows;
    s->m.layout = form == CSR ? MGV_CSR : MGV_CSC;
    s->val = sample_memory((size_t)(rows * cols), 8);
    s->idx = sample_memory((size_t)(rows * cols), sizeof *s->idx);
    s->ptr = sample_memory((size_t)outer + 1, sizeof *s->ptr);
    int64_t t = 0;
    for (int64_t i = 0; i < outer; i++) {
        for (int64_t j = 0; j < inner; j++) {
            const double v = form == CSR ? s->ref[i * cols + j] : s->ref[j * cols + i];
            if (v == 0)
                continue;
            sample_store(s, t, v);
            s->idx[t++] = (int32_t)j;
        }
        s->ptr[i + 1] = t;
    }
    s->m.val = s->val;
    s->m.idx = s->idx;
    s->m.ptr = s->ptr;
    s->m.nnz = t;
}

/* Entries are normal, some of them 0, and exact in float32. The same numbers in every form. */
static inline sample sample_new(int64_t rows, int64_t cols, double density, int form,
                                mgv_dtype dtype)
{
    mgvi_rng rng = mgvi_rng_seed((uint64_t)(rows * 1000 + cols));
    sample s = {.m = {.dtype = dtype, .rows = rows, .cols = cols}};
    s.ref = sample_memory((size_t)(rows * cols), sizeof *s.ref);
    for (int64_t i = 0; i < rows * cols; i++)
        if (mgvi_rng_uniform(&rng) < density)
            s.ref[i] = (float)mgvi_rng_normal(&rng);
    if (form < CSR)
        sample_dense(&s, form);
    else
        sample_sparse(&s, form);
    return s;
}

static inline void sample_free(sample *s)
{
    free(s->ref);
    free(s->val);
    free(s->ptr);
    free(s->idx);
}

static inline double *random_numbers(uint64_t seed, int64_t count)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    double *x = sample_memory((size_t)count, sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = mgvi_rng_normal(&rng);
    return x;
}

/* ---- views ---------------------------------------------------------------------------------- */
enum {
    HAS_ROWS = 1,
    HAS_SIGN = 2,
    HAS_ROW_SCALE = 4,
    HAS_CENTRE = 8,
    HAS_SCALE = 16,
    HAS_INTERCEPT = 32,
    PARTS = 64
};

typedef struct view_sample {
    mgvi_view view;
    double *ref; /* the first lane's A, rows x cols; signs of other lanes differ */
    int64_t rows, cols;
    int64_t *row;
    int8_t *sign;
    double *row_scale, *centre, *scale;
} view_sample;

/* Every part drawn at random; rows repeat and are out of order. `lanes` of signs. */
static inline view_sample view_sample_new(const sample *s, int parts, int32_t lanes)
{
    mgvi_rng rng = mgvi_rng_seed((uint64_t)parts + 77);
    const int64_t n = s->m.rows, d = s->m.cols;
    view_sample v = {.rows = parts & HAS_ROWS ? 2 * n / 3 : n,
                     .cols = d + (parts & HAS_INTERCEPT ? 1 : 0)};
    v.row = sample_memory((size_t)v.rows, sizeof *v.row);
    v.sign = sample_memory((size_t)(v.rows * lanes), sizeof *v.sign);
    v.row_scale = sample_memory((size_t)v.rows, sizeof *v.row_scale);
    v.centre = sample_memory((size_t)d, sizeof *v.centre);
    v.scale = sample_memory((size_t)d, sizeof *v.scale);
    for (int64_t i = 0; i < v.rows; i++) {
        /* runs of consecutive rows, and jumps */
        v.row[i] = i && v.row[i - 1] + 1 < n && mgvi_rng_uniform(&rng) < 0.6
                       ? v.row[i - 1] + 1
                       : mgvi_rng_below(&rng, (uint32_t)n);
        v.row_scale[i] = 0.5 + mgvi_rng_uniform(&rng);
    }
    for (int64_t i = 0; i < v.rows * lanes; i++)
        v.sign[i] = mgvi_rng_uniform(&rng) < 0.5 ? -1 : 1;
    for (int64_t j = 0; j < d; j++) {
        v.centre[j] = mgvi_rng_normal(&rng);
        v.scale[j] = 0.5 + mgvi_rng_uniform(&rng);
    }
    v.view = (mgvi_view){.row = parts & HAS_ROWS ? v.row : NULL,
                         .rows = parts & HAS_ROWS ? v.rows : 0,
                         .sign = parts & HAS_SIGN ? v.sign : NULL,
                         .sign_lanes = lanes,
                         .row_scale = parts & HAS_ROW_SCALE ? v.row_scale : NULL,
                         .centre = parts & HAS_CENTRE ? v.centre : NULL,
                         .scale = parts & HAS_SCALE ? v.scale : NULL,
                         .intercept = (parts & HAS_INTERCEPT) != 0};
    v.ref = sample_memory((size_t)(v.rows * v.cols), sizeof *v.ref);
    for (int64_t i = 0; i < v.rows; i++)
        for (int64_t j = 0; j < v.cols; j++) {
            const int64_t r = v.view.row ? v.view.row[i] : i;
            double a = 1;
            if (j < d) {
                a = s->ref[r * d + j] - (v.view.centre ? v.centre[j] : 0);
                a *= v.view.scale ? v.scale[j] : 1;
                a *= v.view.row_scale ? v.row_scale[i] : 1;
            }
            v.ref[i * v.cols + j] = v.view.sign && lanes == 1 ? v.sign[i] * a : a;
        }
    return v;
}

static inline void view_sample_free(view_sample *v)
{
    free(v->ref);
    free(v->row);
    free(v->sign);
    free(v->row_scale);
    free(v->centre);
    free(v->scale);
}
#endif
