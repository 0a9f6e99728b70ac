// SPDX-License-Identifier: Apache-2.0
// KernelTable: the table from which a built-in backend is made. A kernel is one row (types it takes, an optional
// further check, a prepare function); support, workload factory and workloads derive from the table. CpuRef and CpuAcc
// use it.
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkloadFactory.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

namespace tenon::backends
{

/// A set of element types.
class TypeSet
{
public:
    constexpr TypeSet() = default;
    constexpr TypeSet(DataType type) : m_Bits(1U << static_cast<unsigned>(type)) {} // NOLINT: implicit
    constexpr TypeSet(std::initializer_list<DataType> types)
    {
        for (DataType type : types)
        {
            m_Bits |= 1U << static_cast<unsigned>(type);
        }
    }
    constexpr bool Has(DataType type) const { return ((m_Bits >> static_cast<unsigned>(type)) & 1U) != 0; }
    constexpr bool Empty() const { return m_Bits == 0; }
    friend constexpr TypeSet operator|(TypeSet a, TypeSet b)
    {
        a.m_Bits |= b.m_Bits;
        return a;
    }

private:
    uint32_t m_Bits = 0;
};

/// Every type there is.
constexpr TypeSet AnyType = {DataType::Float16,    DataType::Float32,   DataType::QAsymmU8,   DataType::Signed32,
                             DataType::Boolean,    DataType::QSymmS16,  DataType::QSymmS8,    DataType::QAsymmS8,
                             DataType::BFloat16,   DataType::Signed64,  DataType::Float64,    DataType::Signed8,
                             DataType::Signed16,   DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32,
                             DataType::Unsigned64, DataType::QSymmS4,   DataType::Complex64,  DataType::Complex128};
/// Any type with whole bytes.
constexpr TypeSet WholeByteType = {
    DataType::Float16,    DataType::Float32,    DataType::QAsymmU8,  DataType::Signed32,  DataType::Boolean,
    DataType::QSymmS16,   DataType::QSymmS8,    DataType::QAsymmS8,  DataType::BFloat16,  DataType::Signed64,
    DataType::Float64,    DataType::Signed8,    DataType::Signed16,  DataType::Unsigned8, DataType::Unsigned16,
    DataType::Unsigned32, DataType::Unsigned64, DataType::Complex64, DataType::Complex128};
/// Floating-point types that are only for storage: kernels compute their values in float.
constexpr TypeSet F16Types = {DataType::Float16, DataType::BFloat16};
/// Floating-point types up to 32 bits.
constexpr TypeSet SingleFloatTypes = F16Types | DataType::Float32;
/// All real floating-point types.
constexpr TypeSet FloatTypes = SingleFloatTypes | DataType::Float64;
/// Signed integers without a scale.
constexpr TypeSet SignedTypes = {DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64};
/// Quantized types of 8 bits.
constexpr TypeSet QuantizedInt8Types = {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8};
/// Quantized types with whole bytes.
constexpr TypeSet QuantizedTypes = QuantizedInt8Types | DataType::QSymmS16;

/// A kernel's condition on the quantization of a tensor. Tensors of a type that carries no scale always fit.
enum class Scales : uint8_t
{
    Any,       ///< it does not look, or its check does
    PerTensor, ///< see CheckPerTensor in QuantizationCheck.hpp
    PerSlice,  ///< see CheckPerSlice there
    AnyZero,   ///< see CheckScalesAlone there
    Blocks     ///< the same, or a scale for each block: see CheckBlocks there
};

/// One combination of types that a kernel takes. An input past the listed ones may have any type. An unconnected
/// optional input always fits. Where several rows take a layer's types, the scales of the first one count.
struct TypeRow
{
    std::array<TypeSet, 4> m_Inputs{};
    TypeSet m_Output;            ///< of output 0
    bool m_SameAsInput0 = false; ///< all listed inputs and output 0 have the type of input 0
    std::array<Scales, 4> m_InputScales{};
    Scales m_OutputScales = Scales::Any;
};

/// {in0..} -> out
constexpr TypeRow Types(std::initializer_list<TypeSet> inputs, TypeSet output)
{
    TypeRow row;
    size_t i = 0;
    for (TypeSet set : inputs)
    {
        row.m_Inputs[i++] = set;
    }
    row.m_Output = output;
    return row;
}

/// All of the first `inputs` inputs and the output have one type out of `types`.
constexpr TypeRow SameType(TypeSet types, size_t inputs = 1)
{
    TypeRow row;
    for (size_t i = 0; i < inputs; ++i)
    {
        row.m_Inputs[i] = types;
    }
    row.m_Output = types;
    row.m_SameAsInput0 = true;
    return row;
}

/// The row with this quantization of its inputs, in order, and of output 0.
constexpr TypeRow WithScales(TypeRow row, std::initializer_list<Scales> inputs, Scales output)
{
    size_t i = 0;
    for (const Scales scales : inputs)
    {
        row.m_InputScales[i++] = scales;
    }
    row.m_OutputScales = output;
    return row;
}

/// The row with one scale for each of the tensors that it lists; those past them may hold parameters.
constexpr TypeRow PerTensor(TypeRow row)
{
    for (size_t i = 0; i < row.m_Inputs.size(); ++i)
    {
        row.m_InputScales[i] = row.m_Inputs[i].Empty() ? Scales::Any : Scales::PerTensor;
    }
    row.m_OutputScales = Scales::PerTensor;
    return row;
}

/// The function that a prepared kernel runs per inference.
using Executor = std::function<void(const ExecuteArgs&)>;

/// The result of preparing a kernel: the function to run and its scratch bytes, or the reason why the kernel declines
/// the shapes.
struct Prepared
{
    Executor m_Run;
    size_t m_ScratchBytes = 0;
    bool m_IsCopy = false;              ///< see IShapedWorkload::IsCopy
    const char* m_KernelName = nullptr; ///< the kernel that m_Run is of, if it is not the row's; a literal
    /// Why the kernel does not run these shapes, to follow "CpuSoftmax: ": "not along the last dimension". A literal,
    /// or other text that lives as long as the process. Where m_Run is set all the same, it is the reference's: see
    /// Kernel::m_Refine.
    const char* m_Declined = nullptr;
    TensorAliases m_Aliases; ///< see FusionHooks::m_Aliases
    /// See FusionHooks::m_AddTensor; null: nothing. Only without an activation of the layer's own.
    std::shared_ptr<const std::function<Prepared(const ActivationDescriptor*)>> m_AddTensor;
    /// See FusionHooks::m_MakeAttention; null: nothing. It may decline.
    std::shared_ptr<const std::function<Prepared(const AttentionRest&)>> m_MakeAttention;
    ElementLoop m_ElementLoop; ///< see FusionHooks::m_ElementLoop
    std::string m_Variant;     ///< see FusionHooks::m_Variant; empty: none

    Prepared() = default;
    template <typename F>
    Prepared(F run, size_t scratchBytes = 0) : m_Run(std::move(run)), m_ScratchBytes(scratchBytes) // NOLINT: implicit
    {
    }
    /// The kernel does not run these shapes: another one is to. `reason`: see m_Declined.
    static Prepared Declined(const char* reason)
    {
        Prepared declined;
        declined.m_Declined = reason;
        return declined;
    }
    bool IsDeclined() const { return m_Run == nullptr; }
};

class PackedArchive;
class PackedStore;

/// Weights that a kernel packed in its create step. Immutable; shared by all shapes and contexts.
class PackedWeights
{
public:
    virtual ~PackedWeights() = default;
    /// Whether the layer's constants are still read while it runs: by the packed weights, or by a kernel that runs in
    /// its place. Else the system may take back their pages.
    virtual bool RefersToConstants() const { return false; }
};

/// One row: a kernel of a layer type.
struct Kernel
{
    const char* m_Name; ///< for profiles
    std::span<const TypeRow> m_Types;
    /// Called when shapes are known, by way of Prepare. `packed` is the result of m_Pack, or null. It may decline. Its
    /// result is not run where all outputs are empty, unless the layer has an effect. Null where m_Refine is set.
    Prepared (*m_Prepare)(const ReshapeArgs& args, const PackedWeights* packed) = nullptr;
    /// Further conditions than the types and scales; may be null. m_Prepare relies on the types, the scales and these
    /// conditions: it checks shapes alone.
    SupportResult (*m_Check)(const LayerView& layer) = nullptr;
    /// Create step: packs weights, with large blocks out of the store; may be null.
    std::unique_ptr<PackedWeights> (*m_Pack)(const LayerView& layer, PackedStore& store) = nullptr;
    /// Whether the kernel applies this activation to its output, see ReshapeArgs::m_FusedActivation; null: none.
    SupportResult (*m_Fuse)(const LayerView& layer, const ActivationDescriptor& activation) = nullptr;
    /// Whether this machine has the instructions and the like that the kernel needs for any layer at all; null: it has.
    /// The question is asked when all else fits.
    SupportResult (*m_CheckMachine)() = nullptr;
    /// Whether the kernel rounds more coarsely than the others: it is only for models that ask for fast arithmetic. A
    /// list of kernels leaves it out otherwise.
    bool m_IsFastMath = false;
    /// Whether the kernel also runs layers of RequantizationMode::FloatHalfEven that have quantized outputs.
    bool m_RoundsHalfToEven = false;
    /// Whether m_Prepare takes ReshapeArgs::m_OutputPitch. It declines where it does not for these shapes.
    bool m_WritesPitched = false;
    /// The complete kernel of the layer type, of whose layers this one runs some faster; null: the row stands for
    /// itself. A layer that the reference's m_Check refuses is refused by this one, too.
    const Kernel* m_Reference = nullptr;
    /// In place of m_Prepare, for a kernel that leaves the checks of shapes to its reference. `reference` is prepared
    /// by that kernel, which has thrown where shapes do not fit. The result is something faster, which may contain
    /// parts of `reference`, or declines and leaves `reference` as it is, which then runs.
    Prepared (*m_Refine)(const ReshapeArgs& args, const PackedWeights* packed, Prepared& reference) = nullptr;

    /// The prepared kernel for the layer with these shapes, or the reason why this row declines. Results carry the name
    /// of the kernel that runs.
    Prepared Prepare(const ReshapeArgs& args, const PackedWeights* packed) const;
    /// The same, with the reference in place of a row that declines. For kernels that run pieces of a layer by this
    /// one. Precondition: m_Reference is set.
    Prepared PrepareOrReference(const ReshapeArgs& args, const PackedWeights* packed) const;
};

/// The mode that a layer's descriptor says; FixedPoint for descriptors that say none. In AskKernel.cpp.
RequantizationMode GetRequantization(LayerType type, const BaseDescriptor* descriptor);

/// Whether the kernel takes the layer, or the reason why it does not. In AskKernel.cpp.
SupportResult AskKernel(const Kernel& kernel, const LayerView& layer);

/// The kernels of a layer type in the order of trial; the first one that takes a layer runs it. The last one takes all
/// layers that another one takes: its reasons are the ones given where none does. Empty where there is none.
using KernelLookup = std::span<const Kernel* const> (*)(LayerType);

/// Support by table lookup: (op, types), then the scales of the row, then the kernel's check.
std::shared_ptr<const ILayerSupport> MakeTableLayerSupport(KernelLookup lookup);
/// Workloads by the same choice. Packed weights are written to, or read from, the archive if there is one.
std::unique_ptr<IWorkloadFactory> MakeTableWorkloadFactory(const BackendId& id, KernelLookup lookup,
                                                           std::shared_ptr<PackedArchive> archive = nullptr);

} // namespace tenon::backends
