/* test_lockstep.c - many classes against the rest or against each other, all in the lanes of a
 * vector: every member is its problem of two classes, certified, whatever the threads. */
#include "vectors.h"

#include "model/model.h"
#include "solver/classes/family.h"
#include "solver/classes/lockstep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 600, D = 200, MOST = 12 };

/* Sparse rows of which each class prefers some columns; row 3 is empty. */
typedef struct texts {
    int64_t ptr[N + 1], nnz;
    int32_t idx[N * MOST];
    double val[N * MOST], y[N];
    int classes;
} texts;

static void make_texts(texts *t, int classes)
{
    mgvi_rng rng = mgvi_rng_seed(7);
    *t = (texts){.classes = classes};
    for (int i = 0; i < N; i++) {
        bool has[D] = {false};
        const int own = i % classes;
        t->y[i] = 10 + own;
        for (int k = 0; k < MOST && i != 3; k++) {
            const int column = k % 2 ? (int)mgvi_rng_below(&rng, D)
                                     : (own * 7 + (int)mgvi_rng_below(&rng, 25)) % D;
            has[column] = true;
        }
        for (int j = 0; j < D; j++)
            if (has[j]) {
                t->idx[t->nnz] = j;
                t->val[t->nnz++] = 0.2 + mgvi_rng_uniform(&rng);
            }
        t->ptr[i + 1] = t->nnz;
    }
}

static void solve(mgv_fit *fit, const texts *t, const double *y, int threads, const char *options)
{
    double room[D] = {0};
    mgv_fit_start(fit, room, y, 1, D, "loss=hinge intercept=no solver=dual_coordinate");
    mgv_fit_set(fit, options);
    mgv_data_free(fit->ctx, fit->data);
    CHECK_OK(fit->ctx, mgv_ctx_set_threads(fit->ctx, threads));
    CHECK_OK(fit->ctx, mgv_data_from_sparse(fit->ctx, MGV_CSR, MGV_F64, t->val, t->ptr, t->idx, N,
                                            D, &fit->data));
    CHECK_OK(fit->ctx, mgv_data_set_labels(fit->ctx, fit->data, y));
    mgv_fit_solve(fit);
}

static const char *const options[] = {"C=1 tol=1e-3", "C=0.3 tol=1e-5 scale=rownorm",
                                      "C=20 tol=1e-3", "C=1 tol=1e-3 class_weight=10:3,11:0",
                                      "C=1 tol=1e-9"};
enum { OPTIONS = sizeof options / sizeof *options };

/* The primal value of each class lies in the certified interval of the other way to it. */
TEST(every_class_is_the_two_class_problem)
{
    static const int counts[] = {3, 9, 20};
    for (int k = 0; k < 3; k++)
        for (int o = 0; o < OPTIONS; o++) {
            texts t;
            mgv_fit all, one;
            double y[N];
            make_texts(&t, counts[k]);
            solve(&all, &t, t.y, 2, options[o]);
            CHECK(mgvi_lockstep_fits(all.problem));
            CHECK(all.run.stop == MGV_STOP_CERTIFIED && all.run.runs == counts[k]);
            for (int c = 2; c < counts[k]; c += 5) {
                char two[64] = "";
                const char *rest = strstr(options[o], " class_weight");
                snprintf(two, sizeof two, "%.*s", rest ? (int)(rest - options[o]) : 64, options[o]);
                for (int i = 0; i < N; i++)
                    y[i] = t.y[i] == 10 + c ? 1 : -1;
                const mgv_certificate *a = &all.solver->family->member[c].certificate;
                CHECK(a->verified && a->relative_gap <= 1e-3);
                if (rest)
                    continue; /* its rows have other weights */
                solve(&one, &t, y, 1, two);
                CHECK_LE(a->dual, one.certificate.primal * (1 + 1e-12), "%s", options[o]);
                CHECK_LE(one.certificate.dual, a->primal * (1 + 1e-12), "%s", options[o]);
                mgv_fit_free(&one);
            }
            mgv_fit_free(&all);
        }
}

/* The certificate of a lane, computed anew from the weights of the model. */
TEST(certificates_hold_for_the_model)
{
    texts t;
    mgv_fit all;
    mgv_model *m;
    make_texts(&t, 9);
    solve(&all, &t, t.y, 2, "C=2 tol=1e-3");
    CHECK_OK(all.ctx, mgv_model_new(all.ctx, all.solver, &m));
    for (int c = 0; c < 9; c++) {
        double primal = 0;
        for (int j = 0; j < D; j++)
            primal += 0.5 * m->coef[c * D + j] * m->coef[c * D + j] / (2 * N);
        for (int i = 0; i < N; i++) {
            double z = 0;
            for (int64_t e = t.ptr[i]; e < t.ptr[i + 1]; e++)
                z += t.val[e] * m->coef[c * D + t.idx[e]];
            primal += fmax(0, 1 - (t.y[i] == 10 + c ? z : -z)) / N;
        }
        CHECK_NEAR(all.solver->family->member[c].certificate.primal, primal, 1e-12, "class %d", c);
    }
    mgv_model_free(all.ctx, m);
    mgv_fit_free(&all);
}

TEST(same_bits_for_any_number_of_threads)
{
    texts t;
    make_texts(&t, 20);
    for (int o = 0; o < OPTIONS; o++) {
        mgv_fit fit[2];
        for (int k = 0; k < 2; k++)
            solve(&fit[k], &t, t.y, k ? 5 : 1, options[o]);
        CHECK_THAT(memcmp(fit[0].solver->family->coef, fit[1].solver->family->coef,
                          20 * D * sizeof(double)) == 0,
                   "%s", options[o]);
        mgv_fit_free(&fit[0]);
        mgv_fit_free(&fit[1]);
    }
}

/* ---- other data, other losses, pairs --------------------------------------------------------- */

enum { SMALL_N = 160, SMALL_D = 14, SMALL_K = 7, SMALL_PAIRS = SMALL_K * (SMALL_K - 1) / 2 };

/* Clouds of k classes far from 0; `zeros` of the entries are 0. */
static void make_classes(int k, double zeros, double *X, double *y)
{
    mgvi_rng rng = mgvi_rng_seed(11);
    for (int i = 0; i < SMALL_N; i++) {
        const int own = i < k ? i : (i * i + i / 3) % k; /* of different sizes */
        y[i] = own;
        for (int j = 0; j < SMALL_D; j++) {
            const double v = 3 + mgvi_rng_normal(&rng) + (j % k == own ? 1 : 0);
            X[i * SMALL_D + j] = mgvi_rng_uniform(&rng) < zeros ? 0 : v;
        }
    }
}

static void make_clouds(double zeros, double *X, double *y) { make_classes(SMALL_K, zeros, X, y); }

static const char *const kinds[] = {
    "loss=hinge C=0.1",
    "loss=hinge C=0.02 intercept=no",
    "loss=hinge C=0.5 scale=std",
    "loss=hinge C=0.1 scale=rownorm intercept=no tol=1e-5",
    "loss=squared_hinge C=0.2",
    "loss=squared_hinge C=0.2 intercept=no",
    "loss=squared_hinge C=1 scale=maxabs tol=1e-6",
    "loss=logistic C=0.2",
    "loss=logistic C=5 scale=std",
    "loss=logistic C=0.1 intercept=no tol=1e-6",
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Side by side and in lock-step each member has a certified interval for the same value. */
static void check_members(const char *kind, const char *form, double zeros)
{
    double X[SMALL_N * SMALL_D], y[SMALL_N];
    mgv_fit lanes, apart;
    char setup[160];
    make_clouds(zeros, X, y);
    snprintf(setup, sizeof setup, "%s multiclass=%s solver=dual_coordinate max_iter=100000", kind,
             form);
    mgv_fit_start(&lanes, X, y, SMALL_N, SMALL_D, setup);
    mgv_fit_solve(&lanes);
    mgv_fit_start(&apart, X, y, SMALL_N, SMALL_D, setup);
    mgv_fit_set(&apart, "shrink=no");
    mgv_fit_solve(&apart);
    CHECK(mgvi_lockstep_fits(lanes.problem));
    CHECK_THAT(lanes.run.stop == MGV_STOP_CERTIFIED && apart.run.stop == MGV_STOP_CERTIFIED, "%s",
               setup);
    const mgvi_family *a = lanes.solver->family, *b = apart.solver->family;
    CHECK(a->members == (form[2] == 'o' ? SMALL_PAIRS : SMALL_K) && a->members == b->members);
    for (int64_t c = 0; c < a->members; c++) {
        const mgv_certificate *p = &a->member[c].certificate, *q = &b->member[c].certificate;
        CHECK(p->verified);
        CHECK_LE(p->dual, q->primal * (1 + 1e-12), "%s, member %d", setup, (int)c);
        CHECK_LE(q->dual, p->primal * (1 + 1e-12), "%s, member %d", setup, (int)c);
    }
    mgv_fit_free(&lanes);
    mgv_fit_free(&apart);
}

TEST(every_member_is_the_one_side_by_side)
{
    static const double zeros[] = {0, 0.8};
    for (int k = 0; k < KINDS; k++)
        for (int z = 0; z < 2; z++) {
            check_members(kinds[k], "ovr", zeros[z]);
            check_members(kinds[k], "ovo", zeros[z]);
        }
}

/* The value of pair c of classes a and b, from the model's weights in the units of the data. */
static double value_of_pair(const mgv_model *m, int c, int a, int b, double C, const double *X,
                            const double *y)
{
    double square = 0, loss = 0;
    int n = 0;
    for (int j = 0; j < SMALL_D; j++)
        square += m->coef[c * SMALL_D + j] * m->coef[c * SMALL_D + j];
    for (int i = 0; i < SMALL_N; i++) {
        double z = m->intercept[c];
        if (y[i] != a && y[i] != b)
            continue;
        for (int j = 0; j < SMALL_D; j++)
            z += X[i * SMALL_D + j] * m->coef[c * SMALL_D + j];
        const double slack = fmax(0, 1 - (y[i] == b ? z : -z));
        loss += 0.5 * slack * slack;
        n++;
    }
    return (0.5 * square / (2 * C) + loss) / n;
}

/* In blocks of all sizes: one whose last lane is judged by itself had the value of the pair's share
 * of the block, not of the pair. */
TEST(certificates_of_pairs_hold_for_the_model)
{
    static const double C = 0.3;
    double X[SMALL_N * SMALL_D], y[SMALL_N];
    for (int k = 3; k <= 10; k++) {
        mgv_fit fit;
        mgv_model *m;
        make_classes(k, 0.6, X, y);
        mgv_fit_start(&fit, X, y, SMALL_N, SMALL_D,
                      "loss=squared_hinge C=0.3 multiclass=ovo solver=dual_coordinate");
        mgv_fit_solve(&fit);
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
        for (int a = 0, c = 0; a < k; a++)
            for (int b = a + 1; b < k; b++, c++)
                CHECK_NEAR(fit.solver->family->member[c].certificate.primal,
                           value_of_pair(m, c, a, b, C, X, y), 1e-10, "%d classes, pair %d", k, c);
        mgv_model_free(fit.ctx, m);
        mgv_fit_free(&fit);
    }
}

TEST(pairs_have_the_same_bits_for_any_number_of_threads)
{
    double X[SMALL_N * SMALL_D], y[SMALL_N];
    make_clouds(0.5, X, y);
    for (int k = 0; k < KINDS; k++) {
        mgv_fit fit[2];
        for (int t = 0; t < 2; t++) {
            mgv_fit_start(&fit[t], X, y, SMALL_N, SMALL_D, kinds[k]);
            mgv_fit_set(&fit[t], "multiclass=ovo solver=dual_coordinate");
            CHECK_OK(fit[t].ctx, mgv_ctx_set_threads(fit[t].ctx, t ? 3 : 1));
            mgv_fit_solve(&fit[t]);
        }
        CHECK_THAT(memcmp(fit[0].solver->family->coef, fit[1].solver->family->coef,
                          SMALL_PAIRS * SMALL_D * sizeof(double)) == 0,
                   "%s", kinds[k]);
        mgv_fit_free(&fit[0]);
        mgv_fit_free(&fit[1]);
    }
}

/* Rounds of all together are iterations of each, and their passes are of the run. The judge's and
 * those that make w are a few of every member. */
TEST(budgets_end_what_members_do_together)
{
    enum { CLASSES = 10, ROWS = 300, COLS = 40, JUDGED = 5 };
    static double X[ROWS * COLS], y[ROWS];
    mgvi_rng rng = mgvi_rng_seed(4);
    for (int i = 0; i < ROWS; i++) {
        y[i] = i % CLASSES;
        for (int j = 0; j < COLS; j++)
            X[i * COLS + j] =
                3 * mgvi_rng_uniform(&rng) - 1.5 + (i % CLASSES == j % CLASSES ? 0.8 : 0);
    }
    for (int by = 0; by < 2; by++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, ROWS, COLS, "task=classify loss=hinge C=0.1");
        mgv_fit_set(&fit, "solver=dual_coordinate");
        mgv_fit_set(&fit, by ? "max_passes=1" : "max_iter=1");
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == (by ? MGV_STOP_MAX_PASSES : MGV_STOP_MAX_ITER));
        CHECK_THAT(fit.run.iterations <= CLASSES, "%d iterations", (int)fit.run.iterations);
        CHECK_THAT(!by || fit.run.passes <= 1 + JUDGED * CLASSES, "%g passes", fit.run.passes);
        mgv_fit_free(&fit);
    }
}

/* A budget ends the classes that are left, not the certified ones. */
TEST(an_interrupted_run_says_so)
{
    texts t;
    mgv_fit fit;
    make_texts(&t, 20);
    solve(&fit, &t, t.y, 1, "C=20 tol=1e-12 max_iter=1");
    CHECK(fit.run.stop == MGV_STOP_MAX_ITER);
    CHECK(fit.certificate.relative_gap > 1e-12);
    mgv_fit_free(&fit);
}

/* ---- the promise of memory ------------------------------------------------------------------- */

static int count_together(void *user, const mgv_event *event)
{
    *(int *)user += event->text && strstr(event->text, "classes at once");
    return 0;
}

/* Wide text like news20: a block of weights, its judge and the packed rows fit beside the data, so
 * that the classes go together. */
TEST(wide_text_goes_together_within_the_memory)
{
    enum { ROWS = 15935, COLS = 62061, EACH = 80, CLASSES = 20 };
    int64_t *ptr = malloc((ROWS + 1) * sizeof *ptr);
    int32_t *idx = malloc((size_t)ROWS * EACH * sizeof *idx);
    float *val = malloc((size_t)ROWS * EACH * sizeof *val);
    double *y = malloc(ROWS * sizeof *y), room = 0;
    mgvi_rng rng = mgvi_rng_seed(3);
    for (int64_t i = 0; i < ROWS; i++) { /* EACH columns from strips of their own: ascending */
        ptr[i] = i * EACH;
        y[i] = (double)(i % CLASSES);
        for (int64_t k = 0; k < EACH; k++) {
            const int64_t strip = COLS / EACH, own = k % 4 ? strip : 7 * (i % CLASSES) + 3;
            idx[i * EACH + k] = (int32_t)(k * strip + (int64_t)mgvi_rng_below(&rng, (uint32_t)own));
            val[i * EACH + k] = 0.1F;
        }
    }
    ptr[ROWS] = (int64_t)ROWS * EACH;
    mgv_fit fit;
    int rounds = 0;
    mgv_fit_start(&fit, &room, y, 1, 1, "loss=hinge C=1 tol=1e-3");
    mgv_data_free(fit.ctx, fit.data);
    CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, 1));
    CHECK_OK(fit.ctx,
             mgv_data_from_sparse(fit.ctx, MGV_CSR, MGV_F32, val, ptr, idx, ROWS, COLS, &fit.data));
    CHECK_OK(fit.ctx, mgv_data_set_labels(fit.ctx, fit.data, y));
    mgv_ctx_on_event(fit.ctx, count_together, &rounds);
    mgv_fit_solve(&fit);
    CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.run.runs == CLASSES);
    CHECK(rounds > 0);
    mgv_fit_free(&fit);
    free(ptr);
    free(idx);
    free(val);
    free(y);
}

/* Rows of which none has an entry, or zeros alone: passes over nothing would never be counted to
 * their end. */
static void look_at_nothing(bool dense)
{
    enum { ROWS = 7, CLASSES = 4 };
    const int64_t ptr[ROWS + 1] = {0};
    const double y[ROWS] = {0, 1, 2, 3, 2, 3, 3}, weight[ROWS] = {1, 2, 1, 3, 1, 2, 1};
    double room = 0;
    mgv_fit fit;
    mgv_fit_start(&fit, &room, y, 1, 1, "loss=hinge lambda=1e-4 intercept=no tol=1e-9");
    mgv_fit_set(&fit, "multiclass=ovr time_limit=5"); /* seconds: what it took before */
    mgv_data_free(fit.ctx, fit.data);
    const double zeros[ROWS] = {0};
    CHECK_OK(fit.ctx, dense ? mgv_data_from_dense(fit.ctx, MGV_F64, zeros, ROWS, 1, 1, 1, &fit.data)
                            : mgv_data_from_sparse(fit.ctx, MGV_CSR, MGV_F64, &room, ptr,
                                                   &(int32_t){0}, ROWS, 2, &fit.data));
    CHECK_OK(fit.ctx, mgv_data_set_labels(fit.ctx, fit.data, y));
    CHECK_OK(fit.ctx, mgv_data_set_weights(fit.ctx, fit.data, weight));
    mgv_fit_solve(&fit);
    CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.run.runs == CLASSES);
    mgv_fit_free(&fit);
}

TEST(rows_of_nothing_end)
{
    look_at_nothing(false);
    look_at_nothing(true);
}

/* A row of three classes serves one pair and a bit at a visit: those go one by one. */
TEST(pairs_of_few_classes_go_one_by_one)
{
    static const int counts[] = {3, 8};
    for (int k = 0; k < 2; k++) {
        texts t;
        mgv_fit fit;
        double room[D] = {0};
        int rounds = 0;
        make_texts(&t, counts[k]);
        mgv_fit_start(&fit, room, t.y, 1, D, "loss=hinge solver=dual_coordinate multiclass=ovo");
        mgv_data_free(fit.ctx, fit.data);
        CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, 1));
        CHECK_OK(fit.ctx, mgv_data_from_sparse(fit.ctx, MGV_CSR, MGV_F64, t.val, t.ptr, t.idx, N, D,
                                               &fit.data));
        CHECK_OK(fit.ctx, mgv_data_set_labels(fit.ctx, fit.data, t.y));
        mgv_ctx_on_event(fit.ctx, count_together, &rounds);
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        CHECK((rounds > 0) == (counts[k] == 8));
        mgv_fit_free(&fit);
    }
}

/* Whether weights stay in the second cache steers what is fetched and guessed, never the bits of
 * coordinate ascent. */
TEST(any_cache_gives_the_same_bits)
{
    static const char *const sizes[] = {"16K,256K,1M", "32K,4M,32M"};
    texts t;
    mgv_fit fit[2];
    make_texts(&t, 9);
    for (int k = 0; k < 2; k++) {
        setenv("MGV_CACHE", sizes[k], 1);
        solve(&fit[k], &t, t.y, 2, "C=1 tol=1e-6");
        unsetenv("MGV_CACHE");
        assert_string_equal(mgv_ctx_caches(fit[k].ctx), sizes[k]);
        CHECK(fit[k].run.stop == MGV_STOP_CERTIFIED);
    }
    assert_memory_equal(fit[0].solver->family->coef, fit[1].solver->family->coef,
                        9 * D * sizeof(double));
    for (int k = 0; k < 2; k++)
        mgv_fit_free(&fit[k]);
}

int main(void)
{
    return RUN(every_class_is_the_two_class_problem, certificates_hold_for_the_model,
               same_bits_for_any_number_of_threads, every_member_is_the_one_side_by_side,
               certificates_of_pairs_hold_for_the_model,
               pairs_have_the_same_bits_for_any_number_of_threads, an_interrupted_run_says_so,
               budgets_end_what_members_do_together, wide_text_goes_together_within_the_memory,
               rows_of_nothing_end, pairs_of_few_classes_go_one_by_one,
               any_cache_gives_the_same_bits);
}
