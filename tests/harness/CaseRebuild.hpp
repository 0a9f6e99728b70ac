// SPDX-License-Identifier: Apache-2.0
// CaseRebuild: a NetworkCase made anew from another one, with some tensors given from outside or by other layers, some
// outputs left out and some sizes changed. What nothing reads any more is left out, too.
#pragma once

#include "harness/NetworkCase.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace tenon::test
{

/// What a tensor of a case was, run by run.
struct RecordedTensor
{
    std::vector<TensorShape> m_Shapes;
    ValueRange m_Range;
    std::vector<std::byte> m_Bytes; ///< of the first run
};
using RecordedTensors = std::map<TensorKey, RecordedTensor>;

/// All tensors of a case but constants. Throws what its runs throw.
RecordedTensors RecordTensors(const NetworkCase& tested);

class CaseRebuild
{
public:
    CaseRebuild(const NetworkCase& from, const RecordedTensors& recorded);

    /// Output layers and those with an effect: only these stay.
    void KeepRoots(const std::vector<const Layer*>& roots);
    /// What the layer gives becomes the only outputs.
    void EndAt(const Layer& layer) { m_End = &layer; }
    /// Inputs of the case, or constants, in place of what the layer gives.
    void GiveAsInputs(const Layer& layer) { m_AsInputs.insert(&layer); }
    void GiveAsConstants(const Layer& layer) { m_AsConstants.insert(&layer); }
    /// Readers of the layer's output 0 read its input in its place.
    void Bypass(const Layer& layer, unsigned int input) { m_Bypassed[&layer] = input; }
    /// The runs that stay, by index.
    void KeepRuns(std::vector<size_t> runs) { m_Runs = std::move(runs); }
    /// Wherever a size of an input, a constant of AddConstant() or a shape among parameters is `from`, it becomes `to`.
    void ChangeSize(unsigned int from, unsigned int to) { m_Size = std::pair(from, to); }
    /// Values of AddConstant() in place of others within the same range.
    void FillConstant(const Layer& constant) { m_Filled.insert(&constant); }

    /// Throws an exception of Tenon's where there is no such network.
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
    std::map<const OutputSlot*, OutputSlot*> m_Slots; ///< made for those of the original
    LayerBindingId m_NextInput = 0;
};

} // namespace tenon::test
