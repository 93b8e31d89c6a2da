/* saved.c - a kernel's weights as they are saved: the model file is read here by hand, its support
 * vectors are found again among the rows of the data. */
#include "torture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MOST = 1 << 18 };

typedef struct file {
    char bytes[FILE_MOST];
    size_t size;
    const char *header;
    const char *data;
} file;

static bool read_file(const char *name, file *f)
{
    FILE *in = fopen(name, "rb");
    uint64_t length;
    f->size = in ? fread(f->bytes, 1, sizeof f->bytes - 1, in) : 0;
    if (in)
        fclose(in);
    f->bytes[f->size] = 0;
    if (f->size < sizeof length)
        return false;
    memcpy(&length, f->bytes, sizeof length);
    f->header = f->bytes + sizeof length;
    if (length >= f->size - sizeof length)
        return false;
    f->data = f->header + length;
    return true;
}

/* The bytes of a tensor; NULL: there is none. `single`: float32. */
static const char *tensor(const file *f, const char *name, size_t *bytes, bool *single)
{
    char key[TEXT];
    snprintf(key, sizeof key, "\"%s\":{\"dtype\":\"", name);
    const char *at = strstr(f->header, key);
    const char *where = at ? strstr(at, "\"data_offsets\":[") : NULL;
    if (!where || where > f->data)
        return NULL;
    *single = at[strlen(key) + 1] == '3';
    char *end;
    const long first = strtol(where + strlen("\"data_offsets\":["), &end, 10);
    *bytes = (size_t)(strtol(end + 1, NULL, 10) - first);
    return f->data + first;
}

static double value_at(const char *bytes, bool single, size_t k)
{
    float narrow;
    double wide;
    if (!single) {
        memcpy(&wide, bytes + k * sizeof wide, sizeof wide);
        return wide;
    }
    memcpy(&narrow, bytes + k * sizeof narrow, sizeof narrow);
    return narrow;
}

/* The support vectors as dense rows; their number, -1: the file is not as expected. */
static int support_rows(const file *f, const torture_case *c, double *rows)
{
    size_t bytes, index_bytes, pointer_bytes;
    bool single, other;
    const char *dense = tensor(f, "sv", &bytes, &single);
    if (dense) {
        const size_t count = bytes / (single ? 4 : 8);
        for (size_t k = 0; k < count; k++)
            rows[k] = value_at(dense, single, k);
        return (int)(count / (size_t)c->d);
    }
    const char *values = tensor(f, "sv_values", &bytes, &single);
    const char *indices = tensor(f, "sv_indices", &index_bytes, &other);
    const char *pointers = tensor(f, "sv_pointers", &pointer_bytes, &other);
    if (!values || !indices || !pointers)
        return -1;
    const int count = (int)(pointer_bytes / 8) - 1;
    memset(rows, 0, (size_t)(count * c->d) * sizeof *rows);
    for (int t = 0; t < count; t++) {
        int64_t from, to;
        memcpy(&from, pointers + 8 * t, sizeof from);
        memcpy(&to, pointers + 8 * (t + 1), sizeof to);
        for (int64_t k = from; k < to; k++) {
            int32_t j;
            memcpy(&j, indices + 4 * k, sizeof j);
            rows[t * c->d + j] = value_at(values, single, (size_t)k);
        }
    }
    return count;
}

/* The first row behind `from` with these values; -1: none. */
static int find_row(const torture_case *c, const double *row, int from)
{
    for (int i = from; i < c->n; i++) {
        bool same = true;
        for (int j = 0; j < c->d && same; j++)
            same = c->x[i * c->d + j] == row[j];
        if (same)
            return i;
    }
    return -1;
}

/* The origin of the feature space that scores are sums from, as the file's metadata names it. */
static bool read_origin(const file *f, const torture_case *c, answer *a)
{
    static const char key[] = "\"origin\":\"";
    const char *said = strstr(f->header, key);
    size_t bytes;
    bool single;
    a->shifted = said && said < f->data && strncmp(said + strlen(key), "none", 4) != 0;
    memset(a->origin, 0, sizeof a->origin);
    if (!a->shifted || strncmp(said + strlen(key), "centre", 6) != 0)
        return true;
    const char *centre = tensor(f, "centre", &bytes, &single);
    for (int j = 0; centre && j < c->d; j++)
        a->origin[j] = value_at(centre, single, (size_t)j);
    return centre != NULL;
}

bool saved_kernel(mgv_ctx *ctx, const mgv_model *model, const torture_case *c, answer *a)
{
    static file f;
    static double rows[MOST * MOST];
    char name[300];
    const char *folder = getenv("TMPDIR");
    size_t bytes;
    bool single;
    snprintf(name, sizeof name, "%s/torture-%d.mgm", folder ? folder : P_tmpdir, (int)getpid());
    if (mgv_model_save(ctx, model, name) != MGV_OK)
        return false;
    const bool whole = read_file(name, &f);
    unlink(name);
    const char *coef = whole ? tensor(&f, "dual_coef", &bytes, &single) : NULL;
    const int support = coef ? support_rows(&f, c, rows) : -1;
    int at = 0;
    if (support >= 0 && !read_origin(&f, c, a))
        return false;
    for (int t = 0; t < support; t++) {
        const int i = find_row(c, rows + t * c->d, at);
        if (i < 0)
            return false;
        for (int k = 0; k < a->outputs; k++)
            a->kernel_coef[k][i] = value_at(coef, single, (size_t)(k * support + t));
        at = i + 1;
    }
    return support >= 0;
}
