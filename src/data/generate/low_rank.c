/* low_rank.c - entries of a matrix of low rank, the others hidden:
 *     B = U V' size/|U V'|,  U, V ~ N(0, I) with `rank` columns,
 *     seen: round(seen x entries) of them at random,  values B + e,
 *     e ~ N(0, I) times  |B| / (snr |e|)  or  delta / |e|,  norms over the seen entries.
 * The test is the hidden entries with the same noise, the truth is B. */
#include "data/generate/generate.h"

#include <math.h>
#include <string.h>

static mgv_status draw_matrix(const mgvi_making *m, int64_t rows, int64_t cols, double *B)
{
    const int64_t rank = (int64_t)m->with.rank, each = rows + cols;
    mgvi_rng rng = mgvi_making_rng(m, MGVI_DRAW_TRUTH);
    double *factor = mgvi_alloc(m->ctx, (size_t)(rank * each), sizeof *factor);
    if (!factor)
        return MGV_E_MEMORY;
    for (int64_t k = 0; k < rank * each; k++)
        factor[k] = mgvi_rng_exact_normal(&rng);
    for (int64_t k = 0; k < rank; k++)
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++)
                B[i * cols + j] += factor[k * each + i] * factor[k * each + rows + j];
    mgvi_release(m->ctx, factor);
    const double scale = m->with.size / mgvi_making_norm(B, rows * cols);
    for (int64_t t = 0; t < rows * cols; t++)
        B[t] *= scale;
    return MGV_OK;
}

/* e becomes the noise of every entry. */
static void draw_noise(const mgvi_making *m, int64_t count, const double *B, const bool *seen,
                       double *e)
{
    double signal = 0, noise = 0;
    mgvi_rng rng = mgvi_making_rng(m, MGVI_DRAW_NOISE);
    for (int64_t t = 0; t < count; t++) {
        e[t] = mgvi_rng_exact_normal(&rng);
        signal += seen[t] ? B[t] * B[t] : 0;
        noise += seen[t] ? e[t] * e[t] : 0;
    }
    const double size = isnan(m->with.delta) ? sqrt(signal) / m->with.snr : m->with.delta;
    const double factor = noise > 0 ? size / sqrt(noise) : 0;
    for (int64_t t = 0; t < count; t++)
        e[t] *= factor;
}

/* The entries that are `seen` or, else, those that are not. */
static mgv_status gather(const mgvi_making *m, int64_t rows, int64_t cols, const double *B,
                         const double *e, const bool *seen, bool which, mgv_data **out)
{
    int64_t count = 0;
    for (int64_t t = 0; t < rows * cols; t++)
        count += seen[t] == which;
    MGVI_TRY(mgvi_data_new(m->ctx, out));
    int64_t *ptr = mgvi_data_array(m->ctx, *out, (size_t)rows + 1, sizeof *ptr);
    int32_t *idx = ptr ? mgvi_data_array(m->ctx, *out, (size_t)count, sizeof *idx) : NULL;
    double *val = idx ? mgvi_data_array(m->ctx, *out, (size_t)count, sizeof *val) : NULL;
    if (!val)
        return MGV_E_MEMORY;
    for (int64_t i = 0, at = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            const int64_t t = i * cols + j;
            if (seen[t] != which)
                continue;
            idx[at] = (int32_t)j;
            val[at++] = B[t] + e[t];
        }
        ptr[i + 1] = at;
    }
    (*out)->format = "generated";
    (*out)->X = (mgvi_matrix){.layout = MGV_CSR,
                              .dtype = MGV_F64,
                              .rows = rows,
                              .cols = cols,
                              .nnz = count,
                              .val = val,
                              .ptr = ptr,
                              .idx = idx};
    return MGV_OK;
}

static mgv_status make(mgvi_making *m)
{
    const int64_t rows = (int64_t)m->with.rows, cols = (int64_t)m->with.columns;
    mgv_status st = MGV_OK;
    double *B, *e = NULL;
    bool *seen = NULL;
    mgvi_rng rng = mgvi_making_rng(m, MGVI_DRAW_MASK);
    if (m->with.rank > fmin(m->with.rows, m->with.columns))
        return MGVI_FAIL(m->ctx, MGV_E_ARG,
                         "a matrix of %" PRId64 " x %" PRId64 " has no rank of %.0f", rows, cols,
                         m->with.rank);
    MGVI_TRY(mgvi_making_table(m, rows, cols, &m->truth, &B, NULL));
    MGVI_CHECK(st, done, draw_matrix(m, rows, cols, B));
    e = mgvi_alloc(m->ctx, (size_t)(rows * cols), sizeof *e);
    seen = e ? mgvi_alloc(m->ctx, (size_t)(rows * cols), sizeof *seen) : NULL;
    if (!seen) {
        st = MGV_E_MEMORY;
        goto done;
    }
    mgvi_making_choose(&rng, rows * cols, (int64_t)(m->with.seen * (double)(rows * cols) + 0.5),
                       seen);
    draw_noise(m, rows * cols, B, seen, e);
    MGVI_CHECK(st, done, gather(m, rows, cols, B, e, seen, true, &m->data));
    if (m->want_test)
        MGVI_CHECK(st, done, gather(m, rows, cols, B, e, seen, false, &m->test));
done:
    mgvi_release(m->ctx, e);
    mgvi_release(m->ctx, seen);
    if (!m->want_truth) {
        mgvi_data_free(m->ctx, m->truth);
        m->truth = NULL;
    }
    return st;
}

const mgvi_generator mgvi_generator_low_rank = {
    .name = "low_rank",
    .summary = "some entries of a matrix of low rank, for `complete`; the test is the hidden ones",
    .defaults = {.rows = 200,
                 .columns = 200,
                 .rank = 5,
                 .seen = 0.2,
                 .size = 20,
                 .snr = INFINITY,
                 .delta = NAN},
    .truth = true,
    .make = make};
