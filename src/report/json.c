/* json.c - small pieces every report is made of. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *mgvi_json_string(const char *text)
{
    json_t *json = json_string(text);
    char *ascii = json ? NULL : strdup(text);
    for (char *at = ascii; at && *at; at++)
        if ((unsigned char)*at > 127)
            *at = '?';
    if (ascii)
        json = json_string(ascii);
    free(ascii);
    return json;
}

json_t *mgvi_json_number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

mgv_status mgvi_json_text(mgv_ctx *ctx, json_t *object, char **text)
{
    char *dumped = object ? json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    if (!dumped)
        return MGVI_FAIL(ctx, MGV_E_MEMORY, "no memory for the report");
    *text = mgvi_strdup(ctx, dumped);
    free(dumped);
    return *text ? MGV_OK : MGV_E_MEMORY;
}

int64_t mgvi_data_bytes(const mgv_data *data)
{
    const mgvi_matrix *X = &data->X;
    int64_t bytes = X->nnz * (int64_t)mgvi_dtype_size(X->dtype);
    if (X->layout != MGV_DENSE)
        bytes += X->nnz * 4 + ((X->layout == MGV_CSR ? X->rows : X->cols) + 1) * 8;
    return bytes + (data->labels ? X->rows * 8 : 0) + (data->weights ? X->rows * 8 : 0);
}

json_t *mgvi_report_data(const mgv_data *data, const char *file)
{
    static const char *const layouts[] = {"dense", "csr", "csc"};
    const mgvi_matrix *X = &data->X;
    json_t *classes = data->classes ? json_array() : json_null();
    for (int64_t c = 0; c < data->classes; c++)
        json_array_append_new(classes, mgvi_json_string(data->class_text[c]));
    return json_pack("{s:o, s:I, s:I, s:I, s:o, s:f, s:I, s:s, s:s, s:s}", "file",
                     file ? mgvi_json_string(file) : json_null(), "n", (json_int_t)X->rows, "d",
                     (json_int_t)X->cols, "nnz", (json_int_t)X->nnz, "classes", classes,
                     "load_seconds", data->load_seconds, "bytes", (json_int_t)mgvi_data_bytes(data),
                     "format", data->format ? data->format : "memory", "layout", layouts[X->layout],
                     "dtype", X->dtype == MGV_F32 ? "f32" : "f64");
}
