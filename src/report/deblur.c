/* deblur.c - what `margrave deblur --json` prints. */
#include "restore/deblur.h"
#include "report/report.h"

static json_t *name_or_null(const char *name)
{
    return name ? mgvi_json_string(name) : json_null();
}

static json_t *psnr_block(const mgv_deblur *d)
{
    if (!d->truth)
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "image", mgvi_json_number(d->psnr_image));
    json_object_set_new(o, "restored", mgvi_json_number(d->psnr));
    json_object_set_new(o, "best", mgvi_json_number(d->memory.best_psnr));
    json_object_set_new(o, "best_iteration", json_integer(d->memory.best_iteration));
    return o;
}

mgv_status mgvi_report_deblur(mgv_ctx *ctx, const mgv_deblur *d, const char *image_file,
                              const char *psf_name, const char *output_file, char **json)
{
    const mgv_image *im = d->image;
    const mgvi_summary sum = mgvi_driver_summary(d->solver);
    json_t *o = json_pack(
        "{s:s, s:s, s:{s:o, s:I, s:I, s:i, s:i, s:b}, s:{s:o, s:I, s:I, s:s}, s:{s:f, s:b},"
        " s:{s:s}, s:{s:s, s:I, s:f, s:i, s:s}, s:{s:o, s:f}, s:o, s:o}",
        "version", mgv_version(), "command", "deblur",                                //
        "image", "file", name_or_null(image_file), "height", (json_int_t)im->height,  //
        "width", (json_int_t)im->width, "channels", (int)im->channels, "depth", (int)im->depth,
        "alpha", im->alpha != NULL,                                                  //
        "blur", "psf", name_or_null(psf_name), "height", (json_int_t)d->psf_height,  //
        "width", (json_int_t)d->psf_width, "edges",
        d->edges == MGVI_EDGES_PERIODIC ? "periodic" : "reflect",        //
        "noise", "deviation", d->noise, "estimated", (int)d->estimated,  //
        "problem", "formula", d->problem->formula,                       //
        "solver", "name", sum.solver, "iterations", (json_int_t)sum.iterations, "seconds",
        sum.seconds, "threads", mgv_ctx_threads(ctx), "stop", mgv_stop_name(sum.stop),  //
        "residual", "reached", mgvi_json_number(d->residual), "target", d->target,      //
        "psnr", psnr_block(d), "output", name_or_null(output_file));
    return mgvi_json_text(ctx, o, json);
}
