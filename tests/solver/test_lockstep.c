/* test_lockstep.c - many sparse classes against the rest, all in the lanes of a vector: every class
 * is the problem of two classes, certified, whatever the threads and the instruction set. */
#include "vectors.h"

#include "model/model.h"
#include "solver/family.h"
#include "solver/parts/lockstep.h"

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

int main(void)
{
    return RUN(every_class_is_the_two_class_problem, certificates_hold_for_the_model,
               same_bits_for_any_number_of_threads, an_interrupted_run_says_so);
}
