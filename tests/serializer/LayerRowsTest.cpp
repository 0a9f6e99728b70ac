// SPDX-License-Identifier: Apache-2.0
// A layer of each row of ops.def, with each of its parameters away from the default, goes through a file unchanged.
#include "Files.hpp"
#include "common/Enumerators.hpp"

#include <tenon/Descriptors.hpp>

#include <gmock/gmock.h>

#include <type_traits>

namespace tenon::test::layer_rows_test
{

using testing::HasSubstr;

namespace
{

void Vary(bool& value)
{
    value = !value;
}
void Vary(int32_t& value)
{
    value -= 3;
}
void Vary(uint32_t& value)
{
    value += 3;
}
void Vary(int64_t& value)
{
    value -= int64_t{1} << 40;
}
void Vary(float& value)
{
    value = value == 0.0f ? -0.0f : -value - 0.3f;
}
void Vary(std::string& value)
{
    value += "name";
}
void Vary(std::vector<uint8_t>& value)
{
    value = {1, 2, 0, 255};
}
void Vary(std::vector<float>& value)
{
    value = {-0.0f, 1.1f};
}
void Vary(std::vector<int32_t>& value)
{
    value = {-2147483647 - 1, 0, 7};
}
void Vary(std::vector<uint32_t>& value)
{
    value = {4294967295U, 0, 7};
}
void Vary(std::vector<RecurrentActivation>& value)
{
    value = {RecurrentActivation::Softplus, RecurrentActivation::Relu, RecurrentActivation::Softplus};
}
void Vary(std::vector<std::pair<unsigned int, unsigned int>>& value)
{
    value.emplace_back(4294967295U, 1);
}
void Vary(TensorShape& value)
{
    value = TensorShape({4294967295U, 0, 3}, {true, false, true});
}
void Vary(PermutationVector& value)
{
    value = {2, 0, 1};
}
void Vary(OriginsDescriptor& value)
{
    value = OriginsDescriptor(3, 2);
    value.SetViewOriginCoord(1, 1, 5);
    value.SetConcatAxis(0);
}

template <typename T>
std::enable_if_t<std::is_enum_v<T>> Vary(T& value)
{
    // The last one that has a name.
    const std::vector<std::string>& names = EnumeratorNames<T>();
    for (size_t i = 0; i < names.size(); ++i)
    {
        value = names[i].empty() ? value : static_cast<T>(i);
    }
}

/// Every field away from its default, as far as its type has another value.
template <typename D>
void VaryFields(D& descriptor)
{
    D::Visit([&](const char*, auto member) { Vary(descriptor.*member); });
}
void VaryFields(ViewsDescriptor& descriptor)
{
    descriptor = ViewsDescriptor(3, 2);
    descriptor.SetViewOriginCoord(2, 0, 4);
    descriptor.SetViewSize(0, 1, 9);
    descriptor.SetAxis(-1);
    descriptor.m_ParametersAsInputs = true;
}
void VaryFields(OriginsDescriptor& descriptor)
{
    Vary(descriptor);
}

struct RowCase
{
    LayerType m_Type;
    std::unique_ptr<BaseDescriptor> m_Default;
    std::unique_ptr<BaseDescriptor> m_Varied;
};

template <typename D>
RowCase MakeCase(LayerType type)
{
    auto varied = std::make_unique<D>();
    VaryFields(*varied);
    return {type, std::make_unique<D>(), std::move(varied)};
}

std::vector<RowCase> MakeCases()
{
    std::vector<RowCase> cases;
#define TENON_OP(name, descriptor, ...) cases.push_back(MakeCase<descriptor>(LayerType::name));
#include <tenon/ops.def>
    return cases;
}

/// The layer with an Input layer of its own before each input.
void AddFedLayer(Graph& graph, LayerType type, std::unique_ptr<BaseDescriptor> descriptor)
{
    Layer& layer = graph.AddLayer(type, descriptor->IsNull() ? nullptr : std::move(descriptor), "the layer");
    if (type == LayerType::Input)
    {
        layer.SetBindingId(-5);
    }
    for (InputSlot& input : layer.Inputs())
    {
        Layer& source = graph.AddLayer(LayerType::Input, nullptr, "");
        source.SetBindingId(static_cast<LayerBindingId>(input.GetSlotIndex()));
        source.Output(0).SetTensorInfo(TensorInfo(TensorShape({2, 3}), DataType::Signed16, 0.5f, -7));
        source.Output(0).Connect(input);
    }
    for (OutputSlot& output : layer.Outputs())
    {
        output.SetTensorInfo(TensorInfo(TensorShape(Dimensionality::NotSpecified), DataType::Boolean));
    }
}

bool HasBodies(LayerType type)
{
    return type == LayerType::If || type == LayerType::While;
}

} // namespace

TEST(SerializedLayers, OfEachRowAreUnchanged)
{
    for (RowCase& row : MakeCases())
    {
        SCOPED_TRACE(GetLayerTypeAsCString(row.m_Type));
        if (row.m_Type == LayerType::Constant || HasBodies(row.m_Type)) // more than parameters: see RoundTripTest
        {
            continue;
        }
        for (auto* descriptor : {&row.m_Default, &row.m_Varied})
        {
            Network network({});
            AddFedLayer(network.EditGraph(), row.m_Type, std::move(*descriptor));
            const Bytes file = Serialized(network);
            if (GetSchema(row.m_Type).Has(OpFlags::Internal))
            {
                EXPECT_THAT(MessageOf<ParseException>([&] { Read(file); }), HasSubstr("only the optimizer"));
                continue;
            }
            const INetworkPtr read = Read(file);
            ExpectSameGraph(network.GetGraph(), GraphOf(read));
            EXPECT_EQ(Serialized(*read), file);
        }
    }
}

TEST(SerializedLayers, VariedParametersDifferFromTheDefaults)
{
    size_t count = 0;
    for (const RowCase& row : MakeCases())
    {
        if (!row.m_Default->IsNull())
        {
            // -0 equals 0, so a descriptor of floats alone may look the same.
            count += GetSchema(row.m_Type).m_Equal(*row.m_Default, *row.m_Varied) ? 0 : 1;
        }
    }
    EXPECT_GT(count, 70u);
}

TEST(SerializedLayers, EachEnumeratorIsFoundByItsName)
{
    EXPECT_EQ(FindEnumerator<DataType>("Complex128"), DataType::Complex128);
    EXPECT_EQ(FindEnumerator<DataLayout>("NCHW"), DataLayout::NCHW);
    EXPECT_EQ(FindEnumerator<BinaryOperation>("ShiftRight"), BinaryOperation::ShiftRight);
    EXPECT_EQ(FindEnumerator<DataType>("Unknown"), std::nullopt);
    EXPECT_EQ(FindEnumerator<DataLayout>("0"), std::nullopt);
    EXPECT_EQ(FindEnumerator<DataLayout>(""), std::nullopt);
    for (int i = 0; i <= static_cast<int>(DataType::Complex128); ++i)
    {
        const auto type = static_cast<DataType>(i);
        EXPECT_EQ(FindEnumerator<DataType>(EnumeratorName(type)), type);
    }
}

TEST(SerializedLayers, AnEnumeratorThatIsNoneIsRefused)
{
    Network network({});
    AddFedLayer(network.EditGraph(), LayerType::Activation,
                std::make_unique<ActivationDescriptor>(static_cast<ActivationFunction>(77)));
    EXPECT_THAT(MessageOf<InvalidArgumentException>([&] { Serialized(network); }),
                testing::AllOf(HasSubstr("layer 0 'the layer' (Activation)"), HasSubstr("77")));
}

} // namespace tenon::test::layer_rows_test
