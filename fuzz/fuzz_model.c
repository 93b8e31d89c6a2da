/* fuzz_model.c - model files: what is accepted must predict and save. */
#include "fuzz.h"

#include "model/model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    mgv_ctx *ctx = fuzz_ctx();
    mgv_model *model;
    if (mgvi_model_parse(ctx, "fuzz", bytes, size, &model) == MGV_OK) {
        const double X[] = {1, -2}, y[] = {1, -1};
        double scores[2];
        mgv_data *data = NULL;
        mgv_metrics metrics = {.size = sizeof metrics};
        if (mgv_data_from_dense(ctx, MGV_F64, X, 2, 1, 1, 1, &data) != MGV_OK ||
            mgv_data_set_labels(ctx, data, y) != MGV_OK)
            abort();
        if (mgv_model_scores(ctx, model, data, scores) == MGV_OK)
            mgv_model_evaluate(ctx, model, data, scores, &metrics);
        mgv_model_info info = {.size = sizeof info};
        mgv_model_describe(model, &info);
        size_t letters = info.label_name ? strlen(info.label_name) : 0;
        for (int64_t j = 0; j < info.features && mgv_model_name(model, j); j++)
            letters += strlen(mgv_model_name(model, j));
        if (letters > size)
            abort();
        mgv_model_origin origin = {.size = sizeof origin};
        char *json = NULL;
        mgv_model_made_by(model, &origin);
        if (mgv_report_model(ctx, model, origin.formula, 3, &json) != MGV_OK)
            abort();
        mgv_string_free(ctx, json);
        mgv_model_save(ctx, model, "/dev/null");
        mgv_data_free(ctx, data);
    }
    mgv_model_free(ctx, model);
    fuzz_check_leaks();
    return 0;
}
