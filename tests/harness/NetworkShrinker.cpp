// SPDX-License-Identifier: Apache-2.0
// See NetworkShrinker.hpp.
#include "harness/NetworkShrinker.hpp"

#include "harness/CaseRebuild.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace tenon::test
{

namespace
{

/// RecordedTensors as text for a pipe, and back.
class Recording
{
public:
    static std::string Write(const RecordedTensors& tensors)
    {
        std::string text;
        const auto put = [&](const auto& value) { text.append(reinterpret_cast<const char*>(&value), sizeof value); };
        for (const auto& [key, tensor] : tensors)
        {
            put(key.first);
            put(key.second);
            put(tensor.m_Range);
            put(tensor.m_Shapes.size());
            for (const TensorShape& shape : tensor.m_Shapes)
            {
                put(shape.IsScalar());
                put(shape.GetNumDimensions());
                for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
                {
                    put(shape[i]);
                }
            }
            put(tensor.m_Bytes.size());
            text.append(reinterpret_cast<const char*>(tensor.m_Bytes.data()), tensor.m_Bytes.size());
        }
        return text;
    }

    explicit Recording(const std::string& text) : m_Text(text) {}

    RecordedTensors Read()
    {
        RecordedTensors tensors;
        while (m_At < m_Text.size())
        {
            TensorKey key;
            key.first = Get<uint64_t>();
            key.second = Get<unsigned int>();
            RecordedTensor& tensor = tensors[key];
            tensor.m_Range = Get<ValueRange>();
            tensor.m_Shapes.resize(Get<size_t>());
            for (TensorShape& shape : tensor.m_Shapes)
            {
                const bool isScalar = Get<bool>();
                std::vector<unsigned int> sizes(Get<unsigned int>());
                std::generate(sizes.begin(), sizes.end(), [&] { return Get<unsigned int>(); });
                shape = isScalar ? TensorShape(Dimensionality::Scalar)
                                 : TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
            }
            tensor.m_Bytes.resize(Get<size_t>());
            std::memcpy(tensor.m_Bytes.data(), m_Text.data() + m_At, tensor.m_Bytes.size());
            m_At += tensor.m_Bytes.size();
        }
        return tensors;
    }

private:
    template <typename T>
    T Get()
    {
        T value;
        std::memcpy(&value, m_Text.data() + m_At, sizeof value);
        m_At += sizeof value;
        return value;
    }

    const std::string& m_Text;
    size_t m_At = 0;
};

/// What shrinking makes less, the most important first.
auto Measure(const NetworkCase& tested)
{
    const Graph& graph = tested.GetGraph();
    size_t roots = 0;
    size_t elements = 0;
    for (const auto& layer : graph.Layers())
    {
        roots += layer->GetNumOutputSlots() == 0 ? 1 : 0;
        elements += layer->GetConstant() != nullptr ? layer->GetConstant()->m_Tensor.GetNumElements() : 0;
    }
    for (const NetworkCase::Shapes& run : tested.m_Runs)
    {
        for (const auto& [id, shape] : run)
        {
            elements += shape.GetNumElements();
        }
    }
    const size_t given = graph.Count(LayerType::Input) + graph.Count(LayerType::Constant);
    return std::tuple(graph.Size() - given - roots, graph.Size(), tested.m_Runs.size(), elements);
}

class Shrinker
{
public:
    Shrinker(NetworkCase tested, const CaseCheck& check, Failure failure, const ShrinkLimits& limits)
        : m_Case(std::move(tested)), m_Check(check), m_Failure(std::move(failure)), m_Limits(limits)
    {
    }

    Shrunk Run()
    {
        Record();
        bool isSmaller = true;
        while (isSmaller && !HasDataDependentShape())
        {
            isSmaller = DropRuns();
            isSmaller = KeepOneRoot() || isSmaller;
            isSmaller = EndEarlier() || isSmaller;
            isSmaller = BeginLater() || isSmaller;
            isSmaller = BypassLayers() || isSmaller;
            isSmaller = DropRoots() || isSmaller;
            isSmaller = ShrinkSizes() || isSmaller;
        }
        FillConstants();
        return {std::move(m_Case), m_Failure, m_NumChecks};
    }

private:
    using Change = std::function<void(CaseRebuild&)>;

    bool HasDataDependentShape() const
    {
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - m_Start;
        return spent.count() > m_Limits.m_Seconds;
    }

    /// In a child: what fails may fail here, too. Nothing is recorded then, and tensors cannot be given from outside.
    void Record()
    {
        const ChildEnd end = RunInChild([&](const Say& say) { say(Recording::Write(RecordTensors(m_Case))); },
                                        m_Limits.m_SecondsOfCheck);
        m_Recorded = end.m_IsComplete ? Recording(end.m_Output).Read() : RecordedTensors();
    }

    /// Makes the change, and keeps it if the case still fails in the same way and is smaller.
    bool Try(const Change& change, bool mayBeAsLarge = false)
    {
        if (HasDataDependentShape())
        {
            return false;
        }
        try
        {
            CaseRebuild rebuild(m_Case, m_Recorded);
            change(rebuild);
            NetworkCase made = rebuild.Make();
            if (!mayBeAsLarge && Measure(made) >= Measure(m_Case))
            {
                return false;
            }
            ++m_NumChecks;
            Failure failure = CheckInChild(m_Check, made, m_Limits.m_SecondsOfCheck);
            if (failure.m_Kind != m_Failure.m_Kind)
            {
                return false;
            }
            m_Case = std::move(made);
            m_Failure = std::move(failure);
        }
        catch (const Exception&)
        {
            return false; // there is no such network
        }
        Record();
        return true;
    }

    std::vector<const Layer*> Roots() const
    {
        std::vector<const Layer*> roots;
        for (const auto& layer : m_Case.GetGraph().Layers())
        {
            if (layer->GetType() == LayerType::Output || layer->GetSchema().Has(OpFlags::Effect))
            {
                roots.push_back(layer.get());
            }
        }
        return roots;
    }

    /// Layers that compute, in order of execution.
    std::vector<const Layer*> Computing() const
    {
        std::vector<const Layer*> layers;
        for (const Layer* layer : m_Case.GetGraph().TopologicalOrder())
        {
            if (layer->GetNumOutputSlots() != 0 && layer->GetType() != LayerType::Input &&
                layer->GetType() != LayerType::Constant)
            {
                layers.push_back(layer);
            }
        }
        return layers;
    }

    bool HasRecorded(const Layer& layer) const
    {
        return std::all_of(layer.Outputs().begin(), layer.Outputs().end(),
                           [&](const OutputSlot& output) {
                               return m_Recorded.count({layer.GetGuid(), output.CalculateIndexOnOwner()}) != 0;
                           });
    }

    bool DropRuns()
    {
        bool isSmaller = false;
        for (size_t run = 0; run < m_Case.m_Runs.size() && m_Case.m_Runs.size() > 1; ++run)
        {
            if (Try([&](CaseRebuild& rebuild) { rebuild.KeepRuns({run}); }))
            {
                return true;
            }
        }
        for (size_t run = 0; run < m_Case.m_Runs.size() && m_Case.m_Runs.size() > 2;)
        {
            std::vector<size_t> others;
            for (size_t i = 0; i < m_Case.m_Runs.size(); ++i)
            {
                if (i != run)
                {
                    others.push_back(i);
                }
            }
            const bool isDropped = Try([&](CaseRebuild& rebuild) { rebuild.KeepRuns(others); });
            isSmaller = isSmaller || isDropped;
            run += isDropped ? 0 : 1;
        }
        return isSmaller;
    }

    bool KeepOneRoot()
    {
        const std::vector<const Layer*> roots = Roots();
        return roots.size() > 1 &&
               std::any_of(roots.begin(), roots.end(),
                           [&](const Layer* root) { return Try([&](CaseRebuild& r) { r.KeepRoots({root}); }); });
    }

    bool DropRoots()
    {
        bool isSmaller = false;
        for (size_t dropped = 0; dropped < Roots().size() && Roots().size() > 1;)
        {
            std::vector<const Layer*> roots = Roots();
            roots.erase(roots.begin() + static_cast<std::ptrdiff_t>(dropped));
            const bool isDropped = Try([&](CaseRebuild& rebuild) { rebuild.KeepRoots(roots); });
            isSmaller = isSmaller || isDropped;
            dropped += isDropped ? 0 : 1;
        }
        return isSmaller;
    }

    /// Nothing after some layer.
    bool EndEarlier()
    {
        const std::vector<const Layer*> layers = Computing();
        const std::vector<const Layer*> roots = Roots();
        for (const Layer* layer : layers)
        {
            const bool isEnd =
                roots.size() == 1 && roots[0]->NumInputs() != 0 && roots[0]->Input(0).GetProducer() == layer;
            if (!isEnd && Try([&](CaseRebuild& rebuild) { rebuild.EndAt(*layer); }))
            {
                return true;
            }
        }
        return false;
    }

    /// Tensors from outside in place of what a layer makes: the late ones first, as more goes with them.
    bool BeginLater()
    {
        bool isSmaller = false;
        for (size_t fromEnd = 0; fromEnd < Computing().size() && !HasDataDependentShape();)
        {
            const std::vector<const Layer*> layers = Computing();
            const Layer& layer = *layers[layers.size() - 1 - fromEnd];
            const bool isGiven =
                HasRecorded(layer) && (Try([&](CaseRebuild& rebuild) { rebuild.GiveAsInputs(layer); }) ||
                                       Try([&](CaseRebuild& rebuild) { rebuild.GiveAsConstants(layer); }));
            isSmaller = isSmaller || isGiven;
            fromEnd += isGiven ? 0 : 1;
        }
        return isSmaller;
    }

    bool BypassLayers()
    {
        bool isSmaller = false;
        for (size_t i = 0; i < Computing().size() && !HasDataDependentShape();)
        {
            const Layer& layer = *Computing()[i];
            const bool isGone = BypassLayer(layer);
            isSmaller = isSmaller || isGone;
            i += isGone ? 0 : 1;
        }
        return isSmaller;
    }

    bool BypassLayer(const Layer& layer)
    {
        if (layer.GetNumOutputSlots() != 1)
        {
            return false;
        }
        const TensorInfo& info = layer.Output(0).GetTensorInfo();
        for (const InputSlot& input : layer.Inputs())
        {
            const OutputSlot* const source = input.GetConnectedOutputSlot();
            if (source != nullptr && source->GetTensorInfo().GetShape() == info.GetShape() &&
                source->GetTensorInfo().IsTypeSpaceMatch(info) &&
                Try([&](CaseRebuild& rebuild) { rebuild.Bypass(layer, input.GetSlotIndex()); }))
            {
                return true;
            }
        }
        return false;
    }

    std::set<unsigned int> Sizes() const
    {
        std::set<unsigned int> sizes;
        for (const NetworkCase::Shapes& run : m_Case.m_Runs)
        {
            for (const auto& [id, shape] : run)
            {
                for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
                {
                    sizes.insert(shape[i]);
                }
            }
        }
        return sizes;
    }

    bool ShrinkSizes()
    {
        bool isSmaller = false;
        for (const unsigned int size : Sizes())
        {
            std::set<unsigned int> smaller{1, 2, 3, size / 4, size / 2, size - size / 4, size - 1};
            for (const unsigned int less : smaller)
            {
                if (less != 0 && less < size && Try([&](CaseRebuild& r) { r.ChangeSize(size, less); }))
                {
                    isSmaller = true;
                    break;
                }
            }
        }
        return isSmaller;
    }

    /// Values that follow from a range are printed in a line.
    void FillConstants()
    {
        constexpr unsigned int MaxElements = 16;
        std::map<std::string, size_t> names;
        for (const Layer* layer : m_Case.GetGraph().LayersOf(LayerType::Constant))
        {
            ++names[layer->GetNameStr()];
        }
        std::set<std::string> tried;
        for (bool isDone = false; !isDone;)
        {
            isDone = true;
            for (const Layer* layer : m_Case.GetGraph().LayersOf(LayerType::Constant))
            {
                if (m_Case.m_Constants.count(layer->GetNameStr()) == 0 && names[layer->GetNameStr()] == 1 &&
                    layer->GetConstant()->m_Tensor.GetNumElements() > MaxElements &&
                    tried.insert(layer->GetNameStr()).second)
                {
                    Try([&](CaseRebuild& rebuild) { rebuild.FillConstant(*layer); }, true);
                    isDone = false;
                    break; // the graph may be another one
                }
            }
        }
    }

    NetworkCase m_Case;
    const CaseCheck& m_Check;
    Failure m_Failure;
    const ShrinkLimits m_Limits;
    RecordedTensors m_Recorded;
    size_t m_NumChecks = 0;
    const std::chrono::steady_clock::time_point m_Start = std::chrono::steady_clock::now();
};

} // namespace

NetworkCase CopyCase(const NetworkCase& tested)
{
    return CaseRebuild(tested, {}).Make();
}

Shrunk Shrink(const NetworkCase& tested, const CaseCheck& check, const Failure& failure, const ShrinkLimits& limits)
{
    return Shrinker(CopyCase(tested), check, failure, limits).Run();
}

} // namespace tenon::test
