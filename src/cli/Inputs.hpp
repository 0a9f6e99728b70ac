// SPDX-License-Identifier: Apache-2.0
// What a network is fed with: the files of -d, or seeded random values. Run.cpp calls it before it loads the network,
// because a file's shape may resize an input.
#pragma once

#include "cli/Buffer.hpp"
#include "cli/Image.hpp"
#include "cli/Model.hpp"

#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>

#include <string>
#include <vector>

namespace tenon::cli
{

struct InputData
{
    /// The binding's, with the shape that the data has.
    TensorInfo m_Info;
    Buffer m_Data;
    /// Where it came from, for people: "parrot.jpg, picture of 512x929 resized to 224x224, bytes as they are".
    std::string m_Description;
    bool m_IsPicture = false;
};

/// One per binding, in their order. `shapes`, if not empty, has one entry per binding; an empty one says nothing.
/// Throws InputError naming the input, the file and what was expected; UsageError for a normalisation without a
/// picture.
std::vector<InputData> LoadInputs(const std::vector<Binding>& bindings, const std::vector<std::string>& files,
                                  const std::vector<std::vector<unsigned int>>& shapes,
                                  const Normalisation& normalisation, const Limits& limits);

/// Reads one file, whose kind follows from its content and extension. An .npy file brings its own shape unless
/// `isShapeFixed`; of the others, an .npy's size, a text's count of numbers and a raw file's bytes must fit.
InputData LoadInputFile(const std::string& path, const TensorInfo& expected, bool isShapeFixed,
                        const Normalisation& normalisation, const Limits& limits);

/// Seeded by `index`. Floats and complex numbers in [-1, 1); all values of quantized types; 0 or 1 for plain integers,
/// which tend to be indices, and for Booleans. Open dimensions become 1; an open rank is an InputError.
InputData MakeRandomInput(const TensorInfo& info, size_t index, const Limits& limits);

} // namespace tenon::cli
