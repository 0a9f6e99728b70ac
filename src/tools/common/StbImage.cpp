// SPDX-License-Identifier: Apache-2.0
// The implementation of stb_image, which Image.cpp calls: PNG, JPEG and BMP from memory. Warnings are off for this
// file.
#include <stdexcept>

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 65535
// A failed assertion means a corrupt picture here, and a program does not end for one.
#define STBI_ASSERT(condition) ((condition) ? (void)0 : throw std::runtime_error("the picture contradicts itself"))
#include <stb/stb_image.h>
