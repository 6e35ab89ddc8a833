// The conversion of luma and chroma to RGB by BT.601 with limited range, with the factors of libwebp.
#ifndef CRESAMPLING_PLANES_H
#define CRESAMPLING_PLANES_H

#define LUMA_FACTOR (19077.0f / 16384)
#define RED_FROM_RED (26149.0f / 16384)
#define GREEN_FROM_BLUE (6419.0f / 16384)
#define GREEN_FROM_RED (13320.0f / 16384)
#define BLUE_FROM_BLUE (33050.0f / 16384)

#endif
