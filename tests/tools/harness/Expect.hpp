// SPDX-License-Identifier: Apache-2.0
// Checks that a statement throws an error of a type whose text has certain words.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

#define EXPECT_THROW_WITH(statement, ErrorType, words)                                                                 \
    EXPECT_THROW(                                                                                                      \
        try { statement; } catch (const std::exception& error) {                                                       \
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();                       \
            throw;                                                                                                     \
        },                                                                                                             \
        ErrorType)
