/* test_assess.c - nested cross-validation: it is what its parts say, and no model knows the rows it
 * is judged by. */
#include "vectors.h"

#include "assess/assess.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 90, D = 4 };

/* Everything the models of a run depend on, and what is only judged. */
static void assess(mgv_fit *fit, mgv_assess **out)
{
    int more = 1;
    CHECK_OK(fit->ctx, mgv_assess_new(fit->ctx, fit->data, fit->settings, out));
    while (more)
        CHECK_OK(fit->ctx, mgv_assess_next(fit->ctx, *out, &more));
}

static mgv_assess_info described(const mgv_assess *a)
{
    mgv_assess_info info = {.size = sizeof info};
    CHECK(mgv_assess_describe(a, &info) == MGV_OK);
    return info;
}

static mgv_assess_part part_at(const mgv_assess *a, int64_t k)
{
    mgv_assess_part part = {.size = sizeof part};
    CHECK(mgv_assess_at(a, k, &part) == MGV_OK);
    return part;
}

/* Rows of X, labels of y and an assessment of them. */
static void begin(mgv_fit *fit, const double *X, const double *y, int64_t n, int64_t d,
                  const char *options, mgv_assess **out)
{
    mgv_fit_start(fit, X, y, n, d, options);
    assess(fit, out);
}

static void end(mgv_fit *fit, mgv_assess *a)
{
    mgv_assess_free(fit->ctx, a);
    mgv_fit_free(fit);
}

/* ---- it is what its parts say ---------------------------------------------------------------- */

/* A fit of the other rows, made by hand, predicts each part as the assessment says. */
static void check_by_hand(const char *options, bool classify)
{
    double *X, *y, own[N * D], label[N], other[N * D], known[N];
    mgv_random_set(3, N, D, 0.7, &X, &y);
    for (int i = 0; i < N && !classify; i++)
        y[i] = 2 * y[i] + X[i * D] + 0.01 * i;
    mgv_fit fit, hand;
    mgv_assess *a;
    begin(&fit, X, y, N, D, options, &a);
    CHECK(described(a).done == 5);
    double sum = 0;
    for (int64_t k = 0; k < 5; k++) {
        int64_t n = 0, m = 0;
        for (int64_t i = 0; i < N; i++) {
            const bool held = a->split.code[i] == k;
            memcpy((held ? other + m * D : own + n * D), X + i * D, D * sizeof *X);
            *(held ? &known[m++] : &label[n++]) = y[i];
        }
        const mgv_assess_part part = part_at(a, k);
        mgv_fit_start(&hand, own, label, n, D, options);
        mgv_fit_set(&hand, classify ? "task=classify" : "task=regress");
        mgv_fit_solve(&hand);
        mgv_model *model;
        CHECK_OK(hand.ctx, mgv_model_new(hand.ctx, hand.solver, &model));
        double error = 0, mean = 0, score[N];
        for (int64_t i = 0; i < m; i++) {
            score[i] = model->intercept[0];
            for (int64_t j = 0; j < D; j++)
                score[i] += model->coef[j] * other[i * D + j];
            error += classify ? (score[i] > 0) == (known[i] > 0)
                              : (score[i] - known[i]) * (score[i] - known[i]);
            mean += known[i] / (double)m;
        }
        const double expected = classify ? error / (double)m : sqrt(error / (double)m);
        CHECK_NEAR(part.score, expected, 1e-12, "%s: part %d", options, (int)k);
        CHECK(part.train_rows == n && part.test_rows == m && part.method == NULL);
        sum += part.score;
        mgv_model_free(hand.ctx, model);
        mgv_fit_free(&hand);
    }
    const mgv_assess_info info = described(a);
    CHECK_NEAR(info.score, sum / 5, 1e-15, "%s: mean", options);
    CHECK(info.classify == classify && isnan(info.r2) == classify && info.short_of == 0);
    CHECK(classify ? info.score > info.baseline : info.score < info.baseline);
    end(&fit, a);
    free(X);
    free(y);
}

TEST(a_strength_that_is_given_is_cross_validated)
{
    check_by_hand("loss=hinge C=1 outer=5", true);
    check_by_hand("loss=logistic lambda=0.01 scale=std outer=5", true);
    check_by_hand("loss=squared task=regress lambda=0.01 outer=5", false);
}

TEST(parts_have_their_share_of_every_class)
{
    double *X, *y;
    mgv_fit fit;
    mgv_assess *a;
    mgv_random_set(3, N, D, 0.7, &X, &y);
    begin(&fit, X, y, N, D, "loss=hinge C=1 outer=4 repeat=2", &a);
    CHECK(described(a).done == 8);
    for (int side = -1; side <= 1; side += 2) {
        int count[4] = {0}, least = N, most = 0;
        for (int i = 0; i < N; i++)
            count[a->split.code[i]] += y[i] == side;
        for (int k = 0; k < 4; k++) {
            least = count[k] < least ? count[k] : least;
            most = count[k] > most ? count[k] : most;
        }
        CHECK_THAT(most - least <= 1 && least > 0, "class %d: %d to %d rows", side, least, most);
    }
    CHECK(part_at(a, 0).repeat == 0 && part_at(a, 7).repeat == 1 && part_at(a, 7).part == 3);
    CHECK(part_at(a, 0).score != part_at(a, 4).score ||
          part_at(a, 1).score != part_at(a, 5).score || part_at(a, 2).score != part_at(a, 6).score);
    mgv_assess_part part = {.size = sizeof part};
    CHECK(mgv_assess_at(a, 8, &part) == MGV_E_ARG);
    CHECK_FAILS(fit.ctx, mgv_assess_at(a, 8, &part), MGV_E_ARG, "8 parts are done, not 9");
    end(&fit, a);
    free(X);
    free(y);
}

/* ---- nothing leaks --------------------------------------------------------------------------- */

static bool same(double x, double y) { return x == y || (isnan(x) && isnan(y)); }

/* What is seen of the making of a model, to the last bit. */
static void check_same_making(const mgvi_assess_fold *x, const mgvi_assess_fold *y,
                              const char *options)
{
    const mgv_certificate *c = &x->summary.certificate, *e = &y->summary.certificate;
    CHECK_THAT(same(x->inner_score, y->inner_score) && x->nonzeros == y->nonzeros &&
                   x->iteration == y->iteration && x->summary.iterations == y->summary.iterations &&
                   c->primal == e->primal && c->dual == e->dual &&
                   x->summary.passes == y->summary.passes,
               "%s: another model", options);
    CHECK(same(x->lambda, y->lambda) && same(x->mu, y->mu));
}

TEST(the_rows_that_judge_change_nothing_of_the_model)
{
    static const char *const options[] = {
        "loss=hinge select=cv:3 scale=std outer=3",
        "loss=hinge select=cv:3 scale=maxabs outer=3 penalty=l1",
        "loss=hinge select=cv:3 kernel=rbf outer=3 path_points=4",
        "loss=logistic select=holdout:0.3 scale=sqrt outer=3",
        "loss=hinge lambda_grid=0.01,0.1 mu_grid=0.01,0.001 select=cv:3 outer=3",
        "task=regress select=cv:3 outer=3",
        "task=regress loss=squared penalty=l1 select=cv:3 outer=3",
        "loss=hinge C=1 kernel=rbf scale=std outer=3"};
    double *X, *y;
    mgv_random_set(3, N, D, 0.7, &X, &y);
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        double *moved = malloc(N * D * sizeof *moved);
        mgv_fit one, two;
        mgv_assess *a, *b;
        begin(&one, X, y, N, D, options[k], &a);
        for (int i = 0; i < N; i++) /* part 1 is turned round, and larger than all before */
            for (int j = 0; j < D; j++)
                moved[i * D + j] =
                    a->split.code[i] == 0 ? 40 - 9 * X[i * D + D - 1 - j] : X[i * D + j];
        begin(&two, moved, y, N, D, options[k], &b);
        CHECK(memcmp(a->split.code, b->split.code, N) == 0);
        check_same_making(&a->fold[0], &b->fold[0], options[k]);
        CHECK_THAT(a->fold[0].score != b->fold[0].score, "%s: it is judged by them", options[k]);
        CHECK(a->fold[1].summary.certificate.primal != b->fold[1].summary.certificate.primal);
        end(&one, a);
        end(&two, b);
        free(moved);
    }
    free(X);
    free(y);
}

/* Labels without any relation to the columns: whatever is chosen is worth nothing. */
TEST(random_labels_are_predicted_by_chance)
{
    enum { ROWS = 300, COLS = 40 };
    mgvi_rng rng = mgvi_rng_seed(11);
    double *X = malloc(ROWS * COLS * sizeof *X), y[ROWS];
    for (int i = 0; i < ROWS * COLS; i++)
        X[i] = mgvi_rng_normal(&rng);
    for (int i = 0; i < ROWS; i++)
        y[i] = mgvi_rng_uniform(&rng) < 0.5 ? -1 : 1;
    mgv_fit fit;
    mgv_assess *a;
    begin(&fit, X, y, ROWS, COLS, "loss=hinge select=cv:3 outer=5 repeat=2", &a);
    const mgv_assess_info info = described(a);
    CHECK_NEAR(info.score, 0.5, 0.08, "chance");
    end(&fit, a);
    free(X);
}

/* Every row is there twice: a kernel that remembers rows seems to know labels that are random,
 * unless twins stay together. */
TEST(rows_of_a_group_stay_together)
{
    enum { PAIRS = 60 };
    mgvi_rng rng = mgvi_rng_seed(7);
    double X[2 * PAIRS * D], y[2 * PAIRS];
    FILE *file = fopen("assess_groups", "w");
    for (int i = 0; i < PAIRS; i++) {
        y[i] = y[PAIRS + i] = mgvi_rng_uniform(&rng) < 0.5 ? -1 : 1;
        for (int j = 0; j < D; j++)
            X[i * D + j] = X[(PAIRS + i) * D + j] = mgvi_rng_normal(&rng);
    }
    for (int i = 0; i < 2 * PAIRS; i++)
        fprintf(file, "%d\n", i % PAIRS);
    CHECK(fclose(file) == 0);
    for (int together = 0; together < 2; together++) {
        mgv_fit fit;
        mgv_assess *a;
        char options[200];
        snprintf(options, sizeof options, "loss=hinge kernel=rbf sigma2=0.05 C=100 outer=5%s",
                 together ? " row_groups=assess_groups" : "");
        begin(&fit, X, y, 2 * PAIRS, D, options, &a);
        int apart = 0, least = 2 * PAIRS;
        for (int k = 0; k < 5; k++) {
            int rows = 0;
            for (int i = 0; i < 2 * PAIRS; i++)
                rows += a->split.code[i] == k;
            least = rows < least ? rows : least;
        }
        for (int i = 0; i < PAIRS; i++)
            apart += a->split.code[i] != a->split.code[PAIRS + i];
        CHECK_THAT(together ? apart == 0 : apart > PAIRS / 2, "%d twins are apart", apart);
        CHECK_LE(20, least, "parts are of a size");
        if (together)
            CHECK_NEAR(described(a).score, 0.5, 0.15, "chance");
        else
            CHECK_LE(0.75, described(a).score, "twins give it away");
        end(&fit, a);
    }
    remove("assess_groups");
}

/* What the folds of a selection are scaled by and how wide their kernel is, comes of their rows. */
TEST(rows_of_no_weight_prepare_nothing)
{
    static const char *const options[] = {"loss=hinge C=1 kernel=rbf",
                                          "loss=hinge C=1 scale=maxabs",
                                          "loss=hinge C=1 kernel=laplace scale=maxabs"};
    double *X, *y, weight[N];
    mgv_random_set(3, N, D, 0.7, &X, &y);
    for (int i = 0; i < N; i++)
        weight[i] = i < N / 2;
    for (int j = 0; j < D; j++)
        X[(N - 1) * D + j] = 1000; /* of weight 0 */
    for (size_t k = 0; k < 3; k++) {
        mgv_fit all, half;
        mgv_fit_start(&all, X, y, N, D, options[k]);
        mgv_fit_start(&half, X, y, N / 2, D, options[k]);
        CHECK_OK(all.ctx, mgv_data_set_weights(all.ctx, all.data, weight));
        CHECK_OK(all.ctx, mgv_problem_new(all.ctx, all.data, all.settings, &all.problem));
        CHECK_OK(half.ctx, mgv_problem_new(half.ctx, half.data, half.settings, &half.problem));
        CHECK_NEAR(all.problem->kernel.sigma2, half.problem->kernel.sigma2,
                   1e-13 * half.problem->kernel.sigma2, "%s", options[k]);
        for (int j = 0; j < D && half.problem->view.scale; j++)
            CHECK(all.problem->view.scale[j] == half.problem->view.scale[j]);
        mgv_fit_free(&all);
        mgv_fit_free(&half);
    }
    free(X);
    free(y);
}

/* ---- grids ----------------------------------------------------------------------------------- */

TEST(a_grid_is_tried_whole)
{
    double *X, *y;
    mgv_fit fit;
    mgv_selection *s;
    mgv_random_set(3, N, D, 0.7, &X, &y);
    mgv_fit_start(&fit, X, y, N, D,
                  "loss=hinge select=cv:3 lambda_grid=0.001,1,0.03 mu_grid=1e-3..1e-1:3");
    CHECK_OK(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s));
    static const double lambda[] = {1, 0.03, 0.001}, mu[] = {0.1, 0.01, 0.001};
    mgv_selection_info info = {.size = sizeof info};
    mgv_selection_describe(s, &info);
    CHECK(info.points == 9 && strcmp(info.method, "grid of strengths") == 0);
    for (int64_t k = 0; k < 9; k++) {
        mgv_path_point p = {.size = sizeof p};
        CHECK_OK(fit.ctx, mgv_selection_point(s, k, &p));
        CHECK(p.lambda == lambda[k / 3]);
        CHECK_NEAR(p.mu, mu[k % 3], 1e-15 * mu[k % 3] + 1e-18, "mu of point %d", (int)k);
        CHECK_LE(p.score, info.score, "point %d", (int)k);
    }
    const mgv_problem *chosen = mgv_selection_problem(s);
    CHECK(chosen->lambda == lambda[info.point / 3]);
    CHECK_NEAR(chosen->mu, mu[info.point % 3], 1e-16, "the final fit's");
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
    free(X);
    free(y);
}

TEST(what_is_no_grid_is_refused)
{
    static const char *const bad[][2] = {
        {"lambda_grid=1,x", "lambda_grid is not a grid of strengths (got '1,x')"},
        {"mu_grid=1..2", "mu_grid is not a grid of strengths (got '1..2')"},
        {"mu_grid=0..2:3", "mu_grid is not a grid"},
        {"mu_grid=1..2:1", "mu_grid is not a grid"},
        {"lambda_grid=-1", "lambda_grid is not a grid"},
        {"lambda_grid=1 lambda=2", "lambda_grid and lambda are given together"},
        {"lambda_grid=0,1 mu_grid=0", "the grid has a point without any strength"},
        {"lambda_grid=1 C=1", "a grid of strengths stands beside C"},
        {"lambda_grid=1 penalty=l1", "penalty l1 has no lambda"},
        {"mu_grid=1 lambda_grid=1 penalty=l2", "penalty l2 has no mu"},
        {"lambda_grid=1 loss=margin", "loss margin is a constraint without a strength"}};
    double *X, *y;
    mgv_random_set(3, N, D, 0.7, &X, &y);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        mgv_fit fit;
        mgv_selection *s;
        mgv_fit_start(&fit, X, y, N, D, "loss=hinge select=cv:3");
        mgv_fit_set(&fit, bad[k][0]);
        CHECK_FAILS(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s), MGV_E_ARG,
                    bad[k][1]);
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

/* ---- limits, refusals, memory ---------------------------------------------------------------- */

static int stop_at_third(void *user, const mgv_event *event)
{
    return event->kind == MGV_EVENT_PROGRESS && ++*(int *)user == 3;
}

TEST(limits_leave_whole_parts)
{
    double *X, *y;
    mgv_random_set(3, N, D, 0.7, &X, &y);
    for (int way = 0; way < 3; way++) {
        mgv_fit fit;
        mgv_assess *a;
        int events = 0;
        mgv_fit_start(&fit, X, y, N, D, "loss=hinge select=cv:3 outer=6");
        mgv_fit_set(&fit, way == 1 ? "max_passes=2500" : way == 2 ? "time_limit=1e-9" : "outer=6");
        if (way == 0)
            mgv_ctx_on_event(fit.ctx, stop_at_third, &events);
        CHECK_OK(fit.ctx, mgv_assess_new(fit.ctx, fit.data, fit.settings, &a));
        int more = 1;
        while (more) {
            const mgv_status st = mgv_assess_next(fit.ctx, a, &more);
            CHECK_THAT(st == MGV_OK || st == MGV_E_LIMIT, "%s", mgv_ctx_error(fit.ctx));
        }
        const mgv_assess_info info = described(a);
        CHECK_THAT(info.done < 6 && (way != 1 || info.done > 0), "%d parts, %g passes",
                   (int)info.done, info.passes);
        CHECK(info.done > 0 || isnan(info.score));
        for (int64_t k = 0; k < info.done; k++)
            CHECK(part_at(a, k).stop == MGV_STOP_CERTIFIED);
        end(&fit, a);
    }
    free(X);
    free(y);
}

TEST(what_cannot_be_is_said)
{
    static const struct {
        const char *options;
        mgv_status status;
        const char *sentence;
    } bad[] = {
        {"checkpoint=x", MGV_E_UNSUPPORTED, "assess has no checkpoints (got checkpoint 'x')"},
        {"kernel=precomputed", MGV_E_UNSUPPORTED, "assess computes the kernel"},
        {"select=some", MGV_E_ARG, "select is 'some'"},
        {"sample_weight=nowhere", MGV_E_IO, "nowhere"}};
    double *X, *y;
    mgv_assess *a;
    mgv_random_set(3, N, D, 0.7, &X, &y);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, "loss=hinge C=1");
        mgv_fit_set(&fit, bad[k].options);
        CHECK_FAILS(fit.ctx, mgv_assess_new(fit.ctx, fit.data, fit.settings, &a), bad[k].status,
                    bad[k].sentence);
        CHECK(a == NULL);
        mgv_fit_free(&fit);
    }
    mgv_fit fit;
    int more;
    for (int i = 0; i < N; i++) /* no hyperplane parts what lies on one point */
        memset(X + i * D, 0, D * sizeof *X);
    mgv_fit_start(&fit, X, y, N, D, "loss=margin outer=3");
    CHECK_OK(fit.ctx, mgv_assess_new(fit.ctx, fit.data, fit.settings, &a));
    CHECK_FAILS(fit.ctx, mgv_assess_next(fit.ctx, a, &more), MGV_E_INPUT,
                "no weights meet the constraints of the rows beside part 1 (got loss margin)");
    end(&fit, a);
    free(X);
    free(y);
}

/* All of two parts, with the allocation that fails the `fail_at`-th. */
static mgv_status in_little_memory(long fail_at, const double *X, const double *y)
{
    mgv_check_allocator memory;
    mgv_check_allocator_init(&memory, 0);
    mgv_ctx *ctx;
    mgv_data *data;
    mgv_settings *settings;
    mgv_assess *a = NULL;
    char *json = NULL;
    int more = 1;
    assert_int_equal(mgv_ctx_new(&memory.hooks, &ctx), MGV_OK);
    CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F64, X, N, D, D, 1, &data));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, data, y));
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    static const char *const set[][2] = {
        {"loss", "hinge"}, {"select", "cv:2"}, {"outer", "2"}, {"path_points", "2"}};
    for (size_t k = 0; k < 4; k++)
        CHECK_OK(ctx, mgv_settings_set(ctx, settings, set[k][0], set[k][1]));
    memory.fail_at = memory.calls + fail_at;
    mgv_status st = mgv_assess_new(ctx, data, settings, &a);
    while (st == MGV_OK && more)
        st = mgv_assess_next(ctx, a, &more);
    if (st == MGV_OK)
        st = mgv_report_assess(ctx, a, NULL, &json);
    CHECK_THAT(st == MGV_OK || (st == MGV_E_MEMORY && mgv_ctx_error(ctx)[0]), "allocation %ld: %s",
               fail_at, mgv_ctx_error(ctx));
    mgv_string_free(ctx, json);
    mgv_assess_free(ctx, a);
    mgv_settings_free(ctx, settings);
    mgv_data_free(ctx, data);
    mgv_ctx_free(ctx);
    assert_int_equal(memory.live, 0);
    return st;
}

TEST(every_allocation_may_fail)
{
    double *X, *y;
    long fail_at = 1;
    mgv_random_set(3, N, D, 0.7, &X, &y);
    while (in_little_memory(fail_at, X, y) != MGV_OK)
        fail_at++;
    CHECK(fail_at > 60);
    free(X);
    free(y);
}

TEST(the_same_bits_for_any_number_of_threads)
{
    double *X, *y;
    mgv_random_set(3, N, D, 0.7, &X, &y);
    mgv_fit one, three;
    mgv_assess *a, *b;
    begin(&one, X, y, N, D, "loss=hinge select=cv:3 outer=3 threads=1", &a);
    begin(&three, X, y, N, D, "loss=hinge select=cv:3 outer=3 threads=3", &b);
    for (int k = 0; k < 3; k++) {
        check_same_making(&a->fold[k], &b->fold[k], "threads");
        CHECK(a->fold[k].score == b->fold[k].score);
    }
    end(&one, a);
    end(&three, b);
    free(X);
    free(y);
}

int main(void)
{
    return RUN(a_strength_that_is_given_is_cross_validated, parts_have_their_share_of_every_class,
               the_rows_that_judge_change_nothing_of_the_model,
               random_labels_are_predicted_by_chance, rows_of_a_group_stay_together,
               rows_of_no_weight_prepare_nothing, a_grid_is_tried_whole, what_is_no_grid_is_refused,
               limits_leave_whole_parts, what_cannot_be_is_said, every_allocation_may_fail,
               the_same_bits_for_any_number_of_threads);
}
