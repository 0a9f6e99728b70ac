// SPDX-License-Identifier: Apache-2.0
// What the files of cases share: each adds the cases of a family of layers. Cases.cpp joins them.
#pragma once

#include "Cases.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tenon::test
{

inline TensorInfo Floats(const TensorShape& shape)
{
    return TensorInfo(shape, DataType::Float32);
}

inline TensorInfo Typed(const TensorShape& shape, DataType type, float scale = 0.0f, int32_t offset = 0)
{
    return TensorInfo(shape, type, scale, offset);
}

/// Values that differ from each other, as make_armnn.py has them.
std::vector<double> Pattern(size_t count, DataType type);

using Cases = std::vector<ArmnnCase>;
using Added = IConnectableLayer*;

/// Adds what `add(network, name)` adds.
template <typename Add>
auto Only(Add add)
{
    return [add](CaseMaker& make) -> Added { return add(*make.operator->(), "layer"); };
}

void AddElementwise(Cases& cases);
void AddArrangement(Cases& cases);
void AddConvolution(Cases& cases);
void AddNormalization(Cases& cases);
void AddPooling(Cases& cases);
void AddReduction(Cases& cases);
void AddSlicing(Cases& cases);
void AddStructure(Cases& cases);
void AddVision(Cases& cases);
void AddRecurrent(Cases& cases);
void AddVersions(Cases& cases);

} // namespace tenon::test
