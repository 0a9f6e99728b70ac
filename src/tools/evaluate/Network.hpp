// SPDX-License-Identifier: Apache-2.0
// Network: the loaded model, which callers of any number run at the same time.
#pragma once

#include "tools/common/ErrorAttribution.hpp"
#include "tools/common/Inputs.hpp"
#include "tools/common/Model.hpp"
#include "tools/common/OutputStore.hpp"
#include "tools/evaluate/Options.hpp"

#include <tenon/IRuntime.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tools::evaluate
{

class Network
{
public:
    /// Loads the model of the options. Sizes that it leaves open are those of the first of `pictures` that can be read.
    /// Throws UsageError, InputError, RunError and UnimplementedException.
    Network(const Options& options, const std::vector<std::string>& pictures);
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    const Binding& Input() const { return m_Input; }
    /// The outputs of --output-name, or all, with the shapes that they have for the input's; further sizes may be open.
    const std::vector<Binding>& Outputs() const { return m_Outputs; }

    /// A picture as the input. Throws InputError, which names the file, and RunError. Callable by several threads.
    InputData Load(const std::string& picture) const;

    /// A hash of all bytes of the model's file.
    const std::string& Checksum() const { return m_Checksum; }

private:
    friend class Caller;

    Model Parse(const std::map<std::string, TensorShape>& shapes) const;
    /// The input of the first picture that can be read.
    TensorShape FindShape(const std::vector<std::string>& pictures) const;

    const Options& m_Options;
    ErrorAttribution m_Attribution;
    std::optional<ModelFile> m_File; ///< outlives the runtime, whose networks may use it in place
    std::string m_Checksum;
    IRuntimePtr m_Runtime{nullptr, &IRuntime::Destroy};
    NetworkId m_Id = 0;
    Binding m_Input;
    std::vector<Binding> m_AllOutputs;
    std::vector<Binding> m_Outputs;
};

/// One of those who run a network at the same time, with states and outputs of its own.
class Caller
{
public:
    explicit Caller(Network& network);
    ~Caller();
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    /// Runs the network from its initial states. The outputs, as real numbers where they are quantized, last until the
    /// next run. Throws InputError and RunError.
    const OutputStore& Infer(const InputData& input);

private:
    Network& m_Network;
    SessionId m_Session;
    OutputStore m_Outputs;
};

} // namespace tenon::tools::evaluate
