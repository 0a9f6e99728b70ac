// SPDX-License-Identifier: Apache-2.0
// Fully connected layers of bytes, in both modes of requantization, and of floats by bytes, beside CpuRef, for tests of
// their forms of weights.
#pragma once

#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace tenon::test
{

inline TestTensor StoreBytes(const TensorInfo& info, const std::vector<uint8_t>& bytes)
{
    TestTensor stored = {info, {}};
    std::transform(bytes.begin(), bytes.end(), std::back_inserter(stored.m_Bytes),
                   [](uint8_t byte) { return static_cast<std::byte>(byte); });
    return stored;
}

/// `weights`: [columns, depth].
inline void ExpectConnectedAsReference(const std::string& name, const TestTensor& data, const TestTensor& weights,
                                       float outputScale)
{
    FullyConnectedDescriptor d;
    d.m_TransposeWeightMatrix = true;
    const bool isSigned = data.m_Info.GetDataType() != DataType::QAsymmU8;
    const TensorShape output({data.m_Info.GetShape()[0], weights.m_Info.GetShape()[0]});
    ExpectAsReferenceInBothModes<FullyConnectedDescriptor>(ReferenceCase(name, LayerType::FullyConnected, d,
                                                                         {data, Constant(weights)},
                                                                         InfoInt8(output, isSigned, outputScale, 5)),
                                                           "CpuFullyConnectedInt8");
}

/// The same of random float data.
inline void ExpectHybridAsReference(const std::string& name, unsigned int rows, const TestTensor& weights)
{
    FullyConnectedDescriptor d;
    d.m_TransposeWeightMatrix = true;
    const TensorShape& shape = weights.m_Info.GetShape();
    const TensorInfo data(TensorShape({rows, shape[1]}), DataType::Float32);
    ExpectAsReference(ReferenceCase("floats " + name, LayerType::FullyConnected, d,
                                    {Random(data, rows, -1, 1), Constant(weights)},
                                    TensorInfo(TensorShape({rows, shape[0]}), DataType::Float32)),
                      "CpuFullyConnectedHybrid");
}

} // namespace tenon::test
