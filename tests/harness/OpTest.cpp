// SPDX-License-Identifier: Apache-2.0
// The operator harness at backend level: layer view, support, create, reshape, execute; no graph.
#include "harness/OpTest.hpp"

#include "backends/cpu/simd/IsaForTests.hpp"
#include "common/KernelName.hpp"
#include "graph/OpSchema.hpp"
#include "harness/Allocations.hpp"
#include "harness/GuardedBuffer.hpp"
#include "harness/IsaCases.hpp"
#include "harness/IsaTest.hpp"
#include "harness/RunMemory.hpp"
#include "harness/TestParallelFor.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

namespace tenon::test
{

namespace
{

/// A case as backends see it. Constants are copied, since their data must stay while the workload lives.
class Layer
{
public:
    Layer(const OpCase& op, bool constants) : m_Op(op), m_Outputs({&op.m_Output})
    {
        for (const TensorInfo& output : op.m_MoreOutputs)
        {
            m_Outputs.push_back(&output);
        }
        for (const TestTensor& input : op.m_Inputs)
        {
            m_Inputs.push_back(input.m_Connected ? &input.m_Info : nullptr);
            // An empty vector may have no address, but an empty constant is a constant all the same.
            static constexpr std::byte nowhere{};
            const std::byte* data = input.m_Bytes.empty() ? &nowhere : input.m_Bytes.data();
            m_Constants.push_back(constants && input.m_Constant ? data : nullptr);
        }
    }

    LayerView View() const
    {
        LayerView view;
        view.m_Type = m_Op.m_Type;
        view.m_Name = &m_Op.m_Name;
        view.m_Descriptor = m_Op.m_Descriptor.get();
        view.m_Inputs = m_Inputs;
        view.m_Outputs = m_Outputs;
        view.m_ConstantData = m_Constants;
        view.m_FusedActivation = m_Op.m_FusedActivation;
        return view;
    }

    ReshapeArgs Args() const
    {
        ReshapeArgs args;
        args.m_Descriptor = m_Op.m_Descriptor.get();
        args.m_Inputs = m_Inputs;
        args.m_Outputs = m_Outputs;
        args.m_ConstantData = m_Constants;
        args.m_Name = &m_Op.m_Name;
        args.m_FusedActivation = m_Op.m_FusedActivation;
        return args;
    }

private:
    const OpCase& m_Op;
    std::vector<const TensorInfo*> m_Inputs;
    std::vector<const void*> m_Constants;
    std::vector<const TensorInfo*> m_Outputs;
};

SupportResult AskSupport(const IBackend& backend, const OpCase& op, bool constants)
{
    return backend.GetLayerSupport({})->IsLayerSupported(Layer(op, constants).View());
}

size_t GetAlignment(const TensorInfo& info)
{
    return std::max(1U, GetDataTypeBits(info.GetDataType()) / 8);
}

std::unique_ptr<GuardedBuffer> MakeInputBuffer(const TestTensor& tensor, bool writable)
{
    auto buffer = std::make_unique<GuardedBuffer>(tensor.m_Bytes.size(), GetAlignment(tensor.m_Info));
    std::copy(tensor.m_Bytes.begin(), tensor.m_Bytes.end(), buffer->GetData());
    if (!writable)
    {
        buffer->MakeReadOnly();
    }
    return buffer;
}

/// The infos of all outputs.
std::vector<TensorInfo> GetOutputs(const OpCase& op)
{
    std::vector<TensorInfo> outputs = {op.m_Output};
    outputs.insert(outputs.end(), op.m_MoreOutputs.begin(), op.m_MoreOutputs.end());
    return outputs;
}

/// Compares one output with the oracle's real values; reports the first element that is off.
void CompareOutput(const OpCase& op, const TensorInfo& output, const std::byte* got, const double* want)
{
    const std::vector<double> stored = GetStored(output, got);
    const DataType type = output.GetDataType();
    const bool real = type == DataType::Float16 || type == DataType::BFloat16 || type == DataType::Float32 ||
                      type == DataType::Float64;
    const double steps = output.IsQuantized() ? op.m_Steps : 0.0;
    const std::vector<double> wanted = real ? std::vector<double>() : ToStored(output, want, stored.size());
    for (size_t i = 0; i < stored.size(); ++i)
    {
        const double expected = real ? want[i] : wanted[i];
        const double bound = real ? op.m_Relative * std::abs(expected) + op.m_Absolute : steps;
        const bool same = (std::isnan(stored[i]) && std::isnan(expected)) || stored[i] == expected;
        ASSERT_TRUE(same || std::abs(stored[i] - expected) <= bound)
            << "element " << i << " of " << output.ToString() << " is " << stored[i] << ", expected " << expected
            << " within " << bound;
    }
}

/// Compares all outputs.
void Compare(const OpCase& op, const std::vector<std::byte>& got, const std::vector<double>& want)
{
    size_t bytes = 0;
    size_t elements = 0;
    for (const TensorInfo& output : GetOutputs(op))
    {
        ASSERT_LE(elements + output.GetNumElements(), want.size()) << "the oracle gives too few values";
        ASSERT_NO_FATAL_FAILURE(CompareOutput(op, output, got.data() + bytes, want.data() + elements));
        bytes += output.GetNumBytes();
        elements += output.GetNumElements();
    }
    ASSERT_EQ(elements, want.size()) << "the oracle gives another number of values than the outputs have";
}

std::vector<double> AskOracle(const OpCase& op)
{
    std::vector<RealTensor> inputs;
    for (const TestTensor& input : op.m_Inputs)
    {
        inputs.push_back(input.m_Connected ? GetReal(input.m_Info, input.m_Bytes.data()) : RealTensor());
    }
    return op.m_Oracle(inputs);
}

/// All but CpuRef.
std::span<const std::shared_ptr<const IBackend>> GetOtherBackends()
{
    return std::span(GetTestBackends()).subspan(1);
}

/// Preparing the case's layer throws an exception of the kind that bad shapes give, with this text.
void ExpectRejection(const IBackend& backend, const OpCase& op, const std::string& text)
{
    SCOPED_TRACE(backend.GetId().Get());
    const Layer layer(op, true);
    const auto check = [&](const Exception& error)
    {
        EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
            << "'" << error.what() << "' does not contain '" << text << "'";
    };
    try
    {
        backend.CreateWorkloadFactory({})->CreateWorkload(layer.View())->Reshape(layer.Args());
        ADD_FAILURE() << "was accepted";
    }
    catch (const InvalidArgumentException& error)
    {
        check(error);
    }
    catch (const LayerValidationException& error)
    {
        check(error);
    }
}

/// CpuRef as a plugin takes all that CpuRef takes.
bool IsReferencePlugin(const IBackend& backend)
{
    return backend.GetId() == BackendId("CpuRefPlugin");
}

void Add(ContentHash& hash, const BaseDescriptor& descriptor, LayerType type)
{
    GetSchema(type).m_VisitFields(descriptor,
                                  [&hash](const char* name, const std::string& value)
                                  {
                                      hash.Add(std::string(name));
                                      hash.Add(value);
                                  });
}

/// Of all that a layer's numbers depend on.
ContentHash GetHash(const OpCase& op)
{
    ContentHash hash;
    hash.Add(op.m_Type);
    Add(hash, *op.m_Descriptor, op.m_Type);
    for (const TestTensor& input : op.m_Inputs)
    {
        hash.Add(input.m_Info);
        hash.Add(input.m_Connected);
        hash.Add(input.m_Constant);
        hash.AddBytes(input.m_Bytes.data(), input.m_Bytes.size());
    }
    for (const TensorInfo& output : GetOutputs(op))
    {
        hash.Add(output);
    }
    hash.Add(op.m_FusedActivation != nullptr);
    if (op.m_FusedActivation != nullptr)
    {
        Add(hash, *op.m_FusedActivation, LayerType::Activation);
    }
    return hash;
}

/// Of all that the result of a run depends on, but features and the number of threads.
ContentKey GetKey(ContentHash hash, const IBackend& backend, const RunVariant& variant)
{
    hash.Add(backend.GetId().Get());
    hash.Add(variant.m_Constants);
    hash.Add(variant.m_InPlaceInput);
    return hash.GetKey();
}

/// The workload of a case.
struct Prepared
{
    Prepared(const IBackend& backend, const OpCase& op, const RunVariant& variant)
        : m_Layer(op, variant.m_Constants),
          m_Workload(backend.CreateWorkloadFactory({})->CreateWorkload(m_Layer.View())),
          m_Shaped(m_Workload->Reshape(m_Layer.Args())), m_Kernel(GetKernelName(*m_Workload, *m_Shaped))
    {
        NoteKernel(m_Kernel);
    }

    /// Whether it is a kernel of CpuRef's, by which CpuAcc runs what it has no faster one for.
    bool IsReference() const { return m_Kernel.starts_with("Ref"); }

    Layer m_Layer;
    std::unique_ptr<IWorkload> m_Workload;
    std::unique_ptr<IShapedWorkload> m_Shaped;
    std::string m_Kernel;
};

/// Runs a supported case twice, and expects the same bytes, allocations in the first run alone and no writes around
/// tensors.
std::shared_ptr<RunMemory::Run> Execute(const Prepared& prepared, const OpCase& op, const RunVariant& variant)
{
    auto run = std::make_shared<RunMemory::Run>();
    run->m_Kernel = prepared.m_Kernel;
    TestParallelFor parallel(variant.m_Threads);
    GuardedBuffer scratch(prepared.m_Shaped->GetScratchBytes(), 64);

    // Inputs that only are read serve for both runs.
    std::vector<std::unique_ptr<GuardedBuffer>> buffers(op.m_Inputs.size());
    std::vector<const void*> inputs(op.m_Inputs.size());
    for (int repeat = 0; repeat < 2; ++repeat) // over the same scratch memory: what is left behind must not show
    {
        for (size_t i = 0; i < op.m_Inputs.size(); ++i)
        {
            const TestTensor& input = op.m_Inputs[i];
            const bool isTaken = variant.m_InPlaceInput == static_cast<int>(i);
            if (input.m_Connected && (repeat == 0 || isTaken))
            {
                buffers[i] = MakeInputBuffer(input, isTaken);
                inputs[i] = buffers[i]->GetData();
            }
        }
        std::vector<std::unique_ptr<GuardedBuffer>> made;
        std::vector<const GuardedBuffer*> results;
        std::vector<void*> outputs;
        for (const TensorInfo& info : GetOutputs(op))
        {
            const bool isInPlace = results.empty() && variant.m_InPlaceInput >= 0;
            if (!isInPlace)
            {
                made.push_back(std::make_unique<GuardedBuffer>(info.GetNumBytes(), GetAlignment(info)));
            }
            results.push_back(isInPlace ? buffers[variant.m_InPlaceInput].get() : made.back().get());
            outputs.push_back(results.back()->GetData());
        }

        ExecuteArgs args;
        args.m_Inputs = inputs;
        args.m_Outputs = outputs;
        // As of a network that has nothing else in its arena.
        args.m_Scratch = scratch.GetBytes() != 0 ? scratch.GetData() : nullptr;
        args.m_Parallel = &parallel;
        const size_t allocations = CountAllocations();
        prepared.m_Shaped->Execute(args);
        EXPECT_TRUE(repeat == 0 || CountAllocations() == allocations) << "allocates in a run that is not the first";

        for (const auto& buffer : buffers)
        {
            EXPECT_TRUE(buffer == nullptr || buffer->IsIntactAround()) << "wrote in front of or behind a tensor";
        }
        EXPECT_TRUE(scratch.IsIntactAround()) << "wrote in front of or behind the scratch memory";
        size_t at = 0;
        for (const GuardedBuffer* result : results)
        {
            EXPECT_TRUE(result->IsIntactAround()) << "wrote in front of or behind a tensor";
            const std::span<const std::byte> bytes(result->GetData(), result->GetBytes());
            if (repeat == 0)
            {
                run->m_Bytes.insert(run->m_Bytes.end(), bytes.begin(), bytes.end());
            }
            else
            {
                EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), run->m_Bytes.begin() + static_cast<ptrdiff_t>(at)))
                    << "a second execution gives other results";
            }
            at += bytes.size();
        }
    }
    run->m_IsSplit = parallel.WasAsked();
    run->m_Threads = variant.m_Threads;
    return run;
}

/// Runs a supported case, unless an earlier run of the test's body did the same. `hash`: of the case.
std::shared_ptr<const RunMemory::Run> RunOrRemember(const IBackend& backend, const OpCase& op, const ContentHash& hash,
                                                    const RunVariant& variant)
{
    RunMemory* const memory = RunMemory::Get();
    if (memory == nullptr)
    {
        return Execute(Prepared(backend, op, variant), op, variant);
    }
    const ContentKey key = GetKey(hash, backend, variant);
    if (auto found = memory->FindRun(key, variant.m_Threads))
    {
        cpu::NoteFeatureReads(found->m_Reads);
        NoteKernel(found->m_Kernel);
        return found;
    }
    const cpu::FeatureReads reads;
    const Prepared prepared(backend, op, variant);
    if (backend.GetId() == BackendId(Compute::CpuAcc) && prepared.IsReference())
    {
        // The same kernel on the same case: it is CpuRef's run.
        if (auto found = memory->FindRun(GetKey(hash, *GetTestBackends().front(), variant), variant.m_Threads))
        {
            cpu::NoteFeatureReads(found->m_Reads);
            return found;
        }
    }
    std::shared_ptr<RunMemory::Run> run = Execute(prepared, op, variant);
    run->m_Reads = reads.Get();
    run->m_FeatureBits = cpu::GetFeatureBits();
    memory->AddRun(key, run);
    return run;
}

/// Judges results of a case by its oracle, each but once: most variants give the same one, and so do most levels.
class Judge
{
public:
    Judge(const OpCase& op, const ContentHash& hash) : m_Op(op), m_Hash(hash)
    {
        m_Hash.Add(CountCase("CheckOp")); // another call may have another oracle for the same case
        m_Hash.Add(op.m_Relative);
        m_Hash.Add(op.m_Absolute);
        m_Hash.Add(op.m_Steps);
    }

    void Check(const std::vector<std::byte>& got)
    {
        ContentHash hash = m_Hash;
        hash.AddBytes(got.data(), got.size());
        RunMemory* const memory = RunMemory::Get();
        if (memory != nullptr && memory->WasJudged(hash.GetKey()))
        {
            return;
        }
        if (!m_Want)
        {
            ASSERT_NO_THROW(m_Want = AskOracle(m_Op)) << m_Op.m_Name;
        }
        ASSERT_NO_FATAL_FAILURE(Compare(m_Op, got, *m_Want));
        if (memory != nullptr)
        {
            memory->AddJudged(hash.GetKey());
        }
    }

private:
    const OpCase& m_Op;
    ContentHash m_Hash;
    std::optional<std::vector<double>> m_Want;
};

} // namespace

const std::vector<std::shared_ptr<const IBackend>>& GetTestBackends()
{
    static const std::vector<std::shared_ptr<const IBackend>> backends = []
    {
        BackendRegistry registry;
        RegisterBuiltinBackends(registry);
        if (const char* path = std::getenv("TENON_DYNAMIC_BACKENDS_PATH"))
        {
            IRuntime::CreationOptions options;
            options.m_DynamicBackendsPath = path;
            RegisterDynamicBackends(registry, options);
        }
        std::vector<std::shared_ptr<const IBackend>> all = {registry.Find(Compute::CpuRef)};
        for (const BackendId& id : registry.GetBackendIds())
        {
            if (!id.IsCpuRef())
            {
                all.push_back(registry.Find(id));
            }
        }
        return all;
    }();
    return backends;
}

Oracle Expect(const TensorInfo& output, std::vector<double> stored)
{
    const TestTensor expected = Stored(output, stored);
    return [values = GetReal(output, expected.m_Bytes.data()).m_Values](const std::vector<RealTensor>&)
    { return values; };
}

std::vector<RunVariant> GetVariants(const OpCase& op, const std::vector<unsigned int>& threads)
{
    std::vector<int> places = {-1};
    const OpSchema& schema = GetSchema(op.m_Type);
    for (size_t i = 0; i < op.m_Inputs.size(); ++i)
    {
        const bool may = schema.Has(OpFlags::InPlace) || (schema.Has(OpFlags::View) && i == 0);
        if (may && op.m_Inputs[i].m_Connected && op.m_Inputs[i].m_Bytes.size() == op.m_Output.GetNumBytes())
        {
            places.push_back(static_cast<int>(i));
        }
    }
    const bool anyConstant =
        std::any_of(op.m_Inputs.begin(), op.m_Inputs.end(), [](const TestTensor& input) { return input.m_Constant; });
    std::vector<RunVariant> variants;
    for (const unsigned int count : threads)
    {
        for (int place : places)
        {
            variants.push_back({true, count, place});
            if (anyConstant)
            {
                variants.push_back({false, count, place});
            }
        }
    }
    return variants;
}

std::string ToText(const RunVariant& variant)
{
    return (variant.m_Constants ? "" : "constants at run time, ") + std::to_string(variant.m_Threads) + " thread(s)" +
           (variant.m_InPlaceInput < 0 ? "" : ", in place of input " + std::to_string(variant.m_InPlaceInput));
}

std::vector<std::byte> RunOp(const IBackend& backend, const OpCase& op, const RunVariant& variant, std::string* kernel)
{
    CountCase(backend.GetId().Get());
    const std::shared_ptr<const RunMemory::Run> run = RunOrRemember(backend, op, GetHash(op), variant);
    if (kernel != nullptr)
    {
        *kernel = run->m_Kernel;
    }
    return run->m_Bytes;
}

std::string FindVariant(const IBackend& backend, const OpCase& op)
{
    const Prepared prepared(backend, op, {});
    const char* const variant = prepared.m_Shaped->GetFusion().m_Variant;
    return variant != nullptr ? variant : "";
}

void CheckOp(const OpCase& op)
{
    const ContentHash hash = GetHash(op);
    Judge judge(op, hash);
    const IBackend& reference = *GetTestBackends().front();
    const std::vector<RunVariant> variants = GetVariants(op, {1, 2});
    const auto check = [&](const IBackend& backend)
    {
        for (const RunVariant& variant : variants)
        {
            SCOPED_TRACE(op.m_Name + " on " + backend.GetId().Get() + ", " + ToText(variant));
            const SupportResult support = AskSupport(backend, op, variant.m_Constants);
            if (!support && &backend != &reference && !IsReferencePlugin(backend))
            {
                ASSERT_FALSE(support.m_Reason.empty());
                continue;
            }
            ASSERT_TRUE(support) << support.m_Reason;
            CountCase(backend.GetId().Get());
            std::shared_ptr<const RunMemory::Run> got;
            ASSERT_NO_THROW(got = RunOrRemember(backend, op, hash, variant));
            ASSERT_NO_FATAL_FAILURE(judge.Check(got->m_Bytes));
            if (op.m_Output.IsQuantized() && &backend != &reference)
            {
                std::shared_ptr<const RunMemory::Run> want;
                ASSERT_NO_THROW(want = RunOrRemember(reference, op, hash, variant));
                ASSERT_TRUE(got->m_Bytes == want->m_Bytes) << "differs from CpuRef";
            }
        }
    };
    for (const auto& backend : GetTestBackends())
    {
        if (backend->GetId() == BackendId(Compute::CpuAcc)) // which alone depends on the instruction set
        {
            ForEachIsa([&] { check(*backend); });
        }
        else if (IsBestIsa())
        {
            check(*backend);
        }
        if (testing::Test::HasFatalFailure())
        {
            return;
        }
    }
}

void CheckUnsupported(const OpCase& op, SupportCode code, const std::string& reason)
{
    SCOPED_TRACE(op.m_Name);
    const SupportResult support = AskSupport(*GetTestBackends().front(), op, true);
    EXPECT_EQ(static_cast<int>(support.m_Code), static_cast<int>(code)) << support.m_Reason;
    EXPECT_NE(support.m_Reason.find(reason), std::string::npos)
        << "'" << support.m_Reason << "' does not contain '" << reason << "'";
    const auto check = [&op]
    {
        for (const auto& backend : GetOtherBackends())
        {
            const SupportResult other = AskSupport(*backend, op, true);
            EXPECT_FALSE(other) << backend->GetId().Get() << " takes it";
            EXPECT_FALSE(other.m_Reason.empty()) << backend->GetId().Get() << " does not say why not";
        }
    };
    ForEachIsa(check);
}

void CheckRejectsShapes(const OpCase& op, const std::string& text)
{
    SCOPED_TRACE(op.m_Name);
    const IBackend& reference = *GetTestBackends().front();
    const SupportResult support = AskSupport(reference, op, true);
    ASSERT_TRUE(support) << support.m_Reason;
    ExpectRejection(reference, op, text);
    const auto check = [&op]
    {
        for (const auto& backend : GetOtherBackends())
        {
            if (AskSupport(*backend, op, true))
            {
                ExpectRejection(*backend, op, ""); // in its own words
            }
        }
    };
    ForEachIsa(check);
}

} // namespace tenon::test
