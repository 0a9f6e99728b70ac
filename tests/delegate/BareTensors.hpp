// SPDX-License-Identifier: Apache-2.0
// BareTensors: a TfLiteContext that has tensors and no functions, for tests of reading tensors.
#pragma once

#include "delegate/FakeMemory.hpp"
#include "delegate/NodeReader.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace tenon::test
{

/// A context that has tensors alone.
class BareTensors
{
public:
    TfLiteTensor& Add(TfLiteType type, const std::vector<int32_t>& dims)
    {
        TfLiteTensor tensor{};
        tensor.type = type;
        tensor.dims = Keep(dims);
        tensor.allocation_type = kTfLiteArenaRw;
        m_Tensors.push_back(tensor);
        m_IsComputed.push_back(false);
        m_Context.tensors = m_Tensors.data();
        m_Context.tensors_size = m_Tensors.size();
        return m_Tensors.back();
    }
    template <typename T>
    TfLiteTensor& AddConstant(TfLiteType type, const std::vector<int32_t>& dims, std::vector<T>& values)
    {
        TfLiteTensor& tensor = Add(type, dims);
        tensor.allocation_type = kTfLiteMmapRo;
        tensor.data = values.data();
        tensor.bytes = values.size() * sizeof(T);
        return tensor;
    }
    void Quantize(TfLiteTensor& tensor, const std::vector<float>& scales, const std::vector<int32_t>& zeroPoints,
                  int32_t dimension = 0)
    {
        m_FloatArrays.push_back(MakeArray<TfLiteFloatArray>(scales));
        m_Quantizations.push_back({m_FloatArrays.back().get(), Keep(zeroPoints), dimension});
        tensor.quantization = {kTfLiteAffineQuantization, &m_Quantizations.back()};
    }
    TfLiteIntArray* Keep(const std::vector<int32_t>& values)
    {
        return m_Arrays.emplace_back(MakeIntArray(values)).get();
    }
    void SetComputed(size_t tensor) { m_IsComputed[tensor] = true; }
    TfLiteContext& Context() { return m_Context; }

    /// The first tensor, read by a scope of its own.
    parsers::TensorView Read(bool inferShapes = false, const Limits& limits = {}, int32_t tensor = 0)
    {
        delegate::TensorScope scope(m_Context, m_IsComputed, inferShapes, limits);
        return scope.Get(tensor);
    }
    template <typename E>
    std::string ErrorOf(const Limits& limits = {}, int32_t tensor = 0)
    {
        try
        {
            Read(false, limits, tensor);
            ADD_FAILURE() << "nothing was thrown";
        }
        catch (const E& error)
        {
            return error.what();
        }
        return {};
    }

    std::vector<bool> m_IsComputed;

private:
    TfLiteContext m_Context{};
    std::vector<TfLiteTensor> m_Tensors;
    std::deque<IntArrayPtr> m_Arrays;
    std::deque<FloatArrayPtr> m_FloatArrays;
    std::deque<TfLiteAffineQuantization> m_Quantizations;
};

} // namespace tenon::test
