/* test_image.c - images through files: what was written is read, whatever a PNG or PGM may hold;
 * damaged and hostile files get a sentence. */
#include "check.h"

#include "base/rng.h"
#include "io/image_io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *path(const char *suffix)
{
    static char name[64];
    snprintf(name, sizeof name, "test_image.%d%s", (int)getpid(), suffix);
    return name;
}

static mgv_image *random_image(mgv_ctx *ctx, int64_t h, int64_t w, int channels, bool alpha,
                               int depth)
{
    mgvi_rng rng = mgvi_rng_seed(5);
    mgv_image *im;
    CHECK_OK(ctx, mgvi_image_new(ctx, "test", h, w, channels, alpha, &im));
    im->depth = depth;
    const uint32_t levels = depth == 16 ? 65536 : 256;
    for (int64_t i = 0; i < mgvi_image_numbers(im); i++)
        im->pixels[i] = mgvi_rng_below(&rng, levels) / (levels - 1.0);
    for (int64_t i = 0; alpha && i < h * w; i++)
        im->alpha[i] = mgvi_rng_below(&rng, levels) / (levels - 1.0);
    return im;
}

/* Both depths, grey and colour, with and without alpha, to the last bit. */
TEST(what_is_written_is_read)
{
    static const char *const names[] = {".png", ".pgm"};
    mgv_ctx *ctx = mgv_check_ctx();
    for (int kind = 0; kind < 2; kind++)
        for (int form = 0; form < 8; form++) {
            const bool alpha = form & 1 && kind == 0;
            mgv_image *im = random_image(ctx, 7, 13, form & 2 ? 3 : 1, alpha, form & 4 ? 16 : 8),
                      *back;
            CHECK_OK(ctx, mgv_image_write(ctx, im, path(names[kind])));
            CHECK_OK(ctx, mgv_image_read(ctx, path(names[kind]), &back));
            mgv_image_info info = {.size = sizeof info};
            mgv_image_describe(back, &info);
            CHECK(info.height == 7 && info.width == 13 && info.channels == im->channels);
            CHECK(info.depth == im->depth && !info.alpha == !alpha);
            for (int64_t i = 0; i < mgvi_image_numbers(im); i++)
                CHECK_NEAR(info.pixels[i], im->pixels[i], 0, "form %d, number %d", form, (int)i);
            for (int64_t i = 0; alpha && i < 7 * 13; i++)
                CHECK_NEAR(info.alpha[i], im->alpha[i], 0, "alpha %d", (int)i);
            double same;
            CHECK_OK(ctx, mgv_image_psnr(ctx, im, back, &same));
            CHECK(isinf(same));
            mgv_image_free(ctx, im);
            mgv_image_free(ctx, back);
        }
    unlink(path(".png"));
    unlink(path(".pgm"));
    mgv_ctx_free(ctx);
}

/* Numbers out of range are clipped, without a depth they get 16 bits. */
TEST(numbers_are_clipped_and_rounded)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const double pixels[6] = {-3, 0.25, 7, 1, 0, 1e-9};
    mgv_image *im, *back;
    CHECK_OK(ctx, mgv_image_new(ctx, 2, 3, 1, pixels, &im));
    CHECK_OK(ctx, mgv_image_write(ctx, im, path(".png")));
    CHECK_OK(ctx, mgv_image_read(ctx, path(".png"), &back));
    const double want[6] = {0, 16384 / 65535.0, 1, 1, 0, 0};
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(back->pixels[i], want[i], 0, "pixel %d", i);
    CHECK(back->depth == 16);
    double psnr;
    CHECK_OK(ctx, mgv_image_psnr(ctx, im, back, &psnr));
    CHECK(psnr > 100);
    mgv_image_free(ctx, back);
    CHECK_FAILS(ctx, mgv_image_write(ctx, im, path(".jpg")), MGV_E_ARG, "ends in .png");
    CHECK_FAILS(ctx, mgv_image_write(ctx, im, "no/such/place.png"), MGV_E_IO, "no/such/place.png");
    mgv_image_free(ctx, im);
    unlink(path(".png"));
    const double bad[2] = {1, NAN};
    CHECK_FAILS(ctx, mgv_image_new(ctx, 1, 2, 1, bad, &im), MGV_E_INPUT, "number 1");
    CHECK_FAILS(ctx, mgv_image_new(ctx, 1, 2, 1, NULL, &im), MGV_E_ARG, "pixels");
    CHECK_FAILS(ctx, mgv_image_new(ctx, 0, 2, 1, bad, &im), MGV_E_INPUT, "0 x 2");
    CHECK_FAILS(ctx, mgv_image_new(ctx, 1, 2, 65, bad, &im), MGV_E_INPUT, "65 channels");
    CHECK_FAILS(ctx, mgv_image_new(ctx, 32768, 32768, 3, bad, &im), MGV_E_INPUT, "32768 pixels");
    mgv_ctx_free(ctx);
}

static mgv_status parse(mgv_ctx *ctx, const void *bytes, size_t size, mgv_image **out)
{
    mgvi_source source = {.path = "input", .size = size};
    source.bytes = mgvi_dup(ctx, bytes, size, 1); /* exact in size: reading beyond is seen */
    CHECK(source.bytes);
    const mgv_status st = mgvi_image_parse(ctx, &source, out);
    mgvi_source_close(ctx, &source);
    return st;
}

/* Text and binary, comments, blanks of all kinds, any largest value. */
TEST(pgm_in_all_its_spellings)
{
    static const char *const texts[] = {"P2 2 2 4 0 1 2 4", "P2\n#a\n2 #b\n2\n4\n0\t1\r\n2 4\n",
                                        "P2#\n2 2 4\n0 1#x\n2 #y\n4", "P5\n2 2\n4\n\0\1\2\4"};
    const double want[4] = {0, .25, .5, 1};
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_image *im;
    for (int t = 0; t < 4; t++) {
        CHECK_OK(ctx, parse(ctx, texts[t], t == 3 ? 13 : strlen(texts[t]), &im));
        CHECK(im->height == 2 && im->width == 2 && im->channels == 1 && im->depth == 8);
        for (int i = 0; i < 4; i++)
            CHECK_NEAR(im->pixels[i], want[i], 0, "text %d, pixel %d", t, i);
        mgv_image_free(ctx, im);
    }
    CHECK_OK(ctx, parse(ctx, "P3 1 1 1000 10 500 1000", 23, &im));
    CHECK(im->channels == 3 && im->depth == 16 && im->pixels[1] == .5);
    mgv_image_free(ctx, im);
    CHECK_OK(ctx, parse(ctx, "P6 1 1 256 \0\0\0\x80\1\0", 17, &im));
    CHECK(im->channels == 3 && im->pixels[1] == .5 && im->pixels[2] == 1);
    mgv_image_free(ctx, im);
    mgv_ctx_free(ctx);
}

static mgv_image *from_corpus(mgv_ctx *ctx, const char *name)
{
    char file[300];
    mgv_image *im;
    snprintf(file, sizeof file, "%s/corpus/image/%s", MGV_TEST_DIR, name);
    CHECK_OK(ctx, mgv_image_read(ctx, file, &im));
    return im;
}

/* Interlaced lines, one bit a pixel, palettes, a transparent colour: made without libpng. */
TEST(pngs_of_every_kind)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_image *im = from_corpus(ctx, "interlaced.png");
    for (int p = 0; p < 64; p++)
        CHECK_NEAR(im->pixels[p], p / 255., 1e-15, "pixel %d", p);
    mgv_image_free(ctx, im);
    im = from_corpus(ctx, "grey1.png"); /* lines 00000000 0000101(1), 00100101 ... */
    CHECK(im->width == 9 && im->depth == 8 && im->pixels[0] == 0 && im->pixels[9 + 2] == 1);
    mgv_image_free(ctx, im);
    im = from_corpus(ctx, "palette4.png");
    CHECK(im->channels == 3 && im->alpha && im->alpha[0] == 0 && im->pixels[2] == 2 / 255.);
    mgv_image_free(ctx, im);
    im = from_corpus(ctx, "grey16_trns.png"); /* the colour 000b is transparent: the first pixel */
    CHECK(im->channels == 1 && im->depth == 16 && im->alpha);
    CHECK(im->alpha[0] == 0 && im->alpha[1] == 1 && im->pixels[0] == 11 / 65535.);
    mgv_image_free(ctx, im);
    mgv_ctx_free(ctx);
}

TEST(bad_files_get_a_sentence)
{
    static const struct {
        const char *text, *part;
    } cases[] = {{"", "is empty"},
                 {"hello", "PNG, PGM or PPM"},
                 {"P1 1 1 0", "PNG, PGM or PPM"},
                 {"P2 2 2", "lacks the width"},
                 {"P2 2 x 4 1", "lacks the width"},
                 {"P2 99999999999 2 4 1", "lacks the width"},
                 {"P2 2 2 0 0 0 0 0", "largest value is 0"},
                 {"P5 2 2 70000 ", "largest value is 70000"},
                 {"P2 2 2 4 0 1 2", "truncated"},
                 {"P2 2 2 4 0 1 2   a", "number 4"},
                 {"P2 2 2 4 0 1 9 1", "number 3 is 9"},
                 {"P5 2 2 255 abc", "truncated"},
                 {"P5 32768 32768 255 abc", "truncated"},
                 {"P5 40000 1 255 abc", "40000"},
                 {"P5 0 5 255 abc", "0 pixels"},
                 {"\211PNG\r\n\032\nabc", "truncated"}};
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_image *im;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].part, "0 pixels") != 0)
            CHECK_FAILS(ctx, parse(ctx, cases[i].text, strlen(cases[i].text), &im), MGV_E_INPUT,
                        cases[i].part);
        else
            CHECK_FAILS(ctx, parse(ctx, cases[i].text, strlen(cases[i].text), &im), MGV_E_INPUT,
                        "allowed: 1 to");
    CHECK_FAILS(ctx, mgv_image_read(ctx, "no such file", &im), MGV_E_IO, "no such file");
    mgv_ctx_free(ctx);
}

static size_t load(const char *name, unsigned char *bytes, size_t most)
{
    FILE *f = fopen(name, "rb");
    CHECK(f != NULL);
    const size_t size = fread(bytes, 1, most, f);
    fclose(f);
    return size;
}

/* Cut at every length, every byte changed: never a crash, always a sentence or an image. */
TEST(damaged_pngs_are_survived)
{
    static unsigned char bytes[4096], copy[4096];
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_image *im = random_image(ctx, 6, 5, 3, true, 16);
    CHECK_OK(ctx, mgv_image_write(ctx, im, path(".png")));
    mgv_image_free(ctx, im);
    const size_t size = load(path(".png"), bytes, sizeof bytes);
    unlink(path(".png"));
    for (size_t cut = 8; cut < size; cut++) {
        const mgv_status st = parse(ctx, bytes, cut, &im);
        CHECK_THAT(st == MGV_E_INPUT && mgv_ctx_error(ctx)[0] && !im, "cut at %d", (int)cut);
    }
    for (size_t at = 8; at < size; at++) {
        memcpy(copy, bytes, size);
        copy[at] ^= 0xa5;
        const mgv_status st = parse(ctx, copy, size, &im);
        CHECK(st == MGV_OK || st == MGV_E_INPUT);
        mgv_image_free(ctx, im);
    }
    /* a head that announces 30000 x 30000 pixels; its check sum is right */
    static const unsigned char bomb[] =
        "\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\x75\x30\0\0\x75\x30\x08\0\0\0\0"
        "\x51\xe6\xd5\x7b\0\0\0\1IDATx\0\0\0\0";
    CHECK(parse(ctx, bomb, sizeof bomb - 1, &im) == MGV_E_INPUT);
    mgv_ctx_free(ctx);
}

/* PSFs: odd sides, sum 1, tables and images. */
TEST(point_spread_functions_from_files)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_image *psf;
    FILE *f = fopen(path(".csv"), "w");
    fputs("0,1,0,0\n1,4,1,0\n", f);
    fclose(f);
    CHECK_OK(ctx, mgv_psf_read(ctx, path(".csv"), &psf));
    CHECK(psf->height == 3 && psf->width == 5);
    CHECK_NEAR(psf->pixels[6], 4. / 7, 1e-15, "scaled to the sum 1");
    CHECK(psf->pixels[4] == 0 && psf->pixels[12] == 0);
    mgv_image_free(ctx, psf);
    f = fopen(path(".csv"), "w");
    fputs("1,-1\n-1,1\n", f);
    fclose(f);
    CHECK_FAILS(ctx, mgv_psf_read(ctx, path(".csv"), &psf), MGV_E_INPUT, "add up to 0");
    unlink(path(".csv"));
    mgv_image *colour = random_image(ctx, 3, 3, 3, false, 8);
    CHECK_OK(ctx, mgv_image_write(ctx, colour, path(".ppm")));
    CHECK_FAILS(ctx, mgv_psf_read(ctx, path(".ppm"), &psf), MGV_E_INPUT, "3 channels");
    mgv_image_free(ctx, colour);
    unlink(path(".ppm"));
    CHECK_OK(ctx, mgv_psf_gaussian(ctx, 1.5, &psf));
    double sum = 0, square = 0;
    for (int64_t p = 0; p < psf->height * psf->width; p++) {
        sum += psf->pixels[p];
        square += psf->pixels[p] * (double)((p % psf->width - 7) * (p % psf->width - 7));
    }
    CHECK(psf->height == 15);
    CHECK_NEAR(sum, 1, 1e-14, "sum");
    CHECK_NEAR(square, 2.25, 1e-3, "width");
    mgv_image_free(ctx, psf);
    CHECK_FAILS(ctx, mgv_psf_gaussian(ctx, 0, &psf), MGV_E_ARG, "is 0");
    CHECK_FAILS(ctx, mgv_psf_gaussian(ctx, NAN, &psf), MGV_E_ARG, "above 0");
    mgv_ctx_free(ctx);
}

static mgv_status use_files(mgv_ctx *ctx, mgv_image **im, mgv_image **psf)
{
    const double pixels[6] = {0, .2, .4, .6, .8, 1};
    MGVI_TRY(mgv_image_new(ctx, 2, 3, 1, pixels, im));
    MGVI_TRY(mgv_image_write(ctx, *im, path(".png")));
    mgv_image_free(ctx, *im);
    MGVI_TRY(mgv_image_read(ctx, path(".png"), im));
    MGVI_TRY(mgv_image_write(ctx, *im, path(".pgm")));
    mgv_image_free(ctx, *im);
    MGVI_TRY(mgv_image_read(ctx, path(".pgm"), im));
    return mgv_psf_read(ctx, path(".pgm"), psf);
}

TEST(every_failing_allocation_is_survived)
{
    for (long fail_at = 1, done = 0; !done; fail_at++) {
        mgv_check_allocator a;
        mgv_check_allocator_init(&a, 0);
        mgv_ctx *ctx;
        CHECK(mgv_ctx_new(&a.hooks, &ctx) == MGV_OK);
        atomic_store(&a.calls, 0);
        a.fail_at = fail_at;
        mgv_image *im = NULL, *psf = NULL;
        const mgv_status st = use_files(ctx, &im, &psf);
        CHECK_THAT(st == MGV_OK || (st == MGV_E_MEMORY && mgv_ctx_error(ctx)[0]), "%ld: %s",
                   fail_at, mgv_status_name(st));
        done = st == MGV_OK;
        mgv_image_free(ctx, im);
        mgv_image_free(ctx, psf);
        mgv_ctx_free(ctx);
        CHECK(atomic_load(&a.live) == 0);
        CHECK(fail_at < 200);
    }
    unlink(path(".png"));
    unlink(path(".pgm"));
}

int main(void)
{
    return RUN(what_is_written_is_read, numbers_are_clipped_and_rounded, pgm_in_all_its_spellings,
               pngs_of_every_kind, bad_files_get_a_sentence, damaged_pngs_are_survived,
               point_spread_functions_from_files, every_failing_allocation_is_survived);
}
