// SPDX-License-Identifier: Apache-2.0
// Inputs in messages, and steps whose errors get the place in front. Inputs.cpp and RandomInputs.cpp use it.
#pragma once

#include "tools/common/Errors.hpp"
#include "tools/common/Model.hpp"
#include "tools/common/TensorMemory.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>

#include <fmt/format.h>

#include <new>
#include <stdexcept>
#include <string>

namespace tenon::tools
{

/// "input 'image'"
std::string PlaceOf(const Binding& binding);

/// "float32 [1,224,224,3]"
std::string Expectation(const TensorInfo& info);

/// The info of an input with the shape of --input-tensor-shape, if one is given.
struct WantedInput
{
    TensorInfo m_Info;
    std::string m_ShapeFrom = {}; ///< the option or file that gives the shape; empty for the model
};

/// A step for one input. Its errors get the place in front.
template <typename Step>
auto At(const std::string& place, const TensorInfo& info, Step step)
{
    try
    {
        return step();
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("{}: {}", place, error.what()));
    }
    catch (const InvalidArgumentException& error) // sizes that overflow
    {
        throw InputError(fmt::format("{}: {}", place, error.what()));
    }
    catch (const std::bad_alloc&)
    {
        throw RunError(fmt::format("{}: {}", place, DescribeLackOfMemory(info)));
    }
    catch (const std::length_error&) // a container was asked for more than can be addressed
    {
        throw RunError(fmt::format("{}: {}", place, DescribeLackOfMemory(info)));
    }
}

} // namespace tenon::tools
