#include "vips_loop.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stddef.h>
#include <string.h>

// The functions of libvips 8 that are used, by their declarations in its documentation.
typedef struct VipsImage VipsImage;
enum { FORMAT_UCHAR = 0 };
static int (*image_init)(const char *);
static void (*set_concurrency)(int);
static void (*set_cache_maximum)(int);
static VipsImage *(*image_from_memory)(const void *, size_t, int, int, int, int);
static void *(*image_to_memory)(VipsImage *, size_t *);
static int (*extract_area)(VipsImage *, VipsImage **, int, int, int, int, ...);
static int (*gaussblur)(VipsImage *, VipsImage **, double, ...);
static int (*bandjoin2)(VipsImage *, VipsImage *, VipsImage **, ...);
static int (*premultiply)(VipsImage *, VipsImage **, ...);
static int (*unpremultiply)(VipsImage *, VipsImage **, ...);
static int (*cast)(VipsImage *, VipsImage **, int, ...);
static void (*unref)(void *);
static void (*release)(void *);

static bool find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool vips_loop_open(uint32_t threads) {
    void *library = dlopen("libvips.so.42", RTLD_NOW);
    if (library == NULL) return false;
    bool is_complete = find(library, "vips_init", &image_init)
        && find(library, "vips_concurrency_set", &set_concurrency)
        && find(library, "vips_cache_set_max", &set_cache_maximum)
        && find(library, "vips_image_new_from_memory", &image_from_memory)
        && find(library, "vips_image_write_to_memory", &image_to_memory)
        && find(library, "vips_extract_area", &extract_area) && find(library, "vips_gaussblur", &gaussblur)
        && find(library, "vips_bandjoin2", &bandjoin2) && find(library, "vips_premultiply", &premultiply)
        && find(library, "vips_unpremultiply", &unpremultiply) && find(library, "vips_cast", &cast)
        && find(library, "g_object_unref", &unref) && find(library, "g_free", &release);
    if (!is_complete || image_init("vips_loop") != 0) return false;
    // The memory of a result is reused for the next one, instead of being returned to the system.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    set_cache_maximum(0);
    if (threads > 0) set_concurrency((int)threads);
    return true;
}

// Releases an image, and returns the one that was made of it, if any.
static VipsImage *replace(VipsImage *image, int status, VipsImage *result) {
    unref(image);
    return status == 0 ? result : NULL;
}

static VipsImage *blurred(VipsImage *image, double sigma) {
    VipsImage *result = NULL;
    int status = gaussblur(image, &result, sigma, NULL);
    return replace(image, status, result);
}

// Calculates the pixels of an image, and releases it.
static bool write(VipsImage *image, uint8_t *output, size_t count) {
    size_t size = 0;
    void *bytes = image_to_memory(image, &size);
    unref(image);
    bool is_complete = bytes != NULL && size == count;
    if (is_complete) memcpy(output, bytes, count);
    release(bytes);
    return is_complete;
}

bool vips_loop_blur(
    const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t bands, double sigma, uint8_t *output) {
    size_t count = (size_t)width * height * bands;
    VipsImage *image = image_from_memory(pixels, count, (int)width, (int)height, (int)bands, FORMAT_UCHAR);
    if (image != NULL) image = blurred(image, sigma);
    return image != NULL && write(image, output, count);
}

static VipsImage *masked(VipsImage *image, const uint8_t *mask, uint32_t side) {
    VipsImage *alpha = image_from_memory(mask, (size_t)side * side, (int)side, (int)side, 1, FORMAT_UCHAR);
    if (alpha == NULL) return replace(image, -1, NULL);
    VipsImage *result = NULL;
    int status = bandjoin2(image, alpha, &result, NULL);
    unref(alpha);
    return replace(image, status, result);
}

bool vips_loop_avatar(
    const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t side, double sigma, const uint8_t *mask,
    bool masks_first, uint8_t *output) {
    VipsImage *image = image_from_memory(
        pixels, (size_t)width * height * 3, (int)width, (int)height, 3, FORMAT_UCHAR);
    if (image == NULL) return false;
    VipsImage *next = NULL;
    int status = extract_area(
        image, &next, (int)(width - side) / 2, (int)(height - side) / 2, (int)side, (int)side, NULL);
    image = replace(image, status, next);
    if (image != NULL && !masks_first) image = blurred(image, sigma);
    if (image != NULL) image = masked(image, mask, side);
    if (image != NULL && masks_first) {
        status = premultiply(image, &next, NULL);
        image = replace(image, status, next);
        if (image != NULL) image = blurred(image, sigma);
        if (image != NULL) {
            status = unpremultiply(image, &next, NULL);
            image = replace(image, status, next);
        }
        if (image != NULL) {
            status = cast(image, &next, FORMAT_UCHAR, NULL);
            image = replace(image, status, next);
        }
    }
    return image != NULL && write(image, output, (size_t)side * side * 4);
}
