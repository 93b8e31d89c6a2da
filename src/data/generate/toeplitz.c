/* toeplitz.c - sparse regression on correlated columns:
 *     a_1 = z_1,  a_j = rho a_(j-1) + sqrt(1 - rho^2) z_j,  z ~ N(0, I):  corr(a_i, a_j) = rho^|i-j|,
 *     column j times U[1, spread],  x: `support` entries 1, the others 0,
 *     b = A x + e,  e ~ N(0, I) times  |A x| / (snr |z|)  or  delta / |z|;
 * the test rows have the same noise per entry. */
#include "data/generate/generate.h"

#include <math.h>
#include <string.h>

typedef struct design {
    double *x, *factor; /* one per column */
    double noise;       /* factor of the normal numbers */
} design;

static mgv_status draw_truth(const mgvi_making *m, design *d)
{
    const int64_t cols = (int64_t)m->with.columns;
    const int64_t tenth = cols / 10 > 0 ? cols / 10 : 1;
    const int64_t support = isnan(m->with.support) ? tenth : (int64_t)m->with.support;
    mgvi_rng pick = mgvi_making_rng(m, MGVI_DRAW_TRUTH),
             rng = mgvi_making_rng(m, MGVI_DRAW_COLUMNS);
    if (support > cols)
        return MGVI_FAIL(m->ctx, MGV_E_ARG,
                         "support must be at most the number of columns (got %" PRId64
                         " of %" PRId64 ")",
                         support, cols);
    bool *kept = mgvi_alloc(m->ctx, (size_t)cols, sizeof *kept);
    if (!kept)
        return MGV_E_MEMORY;
    mgvi_making_choose(&pick, cols, support, kept);
    for (int64_t j = 0; j < cols; j++) {
        d->x[j] = kept[j];
        d->factor[j] = 1 + (m->with.spread - 1) * mgvi_rng_uniform(&rng);
    }
    mgvi_release(m->ctx, kept);
    return MGV_OK;
}

/* A and A x. */
static void draw_rows(const mgvi_making *m, const design *d, mgvi_draw what, int64_t rows,
                      double *A, double *b)
{
    const int64_t cols = (int64_t)m->with.columns;
    const double rho = m->with.rho, fresh = sqrt(1 - rho * rho);
    mgvi_rng rng = mgvi_making_rng(m, what);
    for (int64_t i = 0; i < rows; i++) {
        double last = 0, sum = 0, *a = A + i * cols;
        for (int64_t j = 0; j < cols; j++) {
            const double z = mgvi_rng_exact_normal(&rng);
            last = j ? rho * last + fresh * z : z;
            a[j] = d->factor[j] * last;
            sum += a[j] * d->x[j];
        }
        b[i] = sum;
    }
}

/* The same noise for every entry of the training and of the test rows. */
static mgv_status add_noise(const mgvi_making *m, design *d, mgvi_draw what, int64_t rows,
                            double *b)
{
    const bool training = what == MGVI_DRAW_NOISE;
    mgvi_rng rng = mgvi_making_rng(m, what);
    double *e = mgvi_alloc(m->ctx, (size_t)rows, sizeof *e);
    if (!e)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < rows; i++)
        e[i] = mgvi_rng_exact_normal(&rng);
    if (training) {
        const double size =
            isnan(m->with.delta) ? mgvi_making_norm(b, rows) / m->with.snr : m->with.delta;
        const double norm = mgvi_making_norm(e, rows);
        d->noise = norm > 0 ? size / norm : 0;
    }
    for (int64_t i = 0; i < rows; i++)
        b[i] += d->noise * e[i];
    mgvi_release(m->ctx, e);
    return MGV_OK;
}

static mgv_status fill(mgvi_making *m, design *d, bool training, mgv_data **out)
{
    const int64_t rows = (int64_t)(training ? m->with.rows : m->with.test_rows);
    double *A, *b;
    MGVI_TRY(mgvi_making_table(m, rows, (int64_t)m->with.columns, out, &A, &b));
    draw_rows(m, d, training ? MGVI_DRAW_ROWS : MGVI_DRAW_TEST_ROWS, rows, A, b);
    MGVI_TRY(add_noise(m, d, training ? MGVI_DRAW_NOISE : MGVI_DRAW_TEST_NOISE, rows, b));
    return mgvi_making_labels(m, *out, b);
}

static mgv_status make(mgvi_making *m)
{
    const int64_t cols = (int64_t)m->with.columns;
    if (!(m->with.rho < 1))
        return MGVI_FAIL(m->ctx, MGV_E_ARG,
                         "rho must be below 1 (got %g): at 1 all columns are one", m->with.rho);
    double *memory = mgvi_alloc(m->ctx, 2 * (size_t)cols, sizeof *memory);
    if (!memory)
        return MGV_E_MEMORY;
    design d = {memory, memory + cols, 0};
    mgv_status st = draw_truth(m, &d);
    if (st == MGV_OK)
        st = fill(m, &d, true, &m->data);
    if (st == MGV_OK && m->want_test)
        st = fill(m, &d, false, &m->test);
    if (st == MGV_OK)
        st = mgvi_making_truth(m, d.x, cols);
    mgvi_release(m->ctx, memory);
    return st;
}

const mgvi_generator mgvi_generator_toeplitz = {
    .name = "toeplitz",
    .summary = "sparse regression: normal columns with the correlation rho^|i - j|, and noise",
    .defaults = {.rows = 200,
                 .test_rows = 250,
                 .columns = 500,
                 .rho = 0.2,
                 .snr = 10,
                 .delta = NAN,
                 .support = NAN,
                 .spread = 1},
    .truth = true,
    .make = make};
