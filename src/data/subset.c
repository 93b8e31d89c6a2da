/* subset.c - copies rows of a table. */
#include "data/subset.h"

#include <string.h>

static mgv_status copy_sparse(mgv_ctx *ctx, const mgvi_matrix *m, const mgvi_subset *s,
                              mgv_data *to)
{
    const size_t size = mgvi_dtype_size(m->dtype);
    int64_t nnz = 0;
    for (int64_t t = 0; t < s->count; t++)
        nnz += m->ptr[s->rows[t] + 1] - m->ptr[s->rows[t]];
    int64_t *ptr = mgvi_data_array(ctx, to, (size_t)s->count + 1, sizeof *ptr);
    int32_t *idx = mgvi_data_array(ctx, to, (size_t)nnz, sizeof *idx);
    char *val = mgvi_data_array(ctx, to, (size_t)nnz, size);
    if (!ptr || !idx || !val)
        return MGV_E_MEMORY;
    for (int64_t t = 0; t < s->count; t++) {
        const int64_t from = m->ptr[s->rows[t]], n = m->ptr[s->rows[t] + 1] - from;
        memcpy(idx + ptr[t], m->idx + from, (size_t)n * sizeof *idx);
        memcpy(val + (size_t)ptr[t] * size, (const char *)m->val + (size_t)from * size,
               (size_t)n * size);
        ptr[t + 1] = ptr[t] + n;
    }
    to->X.nnz = nnz;
    to->X.ptr = ptr;
    to->X.idx = idx;
    to->X.val = val;
    return MGV_OK;
}

static mgv_status copy_dense(mgv_ctx *ctx, const mgvi_matrix *m, const mgvi_subset *s, mgv_data *to)
{
    const size_t size = mgvi_dtype_size(m->dtype);
    const int64_t cols = to->X.cols = s->square ? s->count : m->cols;
    char *val = mgvi_data_array(ctx, to, (size_t)(s->count * cols), size), *at = val;
    if (!val)
        return MGV_E_MEMORY;
    for (int64_t t = 0; t < s->count; t++) {
        if (!s->square && m->col_stride == 1) {
            const size_t row = (size_t)cols * size;
            memcpy(at, (const char *)m->val + s->rows[t] * m->row_stride * (int64_t)size, row);
            at += row;
            continue;
        }
        for (int64_t j = 0; j < cols; j++, at += size) {
            const int64_t column = s->square ? s->rows[j] : j;
            memcpy(at,
                   (const char *)m->val +
                       (s->rows[t] * m->row_stride + column * m->col_stride) * (int64_t)size,
                   size);
        }
    }
    to->X.nnz = s->count * cols;
    to->X.val = val;
    to->X.row_stride = cols;
    to->X.col_stride = 1;
    return MGV_OK;
}

static mgv_status copy_labels(mgv_ctx *ctx, const mgv_data *data, const mgvi_subset *s,
                              mgv_data *to)
{
    to->labels = mgvi_data_array(ctx, to, (size_t)s->count, sizeof *to->labels);
    if (s->weights)
        to->weights = mgvi_data_array(ctx, to, (size_t)s->count, sizeof *to->weights);
    if (data->row_group)
        to->row_group = mgvi_data_array(ctx, to, (size_t)s->count, sizeof *to->row_group);
    to->class_text = mgvi_data_array(ctx, to, (size_t)s->class_count, sizeof *to->class_text);
    to->class_value = mgvi_data_array(ctx, to, (size_t)s->class_count, sizeof *to->class_value);
    if (data->lower)
        to->lower = mgvi_data_array(ctx, to, (size_t)s->count, sizeof *to->lower);
    if (data->upper)
        to->upper = mgvi_data_array(ctx, to, (size_t)s->count, sizeof *to->upper);
    if (!to->labels || (s->weights && !to->weights) || (data->row_group && !to->row_group) ||
        !to->class_text || !to->class_value || (data->lower && !to->lower) ||
        (data->upper && !to->upper))
        return MGV_E_MEMORY;
    for (int64_t t = 0; data->lower && t < s->count; t++)
        to->lower[t] = data->lower[s->rows[t]];
    for (int64_t t = 0; data->upper && t < s->count; t++)
        to->upper[t] = data->upper[s->rows[t]];
    for (int64_t t = 0; t < s->count; t++) {
        to->labels[t] = data->labels[s->rows[t]];
        if (s->weights)
            to->weights[t] = s->weights[s->rows[t]];
        if (data->row_group)
            to->row_group[t] = data->row_group[s->rows[t]];
    }
    to->classes = s->class_count;
    to->text_labels = data->text_labels;
    for (int64_t c = 0; c < s->class_count; c++) {
        to->class_text[c] = data->class_text[s->classes[c]];
        to->class_value[c] = data->class_value[s->classes[c]];
    }
    return MGV_OK;
}

mgv_status mgvi_data_subset(mgv_ctx *ctx, const mgv_data *data, const mgvi_subset *s,
                            mgv_data **out)
{
    mgv_data *to;
    *out = NULL;
    MGVI_TRY(mgvi_data_new(ctx, &to));
    to->X = data->X;
    to->X.rows = s->count;
    to->X.size = s->square ? NULL : data->X.size; /* fewer rows have no larger entries */
    mgv_status st = data->X.layout == MGV_DENSE ? copy_dense(ctx, &data->X, s, to)
                                                : copy_sparse(ctx, &data->X, s, to);
    if (st == MGV_OK)
        st = copy_labels(ctx, data, s, to);
    to->names = data->names;
    to->label_name = data->label_name;
    to->label_at = data->label_at;
    to->was_sparse = data->was_sparse;
    to->group = data->group;
    to->col_weights = data->col_weights;
    to->format = data->format;
    to->first_index = data->first_index;
    to->checked = true;
    if (st == MGV_OK)
        *out = to;
    else
        mgvi_data_free(ctx, to);
    return st;
}
