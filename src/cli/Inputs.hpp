// SPDX-License-Identifier: Apache-2.0
// What a network is fed with: the files of -d, or seeded random values. Run.cpp reads the files before it loads the
// network, because a file's shape may resize an input, and makes random values afterwards.
#pragma once

#include "cli/Buffer.hpp"
#include "cli/Image.hpp"
#include "cli/Model.hpp"

#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::cli
{

struct InputData
{
    /// The binding's, with the shape that the data has; open dimensions of random inputs are 1.
    TensorInfo m_Info;
    Buffer m_Data;
    /// Where it came from, for people: "parrot.jpg, picture of 512x929 resized to 224x224, bytes as they are".
    std::string m_Description;
    bool m_IsPicture = false;
    /// What may be wrong with it, for people; mostly empty.
    std::string m_Remark = {};
};

/// One per binding, in their order; without files, they have no memory yet. More files are further sets, one set after
/// another, at most one for each of `iterations`; their shapes are those of the first set. `shapes`, if not empty, has
/// one entry per binding; an empty one says nothing. With `quantizes`, files for quantized inputs hold real numbers,
/// which are quantized. Throws InputError naming the input, the file and its expected content, and for more bytes
/// together than the limit; RunError where memory runs out; UsageError for another number of files and for a
/// normalisation without a picture.
std::vector<InputData> LoadInputs(const std::vector<Binding>& bindings, const std::vector<std::string>& files,
                                  const std::vector<std::vector<unsigned int>>& shapes,
                                  const Normalisation& normalisation, const Limits& limits, unsigned int iterations = 1,
                                  bool quantizes = false);

/// Inputs without files get memory and values, seeded by their index. Floats and complex numbers in [-1, 1); all values
/// of quantized types; 0 or 1 for plain integers, which tend to be indices, and for Booleans. Throws RunError where
/// memory runs out.
void FillRandomInputs(const std::vector<Binding>& bindings, std::vector<InputData>& inputs);

/// Of all of them, with memory or without.
uint64_t CountBytes(const std::vector<InputData>& inputs);

} // namespace tenon::cli
