/* fit.c - the whole of margrave in one screen: borrow arrays, fit, read the certificate, predict.
 *   cc fit.c $(pkg-config --cflags --libs margrave) -o fit && ./fit */
#include <margrave/margrave.h>
#include <stdio.h>

enum { ROWS = 6, COLS = 2 };

static int fail(const mgv_ctx *ctx, mgv_status status)
{
    fprintf(stderr, "%s: %s\n", mgv_status_name(status), mgv_ctx_error(ctx));
    return 1;
}

int main(void)
{
    static const double x[ROWS][COLS] = {{2, 1}, {3, 2}, {1, 3}, {-1, 0}, {-2, -1}, {0, -2}};
    static const double y[ROWS] = {1, 1, 1, -1, -1, -1};
    mgv_ctx *ctx;
    mgv_settings *settings = NULL;
    mgv_data *data = NULL;
    mgv_problem *problem = NULL;
    mgv_solver *solver = NULL;
    mgv_model *model = NULL;
    mgv_status st = mgv_ctx_new(NULL, &ctx);
    if (st != MGV_OK)
        return 1;

    /* Every step is skipped once one has failed; the context keeps the sentence. */
    st = mgv_settings_new(ctx, &settings);
    if (st == MGV_OK)
        st = mgv_settings_set(ctx, settings, "loss", "margin"); /* the widest street */
    if (st == MGV_OK)
        st = mgv_data_from_dense(ctx, MGV_F64, x, ROWS, COLS, COLS, 1, &data);
    if (st == MGV_OK)
        st = mgv_data_set_labels(ctx, data, y);
    if (st == MGV_OK)
        st = mgv_problem_new(ctx, data, settings, &problem);
    if (st == MGV_OK)
        st = mgv_solver_new(ctx, problem, settings, &solver);
    if (st == MGV_OK)
        st = mgv_solver_run(ctx, solver);
    if (st == MGV_OK)
        st = mgv_model_new(ctx, solver, &model);

    if (st == MGV_OK) {
        mgv_certificate c = {.size = sizeof c};
        mgv_run_info run = {.size = sizeof run};
        mgv_model_info m = {.size = sizeof m};
        double score[ROWS];
        mgv_solver_describe(solver, &run, &c);
        mgv_model_describe(model, &m);
        printf("%s\n", mgv_problem_formula(problem));
        printf("%s: margin between %.9g and %.9g\n", mgv_stop_name(run.stop), c.margin,
               c.margin_upper);
        printf("w = (%.6g, %.6g), b = %.6g\n", m.coef[0], m.coef[1], m.intercept);
        st = mgv_model_scores(ctx, model, data, score);
        for (int i = 0; st == MGV_OK && i < ROWS; i++)
            printf("row %d: class %s\n", i + 1, mgv_model_class(model, score[i] > 0));
    }
    const int code = st == MGV_OK ? 0 : fail(ctx, st);
    mgv_model_free(ctx, model);
    mgv_solver_free(ctx, solver);
    mgv_problem_free(ctx, problem);
    mgv_data_free(ctx, data);
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
    return code;
}
