/* text_write.c - blocks of formatted lines, and what the text writers share. */
#include "io/text_write.h"

#include "base/memory.h"
#include "base/threads.h"

#include <string.h>

/* ---- blocks -------------------------------------------------------------------------------- */
enum { SLOTS = 64, BLOCK_BYTES = 1 << 18 };

typedef struct slot {
    int64_t begin, end; /* groups */
    size_t at, used;    /* within the buffer */
} slot;

typedef struct job {
    const mgvi_text_table *table;
    char *buffer;
    size_t capacity;
    int64_t count;
    slot slots[SLOTS];
} job;

static void format_block(void *arg, int64_t block)
{
    job *j = arg;
    slot *s = &j->slots[block];
    char *to = j->buffer + s->at;
    for (int64_t g = s->begin; g < s->end; g++)
        to += j->table->format(j->table, g, to);
    s->used = (size_t)(to - (j->buffer + s->at));
}

/* Cuts the next round into slots from group `begin` on; returns where it ends. */
static int64_t fill_slots(job *j, int64_t begin)
{
    const mgvi_text_table *table = j->table;
    size_t total = 0;
    int64_t g = begin;
    for (j->count = 0; j->count < SLOTS && g < table->groups; j->count++) {
        slot *s = &j->slots[j->count];
        *s = (slot){.begin = g, .at = total};
        size_t room = 0;
        while (g < table->groups && room < BLOCK_BYTES)
            room += table->room(table, g++);
        s->end = g;
        total += room;
    }
    j->capacity = total;
    return g;
}

static mgv_status write_groups(mgv_ctx *ctx, job *j, mgvi_sink *sink)
{
    size_t allocated = 0;
    for (int64_t g = 0; g < j->table->groups;) {
        g = fill_slots(j, g);
        if (!j->buffer || j->capacity > allocated) { /* groups may be empty */
            mgvi_release(ctx, j->buffer);
            allocated = j->capacity;
            if (!(j->buffer = mgvi_alloc(ctx, allocated, 1)))
                return MGV_E_MEMORY;
        }
        mgvi_pool_run(ctx->pool, j->count, format_block, j);
        for (int64_t i = 0; i < j->count; i++)
            mgvi_sink_write(sink, j->buffer + j->slots[i].at, j->slots[i].used);
    }
    return MGV_OK;
}

mgv_status mgvi_text_write(mgv_ctx *ctx, const mgvi_text_table *table, const char *head,
                           size_t head_size, const char *path)
{
    mgvi_sink *sink;
    MGVI_TRY(mgvi_sink_open(ctx, path, &sink));
    job j = {.table = table};
    mgvi_sink_write(sink, head, head_size);
    const mgv_status st = write_groups(ctx, &j, sink);
    mgvi_release(ctx, j.buffer);
    const mgv_status closed = mgvi_sink_close(sink, st == MGV_OK);
    return st == MGV_OK ? closed : st;
}

/* ---- rows of CSC --------------------------------------------------------------------------- */
mgv_status mgvi_rows_open(mgv_ctx *ctx, const mgvi_matrix *X, mgvi_rows_view *view)
{
    *view = (mgvi_rows_view){.X = *X};
    if (X->layout != MGV_CSC)
        return MGV_OK;
    const size_t size = mgvi_dtype_size(X->dtype);
    int64_t *ptr = view->memory[0] = mgvi_zeros(ctx, (size_t)X->rows + 2, sizeof *ptr);
    int32_t *idx = view->memory[1] = mgvi_alloc(ctx, (size_t)X->nnz, sizeof *idx);
    char *val = view->memory[2] = mgvi_alloc(ctx, (size_t)X->nnz, size);
    if (!ptr || !idx || !val) {
        mgvi_rows_close(ctx, view);
        return MGV_E_MEMORY;
    }
    for (int64_t t = 0; t < X->nnz; t++)
        ptr[X->idx[t] + 2]++;
    for (int64_t i = 0; i < X->rows; i++)
        ptr[i + 2] += ptr[i + 1];
    for (int64_t c = 0; c < X->cols; c++)
        for (int64_t t = X->ptr[c]; t < X->ptr[c + 1]; t++) {
            const int64_t at = ptr[X->idx[t] + 1]++; /* the start of a row moves to its end */
            idx[at] = (int32_t)c;
            memcpy(val + (size_t)at * size, (const char *)X->val + (size_t)t * size, size);
        }
    view->X.layout = MGV_CSR;
    view->X.ptr = ptr;
    view->X.idx = idx;
    view->X.val = val;
    return MGV_OK;
}

void mgvi_rows_close(mgv_ctx *ctx, mgvi_rows_view *view)
{
    for (int i = 0; i < 3; i++)
        mgvi_release(ctx, view->memory[i]);
    *view = (mgvi_rows_view){.memory = {0}};
}

/* ---- labels and integers ------------------------------------------------------------------- */
size_t mgvi_text_put_label(const mgv_data *data, int64_t row, char *to)
{
    const double value = data->labels ? data->labels[row] : 0;
    const int64_t k = data->labels ? mgvi_data_class_of(data, value) : -1;
    if (k < 0)
        return mgvi_number_format(value, MGV_F64, to);
    const size_t n = strlen(data->class_text[k]);
    memcpy(to, data->class_text[k], n);
    return n;
}

size_t mgvi_text_label_room(const mgv_data *data)
{
    size_t room = MGVI_NUMBER_MAX;
    for (int64_t k = 0; k < data->classes; k++) {
        const size_t n = strlen(data->class_text[k]) + 1;
        room = n > room ? n : room;
    }
    return room;
}

size_t mgvi_text_put_integer(int64_t value, char *to)
{
    char reversed[20];
    size_t n = 0;
    do {
        reversed[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    for (size_t i = 0; i < n; i++)
        to[i] = reversed[n - 1 - i];
    return n;
}
