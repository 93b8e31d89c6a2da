/* test_locale.c - a host program whose language writes 1,5: what it saves, it can load; texts with
 * numbers are the same as in any other language. */
#include "vectors.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

/* Minimal systems have no such language: the C library reads this one from a file of ours, which
 * localedef made of a decimal_point "," and a thousands_sep "." (little endian). */
static void write_language(void)
{
    static const unsigned char numeric[] =
        "\x14\x11\x03\x20\x06\0\0\0\x20\0\0\0\x22\0\0\0\x24\0\0\0\x28\0\0\0\x2c\0\0\0\x30\0\0\0"
        ",\0.\0\x03\x03\0\0,\0\0\0.\0\0\0ANSI_X3.4-1968";
    char name[128];
    snprintf(folder, sizeof folder, "test_locale.%d", (int)getpid());
    mkdir(folder, 0777);
    snprintf(name, sizeof name, "%s/xx_XX", folder);
    mkdir(name, 0777);
    snprintf(name, sizeof name, "%s/xx_XX/LC_NUMERIC", folder);
    FILE *f = fopen(name, "wb");
    CHECK(f && fwrite(numeric, 1, sizeof numeric, f) == sizeof numeric && fclose(f) == 0);
    setenv("LOCPATH", folder, 1);
}

static void remove_language(void)
{
    static const char *const names[] = {"/xx_XX/LC_NUMERIC", "/xx_XX", ""};
    char name[128];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", folder, names[i]);
        remove(name);
    }
    unsetenv("LOCPATH");
}

/* Whether numbers have commas now. */
static bool speak_comma(void)
{
    static const char *const names[] = {"xx_XX", "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"};
    char text[16] = "";
    write_language();
    for (int i = 0; i < 4 && !strchr(text, ','); i++)
        if (setlocale(LC_NUMERIC, names[i]))
            snprintf(text, sizeof text, "%g", 1.5);
    remove_language();
    return strchr(text, ',') != NULL;
}

static char *load(const char *path, size_t *size)
{
    char *bytes = malloc(1 << 20);
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    *size = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    remove(path);
    return bytes;
}

/* The model of a fit, as its file; NULL where it cannot be loaded again. */
static char *fit_and_save(const char *options, size_t *size)
{
    char path[64];
    double *X, *y;
    mgv_fit fit;
    mgv_model *model, *again;
    snprintf(path, sizeof path, "test_locale.%d.mgm", (int)getpid());
    mgv_random_set(5, 40, 3, 0.2, &X, &y);
    mgv_fit_start(&fit, X, y, 40, 3, options);
    mgv_fit_solve(&fit);
    CHECK(!strchr(mgv_problem_formula(fit.problem), ',') ||
          strstr(mgv_problem_formula(fit.problem), ", k(x, z)"));
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &model));
    CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, model, path));
    CHECK_OK(fit.ctx, mgv_model_load(fit.ctx, path, &again));
    mgv_model_free(fit.ctx, again);
    mgv_model_free(fit.ctx, model);
    mgv_fit_free(&fit);
    free(X);
    free(y);
    return load(path, size);
}

TEST(models_are_the_same_in_every_language)
{
    static const char *const options[] = {
        "loss=hinge kernel=rbf sigma2=1.5 lambda=0.01", "loss=hinge p=1.5 lambda=0.01",
        "loss=hinge kernel=poly offset=0.5 sigma2=2.5 lambda=0.01", "loss=margin p=1.5"};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        size_t size[2];
        setlocale(LC_NUMERIC, "C");
        char *plain = fit_and_save(options[k], &size[0]);
        if (!speak_comma())
            skip();
        char *comma = fit_and_save(options[k], &size[1]);
        CHECK_THAT(size[0] == size[1] && memcmp(plain, comma, size[0]) == 0, "%s", options[k]);
        free(plain);
        free(comma);
    }
    setlocale(LC_NUMERIC, "C");
}

TEST(settings_and_sentences_have_points)
{
    if (!speak_comma())
        skip();
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_settings *s;
    CHECK_OK(ctx, mgv_settings_new(ctx, &s));
    for (size_t k = 0; k < mgv_setting_count(); k++) {
        char text[1024];
        mgv_setting_info info = {.size = sizeof info};
        mgv_setting_at(k, &info);
        CHECK_OK(ctx, mgv_settings_get(ctx, s, info.name, text, sizeof text));
        if (strcmp(info.type, "real") != 0 || !*text)
            continue;
        CHECK_OK(ctx, mgv_settings_set(ctx, s, info.name, text));
        CHECK_OK(ctx, mgv_settings_set(ctx, s, info.name, info.default_text));
        CHECK_THAT(!strchr(info.allowed, ','), "%s: %s", info.name, info.allowed);
    }
    CHECK_FAILS(ctx, mgv_settings_set(ctx, s, "path_end", "7.5"), MGV_E_ARG, "to 0.5");
    const double bad[2] = {1.5, -0.25};
    mgv_data *data;
    CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F64, bad, 2, 1, 1, 1, &data));
    CHECK_FAILS(ctx, mgv_data_set_weights(ctx, data, bad), MGV_E_INPUT, "(got -0.25)");
    mgv_data_free(ctx, data);
    mgv_settings_free(ctx, s);
    mgv_ctx_free(ctx);
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    return RUN(models_are_the_same_in_every_language, settings_and_sentences_have_points);
}
