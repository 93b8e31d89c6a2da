/* report/report.h - the JSON objects of the command line. Keys are a contract. */
#ifndef MGVI_REPORT_REPORT_H
#define MGVI_REPORT_REPORT_H

#include "complete/completion.h"
#include "model/model.h"
#include "select/selection.h"

#include <jansson.h>

/* Text as JSON; where it is not UTF-8 its bytes beyond ASCII become '?'. NULL: no memory. */
json_t *mgvi_json_string(const char *text);
/* null for what is not a finite number */
json_t *mgvi_json_number(double x);
/* {"file", "n", "d", "nnz", "classes", "load_seconds", "bytes", ...}; NULL: no memory */
json_t *mgvi_report_data(const mgv_data *data, const char *file);
int64_t mgvi_data_bytes(const mgv_data *data);
/* Dumps and frees `object` (NULL: out of memory); *text comes from the context's allocator. */
mgv_status mgvi_json_text(mgv_ctx *ctx, json_t *object, char **text);

/* select.c; without a selection null, and a path of one point. */
json_t *mgvi_report_path(const mgv_selection *selection);
mgv_status mgvi_report_selected(mgv_selection *selection, json_t **out);
json_t *mgvi_report_validation(const mgv_selection *selection);

mgv_status mgvi_report_fit(mgv_ctx *ctx, const mgv_solver *solver, const mgv_model *model,
                           const char *data_file, const char *model_file, char **json);
/* {"model", "data", "problem", "certificate", "metrics"} of given weights. */
mgv_status mgvi_report_evaluation(const mgv_problem *problem, const mgv_certificate *certificate,
                                  const mgv_metrics *metrics, const char *model_file,
                                  const char *data_file, char **json);
/* {"primal", "dual", ...}; null where the check was not passed. */
json_t *mgvi_report_certificate(const mgv_certificate *certificate);
/* {"loss", "penalty", "lambda", "mu", ...}; NULL: no memory */
json_t *mgvi_report_problem(const mgv_problem *problem);
/* `model_files` has a name for every point that is done; NULL: none was saved. */
mgv_status mgvi_report_walk(mgv_ctx *ctx, const mgv_path *path, const char *data_file,
                            const char *const *model_files, char **json);
/* {"data", "assess"} */
mgv_status mgvi_report_assess(mgv_ctx *ctx, const mgv_assess *assess, const char *data_file,
                              char **json);
/* {"data", "problem", "solver", "rmse", "certificate", "model"} */
mgv_status mgvi_report_completion(mgv_ctx *ctx, const mgv_completion *completion,
                                  const char *data_file, const char *model_file, char **json);
mgv_status mgvi_report_deblur(mgv_ctx *ctx, const mgv_deblur *deblur, const char *image_file,
                              const char *psf_name, const char *output_file, char **json);
/* {"model", "problem", "solver", "certificate", "path"}, of a model as its file has it. */
mgv_status mgvi_report_model(mgv_ctx *ctx, const mgv_model *model, const char *file,
                             int64_t largest, char **json);
/* The data doctor. */
mgv_status mgvi_report_check(mgv_ctx *ctx, mgv_data *data, const char *path,
                             const mgv_settings *settings, char **json);
/* The same as lines of text. */
mgv_status mgvi_report_check_text(mgv_ctx *ctx, mgv_data *data, const char *path,
                                  const mgv_settings *settings, char **text);
#endif
