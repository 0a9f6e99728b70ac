// SPDX-License-Identifier: Apache-2.0
// The operator harness at backend level: layer view, support, create, reshape, execute; no graph.
#include "harness/OpTest.hpp"

#include "common/KernelName.hpp"
#include "graph/OpSchema.hpp"
#include "harness/Allocations.hpp"
#include "harness/GuardedBuffer.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <thread>
#include <utility>

namespace tenon::test
{

namespace
{

/// Splits every loop that may be split into a piece for each thread, to show what depends on the split.
class TestParallelFor final : public IParallelFor
{
public:
    explicit TestParallelFor(unsigned int threads) : m_Threads(threads) {}

    void Run(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body) override
    {
        const size_t pieces = std::clamp<size_t>(count / std::max<size_t>(grain, 1), 1, m_Threads);
        if (pieces == 1 && count != 0)
        {
            body(0, count); // without memory of its own: allocations are counted
            return;
        }
        std::vector<std::exception_ptr> errors(pieces);
        const auto run = [&](size_t piece)
        {
            try
            {
                body(count * piece / pieces, count * (piece + 1) / pieces);
            }
            catch (...)
            {
                errors[piece] = std::current_exception();
            }
        };
        std::vector<std::thread> others;
        for (size_t piece = 1; piece < pieces; ++piece)
        {
            others.emplace_back(run, piece);
        }
        if (count != 0)
        {
            run(0);
        }
        for (std::thread& other : others)
        {
            other.join();
        }
        for (const std::exception_ptr& error : errors)
        {
            if (error)
            {
                std::rethrow_exception(error);
            }
        }
    }

    unsigned int GetNumThreads() const override { return m_Threads; }

private:
    unsigned int m_Threads;
};

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
    for (size_t i = 0; i < stored.size(); ++i)
    {
        const double expected = real ? want[i] : ToStored(output, want[i], i);
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

std::set<std::string>& RunKernels()
{
    static std::set<std::string> names;
    return names;
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

} // namespace

const std::vector<std::shared_ptr<const IBackend>>& GetTestBackends()
{
    static const std::vector<std::shared_ptr<const IBackend>> backends = []
    {
        BackendRegistry registry;
        RegisterBuiltinBackends(registry);
        if (const char* path = std::getenv("TENON_DYNAMIC_BACKENDS_PATH"))
        {
            RegisterDynamicBackends(registry, path, {});
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
    const Layer layer(op, variant.m_Constants);
    const std::unique_ptr<IWorkload> workload = backend.CreateWorkloadFactory({})->CreateWorkload(layer.View());
    const std::unique_ptr<IShapedWorkload> shaped = workload->Reshape(layer.Args());
    const std::string name = GetKernelName(*workload, *shaped);
    NoteKernel(name);
    if (kernel != nullptr)
    {
        *kernel = name;
    }
    TestParallelFor parallel(variant.m_Threads);
    GuardedBuffer scratch(shaped->GetScratchBytes(), 64);

    std::vector<std::byte> result;
    // Twice over the same scratch memory: what an execution leaves behind must not show in the next one.
    for (int repeat = 0; repeat < 2; ++repeat)
    {
        std::vector<std::unique_ptr<GuardedBuffer>> buffers;
        std::vector<const void*> inputs;
        for (size_t i = 0; i < op.m_Inputs.size(); ++i)
        {
            const TestTensor& input = op.m_Inputs[i];
            const bool taken = variant.m_InPlaceInput == static_cast<int>(i);
            buffers.push_back(input.m_Connected ? MakeInputBuffer(input, taken) : nullptr);
            inputs.push_back(input.m_Connected ? buffers.back()->GetData() : nullptr);
        }
        buffers.push_back(std::make_unique<GuardedBuffer>(op.m_Output.GetNumBytes(), GetAlignment(op.m_Output)));
        const GuardedBuffer& output = variant.m_InPlaceInput < 0 ? *buffers.back() : *buffers[variant.m_InPlaceInput];
        std::vector<std::unique_ptr<GuardedBuffer>> more;
        std::vector<void*> outputs = {output.GetData()};
        for (const TensorInfo& info : op.m_MoreOutputs)
        {
            more.push_back(std::make_unique<GuardedBuffer>(info.GetNumBytes(), GetAlignment(info)));
            outputs.push_back(more.back()->GetData());
        }

        ExecuteArgs args;
        args.m_Inputs = inputs;
        args.m_Outputs = outputs;
        // As of a network that has nothing else in its arena.
        args.m_Scratch = scratch.GetBytes() != 0 ? scratch.GetData() : nullptr;
        args.m_Parallel = &parallel;
        const size_t allocations = CountAllocations();
        shaped->Execute(args);
        // A second thread is made anew each time, and that allocates.
        EXPECT_TRUE(repeat == 0 || variant.m_Threads != 1 || CountAllocations() == allocations)
            << "allocates in a run that is not the first";

        for (const auto& buffer : buffers)
        {
            EXPECT_TRUE(buffer == nullptr || buffer->IsIntactAround()) << "wrote in front of or behind a tensor";
        }
        EXPECT_TRUE(scratch.IsIntactAround()) << "wrote in front of or behind the scratch memory";
        std::vector<std::byte> bytes(output.GetData(), output.GetData() + output.GetBytes());
        for (const auto& buffer : more)
        {
            EXPECT_TRUE(buffer->IsIntactAround()) << "wrote in front of or behind a tensor";
            bytes.insert(bytes.end(), buffer->GetData(), buffer->GetData() + buffer->GetBytes());
        }
        if (repeat != 0)
        {
            EXPECT_TRUE(bytes == result) << "a second execution gives other results";
        }
        result = std::move(bytes);
    }
    return result;
}

bool IsJudged(const IBackend& backend)
{
    const auto isSet = [](const char* variable)
    {
        const char* const value = std::getenv(variable);
        return value != nullptr && *value != '\0';
    };
    static const bool isOnPlugins = isSet("TENON_DYNAMIC_BACKENDS_PATH");
    static const bool isOnIsa = isSet("TENON_FORCE_ISA");
    const bool isReference = backend.GetId().IsCpuRef();
    const bool isBuiltIn = isReference || backend.GetId() == BackendId(Compute::CpuAcc);
    return !(isOnPlugins && isBuiltIn) && !(isOnIsa && isReference);
}

void CheckOp(const OpCase& op)
{
    std::vector<double> want;
    ASSERT_NO_THROW(want = AskOracle(op)) << op.m_Name;
    const IBackend& reference = *GetTestBackends().front();
    const std::vector<RunVariant> variants = GetVariants(op, {1, 2});
    std::vector<std::optional<std::vector<std::byte>>> referenceBytes(variants.size());
    for (const auto& backend : GetTestBackends())
    {
        if (!IsJudged(*backend))
        {
            continue;
        }
        for (size_t i = 0; i < variants.size(); ++i)
        {
            const RunVariant& variant = variants[i];
            SCOPED_TRACE(op.m_Name + " on " + backend->GetId().Get() + ", " + ToText(variant));
            const SupportResult support = AskSupport(*backend, op, variant.m_Constants);
            if (!support && backend.get() != &reference && !IsReferencePlugin(*backend))
            {
                ASSERT_FALSE(support.m_Reason.empty());
                continue;
            }
            ASSERT_TRUE(support) << support.m_Reason;
            std::vector<std::byte> got;
            ASSERT_NO_THROW(got = RunOp(*backend, op, variant));
            ASSERT_NO_FATAL_FAILURE(Compare(op, got, want));
            if (backend.get() == &reference)
            {
                referenceBytes[i] = std::move(got);
            }
            else if (op.m_Output.IsQuantized())
            {
                if (!referenceBytes[i])
                {
                    ASSERT_NO_THROW(referenceBytes[i] = RunOp(reference, op, variant));
                }
                ASSERT_TRUE(got == *referenceBytes[i]) << "differs from CpuRef";
            }
        }
    }
}

void NoteKernel(const std::string& name)
{
    RunKernels().insert(name);
}

const std::set<std::string>& GetRunKernels()
{
    return RunKernels();
}

void CheckUnsupported(const OpCase& op, SupportCode code, const std::string& reason)
{
    SCOPED_TRACE(op.m_Name);
    const SupportResult support = AskSupport(*GetTestBackends().front(), op, true);
    EXPECT_EQ(static_cast<int>(support.m_Code), static_cast<int>(code)) << support.m_Reason;
    EXPECT_NE(support.m_Reason.find(reason), std::string::npos)
        << "'" << support.m_Reason << "' does not contain '" << reason << "'";
    for (const auto& backend : GetOtherBackends())
    {
        const SupportResult other = AskSupport(*backend, op, true);
        EXPECT_FALSE(other) << backend->GetId().Get() << " takes it";
        EXPECT_FALSE(other.m_Reason.empty()) << backend->GetId().Get() << " does not say why not";
    }
}

void CheckRejectsShapes(const OpCase& op, const std::string& text)
{
    SCOPED_TRACE(op.m_Name);
    const IBackend& reference = *GetTestBackends().front();
    const SupportResult support = AskSupport(reference, op, true);
    ASSERT_TRUE(support) << support.m_Reason;
    ExpectRejection(reference, op, text);
    for (const auto& backend : GetOtherBackends())
    {
        if (AskSupport(*backend, op, true))
        {
            ExpectRejection(*backend, op, ""); // in its own words
        }
    }
}

} // namespace tenon::test
