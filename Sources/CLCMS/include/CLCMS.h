// Little CMS behind plain functions: one context, and one budget of memory, for each conversion to sRGB.
//
// A context of its own reports no errors and shares nothing, so that one conversion may run on each thread.
#ifndef CLCMS_H
#define CLCMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clcms_converter clcms_converter;

/// The maximum number of bytes that Little CMS holds for one conversion; what would need more counts as broken.
enum { CLCMS_MAXIMUM_BYTES = 64 << 20 };

/// What the pixels are that a profile speaks of.
typedef enum __attribute__((enum_extensibility(closed))) clcms_pixels {
    /// Gray, in the first of four bytes.
    CLCMS_GREY __attribute__((swift_name("grey"))),
    /// Red, green, blue, and a byte that stays.
    CLCMS_RGB __attribute__((swift_name("rgb"))),
    /// Four inks, 0 being all ink and 255 none, as JPEG files have them.
    CLCMS_INKS __attribute__((swift_name("inks"))),
    /// Something else, or a profile that does not describe pixels.
    CLCMS_OTHER __attribute__((swift_name("other"))),
} clcms_pixels;

/// A place in the CIE 1931 diagram.
typedef struct clcms_chromaticity {
    double x, y;
} clcms_chromaticity;

/// A color space of three lights. A value v from 0 to 1 stands for the light (a v + b) ^ gamma, below d for c v.
typedef struct clcms_lights {
    clcms_chromaticity white, red, green, blue;
    double gamma, a, b, c, d;
} clcms_lights;

/// From an ICC profile, which is copied. NULL if it cannot be read.
clcms_converter *clcms_read(const uint8_t *profile, size_t count);
/// From lights. NULL if they span no colors.
clcms_converter *clcms_describe(const clcms_lights *lights);
void clcms_free(clcms_converter *converter);

/// What the profile is for.
clcms_pixels clcms_kind(const clcms_converter *converter);
/// Writes the profile to `bytes`, if that is not NULL; the number of its bytes, 0 if it cannot be written.
size_t clcms_write_profile(const clcms_converter *converter, uint8_t *bytes, size_t capacity);

/// Of a profile that is no more than a curve for each light and the lights' places: the light of each byte, red, green and
/// blue, from 0 to 1; and the linear sRGB of each light, red first. False of others.
bool clcms_lights_of(const clcms_converter *converter, float curves[3 * 256], float colors[3 * 3]);

/// Makes what clcms_convert needs, for samples of one byte or, in the machine's byte order, of two. With `tables` that
/// takes longer, but less for each pixel. False if the profile lacks something.
bool clcms_prepare(clcms_converter *converter, int sample_bytes, bool tables);
/// Lets go of the profile; clcms_convert remains.
void clcms_seal(clcms_converter *converter);
/// Converts pixels of four samples to sRGB. The fourth sample of the results is left as it is. `to` may be `from`.
void clcms_convert(const clcms_converter *converter, const uint8_t *from, uint8_t *to, size_t pixel_count);

/// Bytes that Little CMS holds now.
size_t clcms_held_bytes(const clcms_converter *converter);

#endif
