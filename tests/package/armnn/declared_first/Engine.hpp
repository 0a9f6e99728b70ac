// SPDX-License-Identifier: Apache-2.0
// Written as headers of programs for Arm NN are: it includes none of Arm NN's, and declares the classes that it names.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace armnn
{
class IConnectableLayer;
class INetwork;
class IRuntime;
class TensorInfo;
class TensorShape;
} // namespace armnn

namespace engine
{

/// A network that doubles what it is given, made when it is first used.
class Engine
{
public:
    explicit Engine(const std::string& backend);
    ~Engine();

    std::vector<float> Run(const std::vector<float>& values);
    const armnn::TensorInfo& GetInputInfo() const;
    /// Lines that the library and the engine have logged.
    const std::vector<std::string>& GetLog() const;

private:
    class Impl;

    static armnn::IConnectableLayer* AddDoubling(armnn::INetwork& network, const armnn::TensorInfo& info);
    void Load(const armnn::TensorShape& shape);

    std::unique_ptr<Impl> m_Impl;
    std::unique_ptr<armnn::IRuntime, void (*)(armnn::IRuntime*)> m_Runtime;
};

/// Throws std::runtime_error where a utility gives another value than Arm NN's.
void CheckUtilities();

} // namespace engine
