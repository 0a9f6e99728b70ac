// SPDX-License-Identifier: Apache-2.0
// FakeKernels: FakeRuntime's own kernels of a few operators, so that nodes which a delegate leaves run as in TensorFlow
// Lite. Used by FakeGraph and by tests that give it operators.
#pragma once

#include "delegate/TfLiteInterface.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::test
{

/// Builtin codes, as in model files.
enum FakeCode : int32_t
{
    AddCode = 0,
    ConcatenationCode = 2,
    FullyConnectedCode = 9,
    MulCode = 18,
    ReluCode = 19,
    ReshapeCode = 22,
    SvdfCode = 27,
    WhereCode = 109,
    StablehloAddCode = 163,
    StablehloMultiplyCode = 165,
    StablehloScatterCode = 190
};

/// A custom operator that no delegate knows. Its kernel copies its input.
constexpr const char* MysteryName = "Mystery";
/// The beginning of names of custom operators whose kernels the program did not register: their functions are null.
constexpr const char* UnresolvedName = "Unresolved";

/// Kernels of ADD, MUL, RELU and RESHAPE of Float32. Kernels of other operators keep shapes and fail to run: a delegate
/// must take their nodes.
TfLiteRegistration MakeFakeKernel(int32_t code, int32_t version);
/// The name must outlive the kernel.
TfLiteRegistration MakeFakeCustomKernel(const char* name);
/// "ADD", "DELEGATE", or a custom operator's name.
std::string NameOfKernel(const TfLiteRegistration& registration);

/// The size of an element in bytes; 0 for types without a fixed size.
size_t SizeOfType(TfLiteType type);

/// Options of operators in the form of AddNode.
template <typename Params>
std::vector<uint8_t> BytesOf(const Params& params)
{
    const auto* bytes = reinterpret_cast<const uint8_t*>(&params);
    return {bytes, bytes + sizeof(Params)};
}

struct FakeAddParams
{
    int32_t m_Activation = 0; ///< 1: Relu
    bool m_HasPowerOfTwoScales = false;
};

struct FakeActivationParams
{
    int32_t m_Activation = 0;
};

struct FakeReshapeParams
{
    int32_t m_Shape[8] = {};
    int32_t m_Rank = 0;
};

struct FakeConcatenationParams
{
    int32_t m_Axis = 0;
    int32_t m_Activation = 0;
};

struct FakeFullyConnectedParams
{
    int32_t m_Activation = 0;
    int32_t m_WeightsFormat = 0;
    bool m_KeepsRank = false;
    bool m_HasAsymmetricInputs = false;
};

struct FakeSvdfParams
{
    int32_t m_Rank = 1;
    int32_t m_Activation = 0;
    bool m_HasAsymmetricInputs = false;
};

} // namespace tenon::test
