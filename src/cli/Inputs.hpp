// SPDX-License-Identifier: Apache-2.0
// The inputs of a network: the files of -d, or seeded random values. Run.cpp reads the files before it loads the
// network, because a file's shape may resize an input, and makes random values afterwards.
#pragma once

#include "cli/Buffer.hpp"
#include "cli/Image.hpp"
#include "cli/Model.hpp"
#include "cli/Options.hpp"

#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::cli
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

/// The shapes of --input-tensor-shape, one for each of the model's inputs, empty if the input keeps the model's shape.
/// Throws UsageError for another number of shapes; further shapes at the end are allowed if they are empty.
std::vector<std::vector<unsigned int>> OrderShapes(const Options& options, size_t numInputs);

/// One input for each binding, in their order; without files, they have no memory yet. More files are further sets, one
/// set after another, at most one for each of `iterations`; they must have the shapes of the first set. `shapes`, if
/// not empty, has one entry for each binding; an empty one keeps the binding's shape. With `quantizes`, files for
/// quantized inputs hold real numbers, which are quantized. Where `normalisation` has no numbers, those of the bindings
/// hold for pictures that are float inputs. Throws InputError naming the input, the file and its expected content, and
/// for more bytes together than the limit; RunError if memory is exhausted; UsageError for another number of files, for
/// a normalisation without a picture, and for open dimensions of an ONNX model that have no file.
std::vector<InputData> LoadInputs(const std::vector<Binding>& bindings, const std::vector<std::string>& files,
                                  const std::vector<std::vector<unsigned int>>& shapes,
                                  const Normalisation& normalisation, const Limits& limits, unsigned int iterations = 1,
                                  bool quantizes = false);

/// "input 'image' as [1,7,8,1] (from wrong.npy; the model says [1,8,8,1])", for the input of this number, which gets a
/// shape of the options or of its file.
std::string DescribeNewShape(const Binding& binding, const TensorShape& shape, size_t index, const Options& options);

/// Inputs without files get memory and values, seeded by their index. Floats and complex numbers in [-1, 1); all values
/// of quantized types; 0 or 1 for plain integers, which tend to be indices, and for Booleans. Throws RunError if memory
/// is exhausted.
void FillRandomInputs(const std::vector<Binding>& bindings, std::vector<InputData>& inputs);

/// The bytes of all inputs, with memory or without.
uint64_t CountBytes(const std::vector<InputData>& inputs);

} // namespace tenon::cli
