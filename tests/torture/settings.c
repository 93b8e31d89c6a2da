/* settings.c - a problem as settings of the library, as a title, and as a command line. */
#include "torture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add(torture_case *c, const char *name, const char *value)
{
    setting *s = &c->setting[c->settings++];
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(s->value, sizeof s->value, "%s", value);
}

static void add_number(torture_case *c, const char *name, double value)
{
    char text[TEXT];
    snprintf(text, sizeof text, "%.17g", value);
    add(c, name, text);
}

static void strength_settings(torture_case *c)
{
    const bool hard = c->loss == MARGIN || c->loss == EQUAL || c->loss == INTERVAL;
    const penalty p = c->penalty;
    if (p == LP)
        add_number(c, "p", c->p);
    if (p == BOX) {
        add_number(c, "low", c->low);
        add_number(c, "high", c->high);
    }
    if (hard && p != ENET)
        return;
    if (p == L2 || p == ENET || p == LP || p == ENTROPY)
        add_number(c, "lambda", c->lambda);
    if (p == L1 || p == ENET || p == LINF || p == GROUP || p == OWL || p == L1_NONNEG ||
        p == TV1D || p == NUCLEAR || p == TV2D)
        add_number(c, "mu", c->mu);
}

void case_settings(torture_case *c)
{
    c->settings = 0;
    add(c, "task", c->form == QUANTITY ? "regress" : "classify");
    add(c, "loss", loss_names[c->loss]);
    add(c, "penalty", penalty_names[c->penalty]);
    strength_settings(c);
    if (c->loss == SMOOTH_HINGE || c->loss == SQRT_HINGE || c->loss == HUBER)
        add_number(c, "smoothing", c->smoothing);
    if (c->loss == INTERVAL || c->loss == EPSILON_INSENSITIVE)
        add_number(c, "epsilon", c->epsilon);
    if (c->penalty == OWL)
        add(c, "owl", "oscar:0.25");
    if (c->penalty == NUCLEAR || c->penalty == TV2D) {
        char text[TEXT];
        snprintf(text, sizeof text, "%dx%d", c->shape_rows, c->d / c->shape_rows);
        add(c, "shape", text);
    }
    if (!c->intercept)
        add(c, "intercept", "no");
    if (c->scaling != SCALE_NONE)
        add(c, "scale", scaling_names[c->scaling]);
    if (c->form == OVO || c->form == OVR || c->form == JOINT)
        add(c, "multiclass", c->form == OVO ? "ovo" : c->form == OVR ? "ovr" : "joint");
    if (c->kernel != LINEAR) {
        add(c, "kernel", kernel_names[c->kernel]);
        if (c->kernel != PRECOMPUTED)
            add_number(c, "sigma2", c->sigma2);
    }
    if (c->kernel == POLY) {
        add_number(c, "degree", c->degree);
        add_number(c, "offset", c->kernel_offset);
    }
    add_number(c, "tol", c->tol);
    if (strcmp(c->solver, "auto") != 0)
        add(c, "solver", c->solver);
    if (c->max_iter > 0)
        add_number(c, "max_iter", c->max_iter);
    add(c, "time_limit", c->max_iter > 0 ? "0.5" : "5"); /* the last, see judge.c */
}

void case_title(const torture_case *c, char *out, size_t size)
{
    snprintf(out, size, "%s %s %s %s %s %s %s %s n=%d d=%d k=%d offset=%.1e tol=%g%s%s",
             form_names[c->form], loss_names[c->loss], penalty_names[c->penalty],
             kernel_names[c->kernel], scaling_names[c->scaling],
             c->intercept ? "intercept" : "no-intercept", c->sparse ? "csr" : "dense",
             c->f32 ? "f32" : "f64", c->n, c->d, c->classes, c->offset, c->tol,
             c->weighted ? " weights" : "", c->sane ? "" : " wild");
}

/* ---- showing it ------------------------------------------------------------------------------ */

static void write_rows(const torture_case *c, FILE *file)
{
    const int digits = c->f32 ? 9 : 17;
    for (int i = 0; i < c->n; i++) {
        fprintf(file, "%.17g", c->y[i]);
        for (int j = 0; j < c->d; j++)
            if (!c->sparse)
                fprintf(file, ",%.*g", digits, c->x[i * c->d + j]);
            else if (c->x[i * c->d + j] != 0)
                fprintf(file, " %d:%.*g", j + 1, digits, c->x[i * c->d + j]);
        fputc('\n', file);
    }
}

static void write_numbers(const char *name, const double *values, const int64_t *whole, int count)
{
    FILE *file = fopen(name, "w");
    for (int i = 0; file && i < count; i++)
        values ? fprintf(file, "%.17g\n", values[i]) : fprintf(file, "%d\n", (int)whole[i]);
    if (file)
        fclose(file);
}

void case_show(const torture_case *c, const char *prefix)
{
    char name[300], other[320];
    snprintf(name, sizeof name, "%s%llu.%s", prefix, (unsigned long long)c->seed,
             c->sparse ? "svm" : "csv");
    FILE *file = fopen(name, "w");
    if (!file)
        return;
    write_rows(c, file);
    fclose(file);
    printf("    margrave fit %s", name);
    if (!c->sparse)
        printf(" --label-column first --header no");
    else
        printf(" --base 1 --features %d", c->d);
    printf(" --precision %s", c->f32 ? "f32" : "f64");
    for (int k = 0; k < c->settings; k++)
        if (strcmp(c->setting[k].name, "intercept") == 0)
            printf(" --no-intercept");
        else
            printf(" --%s %s", c->setting[k].name, c->setting[k].value);
    if (c->weighted) {
        snprintf(other, sizeof other, "%s.weights", name);
        write_numbers(other, c->weight, NULL, c->n);
        printf(" --sample-weight %s", other);
    }
    if (c->penalty == GROUP) {
        snprintf(other, sizeof other, "%s.groups", name);
        write_numbers(other, NULL, c->group, c->d);
        printf(" --groups %s", other);
    }
    printf(" --no-model\n");
}
