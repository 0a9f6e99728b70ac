// SPDX-License-Identifier: Apache-2.0
// OpSchema: the properties of each layer type, derived from ops.def. The graph, the optimizer and the runtime use it.
#pragma once

#include "common/OpFlags.hpp"
#include "graph/InferContext.hpp"
#include "graph/OpRules.hpp"

#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace tenon
{

/// Is called with each field of a descriptor: name and value as text. For dumps.
using FieldVisitor = std::function<void(const char* name, const std::string& value)>;

struct OpSchema
{
    const char* m_Name;
    uint8_t m_MinInputs;
    OpFlags m_Flags;
    InferFunction m_Infer;

    /// Input and output slots of a layer with this descriptor.
    uint32_t (*m_NumInputs)(const BaseDescriptor&);
    uint32_t (*m_NumOutputs)(const BaseDescriptor&);
    /// Bit i: shape inference needs the values of input i.
    uint32_t (*m_ValueInputs)(const BaseDescriptor&);
    /// Whether output shapes are known only when the workload has run.
    bool (*m_HasDataDependentShapes)(const BaseDescriptor&);
    /// The size of a descriptor, its alignment, and a function that makes a copy in memory of that size and alignment.
    uint32_t m_DescriptorBytes;
    uint32_t m_DescriptorAlignment;
    BaseDescriptor* (*m_CopyTo)(const BaseDescriptor&, void* memory);
    bool (*m_Equal)(const BaseDescriptor&, const BaseDescriptor&);
    void (*m_VisitFields)(const BaseDescriptor&, const FieldVisitor&);
    /// The number of dimensions by m_Tiling for an output 0 of this rank; see CountTiledDimensions.
    unsigned int (*m_CountTiled)(const BaseDescriptor&, unsigned int rank);
    /// The answers of the row that several files ask for.
    Runner m_Runner;
    LayoutRule m_Layout;
    AxesRule m_Axes;
    WidthRule m_Widths;
    Tiling m_Tiling;
    /// Whether input i must be connected.
    bool (*m_NeedsInput)(const BaseDescriptor&, uint32_t i);

    bool Has(OpFlags flag) const { return HasFlag(m_Flags, flag); }
};

/// The number of rows of ops.def, deprecated names not counted.
extern const size_t NumLayerTypes;

/// The row of a layer type. Throws InvalidArgumentException for a deprecated name, which no layer has.
const OpSchema& GetSchema(LayerType type);

/// The number of leading dimensions of its output 0, of `rank` dimensions, along which a layer works index by index:
/// its output at one index there depends on nothing but its inputs at this index, or at index 0 where they are
/// broadcast. The number is from 0, where the layer is known to work so along none, up to `rank`. `descriptor` is the
/// one of the type.
unsigned int CountTiledDimensions(LayerType type, const BaseDescriptor& descriptor, unsigned int rank);

} // namespace tenon
