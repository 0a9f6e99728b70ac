// SPDX-License-Identifier: Apache-2.0
// NetworkCase: a network and the runs that are tried with it. Values of its inputs, and of large constants, follow from
// a range and a number, so that a case can be printed, changed and run again in another process.
#pragma once

#include "graph/Network.hpp"
#include "harness/Passes.hpp"

#include <tenon/Tenon.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test
{

/// A range of values: real values for floats, stored values for integers and quantized types.
struct ValueRange
{
    double m_Min = -1.0;
    double m_Max = 1.0;

    friend bool operator==(const ValueRange& a, const ValueRange& b)
    {
        return a.m_Min == b.m_Min && a.m_Max == b.m_Max;
    }
};

/// Pseudo-random values within the range, the same for one seed on every machine. There is at least one byte, for an
/// address.
std::vector<std::byte> MakeValues(const TensorInfo& info, const ValueRange& range, uint32_t seed);

/// Floats of any width as doubles; for other types the stored integers. Throws InvalidArgumentException for 4-bit and
/// complex types.
std::vector<double> ToDoubles(const TensorInfo& info, const void* values);

struct NetworkCase
{
    using Shapes = std::map<LayerBindingId, TensorShape>;

    INetworkPtr m_Network = INetwork::Create();
    std::map<LayerBindingId, ValueRange> m_Inputs;
    /// The shapes of the inputs, run by run. The network is loaded for the first ones.
    std::vector<Shapes> m_Runs;
    /// Constants whose values come from MakeValues(), by the names of their layers; other constants have any values.
    std::map<std::string, ValueRange> m_Constants;

    const Graph& GetGraph() const { return static_cast<const Network&>(*m_Network).GetGraph(); }
    Graph& EditGraph() { return static_cast<Network&>(*m_Network).EditGraph(); }
};

/// Adds a Constant layer whose values follow from its name and the range.
IConnectableLayer* AddConstant(NetworkCase& tested, const TensorInfo& info, const ValueRange& range,
                               const std::string& name);
/// Adds a Constant layer of these stored values.
template <typename T>
IConnectableLayer* AddConstant(NetworkCase& tested, TensorInfo info, const std::vector<T>& values,
                               const std::string& name)
{
    auto owner = std::make_shared<std::vector<T>>(values);
    info.SetConstant();
    return tested.m_Network->AddConstantLayer(ConstTensor(info, *owner), owner, name.c_str());
}
/// The values of a Constant layer of AddConstant().
std::vector<std::byte> MakeConstantValues(const TensorInfo& info, const ValueRange& range, const std::string& name);

/// The values of a run's inputs.
class CaseInputs
{
public:
    CaseInputs(const NetworkCase& tested, size_t run);
    const InputTensors& Tensors() const { return m_Tensors; }

private:
    std::vector<std::vector<std::byte>> m_Values;
    InputTensors m_Tensors;
};

/// A graph whose layers are copies of those of another one, in order of execution; `copies` are by m_Index of the
/// originals.
struct NetworkCopy
{
    explicit NetworkCopy(const Graph& graph);

    Network m_Network{NetworkOptions()};
    std::vector<Layer*> m_Copies;
};

/// The tensor of one of a layer's outputs.
using TensorKey = std::pair<uint64_t, unsigned int>; ///< guid and index of the output
using TensorValues = std::map<TensorKey, Result>;

/// Every tensor of the network except constants, for the inputs of a run, computed by CpuRef with the necessary passes
/// alone. Throws the exceptions of Optimize() and of the run.
TensorValues ComputeAllValues(const NetworkCase& tested, size_t run);

} // namespace tenon::test
