// SPDX-License-Identifier: Apache-2.0
// The networks of tests/golden/armnn, which make_armnn.py writes in the form of Arm NN, built by INetwork's own
// methods: what a file must become.
#pragma once

#include <tenon/INetwork.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace tenon::test
{

/// Adds the layer of a case and what feeds it beside the network's inputs.
class CaseMaker
{
public:
    CaseMaker(INetwork& network, std::deque<std::vector<uint8_t>>& memory) : m_Network(network), m_Memory(memory) {}

    INetwork* operator->() { return &m_Network; }
    /// Values follow the pattern of make_armnn.py unless they are given.
    ConstTensor Const(TensorInfo info, const std::vector<double>& values = {});
    IConnectableLayer* Constant(const ConstTensor& tensor, const char* name);
    /// The network's inputs feed this layer in place of the one that the case returns.
    void TakeInputs(IConnectableLayer* layer) { m_First = layer; }
    IConnectableLayer* First() const { return m_First; }
    /// Declares the output and puts a Reshape behind it, which keeps a shape that a file declares otherwise.
    IConnectableLayer* Reshape(IConnectableLayer* layer, const TensorInfo& given, const TensorShape& declared);
    /// Connects a Constant layer.
    static void Feed(IConnectableLayer* constant, IConnectableLayer* layer, unsigned int input)
    {
        constant->GetOutputSlot(0).Connect(layer->GetInputSlot(input));
    }

private:
    INetwork& m_Network;
    std::deque<std::vector<uint8_t>>& m_Memory;
    IConnectableLayer* m_First = nullptr;
};

struct ArmnnCase
{
    std::string m_Name; ///< of the file
    std::vector<TensorInfo> m_Inputs;
    std::vector<TensorInfo> m_Outputs;
    std::function<IConnectableLayer*(CaseMaker& make)> m_Add;
    bool m_Runs = true;             ///< on CpuRef
    bool m_IsTurned = false;        ///< the file lists the inputs from the last to the first
    unsigned int m_FirstOutput = 0; ///< of the layer: the file lists none of those before it
    bool m_IsOverridden = false;    ///< input 0 has an info of its own: see ArmnnCase::Override
    static TensorInfo Override();
};

std::vector<ArmnnCase> ArmnnCases();

/// A network, and the memory of its constants.
struct CaseNetwork
{
    explicit CaseNetwork(const ArmnnCase& tested);

    std::deque<std::vector<uint8_t>> m_Memory;
    INetworkPtr m_Network;
};

} // namespace tenon::test
