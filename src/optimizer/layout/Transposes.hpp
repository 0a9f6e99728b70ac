// SPDX-License-Identifier: Apache-2.0
// What the passes that make, move and fold Transposes share.
#pragma once

#include "graph/ChannelsLast.hpp"
#include "graph/Graph.hpp"

#include <tenon/descriptors/Arrangement.hpp>

namespace tenon
{

/// A Transpose of known mappings that does nothing else: neither is its input overridden nor its output declared with
/// another quantization, which would give the values another meaning.
bool IsPlainTranspose(const Layer* layer);

/// Of a Transpose.
inline const PermutationVector& MappingsOf(const Layer& transpose)
{
    return transpose.Descriptor<TransposeDescriptor>().m_DimMappings;
}

PermutationVector Identity(unsigned int rank);
bool IsIdentity(const PermutationVector& mappings);

/// Mappings of `first` then `second`: dst[i] = mid[second[i]] = src[first[second[i]]]. Both are of one size.
PermutationVector Composed(const PermutationVector& first, const PermutationVector& second);

} // namespace tenon
