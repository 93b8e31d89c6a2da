/* file.c - a completion as a file of tensors, and as a report. */
#include "complete/completion.h"
#include "data/tensors.h"
#include "io/io.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char FORMAT[] = "margrave completion";

/* ---- writing --------------------------------------------------------------------------------- */

static void add(mgvi_tensor *tensors, int *count, const char *name, mgvi_tensor_type type,
                int64_t rows, int64_t cols, const void *data)
{
    mgvi_tensor *t = &tensors[(*count)++];
    *t = (mgvi_tensor){.type = type, .rank = cols < 0 ? 1 : 2, .shape = {rows, cols}, .data = data};
    snprintf(t->name, sizeof t->name, "%s", name);
}

static void add_names(mgvi_tensor *tensors, int *count, const char *name, const mgvi_side *side)
{
    size_t bytes;
    if (!side->named)
        return;
    const char *text = mgvi_words_text(side->words, &bytes);
    add(tensors, count, name, MGVI_T_U8, (int64_t)bytes, -1, text);
}

mgv_status mgvi_completion_save(mgv_ctx *ctx, const mgv_completion *c, const char *path)
{
    const mgv_completion_info *i = &c->info;
    mgvi_tensor tensors[9];
    int count = 0;
    const double numbers[] = {i->mean,           i->low,         i->high,          i->ridge,
                              i->held_out_error, i->train_error, i->baseline_error};
    add(tensors, &count, "left", MGVI_T_F64, i->rows, i->rank, c->left);
    add(tensors, &count, "right", MGVI_T_F64, i->cols, i->rank, c->right);
    add(tensors, &count, "row_seen", MGVI_T_U8, i->rows, -1, c->row_seen);
    add(tensors, &count, "col_seen", MGVI_T_U8, i->cols, -1, c->col_seen);
    add(tensors, &count, "numbers", MGVI_T_F64, (int64_t)(sizeof numbers / sizeof *numbers), -1,
        numbers);
    if (c->row_bias) {
        add(tensors, &count, "row_bias", MGVI_T_F64, i->rows, -1, c->row_bias);
        add(tensors, &count, "col_bias", MGVI_T_F64, i->cols, -1, c->col_bias);
    }
    add_names(tensors, &count, "row_names", &c->side[0]);
    add_names(tensors, &count, "col_names", &c->side[1]);
    const mgvi_meta meta[] = {{"format", FORMAT},
                              {"format_version", "1"},
                              {"margrave", mgv_version()},
                              {"row_base", c->side[0].base ? "1" : "0"},
                              {"col_base", c->side[1].base ? "1" : "0"},
                              {"stop", mgv_stop_name(i->stop)},
                              {"formula", c->formula}};
    return mgvi_tensors_write(ctx, path, tensors, count, meta, (int)(sizeof meta / sizeof *meta));
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Copies a tensor of finite numbers; `name` must be there. */
static mgv_status take_numbers(mgv_completion *c, const char *path, const mgvi_tensors *file,
                               const char *name, int64_t rows, int64_t cols, double **out)
{
    const void *data;
    const int64_t count = cols < 0 ? rows : rows * cols;
    MGVI_TRY(
        mgvi_tensors_need(c->ctx, file, name, MGVI_T_F64, cols < 0 ? 1 : 2, rows, cols, &data));
    if (!(*out = mgvi_arena_array(&c->arena, (size_t)count + 1, sizeof **out)))
        return MGV_E_MEMORY;
    memcpy(*out, data, (size_t)count * sizeof **out);
    for (int64_t k = 0; k < count; k++)
        if (!isfinite((*out)[k]))
            return MGVI_FAIL(c->ctx, MGV_E_INPUT, "%s: number %" PRId64 " of %s is %g", path, k,
                             name, (*out)[k]);
    return MGV_OK;
}

static mgv_status take_bytes(mgv_completion *c, const mgvi_tensors *file, const char *name,
                             int64_t count, uint8_t **out)
{
    const void *data;
    MGVI_TRY(mgvi_tensors_need(c->ctx, file, name, MGVI_T_U8, 1, count, -1, &data));
    if (!(*out = mgvi_arena_array(&c->arena, (size_t)count + 1, 1)))
        return MGV_E_MEMORY;
    memcpy(*out, data, (size_t)count);
    return MGV_OK;
}

static mgv_status take_names(mgv_completion *c, const char *path, const mgvi_tensors *file,
                             const char *name, const char *base, int64_t lines, mgvi_side *side)
{
    const mgvi_tensor *t = mgvi_tensors_find(file, name);
    const char *said = mgvi_tensors_meta(file, base);
    *side = (mgvi_side){.count = lines, .base = said && said[0] == '1', .named = t != NULL};
    if (!t)
        return MGV_OK;
    const void *data;
    MGVI_TRY(mgvi_tensors_need(c->ctx, file, name, MGVI_T_U8, 1, -1, -1, &data));
    MGVI_TRY(mgvi_words_new(c->ctx, &side->words));
    const char *text = data, *end = text + t->shape[0];
    while (text < end) {
        const char *stop = memchr(text, 0, (size_t)(end - text));
        int64_t number;
        if (!stop)
            break;
        MGVI_TRY(mgvi_words_add(side->words, text, (size_t)(stop - text), &number));
        text = stop + 1;
    }
    if (text != end || mgvi_words_count(side->words) != lines)
        return MGVI_FAIL(c->ctx, MGV_E_INPUT,
                         "%s: %s holds %" PRId64 " different names for %" PRId64 " lines", path,
                         name, mgvi_words_count(side->words), lines);
    return MGV_OK;
}

static mgv_status parse(mgv_completion *c, const char *path, const mgvi_tensors *file)
{
    mgv_completion_info *i = &c->info;
    const char *version = mgvi_tensors_meta(file, "format_version");
    const char *formula = mgvi_tensors_meta(file, "formula");
    const mgvi_tensor *left = mgvi_tensors_find(file, "left");
    const mgvi_tensor *right = mgvi_tensors_find(file, "right");
    if (!mgvi_tensors_meta_is(file, "format", FORMAT) || !left || !right || left->rank != 2 ||
        right->rank != 2)
        return MGVI_FAIL(c->ctx, MGV_E_INPUT, "%s: this is not a margrave completion", path);
    if (!mgvi_tensors_meta_is(file, "format_version", "1"))
        return MGVI_FAIL(c->ctx, MGV_E_INPUT,
                         "%s: completion format version '%.20s' is not known here", path,
                         version ? version : "");
    const void *data;
    MGVI_TRY(mgvi_tensors_need(c->ctx, file, "numbers", MGVI_T_F64, 1, 7, -1, &data));
    double numbers[7];
    memcpy(numbers, data, sizeof numbers);
    *i = (mgv_completion_info){.size = sizeof *i,
                               .rows = left->shape[0],
                               .cols = right->shape[0],
                               .rank = left->shape[1],
                               .mean = numbers[0],
                               .low = numbers[1],
                               .high = numbers[2],
                               .ridge = numbers[3],
                               .held_out_error = numbers[4],
                               .train_error = numbers[5],
                               .baseline_error = numbers[6],
                               .path_error = NAN,
                               .primal = NAN,
                               .dual = NAN,
                               .relative_gap = NAN,
                               .dual_norm = NAN,
                               .noise = NAN};
    if (!isfinite(i->mean) || !isfinite(i->low) || !isfinite(i->high))
        return MGVI_FAIL(c->ctx, MGV_E_INPUT, "%s: the range of the values is damaged", path);
    MGVI_TRY(take_numbers(c, path, file, "left", i->rows, i->rank, &c->left));
    MGVI_TRY(take_numbers(c, path, file, "right", i->cols, i->rank, &c->right));
    MGVI_TRY(take_bytes(c, file, "row_seen", i->rows, &c->row_seen));
    MGVI_TRY(take_bytes(c, file, "col_seen", i->cols, &c->col_seen));
    if ((i->biases = mgvi_tensors_find(file, "row_bias") != NULL)) {
        MGVI_TRY(take_numbers(c, path, file, "row_bias", i->rows, -1, &c->row_bias));
        MGVI_TRY(take_numbers(c, path, file, "col_bias", i->cols, -1, &c->col_bias));
    }
    MGVI_TRY(take_names(c, path, file, "row_names", "row_base", i->rows, &c->side[0]));
    MGVI_TRY(take_names(c, path, file, "col_names", "col_base", i->cols, &c->side[1]));
    formula = formula ? formula : "";
    if (!(c->formula = mgvi_arena_array(&c->arena, strlen(formula) + 1, 1)))
        return MGV_E_MEMORY;
    strcpy(c->formula, formula);
    return MGV_OK;
}

mgv_status mgvi_completion_parse(mgv_ctx *ctx, const char *path, const void *bytes, size_t size,
                                 mgv_completion **out)
{
    mgvi_tensors *file;
    mgv_completion *c;
    *out = NULL;
    MGVI_TRY(mgvi_tensors_parse(ctx, path, bytes, size, &file));
    mgv_status st = mgvi_completion_new(ctx, &c);
    if (st == MGV_OK)
        st = parse(c, path, file);
    mgvi_tensors_free(ctx, file);
    if (st == MGV_OK)
        *out = c;
    else
        mgvi_completion_free(c);
    return st;
}

bool mgvi_completion_is(mgv_ctx *ctx, const char *path)
{
    mgvi_source source;
    mgvi_tensors *file = NULL;
    if (strcmp(path, "-") == 0 || mgvi_source_open(ctx, path, NULL, &source) != MGV_OK)
        return false; /* standard input could not be read a second time */
    bool is = mgvi_tensors_parse(ctx, path, source.bytes, source.size, &file) == MGV_OK;
    is = is && mgvi_tensors_meta_is(file, "format", FORMAT);
    mgvi_tensors_free(ctx, file);
    mgvi_source_close(ctx, &source);
    return is;
}

mgv_status mgvi_completion_load(mgv_ctx *ctx, const char *path, mgv_completion **out)
{
    mgvi_source source;
    *out = NULL;
    MGVI_TRY(mgvi_source_open(ctx, path, NULL, &source));
    const mgv_status st = mgvi_completion_parse(ctx, path, source.bytes, source.size, out);
    mgvi_source_close(ctx, &source);
    return st;
}
