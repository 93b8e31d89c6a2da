/* test_stack.c - the stack that the header promises to be enough for a thread of the caller's. */
#include "vectors.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void use(const char *options)
{
    char path[64];
    double *X, *y;
    mgv_fit fit;
    mgv_model *model;
    char *json;
    snprintf(path, sizeof path, "test_stack.%d.mgm", (int)getpid());
    mgv_random_set(5, 60, 4, 0.2, &X, &y);
    mgv_fit_start(&fit, X, y, 60, 4, options);
    mgv_fit_solve(&fit);
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &model));
    CHECK_OK(fit.ctx, mgv_report_fit(fit.ctx, fit.solver, model, "data", path, &json));
    CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, model, path));
    mgv_model_free(fit.ctx, model);
    CHECK_OK(fit.ctx, mgv_model_load(fit.ctx, path, &model));
    mgv_string_free(fit.ctx, json);
    mgv_model_free(fit.ctx, model);
    mgv_fit_free(&fit);
    free(X);
    free(y);
    remove(path);
}

static void *use_all(void *unused)
{
    (void)unused;
    use("loss=hinge lambda=0.01");
    use("loss=logistic penalty=l1 mu=0.01");
    use("loss=hinge kernel=rbf sigma2=1 lambda=0.01");
    return NULL;
}

TEST(the_promised_stack_is_enough)
{
    enum { PROMISED = 256 << 10 };
    pthread_attr_t attributes;
    pthread_t thread;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* the sanitizers put more on the stack */
#endif
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstacksize(&attributes, PROMISED) == 0);
    CHECK(pthread_create(&thread, &attributes, use_all, NULL) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

int main(void) { return RUN(the_promised_stack_is_enough); }
