// Little CMS with plain functions: one context, and one memory budget, for each conversion to sRGB.
//
// A separate context reports no errors and shares nothing, so that one conversion can run on each thread.
#ifndef CLCMS_H
#define CLCMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clcms_converter clcms_converter;

/// The maximum memory that Little CMS may hold for one conversion, in bytes; a profile that needs more counts as
/// broken.
enum { CLCMS_MAXIMUM_BYTES = 64 << 20 };

/// The kind of pixels that a profile describes.
typedef enum __attribute__((enum_extensibility(closed))) clcms_pixels {
    /// Gray, in the first of four bytes.
    CLCMS_GRAY __attribute__((swift_name("gray"))),
    /// Red, green, blue, and a byte that is not changed.
    CLCMS_RGB __attribute__((swift_name("rgb"))),
    /// CMYK, with 0 for full ink and 255 for none, as in JPEG files.
    CLCMS_INKS __attribute__((swift_name("cmyk"))),
    /// Something else, or a profile that does not describe pixels.
    CLCMS_OTHER __attribute__((swift_name("other"))),
} clcms_pixels;

/// Coordinates in the CIE 1931 chromaticity diagram.
typedef struct clcms_chromaticity {
    double x, y;
} clcms_chromaticity;

/// The white point and the three primaries of a color space.
typedef struct clcms_primaries {
    clcms_chromaticity white, red, green, blue;
} clcms_primaries;

/// Creates a converter from a copy of an ICC profile. NULL if it cannot be read.
clcms_converter *clcms_read(const uint8_t *profile, size_t count);
/// Creates a converter from primaries and their tone curve. NULL if they span no colors. With the numbers gamma, a, b, c,
/// and d, a value v from 0 to 1 encodes the light (a v + b) ^ gamma, and c v below d. If `numbers` is NULL, `table` has the
/// light of `count` equidistant values, from 0 to 65,535. `name` becomes the description of the profile.
clcms_converter *clcms_describe(
    const clcms_primaries *space, const double numbers[5], const uint16_t *table, size_t count, const char *name);
void clcms_free(clcms_converter *converter);

/// Returns the kind of pixels that the profile describes.
clcms_pixels clcms_kind(const clcms_converter *converter);
/// Writes the profile to `bytes`, unless that is NULL, and returns its length in bytes, 0 if it cannot be written.
size_t clcms_write_profile(const clcms_converter *converter, uint8_t *bytes, size_t capacity);

/// For a matrix profile, returns the light of each byte value, in the order red, green, blue, from 0 to 1, and the
/// linear sRGB color of each primary. Returns false for other profiles.
bool clcms_primaries_of(const clcms_converter *converter, float curves[3 * 256], float colors[3 * 3]);

/// Prepares clcms_convert, for samples of one byte or of two in the machine's byte order. With `tables`, this takes
/// longer, but each pixel takes less time. Returns false if the profile lacks a required part.
bool clcms_prepare(clcms_converter *converter, int sample_bytes, bool tables);
/// Releases the profile; clcms_convert remains usable.
void clcms_seal(clcms_converter *converter);
/// Converts pixels of four samples to sRGB. The fourth sample of the results is not changed. `to` may equal `from`.
void clcms_convert(const clcms_converter *converter, const uint8_t *from, uint8_t *to, size_t pixel_count);

/// Returns the memory currently held by Little CMS, in bytes.
size_t clcms_held_bytes(const clcms_converter *converter);

#endif
