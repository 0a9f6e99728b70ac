// SPDX-License-Identifier: Apache-2.0
// The operator harness. A test is a table of cases, an oracle in double precision, and cases that must be refused;
// the harness multiplies each case over
//   backends (CpuRef must run it, others may refuse), constant and run-time parameters, 1 and 2 threads,
//   output in memory of its own or in an input's (where ops.def says InPlace or View),
// each buffer ending at a guard page, inputs read-only. The oracle judges all; on quantized types other backends than
// CpuRef must give CpuRef's bytes. Used by the tests under ops/.
//
//   ISA_TEST(Floor, RoundsDown)
//   {
//       const TensorInfo info({2, 3}, DataType::Float32);
//       CheckOp({"fractions", LayerType::Floor, MakeDescriptor(NullDescriptor()), {Random(info, 1, -3, 3)}, info,
//                [](const auto& in) { return Map(in[0], [](double x) { return std::floor(x); }); }});
//   }
#pragma once

#include "harness/IsaTest.hpp"
#include "harness/TestTensor.hpp"

#include <tenon/backend/IBackend.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tenon::test
{

/// The real values of the outputs, one after the other, from the real values of the inputs; one entry per input, empty
/// if not connected.
using Oracle = std::function<std::vector<double>(const std::vector<RealTensor>& inputs)>;

struct OpCase
{
    std::string m_Name;
    LayerType m_Type = LayerType::Input;
    std::shared_ptr<const BaseDescriptor> m_Descriptor;
    std::vector<TestTensor> m_Inputs;
    TensorInfo m_Output;
    Oracle m_Oracle;

    double m_Relative = 1e-5; ///< for float outputs: |got - want| <= m_Relative * |want| + m_Absolute
    double m_Absolute = 1e-6;
    double m_Steps = 1; ///< for quantized outputs: the tolerance of a stored value; 0 demands equality

    std::vector<TensorInfo> m_MoreOutputs = {};              ///< outputs 1, 2, ...
    const ActivationDescriptor* m_FusedActivation = nullptr; ///< the activation that the kernel applies to its output
};

template <typename D>
std::shared_ptr<const BaseDescriptor> MakeDescriptor(D descriptor)
{
    return std::make_shared<const D>(std::move(descriptor));
}

/// An oracle that gives the stored values of output 0, which the case's output info converts to real values.
Oracle Expect(const TensorInfo& output, std::vector<double> stored);

/// f of each value, for elementwise oracles.
template <typename F>
std::vector<double> Map(const RealTensor& tensor, F f)
{
    std::vector<double> values = tensor.m_Values;
    for (double& value : values)
    {
        value = f(value);
    }
    return values;
}

/// Runs the case in all variants and compares. Backends other than CpuRef may refuse it. On levels other than the best
/// one (IsaTest.hpp) CpuAcc alone is judged.
void CheckOp(const OpCase& op);

/// CpuRef refuses the layer with this code, and its reason contains `reason`; all other backends refuse it too.
void CheckUnsupported(const OpCase& op, SupportCode code, const std::string& reason);

/// CpuRef accepts the layer, but preparing it for these shapes throws an InvalidArgumentException or
/// LayerValidationException whose text contains `text`; other backends that accept it throw one, too.
void CheckRejectsShapes(const OpCase& op, const std::string& text);

/// The settings of one variant.
struct RunVariant
{
    bool m_Constants = true; ///< constant inputs are known when the workload is made
    unsigned int m_Threads = 1;
    int m_InPlaceInput = -1; ///< the input whose memory output 0 takes; -1: none
};

/// All variants of a case on these numbers of threads.
std::vector<RunVariant> GetVariants(const OpCase& op, const std::vector<unsigned int>& threads);

/// "constants at run time, 2 thread(s), in place of input 1".
std::string ToText(const RunVariant& variant);

/// Runs a supported case on a backend; returns the bytes of its outputs, one after the other. The name of the kernel
/// that ran goes to `kernel`.
std::vector<std::byte> RunOp(const IBackend& backend, const OpCase& op, const RunVariant& variant,
                             std::string* kernel = nullptr);

/// The variant of the kernel that the backend prepares for the case, see FusionHooks::m_Variant; empty: none. Constants
/// are known.
std::string FindVariant(const IBackend& backend, const OpCase& op);

/// The backends that cases run on: the built-in ones, CpuRef first, and the backends of the folder or file in the
/// environment variable TENON_DYNAMIC_BACKENDS_PATH.
const std::vector<std::shared_ptr<const IBackend>>& GetTestBackends();

} // namespace tenon::test
