// SPDX-License-Identifier: Apache-2.0
// Cases of LSTMs.
#include "CaseParts.hpp"

namespace tenon::test
{

namespace
{

/// Weights of a cell with four units for data of three, by the infos of input weights, recurrent weights and biases.
struct CellInfos
{
    TensorInfo m_Input;
    TensorInfo m_Recurrent;
    TensorInfo m_Bias;
};

/// Keeps the tensors that the pointers of parameters lead to.
class CellMaker
{
public:
    explicit CellMaker(CaseMaker& make) : m_Make(make) {}

    const ConstTensor* Get(const TensorInfo& info) { return &m_Tensors.emplace_back(m_Make.Const(info)); }

    template <typename Params>
    Params Gates(const CellInfos& infos, bool hasInputGate)
    {
        Params params;
        if (hasInputGate)
        {
            params.m_InputToInputWeights = Get(infos.m_Input);
            params.m_RecurrentToInputWeights = Get(infos.m_Recurrent);
            params.m_InputGateBias = Get(infos.m_Bias);
        }
        params.m_InputToForgetWeights = Get(infos.m_Input);
        params.m_InputToCellWeights = Get(infos.m_Input);
        params.m_InputToOutputWeights = Get(infos.m_Input);
        params.m_RecurrentToForgetWeights = Get(infos.m_Recurrent);
        params.m_RecurrentToCellWeights = Get(infos.m_Recurrent);
        params.m_RecurrentToOutputWeights = Get(infos.m_Recurrent);
        params.m_ForgetGateBias = Get(infos.m_Bias);
        params.m_CellBias = Get(infos.m_Bias);
        params.m_OutputGateBias = Get(infos.m_Bias);
        return params;
    }

private:
    CaseMaker& m_Make;
    std::deque<ConstTensor> m_Tensors;
};

} // namespace

void AddRecurrent(Cases& cases)
{
    const CellInfos floats = {Floats({4, 3}), Floats({4, 4}), Floats({4})};
    const TensorInfo state = Floats({2, 4});
    const auto plain = [](bool isTimeMajor)
    {
        LstmDescriptor descriptor;
        descriptor.m_ActivationFunc = 4;
        descriptor.m_ClippingThresCell = 2.0f;
        descriptor.m_CifgEnabled = false;
        descriptor.m_TimeMajor = isTimeMajor;
        return descriptor;
    };
    cases.push_back({"Lstm",
                     {Floats({2, 3}), state, state},
                     {Floats({2, 16}), state, state, state},
                     [=](CaseMaker& make)
                     {
                         CellMaker cell(make);
                         return make->AddLstmLayer(plain(false), cell.Gates<LstmInputParams>(floats, true), "layer");
                     }});
    cases.push_back({"Lstm_coupled",
                     {Floats({2, 3}), state, state},
                     {Floats({2, 12}), state, state, state},
                     [=](CaseMaker& make)
                     {
                         LstmDescriptor descriptor;
                         descriptor.m_ActivationFunc = 4;
                         descriptor.m_ClippingThresProj = 1.0f;
                         descriptor.m_PeepholeEnabled = true;
                         descriptor.m_ProjectionEnabled = true;
                         descriptor.m_LayerNormEnabled = true;
                         CellMaker cell(make);
                         auto params = cell.Gates<LstmInputParams>(floats, false);
                         for (const ConstTensor** member :
                              {&params.m_CellToForgetWeights, &params.m_CellToOutputWeights, &params.m_ProjectionBias,
                               &params.m_ForgetLayerNormWeights, &params.m_CellLayerNormWeights,
                               &params.m_OutputLayerNormWeights})
                         {
                             *member = cell.Get(floats.m_Bias);
                         }
                         params.m_ProjectionWeights = cell.Get(Floats({4, 4}));
                         return make->AddLstmLayer(descriptor, params, "layer");
                     }});
    for (const bool isTimeMajor : {false, true})
    {
        const TensorInfo data = isTimeMajor ? Floats({5, 2, 3}) : Floats({2, 5, 3});
        const TensorInfo output = isTimeMajor ? Floats({5, 2, 4}) : Floats({2, 5, 4});
        cases.push_back({isTimeMajor ? "UnidirectionalSequenceLstm_time" : "UnidirectionalSequenceLstm",
                         {data, state, state},
                         {state, state, output},
                         [=](CaseMaker& make)
                         {
                             CellMaker cell(make);
                             return make->AddUnidirectionalSequenceLstmLayer(
                                 plain(isTimeMajor), cell.Gates<LstmInputParams>(floats, true), "layer");
                         }});
    }
    cases.push_back(cases[cases.size() - 2]);
    cases.back().m_Name = "UnidirectionalSequenceLstm_stateless";
    cases.back().m_Outputs = {cases.back().m_Outputs.back()};
    cases.back().m_FirstOutput = 2;
    const TensorInfo hidden = Typed({2, 4}, DataType::QAsymmS8, 0.007f, 0);
    const TensorInfo cellState = Typed({2, 4}, DataType::QSymmS16, 0.000030517578125f, 0);
    cases.push_back({"QLstm",
                     {Typed({2, 3}, DataType::QAsymmS8, 0.0078125f, 0), hidden, cellState},
                     {hidden, cellState, hidden},
                     [](CaseMaker& make)
                     {
                         QLstmDescriptor descriptor;
                         descriptor.m_CifgEnabled = false;
                         descriptor.m_HiddenStateScale = 0.007f;
                         for (float QLstmDescriptor::*scale :
                              {&QLstmDescriptor::m_InputIntermediateScale, &QLstmDescriptor::m_ForgetIntermediateScale,
                               &QLstmDescriptor::m_CellIntermediateScale, &QLstmDescriptor::m_OutputIntermediateScale})
                         {
                             descriptor.*scale = 0.007812f;
                         }
                         CellMaker cell(make);
                         const CellInfos infos = {Typed({4, 3}, DataType::QSymmS8, 0.0078125f),
                                                  Typed({4, 4}, DataType::QSymmS8, 0.0078125f),
                                                  Typed({4}, DataType::Signed32)};
                         return make->AddQLstmLayer(descriptor, cell.Gates<LstmInputParams>(infos, true), "layer");
                     }});
    const TensorInfo bytes = Typed({2, 4}, DataType::QAsymmU8, 0.0078125f, 128);
    const TensorInfo longState = Typed({2, 4}, DataType::QSymmS16, 0.00048828125f, 0);
    cases.push_back({"QuantizedLstm",
                     {Typed({2, 3}, DataType::QAsymmU8, 0.0078125f, 128), longState, bytes},
                     {longState, bytes},
                     [](CaseMaker& make)
                     {
                         CellMaker cell(make);
                         const CellInfos infos = {Typed({4, 3}, DataType::QAsymmU8, 0.0078125f, 100),
                                                  Typed({4, 4}, DataType::QAsymmU8, 0.0078125f, 100),
                                                  Typed({4}, DataType::Signed32)};
                         return make->AddQuantizedLstmLayer(cell.Gates<QuantizedLstmInputParams>(infos, true), "layer");
                     }});
}

} // namespace tenon::test
