/* test_generate.c - the sets made from a seed: their formulas, the same bits everywhere, what they
 * refuse. */
#include "check.h"

#include "base/hash.h"
#include "data/generate/generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct made {
    mgv_ctx *ctx;
    mgv_settings *settings;
    mgv_data *data, *test, *truth;
} made;

/* `options` as "rows=10 snr=3". */
static mgv_status try_to_make(made *m, const char *name, const char *options, bool truth)
{
    char text[200], *rest = text, *item;
    MGVI_TRY(mgv_settings_new(m->ctx, &m->settings));
    snprintf(text, sizeof text, "%s", options);
    while ((item = strsep(&rest, " "))) {
        char *equals = strchr(item, '=');
        if (!equals)
            continue;
        *equals = 0;
        MGVI_TRY(mgv_settings_set(m->ctx, m->settings, item, equals + 1));
    }
    return mgv_data_generate(m->ctx, name, m->settings, &m->data, &m->test,
                             truth ? &m->truth : NULL);
}

static void clear(made *m)
{
    mgv_data_free(m->ctx, m->data);
    mgv_data_free(m->ctx, m->test);
    mgv_data_free(m->ctx, m->truth);
    mgv_settings_free(m->ctx, m->settings);
    m->data = m->test = m->truth = NULL;
    m->settings = NULL;
}

static made make(const char *name, const char *options, bool truth)
{
    made m = {.ctx = mgv_check_ctx()};
    CHECK_OK(m.ctx, try_to_make(&m, name, options, truth));
    return m;
}

static void discard(made *m)
{
    clear(m);
    mgv_ctx_free(m->ctx);
}

static const double *values(const mgv_data *data) { return data->X.val; }

/* Phi by the library's erfc beside the quantile's own sums. */
TEST(the_quantile_inverts_the_distribution)
{
    for (int k = 1; k < 4000; k++) {
        const double p = k / 4000.;
        const double x = mgvi_normal_quantile(p), back = 0.5 * erfc(-x * M_SQRT1_2);
        CHECK_NEAR(back, p, 4e-16, "p = %g", p);
    }
    for (int e = 3; e < 52; e++) { /* the tails, where the slope of Phi is -x Phi */
        const double p = ldexp(1, -e), x = mgvi_normal_quantile(p);
        CHECK_NEAR(0.5 * erfc(-x * M_SQRT1_2) / p, 1, 3e-15 * (1 + x * x), "p = 2^-%d", e);
        CHECK_NEAR(mgvi_normal_quantile(1 - p), -x, 2e-16 / p / (1 + fabs(x)) + 1e-15, "2^-%d", e);
    }
}

TEST(the_toy_has_its_four_support_vectors)
{
    made m = make("toy", "", true);
    const double *X = values(m.data), *w = values(m.truth);
    int at_one = 0, positive = 0;
    CHECK(m.data->X.rows == 84 && m.data->X.cols == 2 && w[0] == 0.5 && w[1] == 0.5);
    for (int i = 0; i < 84; i++) {
        const double margin = m.data->labels[i] * (w[0] * X[2 * i] + w[1] * X[2 * i + 1]);
        at_one += margin == 1;
        positive += m.data->labels[i] > 0;
        CHECK(margin == 1 || margin > 1.09);
    }
    CHECK(at_one == 4 && positive == 42);
    for (int k = 0; k < 4; k++) /* +-(1/2, 3/2), +-(3/2, 1/2) */
        CHECK(fabs(X[2 * k] * X[2 * k + 1]) == 0.75 && X[2 * k] * m.data->labels[k] > 0);
    discard(&m);
}

TEST(gaussians_have_their_means_and_flips)
{
    made m = make("gaussians", "rows=20000 variance=0.09", false);
    made f = make("gaussians", "rows=20000 variance=0.09 flip_labels=0.2", false);
    double mean[2] = {0}, square[2] = {0};
    int flipped = 0;
    for (int i = 0; i < 20000; i++) {
        for (int j = 0; j < 2; j++) {
            const double away = values(m.data)[2 * i + j] * m.data->labels[i] - 0.5;
            mean[j] += away / 20000;
            square[j] += away * away / 20000;
        }
        flipped += m.data->labels[i] != f.data->labels[i];
    }
    for (int j = 0; j < 2; j++) {
        CHECK_NEAR(mean[j], 0, 5 * 0.3 / sqrt(20000), "mean");
        CHECK_NEAR(square[j], 0.09, 5 * 0.09 * sqrt(2. / 20000), "variance");
    }
    CHECK(flipped == 4000);
    CHECK(memcmp(values(m.data), values(f.data), 40000 * sizeof(double)) == 0);
    CHECK(memcmp(m.test->labels, f.test->labels, 20000 * sizeof(double)) == 0);
    CHECK(memcmp(values(m.data), values(m.test), 40000 * sizeof(double)) != 0);
    discard(&m);
    discard(&f);
}

TEST(centres_and_line)
{
    made m = make("tall", "rows=4000 columns=5 separation=3", false);
    double centre[2][5] = {{0}}, square = 0;
    for (int i = 0; i < 4000; i++)
        for (int j = 0; j < 5; j++)
            centre[i % 2][j] += values(m.data)[5 * i + j] / 2000;
    for (int i = 0; i < 4000; i++)
        for (int j = 0; j < 5; j++)
            square += pow(values(m.data)[5 * i + j] - centre[i % 2][j], 2) / 20000;
    CHECK_NEAR(square, 1, 0.06, "variance within a class");
    for (int j = 0; j < 5; j++) { /* the test rows have the same centres */
        double mean = 0;
        for (int i = 0; i < 4000; i += 2)
            mean += values(m.test)[5 * i + j] / 2000;
        CHECK_NEAR(mean, centre[0][j], 0.15, "centre");
    }
    discard(&m);
    m = make("line", "", false);
    CHECK(m.data->X.rows == 200 && m.data->X.cols == 1);
    for (int i = 0; i < 200; i++) {
        const double x = values(m.data)[i] * m.data->labels[i];
        CHECK(x >= 0 && x < 1);
    }
    discard(&m);
}

static double length(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

TEST(toeplitz_is_what_it_says)
{
    enum { N = 3000, D = 20 };
    made m = make("toeplitz", "rows=3000 columns=20 rho=0.8 snr=5", true);
    made wide = make("toeplitz", "rows=3000 columns=20 rho=0.8 delta=7 spread=5", true);
    made few = make("toeplitz", "rows=10 columns=20 rho=0.8 snr=inf support=3", true);
    const double *A = values(m.data), *B = values(wide.data), *x = values(m.truth);
    double signal[N], noise[N], off[N];
    for (int i = 0; i < N; i++) {
        double clean = 0, other = 0;
        for (int j = 0; j < D; j++) {
            clean += A[i * D + j] * x[j];
            other += B[i * D + j] * x[j];
        }
        signal[i] = clean;
        noise[i] = m.data->labels[i] - clean;
        off[i] = wide.data->labels[i] - other;
    }
    CHECK(length(x, D) == sqrt(2) && length(values(few.truth), D) == sqrt(3)); /* ones */
    CHECK_NEAR(length(signal, N) / length(noise, N), 5, 1e-12, "signal to noise");
    CHECK_NEAR(length(off, N), 7, 1e-10, "delta");
    for (int j = 1; j < D; j++) {
        double both = 0, near = 0, far = 0;
        for (int i = 0; i < N; i++) {
            both += A[i * D + j] * A[i * D + j] / N;
            near += A[i * D + j] * A[i * D + j - 1] / N;
            far += j > 2 ? A[i * D + j] * A[i * D + j - 3] / N : 0.8 * 0.8 * 0.8 / N;
        }
        CHECK_NEAR(both, 1, 0.15, "variance of column %d", j);
        CHECK_NEAR(near, 0.8, 0.15, "correlation of column %d with its neighbour", j);
        CHECK_NEAR(far, 0.512, 0.15, "correlation of column %d with the third before", j);
        const double factor = B[j] / A[j]; /* a number of the column alone */
        CHECK(factor >= 1 && factor < 5);
        for (int i = 0; i < N; i += 100)
            CHECK_NEAR(B[i * D + j] / A[i * D + j], factor, 1e-14 * factor, "factor");
    }
    CHECK(memcmp(A, values(few.data), 10 * D * sizeof(double)) ==
          0); /* more rows, the same first */
    discard(&m);
    discard(&wide);
    discard(&few);
}

TEST(low_rank_is_what_it_says)
{
    enum { N = 30, D = 20 };
    made m = make("low_rank", "rows=30 columns=20 rank=2 seen=0.3 size=4 delta=0.5", true);
    const double *B = values(m.truth);
    double noise[N * D];
    bool met[N * D] = {false};
    int64_t at = 0;
    CHECK(m.data->X.nnz == 180 && m.test->X.nnz == 420);
    CHECK_NEAR(length(B, N * D), 4, 1e-13, "size");
    const mgv_data *const parts[] = {m.data, m.test};
    for (int part = 0; part < 2; part++) {
        const mgvi_matrix *X = &parts[part]->X;
        for (int64_t i = 0; i < N; i++)
            for (int64_t t = X->ptr[i]; t < X->ptr[i + 1]; t++) {
                const int64_t place = i * D + X->idx[t];
                CHECK(!met[place]);
                met[place] = true;
                if (part == 0)
                    noise[at++] = ((const double *)X->val)[t] - B[place];
            }
    }
    CHECK_NEAR(length(noise, 180), 0.5, 1e-13, "delta");
    /* rank 2: every 3 x 3 minor is 0 */
    for (int i = 0; i + 2 < N; i++) {
        const double *a = B + i * D, *b = a + D, *c = b + D;
        const double det = a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
                           a[2] * (b[0] * c[1] - b[1] * c[0]);
        CHECK_NEAR(det, 0, 1e-15, "minor %d", i);
    }
    discard(&m);
}

TEST(halfspaces_are_clear_of_their_plane)
{
    enum { N = 400, D = 60 };
    made m = make("halfspace", "rows=400 columns=60", true);
    made s =
        make("sparse_halfspace", "rows=400 columns=60 support=7 clearance=0.3 shift=0.2", true);
    const made *const both[] = {&m, &s};
    for (int k = 0; k < 2; k++) {
        const double *X = values(both[k]->data), *theta = values(both[k]->truth);
        int nonzero = 0;
        for (int j = 0; j < D; j++)
            nonzero += theta[j] != 0;
        CHECK(nonzero == (k ? 7 : D));
        for (int i = 0; i < N; i++) {
            double score = k ? 0.2 : 0.005;
            for (int j = 0; j < D; j++)
                score += X[i * D + j] * theta[j];
            CHECK(score * both[k]->data->labels[i] > (k ? 0.3 : 0.1) - 1e-13);
        }
        double first = 0, ninth = 0;
        for (int i = 0; i < N; i++) {
            first += X[i * D] * X[i * D] / N;
            ninth += X[i * D + 15] * X[i * D + 15] / N;
        }
        /* 16^-1.5 = 1/64, 16^-1 = 1/16 */
        CHECK_NEAR(log2(ninth / first), k ? -4 : -6, 0.8, "decay");
    }
    discard(&m);
    discard(&s);
}

/* Small sets, with everything that is drawn. A machine with other bits finds another number. */
TEST(the_same_bits_everywhere)
{
    static const struct {
        const char *name, *options;
        uint64_t hash;
    } known[] = {
        {"toy", "seed=5", UINT64_C(0xc8f64b321014b453)},
        {"gaussians", "seed=5 rows=50 test_rows=7 columns=3 flip_labels=0.3",
         UINT64_C(0x3f486f921015e354)},
        {"tall", "seed=5 rows=50 columns=5", UINT64_C(0x2e0ecb6d3950d06e)},
        {"wide", "seed=5 rows=5 columns=50", UINT64_C(0x57d1199ddbde0520)},
        {"line", "seed=5", UINT64_C(0xf8c1aa0df87109ec)},
        {"toeplitz", "seed=5 rows=50 columns=20 rho=0.7 spread=5 snr=3",
         UINT64_C(0x59200bf842c886be)},
        {"low_rank", "seed=5 rows=20 columns=30 snr=3", UINT64_C(0x30931608fffacdd6)},
        {"halfspace", "seed=5 rows=50 columns=40", UINT64_C(0xddece066ff3b56ba)},
        {"sparse_halfspace", "seed=5 rows=50 columns=40 support=7", UINT64_C(0x9fc6ef6ba5ff3629)}};
    int wrong = 0;
    CHECK(sizeof known / sizeof *known == (size_t)mgvi_generator_count());
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const bool truth = mgvi_generator_at((int)k)->truth;
        made m = make(known[k].name, known[k].options, truth);
        const mgv_data *const parts[] = {m.data, m.test, m.truth};
        uint64_t hash = MGVI_HASH_BEGIN;
        for (int i = 0; i < (truth ? 3 : 2); i++) {
            const mgvi_matrix *X = &parts[i]->X;
            hash = mgvi_hash(hash, X->val, (size_t)X->nnz * sizeof(double));
            if (X->layout == MGV_CSR)
                hash = mgvi_hash(hash, X->idx, (size_t)X->nnz * sizeof *X->idx);
            if (parts[i]->labels)
                hash = mgvi_hash(hash, parts[i]->labels, (size_t)X->rows * sizeof(double));
        }
        if (hash != known[k].hash)
            print_error("%s %s: UINT64_C(0x%016" PRIx64 ")\n", known[k].name, known[k].options,
                        hash);
        wrong += hash != known[k].hash;
        discard(&m);
    }
    CHECK(wrong == 0);
}

TEST(nonsense_is_refused)
{
    static const struct {
        const char *name, *options, *part;
        bool truth;
    } wrong[] = {
        {"toys", "", "known: toy, gaussians", false},
        {"toy", "rank=3", "the set toy takes no rank; it takes rows, test_rows", false},
        {"toy", "rows=3", "four support vectors (got rows 3)", false},
        {"gaussians", "", "has no truth", true},
        {"line", "columns=2", "takes no columns", false},
        {"toeplitz", "rho=1", "rho must be below 1", false},
        {"toeplitz", "columns=5 support=6", "support must be at most", false},
        {"toeplitz", "snr=3 delta=1", "give one of them", false},
        {"toeplitz", "flip_labels=0.1", "has no classes", false},
        {"low_rank", "rows=4 rank=5", "has no rank of 5", false},
        {"low_rank", "test_rows=4", "takes no test_rows", false},
        {"halfspace", "decay=0.7", "decay must be a multiple of 1/2 (got 0.7)", false},
        {"halfspace", "rows=2 columns=2 clearance=1e9", "make it smaller (got 1e+09)", false},
        {"halfspace", "rows=2 columns=2 support=3", "support must be at most", false}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        made m = {.ctx = mgv_check_ctx()};
        const mgv_status st = try_to_make(&m, wrong[k].name, wrong[k].options, wrong[k].truth);
        CHECK_THAT(st == MGV_E_ARG || st == MGV_E_UNSUPPORTED, "%s %s", wrong[k].name,
                   wrong[k].options);
        CHECK_THAT(strstr(mgv_ctx_error(m.ctx), wrong[k].part), "%s", mgv_ctx_error(m.ctx));
        CHECK(!m.data && !m.test && !m.truth);
        discard(&m);
    }
}

TEST(every_allocation_may_fail)
{
    for (int k = 0; k < mgvi_generator_count(); k++) {
        const mgvi_generator *set = mgvi_generator_at(k);
        for (long fail_at = 1;; fail_at++) {
            mgv_check_allocator memory;
            made m = {0};
            mgv_check_allocator_init(&memory, fail_at);
            mgv_status st = mgv_ctx_new(&memory.hooks, &m.ctx);
            if (st == MGV_OK) {
                const char *small = set->defaults.columns ? "rows=9 columns=8" : "rows=9";
                if (set->defaults.support > 8)
                    small = "rows=9 columns=8 support=2";
                st = try_to_make(&m, set->name, small, set->truth);
                CHECK(st == MGV_OK || (!m.data && !m.test && !m.truth));
                discard(&m);
            }
            CHECK(memory.live == 0);
            if (st == MGV_OK)
                break;
            CHECK(st == MGV_E_MEMORY && fail_at < 200);
        }
    }
}

int main(void)
{
    return RUN(the_quantile_inverts_the_distribution, the_toy_has_its_four_support_vectors,
               gaussians_have_their_means_and_flips, centres_and_line, toeplitz_is_what_it_says,
               low_rank_is_what_it_says, halfspaces_are_clear_of_their_plane,
               the_same_bits_everywhere, nonsense_is_refused, every_allocation_may_fail);
}
