// SPDX-License-Identifier: Apache-2.0
// ErrorAttribution: adds the model and the inputs to the text of the library's errors, and chooses the exception and so
// the exit status. Run.cpp runs each step through it.
#pragma once

#include <string>

namespace tenon::tools
{

class ErrorAttribution
{
public:
    explicit ErrorAttribution(const std::string& modelPath);

    /// Sets the text about inputs whose shapes differ from the model's: "input 'x' as [2,3] (from x.npy; the model says
    /// [1,3])".
    void SetInputs(const std::string& inputs) { m_Inputs = " with " + inputs; }

    /// Runs a step before the network is optimized. Its errors are about the model file or the inputs' shapes: they
    /// become InputError, except unsupported features and exhausted memory.
    template <typename Step>
    auto OfModel(Step step) const
    {
        try
        {
            return step();
        }
        catch (...)
        {
            RethrowOfModel();
        }
    }

    /// Runs a later step. Errors of layers and limits become InputError; other errors become RunError, except
    /// unsupported features.
    template <typename Step>
    auto OfRun(Step step) const
    {
        try
        {
            return step();
        }
        catch (...)
        {
            RethrowOfRun();
        }
    }

private:
    [[noreturn]] void RethrowOfModel() const;
    [[noreturn]] void RethrowOfRun() const;
    std::string Text(const std::string& message) const;

    std::string m_Model;
    std::string m_Inputs;
};

} // namespace tenon::tools
