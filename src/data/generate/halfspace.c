/* halfspace.c - rows of fading variances, labelled by a random plane and clear of it:
 *     x_i ~ N(0, i^-decay),  theta ~ N(0, I) (or `support` of its entries, the others 0),
 *     y = sign(x.theta + shift),  drawn anew while |x.theta + shift| <= clearance.  */
#include "data/generate/generate.h"

#include <math.h>
#include <string.h>

typedef struct plane {
    double *theta, *deviation; /* one per column */
} plane;

static mgv_status draw_plane(const mgvi_making *m, plane *p)
{
    const int64_t cols = (int64_t)m->with.columns;
    const int64_t support = isnan(m->with.support) ? cols : (int64_t)m->with.support;
    const int quarters = (int)(2 * m->with.decay);
    mgvi_rng rng = mgvi_making_rng(m, MGVI_DRAW_TRUTH), pick = mgvi_making_rng(m, MGVI_DRAW_MASK);
    if (quarters != 2 * m->with.decay)
        return MGVI_FAIL(m->ctx, MGV_E_ARG,
                         "decay must be a multiple of 1/2 (got %g): roots are the same on every "
                         "machine, other powers are not",
                         m->with.decay);
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
        const double root = sqrt(sqrt((double)(j + 1))), normal = mgvi_rng_exact_normal(&rng);
        double fade = 1;
        for (int k = 0; k < quarters; k++)
            fade *= root;
        p->deviation[j] = 1 / fade;
        p->theta[j] = kept[j] ? normal : 0;
    }
    mgvi_release(m->ctx, kept);
    return MGV_OK;
}

static mgv_status fill(const mgvi_making *m, const plane *p, mgvi_draw what, int64_t rows,
                       mgv_data **out)
{
    enum { MOST = 10000 }; /* rows drawn in place of one */
    const int64_t cols = (int64_t)m->with.columns;
    double *X, *y;
    mgvi_rng rng = mgvi_making_rng(m, what);
    MGVI_TRY(mgvi_making_table(m, rows, cols, out, &X, &y));
    for (int64_t i = 0, drawn = 0; i < rows;) {
        double score = m->with.shift, *x = X + i * cols;
        for (int64_t j = 0; j < cols; j++) {
            x[j] = p->deviation[j] * mgvi_rng_exact_normal(&rng);
            score += x[j] * p->theta[j];
        }
        y[i] = score > 0 ? 1 : -1;
        if (fabs(score) > m->with.clearance) {
            i++;
            drawn = 0;
        } else if (++drawn > MOST) {
            return MGVI_FAIL(
                m->ctx, MGV_E_ARG,
                "of %d rows none is farther from the plane than the clearance; make it "
                "smaller (got %g)",
                (int)MOST, m->with.clearance);
        }
    }
    return mgvi_making_labels(m, *out, y);
}

static mgv_status make(mgvi_making *m)
{
    const int64_t cols = (int64_t)m->with.columns;
    double *memory = mgvi_alloc(m->ctx, 2 * (size_t)cols, sizeof *memory);
    if (!memory)
        return MGV_E_MEMORY;
    plane p = {memory, memory + cols};
    mgv_status st = draw_plane(m, &p);
    if (st == MGV_OK)
        st = fill(m, &p, MGVI_DRAW_ROWS, (int64_t)m->with.rows, &m->data);
    if (st == MGV_OK && m->want_test)
        st = fill(m, &p, MGVI_DRAW_TEST_ROWS, (int64_t)m->with.test_rows, &m->test);
    if (st == MGV_OK)
        st = mgvi_making_truth(m, p.theta, cols);
    mgvi_release(m->ctx, memory);
    return st;
}

const mgvi_generator mgvi_generator_halfspace = {
    .name = "halfspace",
    .summary = "normal rows of fading variances, labelled by a random plane and clear of it",
    .defaults = {.rows = 1000,
                 .test_rows = NAN,
                 .columns = 2000,
                 .support = NAN,
                 .decay = 1.5,
                 .shift = 0.005,
                 .clearance = 0.1},
    .truth = true,
    .classes = true,
    .make = make};

const mgvi_generator mgvi_generator_sparse_halfspace = {
    .name = "sparse_halfspace",
    .summary = "the same by a plane that few columns say anything about",
    .defaults = {.rows = 1000,
                 .test_rows = NAN,
                 .columns = 2000,
                 .support = 50,
                 .decay = 1,
                 .shift = 0.005,
                 .clearance = 0.1},
    .truth = true,
    .classes = true,
    .make = make};
