// SPDX-License-Identifier: Apache-2.0
// Task: the kind of an evaluation. It says which pictures there are, what is kept of the outputs of each, and what
// follows from all of them.
#pragma once

#include "json/JsonWriter.hpp"
#include "tools/common/OutputStore.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::tools::evaluate
{

/// The result of a picture. It has all that a task needs of the outputs, so that figures are the same whether the
/// picture ran or its result was read from a state.
using Numbers = std::vector<double>;

/// One for each picture of a task, in their order; none for a picture that failed.
using Results = std::vector<std::optional<Numbers>>;

class Task
{
public:
    virtual ~Task() = default;

    /// "classification"
    virtual const char* Name() const = 0;
    /// The paths of the pictures, and their names for people.
    virtual const std::vector<std::string>& Files() const = 0;
    virtual std::string NameOf(size_t picture) const = 0;
    /// All options on which results depend, beside those of inputs.
    virtual std::string DescribeOptions() const = 0;
    /// Further content on which the result of a picture depends. Throws InputError.
    virtual std::string ReadMore(size_t) const { return {}; }

    /// The result of a picture. `bytes` are those of its file, `more` those of ReadMore. Throws InputError. Callable by
    /// several threads.
    virtual Numbers Measure(size_t picture, std::string_view bytes, std::string_view more,
                            const OutputStore& outputs) const = 0;

    /// Whether numbers out of a state can be a result.
    virtual bool IsResult(const Numbers& numbers) const = 0;

    /// Computes the figures, for the functions below.
    virtual void Conclude(const Results& results) = 0;
    virtual std::string FormatText() const = 0;
    /// Members of an object.
    virtual void WriteFigures(JsonWriter& json) const = 0;
    /// Members of an object about a picture with a result.
    virtual void WritePicture(JsonWriter& json, size_t picture) const = 0;
    /// How wrong a picture is: the worst ones have the largest numbers; 0 for one without a fault.
    virtual double FaultOf(size_t picture) const = 0;
    /// Members of an object for drawing a picture on the page: boxes and the like. `bytes` are those of its file;
    /// `infer` gives its outputs.
    virtual void Illustrate(JsonWriter&, size_t, std::string_view, const std::function<const OutputStore&()>&) const {}
};

} // namespace tenon::tools::evaluate
