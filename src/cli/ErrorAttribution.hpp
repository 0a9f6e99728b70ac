// SPDX-License-Identifier: Apache-2.0
// Blame: adds to errors of the library the model and the inputs that they are about, and with which exit status
// the program ends. Run.cpp takes each step through it.
#pragma once

#include <string>

namespace tenon::cli
{

class ErrorAttribution
{
public:
    explicit ErrorAttribution(const std::string& modelPath);

    /// Sets the words about inputs of other shapes than those of the model: "input 'x' as [2,3] (from x.npy; the model
    /// says [1,3])".
    void SetInputs(const std::string& inputs) { m_Inputs = " with " + inputs; }

    /// A step up to the optimized network. Whatever fails there is wrong with the model file or with the inputs'
    /// shapes: InputError, but for what is not supported and for memory that ran out.
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

    /// A step after it: what layers or limits do not take is an InputError, and all else that is supported a RunError.
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

} // namespace tenon::cli
