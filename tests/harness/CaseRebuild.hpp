// SPDX-License-Identifier: Apache-2.0
// CaseRebuild: a NetworkCase rebuilt from another one, with some tensors given from outside or by other layers, some
// outputs left out and some sizes changed. Layers that nothing reads any more are left out, too.
#pragma once

#include "harness/NetworkCase.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace tenon::test
{

/// The shapes and bytes of a tensor of a case in its runs.
struct RecordedTensor
{
    std::vector<TensorShape> m_Shapes;
    ValueRange m_Range;
    std::vector<std::byte> m_Bytes; ///< bytes of the first run
};
using RecordedTensors = std::map<TensorKey, RecordedTensor>;

/// All tensors of a case except constants. Throws the exceptions of its runs.
RecordedTensors RecordTensors(const NetworkCase& tested);

class CaseRebuild
{
public:
    CaseRebuild(const NetworkCase& from, const RecordedTensors& recorded);

    /// Keeps only these output layers and layers with an effect.
    void KeepRoots(const std::vector<const Layer*>& roots);
    /// Makes the layer's outputs the only outputs.
    void EndAt(const Layer& layer) { m_End = &layer; }
    /// Replaces the layer's outputs by inputs of the case, or constants.
    void GiveAsInputs(const Layer& layer) { m_AsInputs.insert(&layer); }
    void GiveAsConstants(const Layer& layer) { m_AsConstants.insert(&layer); }
    /// Lets readers of the layer's output 0 read its input.
    void Bypass(const Layer& layer, unsigned int input) { m_Bypassed[&layer] = input; }
    /// Keeps these runs, by index.
    void KeepRuns(std::vector<size_t> runs) { m_Runs = std::move(runs); }
    /// Changes sizes `from` of inputs, of constants of AddConstant() and of shapes among parameters to `to`.
    void ChangeSize(unsigned int from, unsigned int to) { m_Size = std::pair(from, to); }
    /// Replaces a constant by values of AddConstant() within the same range.
    void FillConstant(const Layer& constant) { m_Filled.insert(&constant); }

    /// The rebuilt case. Throws tenon::Exception if there is no such network.
    NetworkCase Make();

private:
    bool IsGiven(const Layer& layer) const { return m_AsInputs.count(&layer) + m_AsConstants.count(&layer) != 0; }
    const OutputSlot* SourceOf(const InputSlot& input) const;
    void MarkNeeded();
    void Need(const OutputSlot* slot);
    TensorShape Resized(const TensorShape& shape) const;
    std::unique_ptr<BaseDescriptor> ResizedDescriptor(const Layer& layer, const std::vector<TensorShape>& inputs) const;
    void AddSource(const Layer& layer);
    void AddGiven(const OutputSlot& slot);
    void AddLayer(const Layer& layer);
    void AddEnds();
    OutputSlot* AddInputOf(const TensorInfo& info, const ValueRange& range, const std::vector<TensorShape>& shapes);

    const NetworkCase& m_From;
    const RecordedTensors& m_Recorded;
    std::set<const Layer*> m_Roots;
    const Layer* m_End = nullptr;
    std::set<const Layer*> m_AsInputs;
    std::set<const Layer*> m_AsConstants;
    std::map<const Layer*, unsigned int> m_Bypassed;
    std::vector<size_t> m_Runs;
    std::optional<std::pair<unsigned int, unsigned int>> m_Size;
    std::set<const Layer*> m_Filled;

    NetworkCase m_Made;
    std::set<const OutputSlot*> m_Needed;
    std::map<const OutputSlot*, OutputSlot*> m_Slots; ///< the new slot of each original slot
    LayerBindingId m_NextInput = 0;
};

} // namespace tenon::test
