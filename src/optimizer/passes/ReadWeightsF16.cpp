// SPDX-License-Identifier: Apache-2.0
// Pass ReadWeightsF16: some models store weights in Float16 and convert them to Float32 in front of a convolution or
// product. If the backend packs Float16 weights itself, the layer reads the constant without the conversion. Folding
// the conversion would write and keep Float32 copies of all weights, which are read once.
#include "graph/MakeLayerView.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/assignment/Assignment.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <algorithm>

namespace tenon::passes
{

namespace
{

constexpr unsigned int Weights = 1; // input

bool IsProduct(LayerType type)
{
    return type == LayerType::Convolution2d || type == LayerType::DepthwiseConvolution2d ||
           type == LayerType::FullyConnected || type == LayerType::TransposeConvolution2d;
}

/// Whether the layer converts a Float16 constant to Float32.
bool ConvertsF16ToF32(const Layer& layer)
{
    const LayerType type = layer.GetType();
    return (type == LayerType::Dequantize || type == LayerType::ConvertFp16ToFp32 || type == LayerType::Cast) &&
           !layer.GetBackendHint().has_value() && IsPlainInput(layer, 0) && layer.GetConstantInput(0) != nullptr &&
           layer.Input(0).GetTensorInfo().GetDataType() == DataType::Float16 &&
           layer.Output(0).GetTensorInfo().GetDataType() == DataType::Float32;
}

/// A layer as it will be once its constants are folded and it reads Float16 weights.
class FoldedView
{
public:
    explicit FoldedView(const Layer& layer) : m_View(m_Maker.Make(layer))
    {
        m_Infos.reserve(m_View.GetNumInputs()); // pointers into it stay
        m_Pointers.assign(m_View.GetNumInputs(), nullptr);
        for (unsigned int i = 0; i < m_View.GetNumInputs(); ++i)
        {
            if (m_View.HasInput(i))
            {
                m_Infos.push_back(i == Weights ? layer.Input(i).GetProducer()->Input(0).GetTensorInfo()
                                               : m_View.GetInput(i));
                m_Infos.back().SetConstant(m_View.GetConstantData(i) != nullptr ||
                                           ConvertsF16ToF32(*layer.Input(i).GetProducer()));
                m_Pointers[i] = &m_Infos.back();
            }
        }
        m_View.m_Inputs = m_Pointers;
        m_View.m_ConstantData = {};
        m_View.m_HasValues = false;
    }

    const LayerView& Get() const { return m_View; }

private:
    LayerViewMaker m_Maker;
    LayerView m_View;
    std::vector<TensorInfo> m_Infos;
    std::vector<const TensorInfo*> m_Pointers;
};

/// Whether the reader of converted weights would run as well with the Float16 weights.
bool MayReadF16(const InputSlot& reader, const BackendChooser& chooser)
{
    const Layer& layer = reader.GetOwningLayer();
    return IsProduct(layer.GetType()) && reader.GetSlotIndex() == Weights && IsPlainInput(layer, 0) &&
           !reader.IsTensorInfoOverridden() && layer.Input(0).GetTensorInfo().GetDataType() == DataType::Float32 &&
           chooser.TakesWeightsF16(layer, FoldedView(layer).Get());
}

} // namespace

void ReadWeightsF16(Graph& graph, PassContext& context)
{
    if (context.m_Options.GetReduceFp32ToBf16())
    {
        return; // the weights become BFloat16, as their layer does
    }
    std::vector<bool> dead(graph.Size(), false);
    for (const auto& layer : graph.Layers())
    {
        if (!ConvertsF16ToF32(*layer))
        {
            continue;
        }
        OutputSlot& weightsF16 = *layer->Input(0).GetConnectedOutputSlot();
        const Span<InputSlot* const> readers = layer->Output(0).GetConnections();
        if (std::all_of(readers.begin(), readers.end(),
                        [&](const InputSlot* reader) { return MayReadF16(*reader, context.m_Chooser); }))
        {
            layer->Output(0).MoveAllConnections(weightsF16);
            weightsF16.Disconnect(layer->Input(0));
            dead[layer->m_Index] = true; // ConstantFolding would still compute it
        }
    }
    graph.RemoveLayers(dead);
}

} // namespace tenon::passes
