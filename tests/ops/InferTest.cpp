// SPDX-License-Identifier: Apache-2.0
// Runs the tables of shape inference, sees to it that every row of ops.def is in them, and tests InferContext itself.
#include "graph/InferContext.hpp"
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Expansion.hpp>
#include <tenon/descriptors/Indexing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>

namespace tenon::test
{

std::vector<InferTable::Maker>& InferTable::Makers()
{
    static std::vector<Maker> makers;
    return makers;
}

namespace
{

/// By layer type: the order of tables is the linker's.
InferCases AllCases()
{
    InferCases all;
    for (const InferTable::Maker make : InferTable::Makers())
    {
        const InferCases table = make();
        all.insert(all.end(), table.begin(), table.end());
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const InferCase& a, const InferCase& b) { return a.m_Type < b.m_Type; });
    return all;
}

std::string DescribeFields(const OpSchema& schema, const BaseDescriptor& descriptor)
{
    std::string text;
    schema.m_VisitFields(descriptor, [&](const char* name, const std::string& value)
                         { text += std::string(name) + "=" + value + " "; });
    return text;
}

// A case with the spans that InferContext wants.
class CaseRun
{
public:
    explicit CaseRun(const InferCase& testCase) : m_Case(testCase)
    {
        for (const CaseInput& input : testCase.m_Inputs)
        {
            m_Infos.push_back(input.m_IsConnected ? &input.m_Info : nullptr);
            m_Values.push_back(input.m_Values.empty() ? nullptr : input.m_Values.data());
        }
        const OpSchema& schema = GetSchema(testCase.m_Type);
        const size_t numOutputs = schema.m_NumOutputs(*testCase.m_Descriptor);
        m_Declared.resize(numOutputs);
        for (size_t i = 0; i < std::min(numOutputs, testCase.m_Declared.size()); ++i)
        {
            m_Declared[i].SetShape(testCase.m_Declared[i]);
        }
        m_Shapes.resize(numOutputs);
    }

    InferContext MakeContext()
    {
        return InferContext(m_Case.m_Type, *m_Case.m_Descriptor, m_Infos, m_Values, m_Declared, m_Shapes);
    }
    const std::vector<TensorShape>& Shapes() const { return m_Shapes; }

private:
    const InferCase& m_Case;
    std::vector<const TensorInfo*> m_Infos;
    std::vector<const void*> m_Values;
    std::vector<TensorInfo> m_Declared;
    std::vector<TensorShape> m_Shapes;
};

class InferShapes : public testing::TestWithParam<InferCase>
{
};

TEST_P(InferShapes, AsTheTableSays)
{
    const InferCase& testCase = GetParam();
    const OpSchema& schema = GetSchema(testCase.m_Type);
    CaseRun run(testCase);
    InferContext context = run.MakeContext();
    if (!testCase.m_Message.empty())
    {
        try
        {
            schema.m_Infer(context);
            FAIL() << "accepted, output shape " << (run.Shapes().empty() ? "" : run.Shapes()[0].ToString());
        }
        catch (const LayerValidationException& error)
        {
            EXPECT_NE(std::string(error.what()).find(testCase.m_Message), std::string::npos) << error.what();
        }
        return;
    }
    // A case that the graph would not let through tests nothing.
    ASSERT_EQ(schema.m_NumInputs(*testCase.m_Descriptor), testCase.m_Inputs.size());
    for (size_t i = 0; i < schema.m_MinInputs; ++i)
    {
        ASSERT_TRUE(testCase.m_Inputs.at(i).m_IsConnected) << "input " << i;
    }
    schema.m_Infer(context);
    std::vector<std::string> shapes;
    for (const TensorShape& shape : run.Shapes())
    {
        shapes.push_back(shape.ToString());
    }
    EXPECT_EQ(shapes, testCase.m_Shapes);

    const std::unique_ptr<BaseDescriptor> edited = context.TakeEdited();
    ASSERT_EQ(edited != nullptr, testCase.m_Resolved != nullptr);
    if (edited != nullptr)
    {
        EXPECT_TRUE(schema.m_Equal(*edited, *testCase.m_Resolved))
            << "resolved: " << DescribeFields(schema, *edited)
            << "\nexpected: " << DescribeFields(schema, *testCase.m_Resolved);
    }
}

std::string NameOfCase(const testing::TestParamInfo<InferCase>& parameter)
{
    std::string name = std::string(GetLayerTypeAsCString(parameter.param.m_Type)) + "_" + parameter.param.m_Name + "_" +
                       std::to_string(parameter.index);
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(All, InferShapes, testing::ValuesIn(AllCases()), NameOfCase);

TEST(InferTables, HoldEveryRowOfOpsDef)
{
    std::set<LayerType> accepted;
    std::set<LayerType> refused;
    for (const InferCase& testCase : AllCases())
    {
        (testCase.m_Message.empty() ? accepted : refused).insert(testCase.m_Type);
    }
    // Layers that take any input there is.
    const std::set<LayerType> undemanding = {LayerType::Activation,
                                             LayerType::Cast,
                                             LayerType::ComplexPart,
                                             LayerType::Constant,
                                             LayerType::ConvertFp16ToFp32,
                                             LayerType::ConvertFp32ToFp16,
                                             LayerType::Custom,
                                             LayerType::Dequantize,
                                             LayerType::ElementwiseUnary,
                                             LayerType::Floor,
                                             LayerType::Input,
                                             LayerType::Map,
                                             LayerType::MemCopy,
                                             LayerType::MemImport,
                                             LayerType::Output,
                                             LayerType::PreCompiled,
                                             LayerType::Quantize,
                                             LayerType::Rank,
                                             LayerType::Shape,
                                             LayerType::StandIn,
                                             LayerType::Switch,
                                             LayerType::Unmap,
                                             LayerType::ZerosLike};
    for (size_t i = 0; i < NumLayerTypes; ++i)
    {
        const auto type = static_cast<LayerType>(i);
        EXPECT_TRUE(accepted.count(type)) << GetLayerTypeAsCString(type) << " has no case that is accepted";
        EXPECT_NE(refused.count(type), undemanding.count(type))
            << GetLayerTypeAsCString(type) << " has no case that is refused, or has one and is listed here";
    }
}

TEST(InferTables, NameParametersThatTheSchemaLists)
{
    for (const InferCase& testCase : AllCases())
    {
        for (size_t i = 0; i < testCase.m_Inputs.size(); ++i)
        {
            const uint32_t listed = GetSchema(testCase.m_Type).m_ValueInputs(*testCase.m_Descriptor);
            EXPECT_TRUE(testCase.m_Inputs[i].m_Values.empty() || ((listed >> i) & 1U) != 0)
                << GetLayerTypeAsCString(testCase.m_Type) << " " << testCase.m_Name << " input " << i;
        }
    }
}

TEST(InferTables, ATensorThatIsUpdatedIsKnownByItsShape)
{
    const OpSchema& schema = GetSchema(LayerType::ScatterNd);
    EXPECT_EQ(schema.m_ValueInputs(ScatterNdDescriptor(ScatterNdFunction::Update, true)), 0U);
    EXPECT_EQ(schema.m_ValueInputs(ScatterNdDescriptor(ScatterNdFunction::Update, false)), 1U);
}

// Input 0 of a context as integers.
std::vector<int64_t> ReadValues(const CaseInput& input, size_t maxElements = MaxNumOfTensorDimensions)
{
    const InferCase testCase = Case(LayerType::Fill, "", FillDescriptor(), {input});
    CaseRun run(testCase);
    return run.MakeContext().Values(0, maxElements);
}

TEST(InferContext, ReadsIntegersOfEveryType)
{
    using Values = std::vector<int64_t>;
    EXPECT_EQ(ReadValues(P({-1, 2})), Values({-1, 2}));
    EXPECT_EQ(ReadValues(P64({int64_t{1} << 40})), Values({int64_t{1} << 40}));
    EXPECT_EQ(ReadValues(Shaped<int8_t>({1}, {-3}, DataType::Signed8)), Values({-3}));
    EXPECT_EQ(ReadValues(Shaped<uint8_t>({1}, {250}, DataType::Unsigned8)), Values({250}));
    EXPECT_EQ(ReadValues(Shaped<int16_t>({1}, {-300}, DataType::Signed16)), Values({-300}));
    EXPECT_EQ(ReadValues(Shaped<uint16_t>({1}, {65000}, DataType::Unsigned16)), Values({65000}));
    EXPECT_EQ(ReadValues(Shaped<uint32_t>({1}, {4000000000U}, DataType::Unsigned32)), Values({4000000000}));
    EXPECT_EQ(ReadValues(Shaped<uint64_t>({}, {5}, DataType::Unsigned64)), Values({5}));
    EXPECT_EQ(ReadValues(P({})), Values());
}

TEST(InferContext, RefusesValuesThatAreNone)
{
    EXPECT_THROW(ReadValues(Shaped<float>({1}, {1.0f}, DataType::Float32)), LayerValidationException);
    EXPECT_THROW(ReadValues(P({1, 2, 3}), 2), LayerValidationException);
    EXPECT_THROW(ReadValues(Shaped<uint64_t>({1}, {~uint64_t{0}}, DataType::Unsigned64)), LayerValidationException);
    EXPECT_THROW(ReadValues(T({2})), LayerValidationException);
    EXPECT_THROW(ReadValues(Absent()), LayerValidationException);
    EXPECT_THROW(ReadValues(T({4000000000U, 4000000000U})), LayerValidationException);
}

TEST(InferContext, ChecksShapesAndAxes)
{
    const InferCase testCase = Case(LayerType::Floor, "", NullDescriptor(), {T({1})});
    CaseRun run(testCase);
    InferContext context = run.MakeContext();
    context.SetOutputShape(0, std::vector<int64_t>{2, 0, 4294967295});
    EXPECT_EQ(run.Shapes()[0].ToString(), "[2,0,4294967295]");
    context.SetOutputShape(0, std::vector<int64_t>{});
    EXPECT_TRUE(run.Shapes()[0].IsScalar());
    EXPECT_THROW(context.SetOutputShape(0, std::vector<int64_t>{-1}), LayerValidationException);
    EXPECT_THROW(context.SetOutputShape(0, std::vector<int64_t>{4294967296}), LayerValidationException);
    EXPECT_THROW(context.SetOutputShape(0, std::vector<int64_t>(9, 1)), LayerValidationException);

    EXPECT_EQ(context.CanonicalAxis(-3, 3), 0U);
    EXPECT_EQ(context.CanonicalAxis(2, 3), 2U);
    EXPECT_THROW(context.CanonicalAxis(3, 3), LayerValidationException);
    EXPECT_THROW(context.CanonicalAxis(-4, 3), LayerValidationException);
    EXPECT_THROW(context.CanonicalAxis(0, 0), LayerValidationException);
    EXPECT_THROW(context.CanonicalAxis(std::numeric_limits<int64_t>::min(), 3), LayerValidationException);
}

} // namespace
} // namespace tenon::test
