// SPDX-License-Identifier: Apache-2.0
#include "delegate/FakeKernels.hpp"

#include "delegate/FakeMemory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace tenon::test
{

namespace
{

TfLiteTensor& TensorAt(TfLiteContext* context, const TfLiteIntArray* operands, int32_t i)
{
    return context->tensors[operands->data[i]];
}

size_t CountElements(const TfLiteTensor& tensor)
{
    size_t count = 1;
    for (int32_t size : ToVector(tensor.dims))
    {
        count *= static_cast<size_t>(size);
    }
    return count;
}

TfLiteStatus Resize(TfLiteContext* context, TfLiteTensor& tensor, const std::vector<int32_t>& dims)
{
    return ToVector(tensor.dims) == dims ? kTfLiteOk
                                         : context->ResizeTensor(context, &tensor, MakeIntArray(dims).release());
}

TfLiteStatus PrepareAsInput(TfLiteContext* context, TfLiteNode* node)
{
    return Resize(context, TensorAt(context, node->outputs, 0), ToVector(TensorAt(context, node->inputs, 0).dims));
}

TfLiteStatus InvokeCopy(TfLiteContext* context, TfLiteNode* node)
{
    const TfLiteTensor& input = TensorAt(context, node->inputs, 0);
    TfLiteTensor& output = TensorAt(context, node->outputs, 0);
    if (output.allocation_type == kTfLiteDynamic && Resize(context, output, ToVector(input.dims)) != kTfLiteOk)
    {
        return kTfLiteError;
    }
    if (input.bytes != 0)
    {
        std::memcpy(output.data, input.data, input.bytes);
    }
    return kTfLiteOk;
}

/// The shape of two operands of which the smaller one is repeated over the larger one's first dimensions.
TfLiteStatus PrepareBinary(TfLiteContext* context, TfLiteNode* node)
{
    const TfLiteTensor& x = TensorAt(context, node->inputs, 0);
    const TfLiteTensor& y = TensorAt(context, node->inputs, 1);
    const TfLiteTensor& larger = CountElements(x) >= CountElements(y) ? x : y;
    if (CountElements(x) == 0 || CountElements(y) == 0 ||
        CountElements(larger) % std::min(CountElements(x), CountElements(y)) != 0)
    {
        context->ReportError(context, "The operands' shapes do not fit.");
        return kTfLiteError;
    }
    return Resize(context, TensorAt(context, node->outputs, 0), ToVector(larger.dims));
}

template <typename Function>
TfLiteStatus InvokeBinary(TfLiteContext* context, TfLiteNode* node, int32_t activation, Function function)
{
    const TfLiteTensor& x = TensorAt(context, node->inputs, 0);
    const TfLiteTensor& y = TensorAt(context, node->inputs, 1);
    const auto* left = static_cast<const float*>(x.data);
    const auto* right = static_cast<const float*>(y.data);
    TfLiteTensor& output = TensorAt(context, node->outputs, 0);
    auto* result = static_cast<float*>(output.data);
    for (size_t i = 0; i < CountElements(output); ++i)
    {
        const float value = function(left[i % CountElements(x)], right[i % CountElements(y)]);
        result[i] = activation == 1 ? std::max(value, 0.0f) : value;
    }
    return kTfLiteOk;
}

TfLiteStatus InvokeAdd(TfLiteContext* context, TfLiteNode* node)
{
    const int32_t activation = static_cast<const FakeAddParams*>(node->builtin_data)->m_Activation;
    return InvokeBinary(context, node, activation, [](float x, float y) { return x + y; });
}

TfLiteStatus InvokeMul(TfLiteContext* context, TfLiteNode* node)
{
    const int32_t activation = static_cast<const FakeActivationParams*>(node->builtin_data)->m_Activation;
    return InvokeBinary(context, node, activation, [](float x, float y) { return x * y; });
}

TfLiteStatus InvokeRelu(TfLiteContext* context, TfLiteNode* node)
{
    const TfLiteTensor& input = TensorAt(context, node->inputs, 0);
    const auto* values = static_cast<const float*>(input.data);
    std::transform(values, values + CountElements(input), static_cast<float*>(TensorAt(context, node->outputs, 0).data),
                   [](float value) { return std::max(value, 0.0f); });
    return kTfLiteOk;
}

/// As the second operand says, or the options where there is none. -1 is the size that the others leave.
std::vector<int32_t> ReadNewShape(TfLiteContext* context, const TfLiteNode& node)
{
    std::vector<int32_t> dims;
    if (node.inputs->size > 1)
    {
        const TfLiteTensor& shape = TensorAt(context, node.inputs, 1);
        const auto* sizes = static_cast<const int32_t*>(shape.data);
        dims.assign(sizes, sizes + CountElements(shape));
    }
    else
    {
        const auto& params = *static_cast<const FakeReshapeParams*>(node.builtin_data);
        dims.assign(params.m_Shape, params.m_Shape + params.m_Rank);
    }
    size_t known = 1;
    for (int32_t size : dims)
    {
        known *= size == -1 ? 1 : static_cast<size_t>(size);
    }
    const size_t count = CountElements(TensorAt(context, node.inputs, 0));
    std::replace(dims.begin(), dims.end(), -1, static_cast<int32_t>(known == 0 ? 0 : count / known));
    return dims;
}

TfLiteStatus ResizeReshaped(TfLiteContext* context, TfLiteNode& node)
{
    TfLiteTensor& output = TensorAt(context, node.outputs, 0);
    const TfLiteStatus status = Resize(context, output, ReadNewShape(context, node));
    if (status == kTfLiteOk && CountElements(output) != CountElements(TensorAt(context, node.inputs, 0)))
    {
        context->ReportError(context, "The new shape has another number of elements.");
        return kTfLiteError;
    }
    return status;
}

TfLiteStatus PrepareReshape(TfLiteContext* context, TfLiteNode* node)
{
    if (node->inputs->size > 1 && TensorAt(context, node->inputs, 1).allocation_type != kTfLiteMmapRo)
    {
        TfLiteTensor& output = TensorAt(context, node->outputs, 0);
        if (output.allocation_type != kTfLiteDynamic)
        {
            output.allocation_type = kTfLiteDynamic;
            output.data = nullptr;
        }
        return kTfLiteOk;
    }
    return ResizeReshaped(context, *node);
}

TfLiteStatus InvokeReshape(TfLiteContext* context, TfLiteNode* node)
{
    if (TensorAt(context, node->outputs, 0).allocation_type == kTfLiteDynamic &&
        ResizeReshaped(context, *node) != kTfLiteOk)
    {
        return kTfLiteError;
    }
    const TfLiteTensor& input = TensorAt(context, node->inputs, 0);
    if (input.bytes != 0)
    {
        std::memcpy(TensorAt(context, node->outputs, 0).data, input.data, input.bytes);
    }
    return kTfLiteOk;
}

TfLiteStatus PrepareNothing(TfLiteContext* /*context*/, TfLiteNode* /*node*/)
{
    return kTfLiteOk;
}

TfLiteStatus FailToInvoke(TfLiteContext* context, TfLiteNode* /*node*/)
{
    context->ReportError(context,
                         "The made-up runtime has no kernel for this operator: a delegate should have taken it.");
    return kTfLiteError;
}

} // namespace

TfLiteRegistration MakeFakeKernel(int32_t code, int32_t version)
{
    TfLiteRegistration kernel{};
    kernel.builtin_code = code;
    kernel.version = version;
    kernel.prepare = PrepareNothing;
    kernel.invoke = FailToInvoke;
    switch (code)
    {
    case AddCode:
        kernel.prepare = PrepareBinary;
        kernel.invoke = InvokeAdd;
        break;
    case MulCode:
        kernel.prepare = PrepareBinary;
        kernel.invoke = InvokeMul;
        break;
    case ReluCode:
        kernel.prepare = PrepareAsInput;
        kernel.invoke = InvokeRelu;
        break;
    case ReshapeCode:
        kernel.prepare = PrepareReshape;
        kernel.invoke = InvokeReshape;
        break;
    default: break;
    }
    return kernel;
}

TfLiteRegistration MakeFakeCustomKernel(const char* name)
{
    TfLiteRegistration kernel{};
    kernel.builtin_code = delegate::CustomCode;
    kernel.custom_name = name;
    kernel.version = 1;
    if (std::string_view(name).rfind(UnresolvedName, 0) != 0)
    {
        const bool isMystery = std::strcmp(name, MysteryName) == 0;
        kernel.prepare = isMystery ? PrepareAsInput : PrepareNothing;
        kernel.invoke = isMystery ? InvokeCopy : FailToInvoke;
    }
    return kernel;
}

std::string NameOfKernel(const TfLiteRegistration& registration)
{
    switch (registration.builtin_code)
    {
    case AddCode: return "ADD";
    case MulCode: return "MUL";
    case ReluCode: return "RELU";
    case ReshapeCode: return "RESHAPE";
    case delegate::DelegateCode: return "DELEGATE";
    case delegate::CustomCode: return registration.custom_name;
    default: return fmt::format("operator {}", registration.builtin_code);
    }
}

size_t SizeOfType(TfLiteType type)
{
    switch (type)
    {
    case kTfLiteUInt8:
    case kTfLiteBool:
    case kTfLiteInt8: return 1;
    case kTfLiteInt16:
    case kTfLiteUInt16:
    case kTfLiteFloat16:
    case kTfLiteBFloat16: return 2;
    case kTfLiteFloat32:
    case kTfLiteInt32:
    case kTfLiteUInt32: return 4;
    case kTfLiteInt64:
    case kTfLiteUInt64:
    case kTfLiteFloat64:
    case kTfLiteComplex64: return 8;
    case kTfLiteComplex128: return 16;
    default: return 0;
    }
}

} // namespace tenon::test
