// SPDX-License-Identifier: Apache-2.0
// The bundled int8 model as bytes, and where files made of it have their structure.
#pragma once

#include "FuzzTarget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <tflite_generated.h>
#include <vector>

namespace tenon::test
{

inline Bytes DigitsModel()
{
    std::ifstream file("samples/digits/digits_int8.tflite", std::ios::binary);
    Bytes bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_GT(bytes.size(), 10000u) << "run this test in the root of the source tree";
    return bytes;
}

/// All bytes of the file but those of the model's large weights, of which one in 64 is enough: readers take them as
/// they are.
inline std::vector<size_t> PlacesOfStructure(const Bytes& file)
{
    constexpr size_t minWeights = 256;
    constexpr size_t step = 64;
    const Bytes model = DigitsModel();
    std::vector<bool> isWeight(file.size(), false);
    for (const auto* buffer : *tflite::schema::GetModel(model.data())->buffers())
    {
        if (const auto* data = buffer->data(); data != nullptr && data->size() >= minWeights)
        {
            const auto found = std::search(file.begin(), file.end(), data->begin(), data->end());
            if (found != file.end())
            {
                std::fill_n(isWeight.begin() + (found - file.begin()), data->size(), true);
            }
        }
    }
    std::vector<size_t> places;
    for (size_t at = 0; at < file.size(); ++at)
    {
        if (!isWeight[at] || at % step == 0)
        {
            places.push_back(at);
        }
    }
    return places;
}

} // namespace tenon::test
