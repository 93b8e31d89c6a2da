/* test_many_walk.c - paths of many classes: every point is certified and is what a run of its own
 * finds, its model scores as the table says, memory may fail, threads change no bit. */
#include "choosing.h"

#include "model/model.h"
#include "select/walk.h"
#include "solver/classes/family.h"

#include <string.h>

enum { N = 90, D = 6, POINTS = 5 };

/* A run of its own at this point. */
static void alone(mgv_fit *f, const char *options, const mgv_path_result *point)
{
    char strengths[96];
    mgv_cloud_set(f, 1, N, D, options);
    snprintf(strengths, sizeof strengths, "lambda=%.17g mu=%.17g tol=1e-7", point->lambda,
             point->mu);
    mgv_fit_set(f, strengths);
    mgv_fit_solve(f);
}

/* The accuracy and the number of nonzero weights of the point's model are those of the table. */
static void check_model(mgv_fit *f, const mgv_solver *solver, const mgv_path_result *point)
{
    mgv_model *model;
    mgv_metrics metrics = {.size = sizeof metrics};
    CHECK_OK(f->ctx, mgv_model_new(f->ctx, solver, &model));
    CHECK_OK(f->ctx, mgv_model_evaluate(f->ctx, model, f->data, NULL, &metrics));
    CHECK_NEAR(metrics.accuracy, point->train_score, 1e-12, "accuracy");
    if (model->support < 0) {
        CHECK(mgvi_model_nonzeros(model) == point->nonzeros);
        double norm = 0;
        for (int64_t t = 0; t < model->outputs * D; t++)
            norm += pow(fabs(model->coef[t]), model->p);
        CHECK_NEAR(point->norm, pow(norm, 1 / model->p), 1e-9 * point->norm, "norm");
    }
    mgv_model_free(f->ctx, model);
}

/* From the first mu on w = 0 is as good as anything, below it is not. */
static void check_largest(const char *options, double mu)
{
    static const double factor[] = {10, 1, .8};
    double primal[3];
    for (int k = 0; k < 3; k++) {
        mgv_fit f;
        alone(&f, options, &(mgv_path_result){.mu = mu * factor[k], .lambda = 0});
        primal[k] = f.certificate.primal;
        mgv_fit_free(&f);
    }
    CHECK_NEAR(primal[1], primal[0], 1e-6 * primal[0], "%s", options);
    CHECK_LE(primal[2], primal[0] * (1 - 1e-5), "%s", options);
}

static void check_path(const char *options)
{
    mgv_fit f;
    mgv_path *path;
    mgv_path_info info = {.size = sizeof info};
    const mgv_solver *solver;
    mgv_cloud_set(&f, 1, N, D, options);
    mgv_fit_set(&f, "path_points=5 path_end=0.01 tol=1e-6");
    CHECK_OK(f.ctx, mgv_path_new(f.ctx, f.data, f.settings, &path));
    mgv_path_describe(path, &info);
    CHECK(info.classify == 1 && info.points == POINTS);
    const bool sparse = strcmp(info.along, "mu") == 0;
    for (int k = 0; k < POINTS; k++) {
        mgv_path_result point = {.size = sizeof point};
        CHECK_OK(f.ctx, mgv_path_next(f.ctx, path, &solver));
        CHECK_OK(f.ctx, mgv_path_at(path, k, &point));
        CHECK_THAT(point.stop == MGV_STOP_CERTIFIED && point.verified, "%s: point %d", options, k);
        CHECK_LE(point.relative_gap, 1e-6, "%s: point %d", options, k);
        mgv_fit own;
        alone(&own, options, &point);
        CHECK_NEAR(point.primal, own.certificate.primal, 2e-6 * own.certificate.primal,
                   "%s: point %d", options, k);
        mgv_fit_free(&own);
        check_model(&f, solver, &point);
        if (sparse && k == 0)
            check_largest(options, point.mu);
        if (k == POINTS - 1) /* weak enough to have learnt something */
            CHECK_THAT(point.train_score > .6, "%s: %g", options, point.train_score);
    }
    CHECK_OK(f.ctx, mgv_path_next(f.ctx, path, &solver));
    CHECK(!solver);
    mgv_path_free(f.ctx, path);
    mgv_fit_free(&f);
}

static const char *const forms[] = {"loss=hinge",
                                    "loss=hinge penalty=l1 scale=std",
                                    "loss=squared_hinge multiclass=ovo",
                                    "loss=logistic penalty=l1 multiclass=ovo intercept=no",
                                    "loss=logistic penalty=l1 scale=rownorm",
                                    "loss=softmax",
                                    "loss=crammer_singer intercept=no",
                                    "loss=hinge kernel=rbf sigma2=3",
                                    "loss=hinge kernel=rbf sigma2=3 multiclass=ovo"};
enum { FORMS = sizeof forms / sizeof *forms };

TEST(every_point_is_what_a_run_of_its_own_finds)
{
    for (int f = 0; f < FORMS; f++)
        check_path(forms[f]);
}

static mgv_status walk(mgv_fit *f, mgv_path **path)
{
    const mgv_solver *solver;
    MGVI_TRY(mgv_path_new(f->ctx, f->data, f->settings, path));
    do
        MGVI_TRY(mgv_path_next(f->ctx, *path, &solver));
    while (solver);
    return MGV_OK;
}

TEST(threads_change_no_bit)
{
    for (int o = 0; o < FORMS; o++) {
        double first[3 * N * D] = {0};
        for (int threads = 1; threads <= 3; threads++) {
            mgv_fit f;
            mgv_path *path;
            mgv_cloud_set(&f, 2, N, D, forms[o]);
            mgv_fit_set(&f, "path_points=3 path_end=0.01");
            CHECK_OK(f.ctx, mgv_ctx_set_threads(f.ctx, threads));
            CHECK_OK(f.ctx, walk(&f, &path));
            const mgvi_family *family = path->solver->family;
            const double *w = family ? family->coef : path->solver->answer.w.x;
            const size_t size =
                (size_t)(family ? family->members * mgvi_problem_coefs(path->problem)
                                : path->solver->answer.w.n * path->solver->answer.w.k) *
                sizeof *w;
            if (threads == 1)
                memcpy(first, w, size);
            assert_memory_equal(first, w, size);
            mgv_path_free(f.ctx, path);
            mgv_fit_free(&f);
        }
    }
}

/* Starting where the point before ended saves passes, side by side (no lock-step). */
TEST(points_begin_where_the_last_one_ended)
{
    mgv_fit f;
    mgv_path *path;
    mgv_cloud_set(
        &f, 3, N, D,
        "loss=squared_hinge solver=dual_coordinate shrink=no strengths=0.011,0.01 tol=1e-4");
    CHECK_OK(f.ctx, walk(&f, &path));
    mgv_fit own;
    mgv_cloud_set(&own, 3, N, D,
                  "loss=squared_hinge solver=dual_coordinate shrink=no lambda=0.01 tol=1e-4");
    mgv_fit_solve(&own);
    CHECK_LE(path->point[1].summary.passes, .8 * own.run.passes, "passes");
    mgv_fit_free(&own);
    mgv_path_free(f.ctx, path);
    mgv_fit_free(&f);
}

TEST(every_allocation_may_fail)
{
    static const char *const options[] = {"loss=hinge penalty=l1", "loss=hinge multiclass=ovo",
                                          "loss=softmax"};
    for (size_t t = 0; t < sizeof options / sizeof *options; t++) {
        mgv_fit set;
        mgv_cloud_set(&set, 4, 14, 2, "");
        for (long fail_at = 1, done = 0; !done; fail_at += 1 + fail_at / 40) {
            mgv_check_allocator a;
            mgv_fit f = {.ctx = NULL};
            mgv_path *path = NULL;
            mgv_check_allocator_init(&a, 0);
            assert_int_equal(mgv_ctx_new(&a.hooks, &f.ctx), MGV_OK);
            CHECK_OK(f.ctx, mgv_data_from_dense(f.ctx, MGV_F64, set.X, 14, 2, 2, 1, &f.data));
            CHECK_OK(f.ctx, mgv_data_set_labels(f.ctx, f.data, set.data->labels));
            CHECK_OK(f.ctx, mgv_settings_new(f.ctx, &f.settings));
            mgv_fit_set(&f, "task=classify path_points=2 path_end=0.1");
            mgv_fit_set(&f, options[t]);
            a.fail_at = a.calls + fail_at;
            const mgv_status st = walk(&f, &path);
            a.fail_at = 0;
            CHECK(st == MGV_OK || (st == MGV_E_MEMORY && mgv_ctx_error(f.ctx)[0]));
            done = st == MGV_OK;
            mgv_path_free(f.ctx, path);
            mgv_fit_free(&f);
            assert_int_equal(a.live, 0);
        }
        mgv_fit_free(&set);
    }
}

TEST(refusals_say_what_would_do)
{
    static const struct {
        const char *options, *part;
    } cases[] = {{"loss=softmax along=mu", "--loss logistic --penalty l1"},
                 {"loss=margin", "is a constraint"},
                 {"loss=hinge C=1 along=lambda", "C is given"}};
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        mgv_fit f;
        mgv_path *path;
        mgv_cloud_set(&f, 5, N, D, cases[t].options);
        CHECK(mgv_path_new(f.ctx, f.data, f.settings, &path) != MGV_OK);
        CHECK_THAT(strstr(mgv_ctx_error(f.ctx), cases[t].part), "%s", mgv_ctx_error(f.ctx));
        mgv_fit_free(&f);
    }
}

int main(void)
{
    return RUN(every_point_is_what_a_run_of_its_own_finds, threads_change_no_bit,
               points_begin_where_the_last_one_ended, every_allocation_may_fail,
               refusals_say_what_would_do);
}
