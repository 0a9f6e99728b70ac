// SPDX-License-Identifier: Apache-2.0
// Marks the symbols that libtenon.so exports. Everything else is built with hidden visibility.
#pragma once

#if defined(TENON_STATIC)
#define TENON_API
#elif defined(_WIN32)
#if defined(TENON_BUILDING)
#define TENON_API __declspec(dllexport)
#else
#define TENON_API __declspec(dllimport)
#endif
#else
#define TENON_API __attribute__((visibility("default")))
#endif
