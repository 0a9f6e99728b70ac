// SPDX-License-Identifier: Apache-2.0
// ICustomOperator: an operator of the application's own, shapes and kernel, that CpuRef runs. Put it into
// CustomDescriptor::m_Operator, or into the options of a parser, which then takes it for the operators of its name.
#pragma once

#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkload.hpp>
#include <tenon/descriptors/External.hpp>

#include <memory>
#include <vector>

namespace tenon
{

/// The arguments of a custom operator's shape inference. All shapes are known.
struct CustomShapeArgs
{
    const CustomDescriptor& m_Descriptor;
    Span<const TensorInfo* const> m_Inputs; ///< null where not connected
    Span<const void* const> m_Values;       ///< values of the inputs that GetValueInputs lists; else null
};

/// Immutable and thread-safe: any number of networks and threads share it.
class TENON_API ICustomOperator
{
public:
    virtual ~ICustomOperator();

    /// The name in models, e.g. the custom_code of a .tflite file.
    virtual const char* GetName() const = 0;

    /// One shape for each output. Throws LayerValidationException when the inputs do not fit. A shape of an operator
    /// with late outputs is ignored.
    virtual std::vector<TensorShape> InferOutputShapes(const CustomShapeArgs& args) const = 0;
    /// Bit i: InferOutputShapes needs the values of input i.
    virtual uint32_t GetValueInputs() const { return 0; }
    /// Whether output shapes are known only when the kernel has run: it then takes the memory of each output from
    /// ExecuteArgs::m_LateOutputs.
    virtual bool HasLateOutputs() const { return false; }

    /// Whether the kernel takes these types and parameters; asked by Optimize().
    virtual SupportResult IsSupported(const LayerView& layer) const = 0;
    /// Makes the kernel of one layer. The operator outlives it.
    virtual std::unique_ptr<backend::IWorkload> CreateWorkload(const LayerView& layer) const = 0;
};

} // namespace tenon
