// SPDX-License-Identifier: Apache-2.0
// The inputs of a network: the files of -d, or seeded random values. Files are read before the network is loaded,
// because a file's shape may resize an input; random values are made afterwards, see RandomInputs.hpp.
#pragma once

#include "tools/common/Buffer.hpp"
#include "tools/common/Image.hpp"
#include "tools/common/Model.hpp"

#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::tools
{

struct InputData
{
    /// The type of the binding with the shape of the data; open dimensions of random inputs are 1.
    TensorInfo m_Info;
    Buffer m_Data;
    /// The source of the data, for people: "parrot.jpg, picture of 512x929 resized to 224x224, bytes as they are".
    std::string m_Description;
    bool m_IsPicture = false;
    /// A warning about the data, for people; mostly empty.
    std::string m_Remark = {};
};

/// One input for each binding, in their order; without files, they have no memory yet. An .npz file holds all of them.
/// More files are further sets, one set after another, at most one for each of `iterations`; they must have the shapes
/// of the first set. `shapes`, if not empty, has one entry for each binding; an empty one keeps the binding's shape.
/// With `quantizes`, files for quantized inputs hold real numbers, which are quantized. Where `normalisation` has no
/// numbers, those of the bindings hold for pictures that are float inputs. Throws InputError naming the input, the file
/// and its expected content, and for more bytes together than the limit; RunError if memory is exhausted; UsageError
/// for another number of files, and for open dimensions of an ONNX model that have no file.
std::vector<InputData> LoadInputs(const std::vector<Binding>& bindings, const std::vector<std::string>& files,
                                  const std::vector<std::vector<unsigned int>>& shapes,
                                  const Normalisation& normalisation, const Limits& limits, unsigned int iterations = 1,
                                  bool quantizes = false);

/// Throws UsageError for numbers that are for pictures if no input is one.
void RequirePicture(const std::vector<InputData>& inputs, const Normalisation& normalisation);

/// The bytes of all inputs, with memory or without.
uint64_t CountBytes(const std::vector<InputData>& inputs);

} // namespace tenon::tools
