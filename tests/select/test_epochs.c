/* test_epochs.c - many classes chosen by held-out rows: the recipe of docs/algorithms/probing.md
 * against a plain implementation, formats, threads, memory, refusals. */
#include "check.h"

#include "base/rng.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 700, D = 21, K = 5, HELD = 150 };

typedef struct set {
    double X[N * D], y[N];
    float F[N * D];
} set;

/* Clouds around K centres, some of which overlap; the columns are off centre. */
static void make(set *s, uint64_t seed, bool sorted)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    for (int i = 0; i < N; i++) {
        const int c = sorted ? i * K / N : i % K;
        s->y[i] = 10 * c + 3;
        for (int j = 0; j < D; j++) {
            const double x = mgvi_rng_normal(&rng) + (j % K == c) + 2;
            s->F[i * D + j] = (float)x;
            s->X[i * D + j] = (double)s->F[i * D + j];
        }
    }
}

static mgv_settings *settings_of(mgv_ctx *ctx, const char *options)
{
    mgv_settings *s;
    char text[400], *rest = text, *item;
    CHECK_OK(ctx, mgv_settings_new(ctx, &s));
    snprintf(text, sizeof text, "%s", options);
    while ((item = strsep(&rest, " "))) {
        char *value = strchr(item, '=');
        *value++ = 0;
        CHECK_OK(ctx, mgv_settings_set(ctx, s, item, value));
    }
    return s;
}

static const char PLAIN[] = "loss=softmax select=holdout:0.2 max_iter=4";

/* The weights of the model chosen, K x D and K; the points of its path to *points. */
static void choose(mgv_ctx *ctx, mgv_data *data, const char *options, double *coef, double *shift,
                   int64_t *points)
{
    mgv_settings *settings = settings_of(ctx, options);
    mgv_selection *s;
    mgv_model *m;
    CHECK_OK(ctx, mgv_selection_run(ctx, data, settings, &s));
    mgv_selection_info info = {.size = sizeof info};
    mgv_selection_describe(s, &info);
    *points = info.points;
    CHECK_OK(ctx, mgv_model_new(ctx, mgv_selection_solver(s), &m));
    CHECK(m->features == D);
    memcpy(coef, m->coef, (size_t)m->outputs * D * sizeof *coef);
    memcpy(shift, m->intercept, (size_t)m->outputs * sizeof *shift);
    mgv_model_free(ctx, m);
    mgv_selection_free(ctx, s);
    mgv_settings_free(ctx, settings);
}

/* ---- a plain implementation ------------------------------------------------------------------ */

typedef struct plain {
    double v[D][K], m[D][K], sum[D][K], b[K], bm[K], bsum[K], mu[D];
    double rate, bias_rate;
    int32_t order[N];
    int count;
} plain;

static void plain_rates(plain *p, const set *s)
{
    double cov[D][D] = {{0}}, v[D], next[D], length = 0;
    mgvi_rng rng = mgvi_rng_stream(0, 1);
    for (int i = 0; i < p->count; i++)
        for (int j = 0; j < D; j++)
            for (int l = 0; l < D; l++)
                cov[j][l] += (s->X[p->order[i] * D + j] - p->mu[j]) *
                             (s->X[p->order[i] * D + l] - p->mu[l]) / p->count;
    for (int j = 0; j < D; j++)
        v[j] = mgvi_rng_normal(&rng) / sqrt(D);
    for (int q = 0; q < 8; q++) {
        length = 0;
        for (int j = 0; j < D; j++) {
            next[j] = 0;
            for (int l = 0; l < D; l++)
                next[j] += cov[j][l] * v[l];
            length += next[j] * next[j];
        }
        length = sqrt(length);
        for (int j = 0; j < D; j++)
            v[j] = next[j] / length;
    }
    p->rate = .9 / (.5 * length);
    p->bias_rate = .9 / fmax(.5 * length, .5);
}

static void plain_batch(plain *p, const set *s, int first, int size)
{
    double g[D][K] = {{0}}, gb[K] = {0};
    for (int i = first; i < first + size; i++) {
        const double *x = s->X + p->order[i] * D;
        double z[K], total = 0;
        for (int c = 0; c < K; c++) {
            z[c] = p->b[c];
            for (int j = 0; j < D; j++)
                z[c] += (x[j] - p->mu[j]) * p->v[j][c];
            total += exp(z[c]);
        }
        for (int c = 0; c < K; c++) {
            const double u = exp(z[c]) / total - (10 * c + 3 == (int)s->y[p->order[i]]);
            gb[c] += u / 256;
            for (int j = 0; j < D; j++)
                g[j][c] += (x[j] - p->mu[j]) * u / 256;
        }
    }
    for (int c = 0; c < K; c++) {
        for (int j = 0; j < D; j++) {
            p->m[j][c] = .9 * p->m[j][c] - p->rate * g[j][c];
            p->v[j][c] += p->m[j][c];
            p->sum[j][c] += p->v[j][c];
        }
        p->bm[c] = .9 * p->bm[c] - p->bias_rate * gb[c];
        p->b[c] += p->bm[c];
        p->bsum[c] += p->b[c];
    }
}

static void plain_epoch(plain *p, const set *s, mgvi_rng *rng)
{
    const int batches = (p->count + 255) / 256;
    memset(p->sum, 0, sizeof p->sum);
    memset(p->bsum, 0, sizeof p->bsum);
    mgvi_rng_shuffle(rng, p->order, p->count);
    for (int b = 0; b < batches; b++) {
        const int first = (int)(p->count / batches * b + p->count % batches * b / batches);
        const int end =
            (int)(p->count / batches * (b + 1) + p->count % batches * (b + 1) / batches);
        plain_batch(p, s, first, end - first);
    }
    for (int c = 0; c < K; c++) {
        p->bsum[c] /= batches;
        for (int j = 0; j < D; j++) {
            p->sum[j][c] /= batches;
            p->bsum[c] -= p->mu[j] * p->sum[j][c];
        }
    }
}

/* The last HELD rows choose; the best epoch is the solver's, and its weights agree. */
TEST(epochs_follow_the_recipe)
{
    static set s;
    static plain p;
    double coef[K * D], shift[K];
    int64_t points;
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *train, *held;
    make(&s, 3, false);
    CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F32, s.F, N - HELD, D, D, 1, &train));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, train, s.y));
    CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F32, s.F + (N - HELD) * D, HELD, D, D, 1, &held));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, held, s.y + N - HELD));
    mgv_settings *plain_settings = settings_of(ctx, PLAIN);
    CHECK_OK(ctx, mgv_data_write(ctx, held, "epochs_held.mgd", plain_settings));
    mgv_settings_free(ctx, plain_settings);
    choose(ctx, train, "loss=softmax select=val:epochs_held.mgd max_iter=1", coef, shift, &points);
    remove("epochs_held.mgd");
    CHECK(points == 1);
    p.count = N - HELD;
    for (int i = 0; i < p.count; i++)
        p.order[i] = i;
    for (int j = 0; j < D; j++)
        for (int i = 0; i < p.count; i++)
            p.mu[j] += s.X[i * D + j] / p.count;
    plain_rates(&p, &s);
    mgvi_rng rng = mgvi_rng_seed(0);
    plain_epoch(&p, &s, &rng);
    for (int c = 0; c < K; c++) {
        for (int j = 0; j < D; j++)
            CHECK_NEAR(coef[c * D + j], p.sum[j][c], 1e-5, "weight %d of class %d", j, c);
        CHECK_NEAR(shift[c], p.bsum[c], 1e-4, "intercept of class %d", c);
    }
    mgv_data_free(ctx, train);
    mgv_data_free(ctx, held);
    mgv_ctx_free(ctx);
}

/* ---- formats, threads, order ----------------------------------------------------------------- */

static double accuracy(const set *s, const double *coef, const double *shift)
{
    int right = 0;
    for (int i = 0; i < N; i++) {
        int best = 0;
        double most = -INFINITY;
        for (int c = 0; c < K; c++) {
            double z = shift[c];
            for (int j = 0; j < D; j++)
                z += coef[c * D + j] * s->X[i * D + j];
            best = z > most ? c : best;
            most = fmax(z, most);
        }
        right += 10 * best + 3 == (int)s->y[i];
    }
    return (double)right / N;
}

/* Fewer and more threads than groups of rows; few classes and so many that there is one group. */
TEST(threads_change_no_bit)
{
    enum { MANY = 140, MOST = MANY * D };
    static set s;
    static double coef[2][MOST], shift[2][MANY];
    static const int threads[] = {1, 4, 9};
    int64_t points[2];
    make(&s, 4, false);
    for (int many = 0; many < 2; many++) {
        for (int i = 0; many && i < N; i++)
            s.y[i] = i % MANY;
        for (int t = 0; t < 3; t++) {
            mgv_ctx *ctx = mgv_check_ctx();
            mgv_data *data;
            const int now = t > 0;
            memset(coef[now], 0, sizeof coef[now]);
            CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads[t]));
            CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F32, s.F, N, D, D, 1, &data));
            CHECK_OK(ctx, mgv_data_set_labels(ctx, data, s.y));
            choose(ctx, data, "loss=softmax select=holdout:0.2 seed=5", coef[now], shift[now],
                   &points[now]);
            CHECK(points[0] == points[now]);
            CHECK(memcmp(coef[0], coef[now], sizeof coef[0]) == 0);
            CHECK(memcmp(shift[0], shift[now], (size_t)(many ? MANY : K) * sizeof *shift[0]) == 0);
            mgv_data_free(ctx, data);
            mgv_ctx_free(ctx);
        }
    }
}

/* The same numbers as float64, in Fortran order and sparse: the same model but for rounding. */
TEST(formats_agree)
{
    static set s;
    static double turned[N * D];
    static int64_t ptr[N + 1];
    static int32_t idx[N * D];
    double want[K * D], want_shift[K], coef[K * D], shift[K];
    int64_t points;
    mgv_ctx *ctx = mgv_check_ctx();
    make(&s, 5, false);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++) {
            turned[j * N + i] = s.X[i * D + j];
            idx[i * D + j] = j;
            ptr[i + 1] = (i + 1) * D;
        }
    for (int f = 0; f < 4; f++) {
        mgv_data *data;
        if (f == 0)
            CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F32, s.F, N, D, D, 1, &data));
        else if (f == 1)
            CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F64, s.X, N, D, D, 1, &data));
        else if (f == 2)
            CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F64, turned, N, D, 1, N, &data));
        else
            CHECK_OK(ctx, mgv_data_from_sparse(ctx, MGV_CSR, MGV_F32, s.F, ptr, idx, N, D, &data));
        CHECK_OK(ctx, mgv_data_set_labels(ctx, data, s.y));
        choose(ctx, data, PLAIN, f ? coef : want, f ? shift : want_shift, &points);
        for (int t = 0; f && t < K * D; t++)
            CHECK_NEAR(coef[t], want[t], 1e-4, "format %d", f);
        mgv_data_free(ctx, data);
    }
    mgv_ctx_free(ctx);
}

TEST(sorted_rows_scales_and_losses_learn_as_well)
{
    static const char *const options[] = {
        "loss=softmax select=holdout:0.2",
        "loss=softmax select=holdout:0.2 scale=std",
        "loss=softmax select=holdout:0.2 scale=rownorm",
        "loss=crammer_singer select=holdout:0.2",
        "loss=softmax select=holdout:0.2 lambda=0.001",
        "loss=softmax select=holdout:0.2 lambda=0.001 solver=lbfgs max_iter=30"};
    static set s;
    double coef[K * D], shift[K];
    int64_t points;
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    make(&s, 6, true);
    CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F32, s.F, N, D, D, 1, &data));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, data, s.y));
    for (int o = 0; o < 6; o++) {
        choose(ctx, data, options[o], coef, shift, &points);
        const double norm = o == 2 ? 10 : 1; /* about |x|: rows were divided by it */
        for (int t = 0; t < K * D; t++)
            coef[t] /= norm;
        CHECK_LE(.75, accuracy(&s, coef, shift), "%s", options[o]);
    }
    mgv_data_free(ctx, data);
    mgv_ctx_free(ctx);
}

/* A third of the columns a thousand times larger, as in tables of measurements and yes-or-no
 * columns: weights are in the data's units and the model as good. */
TEST(large_columns_do_not_drown_the_others)
{
    static const char *const options[] = {"loss=softmax select=holdout:0.2",
                                          "loss=softmax select=holdout:0.2 lambda=0.001",
                                          "loss=crammer_singer select=holdout:0.2"};
    static set s;
    double coef[K * D], shift[K];
    int64_t points;
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    make(&s, 6, false);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j += 3) {
            s.F[i * D + j] *= 1000;
            s.X[i * D + j] *= 1000;
        }
    CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F32, s.F, N, D, D, 1, &data));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, data, s.y));
    for (int o = 0; o < 3; o++) {
        memset(shift, 0, sizeof shift);
        choose(ctx, data, options[o], coef, shift, &points);
        CHECK_LE(.75, accuracy(&s, coef, shift), "%s", options[o]);
    }
    mgv_data_free(ctx, data);
    mgv_ctx_free(ctx);
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct meter {
    mgv_allocator hooks;
    _Atomic size_t live, peak;
} meter;

enum { HEAD = 64 };

static void *metered_alloc(void *user, size_t bytes, size_t align)
{
    meter *m = user;
    const size_t head = align > HEAD ? align : HEAD;
    char *p = aligned_alloc(head, (bytes + 2 * head - 1) / head * head);
    if (!p)
        return NULL;
    memcpy(p, &bytes, sizeof bytes);
    memcpy(p + head - sizeof head, &head, sizeof head);
    const size_t live = atomic_fetch_add(&m->live, bytes) + bytes;
    if (live > m->peak)
        m->peak = live;
    return p + head;
}

static void metered_release(void *user, void *memory)
{
    meter *m = user;
    size_t head, bytes;
    if (!memory)
        return;
    memcpy(&head, (char *)memory - sizeof head, sizeof head);
    memcpy(&bytes, (char *)memory - head, sizeof bytes);
    atomic_fetch_sub(&m->live, bytes);
    free((char *)memory - head);
}

/* Beyond the data: 8 d k floats, a batch, and a few numbers per row; nothing of rows x classes. */
TEST(memory_is_a_few_models)
{
    enum { ROWS = 20000, COLS = 64, CLASSES = 96 };
    meter m = {.hooks = {.size = sizeof m.hooks,
                         .user = &m,
                         .alloc = metered_alloc,
                         .release = metered_release}};
    float *X = malloc(ROWS * COLS * sizeof *X);
    double *y = malloc(ROWS * sizeof *y);
    mgvi_rng rng = mgvi_rng_seed(1);
    for (int i = 0; i < ROWS; i++) {
        y[i] = i % CLASSES;
        for (int j = 0; j < COLS; j++)
            X[i * COLS + j] = (float)(mgvi_rng_uniform(&rng) + (i % CLASSES == j));
    }
    mgv_ctx *ctx;
    mgv_data *data;
    mgv_selection *s;
    mgv_model *model;
    CHECK(mgv_ctx_new(&m.hooks, &ctx) == MGV_OK);
    CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F32, X, ROWS, COLS, COLS, 1, &data));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, data, y));
    mgv_settings *settings = settings_of(ctx, PLAIN);
    const size_t before = m.live;
    m.peak = before;
    CHECK_OK(ctx, mgv_selection_run(ctx, data, settings, &s));
    CHECK_OK(ctx, mgv_model_new(ctx, mgv_selection_solver(s), &model));
    mgv_metrics metrics = {.size = sizeof metrics};
    CHECK_OK(ctx, mgv_model_evaluate(ctx, model, data, NULL, &metrics));
    const double models = 8.0 * COLS * CLASSES * sizeof(float);
    const double batch = 256.0 * (COLS + CLASSES) * sizeof(float);
    const double rows = 48.0 * ROWS, fixed = 3e6; /* blocks of products, which do not grow */
    CHECK_LE((double)(m.peak - before), models + batch + rows + fixed, "peak");
    CHECK_LE(models + batch + rows + fixed, 8.0 * ROWS * CLASSES, "the bound says something");
    mgv_model_free(ctx, model);
    mgv_selection_free(ctx, s);
    mgv_settings_free(ctx, settings);
    mgv_data_free(ctx, data);
    mgv_ctx_free(ctx);
    CHECK(m.live == 0);
    free(X);
    free(y);
}

TEST(every_failed_allocation_is_reported)
{
    static set s;
    make(&s, 7, false);
    bool done = false;
    for (long k = 1; !done; k++) {
        mgv_check_allocator a;
        mgv_check_allocator_init(&a, 0);
        mgv_ctx *ctx;
        mgv_data *data;
        mgv_selection *chosen = NULL;
        CHECK(mgv_ctx_new(&a.hooks, &ctx) == MGV_OK);
        CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F32, s.F, N, D, D, 1, &data));
        CHECK_OK(ctx, mgv_data_set_labels(ctx, data, s.y));
        mgv_settings *settings = settings_of(ctx, PLAIN);
        a.fail_at = atomic_load(&a.calls) + k;
        const mgv_status st = mgv_selection_run(ctx, data, settings, &chosen);
        done = atomic_load(&a.calls) < a.fail_at;
        CHECK(done ? st == MGV_OK : st == MGV_E_MEMORY && !chosen);
        a.fail_at = 0;
        mgv_selection_free(ctx, chosen);
        mgv_settings_free(ctx, settings);
        mgv_data_free(ctx, data);
        mgv_ctx_free(ctx);
        CHECK(atomic_load(&a.live) == 0 && k < 1000);
    }
}

TEST(refusals_say_what_would_do)
{
    static const struct {
        const char *options, *words;
    } cases[] = {{"loss=softmax select=last", "holdout:F or val:FILE"},
                 {"loss=softmax select=holdout:0.2 penalty=l1", "penalty l2"},
                 {"loss=softmax select=cv:3 C=1 solver=lbfgs", "leave out --C"},
                 {"loss=hinge select=cv:3 lambda=1 solver=newton", "leave out --lambda"},
                 {"loss=margin select=cv:3", "loss margin is a constraint"},
                 {"loss=margin multiclass=joint intercept=no select=cv:3", "is a constraint"}};
    static set s;
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    mgv_selection *chosen;
    mgv_problem *problem;
    mgv_solver *solver;
    make(&s, 8, false);
    CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F32, s.F, N, D, D, 1, &data));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, data, s.y));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mgv_settings *settings = settings_of(ctx, cases[k].options);
        CHECK_THAT(mgv_selection_run(ctx, data, settings, &chosen) != MGV_OK &&
                       strstr(mgv_ctx_error(ctx), cases[k].words),
                   "%s: %s", cases[k].options, mgv_ctx_error(ctx));
        mgv_settings_free(ctx, settings);
    }
    mgv_settings *settings = settings_of(ctx, "loss=softmax solver=minibatch_momentum");
    CHECK_OK(ctx, mgv_problem_new(ctx, data, settings, &problem));
    CHECK_FAILS(ctx, mgv_solver_new(ctx, problem, settings, &solver), MGV_E_UNSUPPORTED,
                "--select holdout");
    mgv_problem_free(ctx, problem);
    mgv_settings_free(ctx, settings);
    mgv_data_free(ctx, data);
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(epochs_follow_the_recipe, threads_change_no_bit, formats_agree,
               sorted_rows_scales_and_losses_learn_as_well, large_columns_do_not_drown_the_others,
               memory_is_a_few_models, every_failed_allocation_is_reported,
               refusals_say_what_would_do);
}
