// SPDX-License-Identifier: Apache-2.0
// The implementation of stb_image_write, with which Pictures.hpp makes pictures.
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>
