// SPDX-License-Identifier: Apache-2.0
// See NetworkPrinter.hpp.
#include "harness/NetworkPrinter.hpp"

#include "common/Names.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenon::test
{

namespace
{

std::string Literal(bool value)
{
    return value ? "true" : "false";
}

template <typename T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) std::string Literal(T value)
{
    // The least one of a type is no literal of it.
    return value == std::numeric_limits<T>::min() && std::is_signed_v<T> ? fmt::format("{} - 1", value + 1)
                                                                         : fmt::format("{}", value);
}

template <typename T>
requires std::is_floating_point_v<T> std::string Literal(T value)
{
    const char* const type = sizeof(T) == sizeof(float) ? "float" : "double";
    if (std::isnan(value))
    {
        return fmt::format("std::numeric_limits<{}>::quiet_NaN()", type);
    }
    if (std::isinf(value))
    {
        return fmt::format("{}std::numeric_limits<{}>::infinity()", value < 0 ? "-" : "", type);
    }
    std::string text = fmt::format("{}", value);
    text += text.find_first_of(".e") == std::string::npos ? ".0" : "";
    return text + (sizeof(T) == sizeof(float) ? "f" : "");
}

std::string Literal(const std::string& text)
{
    std::string literal = "\"";
    for (const char c : text)
    {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
        {
            literal += '\\';
        }
        literal += std::isprint(byte) != 0 ? std::string(1, c) : fmt::format("\\{:03o}", byte);
    }
    return literal + "\"";
}

#define TENON_TEST_ENUM(type)                                                                                          \
    std::string Literal(type value)                                                                                    \
    {                                                                                                                  \
        return std::string(#type "::") + FieldToString(value);                                                         \
    }
TENON_TEST_ENUM(DataType)
TENON_TEST_ENUM(DataLayout)
TENON_TEST_ENUM(ActivationFunction)
TENON_TEST_ENUM(ArgMinMaxFunction)
TENON_TEST_ENUM(ComplexComponent)
TENON_TEST_ENUM(ComparisonOperation)
TENON_TEST_ENUM(LogicalBinaryOperation)
TENON_TEST_ENUM(UnaryOperation)
TENON_TEST_ENUM(BinaryOperation)
TENON_TEST_ENUM(PoolingAlgorithm)
TENON_TEST_ENUM(ReduceOperation)
TENON_TEST_ENUM(ResizeMethod)
TENON_TEST_ENUM(PaddingMethod)
TENON_TEST_ENUM(PaddingScheme)
TENON_TEST_ENUM(RequantizationMode)
TENON_TEST_ENUM(PaddingMode)
TENON_TEST_ENUM(NormalizationAlgorithmChannel)
TENON_TEST_ENUM(NormalizationAlgorithmMethod)
TENON_TEST_ENUM(OutputShapeRounding)
TENON_TEST_ENUM(ScatterNdFunction)
TENON_TEST_ENUM(ReduceWindowFunction)
TENON_TEST_ENUM(InterpolationMode)
TENON_TEST_ENUM(InterpolationCoordinates)
TENON_TEST_ENUM(NearestRounding)
TENON_TEST_ENUM(AspectRatioPolicy)
TENON_TEST_ENUM(GridPadding)
TENON_TEST_ENUM(PoolingNdFunction)
TENON_TEST_ENUM(RandomDistribution)
TENON_TEST_ENUM(RngAlgorithm)
TENON_TEST_ENUM(EmbeddingCombiner)
TENON_TEST_ENUM(RecurrentCell)
TENON_TEST_ENUM(SequenceDirection)
TENON_TEST_ENUM(RecurrentActivation)
TENON_TEST_ENUM(SignalFeatureFunction)
TENON_TEST_ENUM(SignalFramesFunction)
TENON_TEST_ENUM(FusedKernelType)
#undef TENON_TEST_ENUM

std::string Literal(const std::pair<unsigned int, unsigned int>& value)
{
    return fmt::format("{{{}, {}}}", value.first, value.second);
}

template <typename Range>
std::string Braced(const Range& values)
{
    std::string text = "{";
    for (const auto& value : values)
    {
        text += (text.size() > 1 ? ", " : "") + Literal(value);
    }
    return text + "}";
}

template <typename T>
std::string Literal(const std::vector<T>& values)
{
    return Braced(values);
}

std::string Literal(const PermutationVector& value)
{
    return fmt::format("PermutationVector({})", Braced(value));
}

std::string Literal(const TensorShape& shape)
{
    switch (shape.GetDimensionality())
    {
    case Dimensionality::NotSpecified: return "TensorShape(Dimensionality::NotSpecified)";
    case Dimensionality::Scalar: return "TensorShape(Dimensionality::Scalar)";
    default: break;
    }
    std::vector<unsigned int> sizes;
    std::vector<bool> known;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        known.push_back(shape.GetDimensionSpecificity(i));
        sizes.push_back(known.back() ? shape[i] : 0);
    }
    return shape.AreAllDimensionsSpecified() ? fmt::format("TensorShape({})", Braced(sizes))
                                             : fmt::format("TensorShape({}, {})", Braced(sizes), Braced(known));
}

std::string Literal(const TensorInfo& info)
{
    const std::string start = fmt::format("TensorInfo({}, {}", Literal(info.GetShape()), Literal(info.GetDataType()));
    if (info.HasPerAxisQuantization())
    {
        return fmt::format("{}, std::vector<float>{}, {})", start, Braced(info.GetQuantizationScales()),
                           info.GetQuantizationDim().has_value() ? info.GetQuantizationDim().value() : 0);
    }
    return info.HasQuantization()
               ? fmt::format("{}, {}, {})", start, Literal(info.GetQuantizationScale()), info.GetQuantizationOffset())
               : start + ")";
}

std::string Literal(const ValueRange& range)
{
    return fmt::format("{{{}, {}}}", Literal(range.m_Min), Literal(range.m_Max));
}

[[noreturn]] void RefuseLayer(const Layer& layer, const char* why)
{
    throw UnimplementedException(fmt::format("{} cannot be printed: {}", layer.Describe(), why));
}

/// Statements that make a descriptor `name`.
template <typename D>
std::string MakeDescriptor(const D& descriptor, const std::string& type, const std::string& name)
{
    std::string text = fmt::format("    {} {};\n", type, name);
    const D defaults;
    D::Visit(
        [&](const char* field, auto member)
        {
            if (!(descriptor.*member == defaults.*member))
            {
                text += fmt::format("    {}.m_{} = {};\n", name, field, Literal(descriptor.*member));
            }
        });
    return text;
}

std::string MakeDescriptor(const OriginsDescriptor& descriptor, const std::string&, const std::string& name)
{
    std::string text =
        fmt::format("    OriginsDescriptor {}({}, {});\n    {}.SetConcatAxis({});\n", name, descriptor.GetNumViews(),
                    descriptor.GetNumDimensions(), name, descriptor.GetConcatAxis());
    for (uint32_t view = 0; view < descriptor.GetNumViews() && descriptor.HasOrigins(); ++view)
    {
        for (uint32_t i = 0; i < descriptor.GetNumDimensions(); ++i)
        {
            text += fmt::format("    {}.SetViewOriginCoord({}, {}, {});\n", name, view, i,
                                descriptor.GetViewOrigin(view)[i]);
        }
    }
    return text;
}

std::string MakeDescriptor(const ViewsDescriptor& descriptor, const std::string&, const std::string& name)
{
    std::string text =
        fmt::format("    ViewsDescriptor {}({}, {});\n", name, descriptor.GetNumViews(), descriptor.GetNumDimensions());
    for (uint32_t view = 0; view < descriptor.GetNumViews(); ++view)
    {
        for (uint32_t i = 0; i < descriptor.GetNumDimensions(); ++i)
        {
            text += fmt::format("    {0}.SetViewOriginCoord({1}, {2}, {3});\n    {0}.SetViewSize({1}, {2}, {4});\n",
                                name, view, i, descriptor.GetViewOrigin(view)[i], descriptor.GetViewSizes(view)[i]);
        }
    }
    text += descriptor.HasAxis() ? fmt::format("    {}.SetAxis({});\n", name, descriptor.GetAxis()) : "";
    text += descriptor.m_ParametersAsInputs ? fmt::format("    {}.m_ParametersAsInputs = true;\n", name) : "";
    text += descriptor.m_SizesAsInput ? fmt::format("    {}.m_SizesAsInput = true;\n", name) : "";
    return text;
}

void CheckPrintable(const Layer& layer)
{
    switch (layer.GetType())
    {
    case LayerType::Custom:
    case LayerType::If:
    case LayerType::While:
    case LayerType::PreCompiled: RefuseLayer(layer, "it holds networks or code of its own");
    case LayerType::BatchNormalization:
    case LayerType::Lstm:
    case LayerType::QLstm:
    case LayerType::QuantizedLstm: RefuseLayer(layer, "it is not added with a descriptor alone");
    default: break;
    }
    if (layer.GetSchema().Has(OpFlags::Internal))
    {
        RefuseLayer(layer, "the optimizer alone makes such layers");
    }
}

std::string MakeDescriptorOf(const Layer& layer, const std::string& name)
{
    switch (layer.GetType())
    {
#define TENON_OP(type, descriptor, ...)                                                                                \
    case LayerType::type:                                                                                              \
        return MakeDescriptor(layer.Descriptor<descriptor>(), #descriptor, name);
#include <tenon/ops.def>
    default: return {}; // names that no layer has
    }
}

class CasePrinter
{
public:
    explicit CasePrinter(const NetworkCase& tested) : m_Tested(tested) {}

    std::string Print(const std::string& suite, const std::string& name)
    {
        Line("TEST(" + suite + ", " + name + ")");
        Line("{");
        Line("    NetworkCase tested;");
        Line("    INetwork& network = *tested.m_Network;");
        for (const Layer* layer : m_Tested.GetGraph().TopologicalOrder())
        {
            Add(*layer);
        }
        AddRuns();
        Line("    ExpectAgreement(tested);");
        Line("}");
        return std::move(m_Text);
    }

private:
    void Line(const std::string& line) { m_Text += line + "\n"; }

    /// An identifier that says what the layer is.
    std::string NameFor(const Layer& layer)
    {
        std::string name = GetLayerTypeAsCString(layer.GetType());
        name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
        return fmt::format("{}{}", name, m_Names.size());
    }

    void Add(const Layer& layer)
    {
        const std::string name = m_Names[&layer] = NameFor(layer);
        const std::string text = Literal(layer.GetNameStr());
        const std::string start = fmt::format("    IConnectableLayer* const {} = ", name);
        switch (layer.GetType())
        {
        case LayerType::Input:
            Line(fmt::format("{}network.AddInputLayer({}, {});", start, layer.GetBindingId(), text));
            Line(fmt::format("    tested.m_Inputs[{}] = {};", layer.GetBindingId(),
                             Literal(m_Tested.m_Inputs.at(layer.GetBindingId()))));
            break;
        case LayerType::Output:
            Line(fmt::format("{}network.AddOutputLayer({}, {});", start, layer.GetBindingId(), text));
            break;
        case LayerType::Constant: Line(start + MakeConstant(layer)); return;
        default: AddComputing(layer, name, start, text);
        }
        Connect(layer, name);
    }

    void AddComputing(const Layer& layer, const std::string& name, const std::string& start, const std::string& text)
    {
        CheckPrintable(layer);
        const std::string type = GetLayerTypeAsCString(layer.GetType());
        const std::string descriptor = name + "Descriptor";
        const std::string making = MakeDescriptorOf(layer, descriptor);
        if (layer.GetParameters().IsNull())
        {
            Line(fmt::format("{}network.Add{}Layer({});", start, type, text));
        }
        else
        {
            m_Text += making;
            Line(fmt::format("{}network.Add{}Layer({}, {});", start, type, descriptor, text));
        }
    }

    void Connect(const Layer& layer, const std::string& name)
    {
        for (const InputSlot& input : layer.Inputs())
        {
            const OutputSlot* const source = input.GetConnectedOutputSlot();
            if (source != nullptr)
            {
                Line(fmt::format("    {}->GetOutputSlot({}).Connect({}->GetInputSlot({}));",
                                 m_Names.at(&source->GetOwningLayer()), source->CalculateIndexOnOwner(), name,
                                 input.GetSlotIndex()));
            }
            if (input.IsTensorInfoOverridden())
            {
                Line(fmt::format("    {}->GetInputSlot({}).SetTensorInfo({});", name, input.GetSlotIndex(),
                                 Literal(input.GetTensorInfo())));
            }
        }
        for (const OutputSlot& output : layer.Outputs())
        {
            if (output.IsTensorInfoSet())
            {
                Line(fmt::format("    {}->GetOutputSlot({}).SetTensorInfo({});", name, output.CalculateIndexOnOwner(),
                                 Literal(output.GetTensorInfo())));
            }
        }
    }

    std::string MakeConstant(const Layer& layer)
    {
        const ConstTensor& tensor = layer.GetConstant()->m_Tensor;
        const std::string end = fmt::format("{});", Literal(layer.GetNameStr()));
        const auto filled = m_Tested.m_Constants.find(layer.GetNameStr());
        if (filled != m_Tested.m_Constants.end())
        {
            return fmt::format("AddConstant(tested, {}, {}, {}", Literal(tensor.GetInfo()), Literal(filled->second),
                               end);
        }
        switch (tensor.GetDataType())
        {
        case DataType::Float32: return ListConstant<float>("float", tensor, end);
        case DataType::Float64: return ListConstant<double>("double", tensor, end);
        case DataType::Signed32: return ListConstant<int32_t>("int32_t", tensor, end);
        case DataType::Signed64: return ListConstant<int64_t>("int64_t", tensor, end);
        case DataType::QAsymmS8:
        case DataType::QSymmS8:
        case DataType::Signed8: return ListConstant<int8_t>("int8_t", tensor, end);
        case DataType::QSymmS16:
        case DataType::Signed16: return ListConstant<int16_t>("int16_t", tensor, end);
        case DataType::Float16:
        case DataType::BFloat16: return ListConstant<uint16_t>("uint16_t", tensor, end);
        default: return ListConstant<uint8_t>("uint8_t", tensor, end);
        }
    }

    template <typename T>
    static std::string ListConstant(const char* type, const ConstTensor& tensor, const std::string& end)
    {
        std::vector<T> values(tensor.GetNumBytes() / sizeof(T));
        if (!values.empty())
        {
            std::memcpy(values.data(), tensor.GetMemoryArea(), values.size() * sizeof(T));
        }
        return fmt::format("AddConstant<{0}>(tested, {1}, std::vector<{0}>{2}, {3}", type, Literal(tensor.GetInfo()),
                           Braced(values), end);
    }

    void AddRuns()
    {
        for (const NetworkCase::Shapes& run : m_Tested.m_Runs)
        {
            std::string shapes;
            for (const auto& [id, shape] : run)
            {
                shapes += fmt::format("{}{{{}, {}}}", shapes.empty() ? "" : ", ", id, Literal(shape));
            }
            Line(fmt::format("    tested.m_Runs.push_back({{{}}});", shapes));
        }
    }

    const NetworkCase& m_Tested;
    std::map<const Layer*, std::string> m_Names;
    std::string m_Text;
};

} // namespace

std::string PrintAsTest(const NetworkCase& tested, const std::string& suite, const std::string& name)
{
    return CasePrinter(tested).Print(suite, name);
}

} // namespace tenon::test
