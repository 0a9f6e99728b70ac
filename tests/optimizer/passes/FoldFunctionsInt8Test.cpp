// SPDX-License-Identifier: Apache-2.0
// Pass FoldFunctionsInt8: which layers become tables, and that these give what the layers gave.
#include "harness/Passes.hpp"
#include "optimizer/passes/Fusing.hpp"

#include <functional>

namespace tenon::test::fold_functions_int8_test
{

using testing::ElementsAre;

namespace
{

const std::vector<TensorShape> Shapes = {{4, 128}, {1, 300}, {2, 3, 5, 64}};

TensorInfo Bytes(DataType type, float scale, int32_t zeroPoint)
{
    return TensorInfo(TensorShape({4, 128}), type, scale, zeroPoint);
}

/// A network of one input; each layer is made with the quantization of what it gives.
class ByteFormula
{
public:
    explicit ByteFormula(DataType type)
        : m_Type(type), m_ZeroPoint(type == DataType::QAsymmU8 ? 128 : 3), m_Network(INetwork::Create())
    {
    }

    TensorInfo Info(float scale = 0.05f) const { return Bytes(m_Type, scale, m_ZeroPoint); }
    IConnectableLayer* Input() { return AddInput(*m_Network, 0, Info()); }
    IConnectableLayer* Sigmoid(IConnectableLayer* in)
    {
        return After({in}, m_Network->AddActivationLayer(ActivationDescriptor(ActivationFunction::Sigmoid)),
                     Info(1.0f / 256));
    }
    IConnectableLayer* Softmax(IConnectableLayer* in)
    {
        return After({in}, m_Network->AddSoftmaxLayer(SoftmaxDescriptor()), Info(1.0f / 256));
    }
    IConnectableLayer* Binary(BinaryOperation operation, IConnectableLayer* a, IConnectableLayer* b,
                              float scale = 0.04f)
    {
        return After({a, b}, m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation)), Info(scale));
    }
    IConnectableLayer* Constant(const TensorShape& shape, uint8_t value)
    {
        const TensorInfo info(shape, m_Type, 0.01f, m_ZeroPoint);
        return AddOwnedConstant(*m_Network, info, std::vector<uint8_t>(shape.GetNumElements(), value));
    }
    IConnectableLayer* Scalar(uint8_t value) { return Constant(TensorShape(Dimensionality::Scalar), value); }
    IConnectableLayer* Dequantize(IConnectableLayer* in)
    {
        return After({in}, m_Network->AddDequantizeLayer(), FloatInfo({4, 128}));
    }
    IConnectableLayer* Sine(IConnectableLayer* in)
    {
        return After({in}, m_Network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Sin)),
                     FloatInfo({4, 128}));
    }
    IConnectableLayer* Quantize(IConnectableLayer* in, float scale = 0.008f)
    {
        return After({in}, m_Network->AddQuantizeLayer(), Info(scale));
    }
    IConnectableLayer* Sum(const std::vector<IConnectableLayer*>& terms)
    {
        AddNDescriptor descriptor;
        descriptor.m_NumInputs = static_cast<uint32_t>(terms.size());
        return After(terms, m_Network->AddAddNLayer(descriptor), FloatInfo({4, 128}));
    }
    void Output(IConnectableLayer* layer, LayerBindingId id = 0) { Connect(layer, m_Network->AddOutputLayer(id)); }

    const INetwork& Get() const { return *m_Network; }

private:
    static IConnectableLayer* After(const std::vector<IConnectableLayer*>& inputs, IConnectableLayer* layer,
                                    const TensorInfo& info)
    {
        for (unsigned int i = 0; i < inputs.size(); ++i)
        {
            Connect(inputs[i], layer, i);
        }
        layer->GetOutputSlot(0).SetTensorInfo(info);
        return layer;
    }

    DataType m_Type;
    int32_t m_ZeroPoint;
    INetworkPtr m_Network;
};

using MakeFunction = std::function<IConnectableLayer*(ByteFormula&, IConnectableLayer*)>;

/// The function becomes these layers, on both backends and for all types of bytes.
void ExpectBecomes(const MakeFunction& make, const std::vector<LayerType>& types)
{
    for (const DataType type : {DataType::QAsymmS8, DataType::QAsymmU8})
    {
        SCOPED_TRACE(GetDataTypeName(type));
        ByteFormula formula(type);
        formula.Output(make(formula, formula.Input()));
        EXPECT_EQ(FusedTypes(formula.Get()), types);
        for (const char* backend : {"CpuRef", "CpuAcc"})
        {
            ExpectSame(formula.Get(), formula.Info(), Shapes, 0.0, {backend});
        }
    }
}

} // namespace

TEST(FoldFunctionsInt8, ProductsWithSigmoid)
{
    ExpectBecomes([](ByteFormula& f, IConnectableLayer* x) { return f.Binary(BinaryOperation::Mul, x, f.Sigmoid(x)); },
                  {LayerType::Table});
}

TEST(FoldFunctionsInt8, OperationsWithConstants)
{
    ExpectBecomes(
        [](ByteFormula& f, IConnectableLayer* x)
        {
            IConnectableLayer* tenth = f.Binary(BinaryOperation::Mul, x, f.Scalar(13));
            IConnectableLayer* leaky = f.Binary(BinaryOperation::Maximum, x, tenth, 0.05f);
            return f.Binary(BinaryOperation::Sub, f.Scalar(77), leaky);
        },
        {LayerType::Table});
    // A run may bring a scalar, of which such a constant would make a vector.
    ExpectBecomes([](ByteFormula& f, IConnectableLayer* x)
                  { return f.Sigmoid(f.Binary(BinaryOperation::Add, x, f.Constant({1}, 50))); },
                  {LayerType::ElementwiseBinary, LayerType::Activation});
}

TEST(FoldFunctionsInt8, FunctionsOfFloatsBetween)
{
    ExpectBecomes([](ByteFormula& f, IConnectableLayer* x) { return f.Quantize(f.Sine(f.Dequantize(x))); },
                  {LayerType::Table});
    // What is not a byte in the end stays, after the table of what is before it.
    ExpectBecomes([](ByteFormula& f, IConnectableLayer* x)
                  { return f.Dequantize(f.Quantize(f.Sine(f.Dequantize(x)))); },
                  {LayerType::Table, LayerType::Dequantize});
}

TEST(FoldFunctionsInt8, OneLayerStays)
{
    ExpectBecomes([](ByteFormula& f, IConnectableLayer* x) { return f.Sigmoid(x); }, {LayerType::Activation});
}

TEST(FoldFunctionsInt8, WhatOthersReadStays)
{
    ByteFormula formula(DataType::QAsymmS8);
    IConnectableLayer* x = formula.Input();
    IConnectableLayer* sigmoid = formula.Sigmoid(x);
    formula.Output(formula.Binary(BinaryOperation::Mul, x, sigmoid));
    formula.Output(sigmoid, 1);
    EXPECT_THAT(FusedTypes(formula.Get()), ElementsAre(LayerType::Activation, LayerType::ElementwiseBinary));
}

TEST(FoldFunctionsInt8, TwoReadersGetATableEach)
{
    ByteFormula formula(DataType::QAsymmU8);
    IConnectableLayer* x = formula.Input();
    IConnectableLayer* sigmoid = formula.Sigmoid(x);
    formula.Output(formula.Binary(BinaryOperation::Mul, x, sigmoid));
    formula.Output(formula.Binary(BinaryOperation::Add, x, sigmoid), 1);
    EXPECT_THAT(FusedTypes(formula.Get()), ElementsAre(LayerType::Table, LayerType::Table));
}

TEST(FoldFunctionsInt8, AFunctionMayPassThroughAnotherThatIsReadToo)
{
    ExpectBecomes(
        [](ByteFormula& f, IConnectableLayer* x)
        {
            IConnectableLayer* swish = f.Binary(BinaryOperation::Mul, x, f.Sigmoid(x));
            IConnectableLayer* sum = f.Binary(BinaryOperation::Add, x, swish);
            return f.Binary(BinaryOperation::Sub, sum, f.Softmax(swish));
        },
        {LayerType::Table, LayerType::Softmax, LayerType::Table, LayerType::ElementwiseBinary});
}

TEST(FoldFunctionsInt8, OfTwoTensorsStays)
{
    const INetworkPtr network = INetwork::Create();
    const TensorInfo info = Bytes(DataType::QAsymmS8, 0.1f, 0);
    IConnectableLayer* a = AddInput(*network, 0, info);
    IConnectableLayer* b = AddInput(*network, 1, info);
    IConnectableLayer* sigmoid = network->AddActivationLayer(ActivationDescriptor(ActivationFunction::Sigmoid));
    IConnectableLayer* product = network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Mul));
    Connect(a, sigmoid);
    Connect(b, product);
    Connect(sigmoid, product, 1);
    Connect(product, network->AddOutputLayer(0));
    sigmoid->GetOutputSlot(0).SetTensorInfo(Bytes(DataType::QAsymmS8, 1.0f / 256, -128));
    product->GetOutputSlot(0).SetTensorInfo(info);
    EXPECT_THAT(FusedTypes(*network), ElementsAre(LayerType::Activation, LayerType::ElementwiseBinary));
}

TEST(FoldFunctionsInt8, OfVectorsOfConstantsStays)
{
    const auto make = [](ByteFormula& f, IConnectableLayer* x) {
        return f.Sigmoid(f.Binary(BinaryOperation::Add, x, f.Constant({1, 128}, 50)));
    };
    ByteFormula formula(DataType::QAsymmS8);
    formula.Output(make(formula, formula.Input()));
    EXPECT_THAT(FusedTypes(formula.Get()), ElementsAre(LayerType::ElementwiseBinary, LayerType::Activation));
}

TEST(FoldFunctionsInt8, LayersThatAreToRunElsewhereStay)
{
    ByteFormula formula(DataType::QAsymmS8);
    IConnectableLayer* x = formula.Input();
    IConnectableLayer* sigmoid = formula.Sigmoid(x);
    sigmoid->BackendSelectionHint(BackendId("CpuRef"));
    formula.Output(formula.Binary(BinaryOperation::Mul, x, sigmoid));
    EXPECT_THAT(FusedTypes(formula.Get(), {"CpuAcc", "CpuRef"}),
                ElementsAre(LayerType::Activation, LayerType::ElementwiseBinary));
}

// All layers of a function run for its table: long chains are cut.
TEST(FoldFunctionsInt8, LongChainsAreSeveralTables)
{
    ExpectBecomes(
        [](ByteFormula& f, IConnectableLayer* x)
        {
            for (int i = 0; i < 40; ++i)
            {
                x = f.Binary(BinaryOperation::Add, x, x, 0.06f + 0.001f * static_cast<float>(i));
            }
            return x;
        },
        {LayerType::Table, LayerType::Table, LayerType::Table});
}

// So are sums of many functions, which stay.
TEST(FoldFunctionsInt8, SumsOfManyFunctionsStay)
{
    for (const unsigned int count : {3U, 40U})
    {
        ByteFormula formula(DataType::QAsymmS8);
        IConnectableLayer* const x = formula.Input();
        std::vector<IConnectableLayer*> terms;
        for (unsigned int i = 0; i < count; ++i)
        {
            const auto factor = static_cast<uint8_t>(7 + i);
            terms.push_back(formula.Dequantize(formula.Binary(BinaryOperation::Mul, x, formula.Scalar(factor))));
        }
        formula.Output(formula.Quantize(formula.Sum(terms)));
        const std::vector<LayerType> types = FusedTypes(formula.Get());
        EXPECT_EQ(types.size() == 1, count == 3) << count;
    }
}

// A table has as little memory as what it stands for.
TEST(FoldFunctionsInt8, TablesRunInPlace)
{
    const auto getArena = [](bool fold)
    {
        const INetworkPtr network = INetwork::Create();
        const TensorInfo info(TensorShape({64, 1000}), DataType::QAsymmS8, 0.05f, 0);
        const TensorInfo turned(TensorShape({1000, 64}), DataType::QAsymmS8, 0.05f, 0);
        IConnectableLayer* last = AddInput(*network, 0, info);
        const auto add = [&last](IConnectableLayer* layer, const TensorInfo& output)
        {
            Connect(last, layer);
            layer->GetOutputSlot(0).SetTensorInfo(output);
            last = layer;
        };
        add(network->AddTransposeLayer(TransposeDescriptor({1, 0})), turned);
        add(network->AddActivationLayer(ActivationDescriptor(ActivationFunction::Abs)), turned);
        add(network->AddActivationLayer(ActivationDescriptor(ActivationFunction::TanH, 1, 1)), turned);
        add(network->AddSoftmaxLayer(SoftmaxDescriptor()),
            TensorInfo(turned.GetShape(), DataType::QAsymmS8, 1 / 256.0f, -128));
        Connect(last, network->AddOutputLayer(0));
        const IRuntimePtr runtime = IRuntime::Create({});
        std::vector<Pass> passes;
        for (const Pass& pass : GetPasses())
        {
            if (fold || std::string(pass.m_Name) != "FoldFunctionsInt8")
            {
                passes.push_back(pass);
            }
        }
        IOptimizedNetworkPtr optimized =
            OptimizeWithPasses(*network, {"CpuRef"}, runtime->GetDeviceSpec(), {}, EmptyOptional(), passes);
        EXPECT_EQ(Count(GraphOf(optimized), LayerType::Table), fold ? 1U : 0U);
        NetworkId id = 0;
        runtime->LoadNetwork(id, std::move(optimized));
        TensorInfo input = info;
        input.SetConstant();
        const std::vector<int8_t> values(info.GetNumElements());
        RunNetwork(*runtime, id, {{0, ConstTensor(input, values.data())}});
        return runtime->GetStatistics(id).m_Arenas[0].m_Bytes;
    };
    EXPECT_EQ(getArena(true), getArena(false));
}

} // namespace tenon::test::fold_functions_int8_test
