/* library.c - asks the library, through its public header alone. */
#include "torture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct run {
    mgv_ctx *ctx;
    mgv_settings *settings;
    mgv_data *data;
    mgv_problem *problem;
    mgv_solver *solver;
    mgv_model *model;
    float single[MOST * MOST];
    double value[MOST * MOST];
    int64_t pointer[MOST + 1];
    int32_t index[MOST * MOST];
} run;

static mgv_status give_data(run *r, const torture_case *c)
{
    const mgv_dtype dtype = c->f32 ? MGV_F32 : MGV_F64;
    const void *values = c->f32 ? (const void *)r->single : (const void *)r->value;
    int64_t count = 0;
    for (int i = 0; i < c->n; i++) {
        for (int j = 0; j < c->d; j++) {
            const double x = c->x[i * c->d + j];
            if (c->sparse && x == 0)
                continue;
            r->value[count] = x;
            r->single[count] = (float)x;
            r->index[count++] = j;
        }
        r->pointer[i + 1] = count;
    }
    return c->sparse ? mgv_data_from_sparse(r->ctx, MGV_CSR, dtype, values, r->pointer, r->index,
                                            c->n, c->d, &r->data)
                     : mgv_data_from_dense(r->ctx, dtype, values, c->n, c->d, c->d, 1, &r->data);
}

static mgv_status give(run *r, const torture_case *c)
{
    mgv_status st = mgv_settings_new(r->ctx, &r->settings);
    for (int k = 0; st == MGV_OK && k < c->settings; k++)
        st = mgv_settings_set(r->ctx, r->settings, c->setting[k].name, c->setting[k].value);
    if (st == MGV_OK)
        st = give_data(r, c);
    if (st == MGV_OK)
        st = mgv_data_set_labels(r->ctx, r->data, c->y);
    if (st == MGV_OK && c->weighted)
        st = mgv_data_set_weights(r->ctx, r->data, c->weight);
    if (st == MGV_OK && c->penalty == GROUP)
        st = mgv_data_set_groups(r->ctx, r->data, c->group);
    return st;
}

/* The number behind "name": in JSON; null is NaN. */
static double json_number(const char *text, const char *name)
{
    char key[TEXT];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(text, key);
    if (!at)
        return NAN;
    at += strlen(key) + strspn(at + strlen(key), " ");
    return strncmp(at, "null", 4) == 0    ? NAN
           : strncmp(at, "true", 4) == 0  ? 1
           : strncmp(at, "false", 5) == 0 ? 0
                                          : strtod(at, NULL);
}

/* Certificates of the members, which the report alone has. */
static mgv_status read_members(run *r, const torture_case *c, answer *a)
{
    char *json = NULL;
    const mgv_status st = mgv_report_fit(r->ctx, r->solver, NULL, NULL, NULL, &json);
    if (st != MGV_OK)
        return st;
    const char *at = strstr(json, "\"classes\": [\n  {");
    for (int k = 0; at && k < case_members(c); k++) {
        at = strstr(at, "\"certificate\": {");
        if (!at)
            break;
        const double separable = json_number(at, "separable");
        a->member[k] = (mgv_certificate){.size = sizeof(mgv_certificate),
                                         .primal = json_number(at, "primal"),
                                         .dual = json_number(at, "dual"),
                                         .gap = json_number(at, "gap"),
                                         .relative_gap = json_number(at, "relative_gap"),
                                         .margin = json_number(at, "margin"),
                                         .margin_upper = json_number(at, "margin_upper"),
                                         .separable = isnan(separable) ? -1 : (int)separable,
                                         .verified = json_number(at, "verified") == 1};
        a->members = k + 1;
        at++;
    }
    mgv_string_free(r->ctx, json);
    return MGV_OK;
}

static mgv_status read_answer(run *r, const torture_case *c, answer *a)
{
    const double *values;
    int64_t count;
    mgv_model_info info = {.size = sizeof info};
    a->run.size = sizeof a->run;
    a->all.size = sizeof a->all;
    mgv_status st = mgv_solver_describe(r->solver, &a->run, &a->all);
    a->members = 1;
    a->member[0] = a->all;
    if (st == MGV_OK && case_members(c) > 1)
        st = read_members(r, c, a);
    if (st == MGV_OK)
        st = mgv_solver_dual(r->solver, &values, &count);
    if (st == MGV_OK && values && case_members(c) == 1 &&
        (count == c->n || count == c->n * c->classes)) {
        a->u_count = count;
        memcpy(a->u, values, (size_t)count * sizeof *values);
    }
    if (st == MGV_OK && a->run.stop != MGV_STOP_INFEASIBLE)
        st = mgv_model_new(r->ctx, r->solver, &r->model);
    if (st != MGV_OK || !r->model)
        return st;
    st = mgv_model_describe(r->model, &info);
    a->outputs = (int)info.outputs;
    a->has_coef = st == MGV_OK && info.coef && info.outputs <= OUTPUTS && c->kernel == LINEAR;
    if (st != MGV_OK || info.outputs > OUTPUTS)
        return st;
    memcpy(a->intercept, info.intercepts, (size_t)info.outputs * sizeof *info.coef);
    if (a->has_coef)
        memcpy(a->coef, info.coef, (size_t)(info.outputs * c->d) * sizeof *info.coef);
    else if (c->kernel == PRECOMPUTED && info.coef)
        for (int k = 0; k < a->outputs; k++) {
            memcpy(a->kernel_coef[k], info.coef + k * c->n, (size_t)c->n * sizeof *info.coef);
            a->has_kernel_coef = true;
        }
    else
        a->has_kernel_coef = saved_kernel(r->ctx, r->model, c, a);
    return st;
}

void (*library_begins)(void);

void library_solve(const torture_case *c, answer *a)
{
    static run r;
    struct timespec from, to;
    memset(a, 0, sizeof *a);
    memset(&r, 0, sizeof r);
    if (library_begins)
        library_begins();
    clock_gettime(CLOCK_MONOTONIC, &from);
    mgv_status st = mgv_ctx_new(NULL, &r.ctx);
    if (st == MGV_OK)
        st = mgv_ctx_set_threads(r.ctx, 1);
    if (st == MGV_OK)
        st = give(&r, c);
    if (st == MGV_OK)
        st = mgv_problem_new(r.ctx, r.data, r.settings, &r.problem);
    if (st == MGV_OK)
        snprintf(a->formula, sizeof a->formula, "%s", mgv_problem_formula(r.problem));
    if (st == MGV_OK)
        st = mgv_solver_new(r.ctx, r.problem, r.settings, &r.solver);
    if (st == MGV_OK)
        st = mgv_solver_run(r.ctx, r.solver);
    if (st == MGV_OK)
        st = read_answer(&r, c, a);
    a->status = st;
    if (st != MGV_OK && r.ctx)
        snprintf(a->error, sizeof a->error, "%s", mgv_ctx_error(r.ctx));
    mgv_model_free(r.ctx, r.model);
    mgv_solver_free(r.ctx, r.solver);
    mgv_problem_free(r.ctx, r.problem);
    mgv_data_free(r.ctx, r.data);
    mgv_settings_free(r.ctx, r.settings);
    mgv_ctx_free(r.ctx);
    clock_gettime(CLOCK_MONOTONIC, &to);
    a->seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}
