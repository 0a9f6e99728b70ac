// SPDX-License-Identifier: Apache-2.0
// The C interface: networks built by hand, models, runs, sessions, cancelling, custom operators, reports.
#include "c_api/Support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace
{

using namespace tenon::testing::c_api;
using ::testing::HasSubstr;

TEST(CNetwork, IsBuiltAndRun)
{
    const Runtime runtime;
    const Network network;
    const int64_t dims[] = {2, 3};
    const tenon_tensor_info info = Info(TENON_FLOAT32, dims, 2);
    tenon_value x = 0;
    Ok(tenon_network_add_input(network.Get(), "x", &info, &x, Error()));
    const float two[] = {2.0f};
    const int64_t one[] = {1};
    const tenon_tensor_info constant = Info(TENON_FLOAT32, one, 1);
    tenon_value factor = 0;
    Ok(tenon_network_add_constant(network.Get(), nullptr, &constant, two, sizeof(two), 0, &factor, Error()));
    const int64_t operation[] = {4}; // BinaryOperation::Mul
    const tenon_attribute attribute = {"Operation", TENON_INTS, 0, 1, operation};
    const tenon_value inputs[] = {x, factor};
    tenon_value product = 0;
    Ok(tenon_network_add_layer(network.Get(), "ElementwiseBinary", "double", 1, &attribute, 2, inputs, 1, nullptr,
                               &product, Error()));
    Ok(tenon_network_add_output(network.Get(), nullptr, product, Error()));
    ASSERT_EQ(tenon_network_num_inputs(network.Get()), 1U);
    ASSERT_EQ(tenon_network_num_outputs(network.Get()), 1U);

    const Model model(runtime, network);
    const char* name = nullptr;
    const tenon_tensor_info* output = nullptr;
    Ok(tenon_model_output(model.Get(), 0, &name, &output, Error()));
    EXPECT_STREQ(name, "output_0");
    ASSERT_EQ(output->rank, 2U);
    EXPECT_EQ(output->dims[1], 3);
    EXPECT_EQ(output->num_bytes, 24U);

    const float values[] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, -6.0f};
    float results[6] = {};
    const tenon_tensor in = Tensor(values);
    const tenon_tensor out = Tensor(results);
    Ok(tenon_model_run(model.Get(), nullptr, 1, &in, 1, &out, Error()));
    EXPECT_THAT(results, ::testing::ElementsAre(2.0f, 4.0f, 6.0f, 8.0f, 10.0f, -12.0f));

    // Another shape, whose output comes from an allocator.
    const int64_t other[] = {1, 2};
    tenon_tensor smaller = Tensor(values);
    smaller.num_bytes = 8;
    smaller.rank = 2;
    smaller.dims = other;
    std::vector<float> memory;
    tenon_run_options options{};
    options.struct_size = sizeof(options);
    options.allocate = [](void* self, size_t index, const tenon_tensor_info* given) -> void*
    {
        EXPECT_EQ(index, 0U);
        EXPECT_EQ(given->rank, 2U);
        EXPECT_EQ(given->dims[1], 2);
        auto& bytes = *static_cast<std::vector<float>*>(self);
        bytes.resize(given->num_bytes / sizeof(float));
        return bytes.data();
    };
    options.allocate_self = &memory;
    const tenon_tensor asked = {nullptr, 0, TENON_ANY_TYPE, 0, nullptr, 0, {}};
    Ok(tenon_model_run(model.Get(), &options, 1, &smaller, 1, &asked, Error()));
    EXPECT_THAT(memory, ::testing::ElementsAre(2.0f, 4.0f));
}

TEST(CNetwork, TakesNamesOfEnumeratorsAndIntegersForFloats)
{
    const Runtime runtime;
    const Network network;
    const int64_t four[] = {4};
    const tenon_value bounded =
        network.AddLayer("Activation", {network.AddInput("x", {2})}, nullptr,
                         {{"Function", TENON_STRING, 0, 11, "BoundedReLu"}, {"A", TENON_INTS, 0, 1, four}}); // B is 0
    network.AddOutput(bounded);
    const Model model(runtime, network);
    const float values[] = {-3.0f, 7.0f};
    float results[2] = {};
    const tenon_tensor in = Tensor(values);
    const tenon_tensor out = Tensor(results);
    Ok(tenon_model_run(model.Get(), nullptr, 1, &in, 1, &out, Error()));
    EXPECT_THAT(results, ::testing::ElementsAre(0.0f, 4.0f));
}

TEST(CNetwork, TakesAndGivesBlocks)
{
    const Network network;
    const int64_t dims[] = {2, 8};
    const float scales[] = {1.0f, 2.0f, 3.0f, 4.0f};
    tenon_tensor_info info = Info(TENON_QSYMM_S4, dims, 2);
    info.num_scales = 4;
    info.scales = scales;
    info.quantization_dim = 1;
    info.quantization_block = 4;
    tenon_value value = TENON_NO_VALUE;
    Ok(tenon_network_add_input(network.Get(), "blocks", &info, &value, Error()));
    info.struct_size = offsetof(tenon_tensor_info, quantization_block); // as programs of minor version 1 have it
    Ok(tenon_network_add_input(network.Get(), "slices", &info, &value, Error()));
    for (const size_t block : {size_t{4}, size_t{0}})
    {
        const tenon_tensor_info* given = nullptr;
        Ok(tenon_network_input(network.Get(), block == 4 ? 0 : 1, nullptr, &given, Error()));
        EXPECT_EQ(given->quantization_block, block);
        EXPECT_EQ(given->num_scales, 4u);
        EXPECT_EQ(given->quantization_dim, 1);
    }
    info.struct_size = sizeof(info);
    info.quantization_dim = -1;
    EXPECT_THAT(StatusAndText(tenon_network_add_input(network.Get(), "y", &info, &value, Error())),
                HasSubstr("set the dimension first"));
    info.quantization_dim = 1;
    info.quantization_block = SIZE_MAX;
    EXPECT_THAT(StatusAndText(tenon_network_add_input(network.Get(), "y", &info, &value, Error())),
                HasSubstr("elements that share a scale"));
}

TEST(CNetwork, RefusesTensorsThatDoNotFit)
{
    const Runtime runtime;
    const Network network;
    const tenon_value x = network.AddInput("x", {4});
    network.AddOutput(network.AddLayer("Floor", {x}));
    const Model model(runtime, network);
    float values[4] = {};
    const auto run = [&](const tenon_tensor& in, const tenon_tensor& out)
    { return StatusAndText(tenon_model_run(model.Get(), nullptr, 1, &in, 1, &out, Error())); };
    const tenon_tensor good = Tensor(values);
    EXPECT_EQ(run(good, good), "TENON_OK ");
    tenon_tensor bad = good;
    bad.num_bytes = 12;
    EXPECT_THAT(run(bad, good),
                HasSubstr("TENON_INVALID_ARGUMENT input 'x', Float32 [4], has 16 bytes; it was given 12"));
    EXPECT_THAT(run(good, bad), HasSubstr("TENON_INVALID_ARGUMENT output 'output_0', Float32 [4], has 16 bytes"));
    bad = good;
    bad.type = TENON_SIGNED32;
    EXPECT_THAT(run(bad, good), HasSubstr("input 'x' is Float32; it was given a tensor of type Signed32"));
    EXPECT_THAT(run(good, bad), HasSubstr("output 'output_0' is Float32"));
    bad.type = 99;
    EXPECT_THAT(run(bad, good), HasSubstr("unknown (99)"));
    bad = good;
    bad.data = nullptr;
    EXPECT_THAT(run(bad, good), HasSubstr("input 'x' was given no memory"));
    EXPECT_THAT(run(good, bad), HasSubstr("output 'output_0' was given no memory, and there is no allocator"));
    bad = good;
    bad.reserved[1] = 1;
    EXPECT_THAT(run(bad, good), HasSubstr("the reserved members of tenon_tensor must be 0"));
    EXPECT_THAT(run(good, bad), HasSubstr("the reserved members of tenon_tensor must be 0"));
    const int64_t open[] = {TENON_UNKNOWN_DIM};
    bad = good;
    bad.dims = open;
    bad.rank = 1;
    EXPECT_THAT(run(bad, good), HasSubstr("all its sizes must be known"));
    const int64_t negative[] = {-7};
    bad.dims = negative;
    EXPECT_THAT(run(bad, good), HasSubstr("TENON_INVALID_ARGUMENT"));
    bad.rank = 200;
    EXPECT_THAT(run(bad, good), HasSubstr("TENON_INVALID_ARGUMENT"));
    EXPECT_THAT(StatusAndText(tenon_model_run(model.Get(), nullptr, 0, nullptr, 1, &good, Error())),
                HasSubstr("the model has 1 inputs; 0 were given"));
    EXPECT_THAT(StatusAndText(tenon_model_run(model.Get(), nullptr, 1, &good, 2, nullptr, Error())),
                HasSubstr("the list of outputs is null"));
    // Without an error object.
    EXPECT_EQ(tenon_model_run(model.Get(), nullptr, 0, nullptr, 1, &good, nullptr), TENON_INVALID_ARGUMENT);
}

TEST(CNetwork, RefusesLayersThatDoNotFit)
{
    const Network network;
    const tenon_value x = network.AddInput("x", {4});
    const auto add = [&](const char* type, std::vector<tenon_value> inputs, size_t numOutputs,
                         std::vector<tenon_attribute> attributes = {})
    {
        std::vector<tenon_value> outputs(numOutputs);
        return StatusAndText(tenon_network_add_layer(network.Get(), type, nullptr, attributes.size(), attributes.data(),
                                                     inputs.size(), inputs.data(), numOutputs, nullptr, outputs.data(),
                                                     Error()));
    };
    EXPECT_THAT(add("Nothing", {x}, 1), HasSubstr("TENON_INVALID_ARGUMENT"));
    EXPECT_THAT(add(nullptr, {x}, 1), HasSubstr("the type of a layer is null"));
    EXPECT_THAT(add("Input", {}, 1), HasSubstr("it has a method of its own"));
    EXPECT_THAT(add("MemCopy", {x}, 1), HasSubstr("only the optimizer makes one"));
    EXPECT_THAT(add("Custom", {}, 0), HasSubstr("is added by tenon_network_add_custom"));
    const int64_t many[9] = {};
    EXPECT_THAT(add("Reshape", {x}, 1, {{"TargetShape", TENON_SHAPE, 0, 9, many}}), HasSubstr("has 9 sizes"));
    EXPECT_THAT(add("Floor", {x, x}, 1), HasSubstr("a layer of type Floor has 1 inputs, not 2"));
    EXPECT_THAT(add("Floor", {x}, 2), HasSubstr("a layer of type Floor has 1 outputs, not 2"));
    EXPECT_THAT(add("Floor", {17}, 1), HasSubstr("there is no value 17"));
    const int64_t numbers[] = {1, 2};
    EXPECT_THAT(add("Floor", {x}, 1, {{"Axis", TENON_INTS, 0, 1, numbers}}), HasSubstr("Axis"));
    EXPECT_THAT(add("Softmax", {x}, 1, {{"Beta", TENON_STRING, 0, 1, "x"}}), HasSubstr("Beta"));
    EXPECT_THAT(
        add("Comparison", {x, x}, 1, {{"Operation", TENON_STRING, 0, 4, "Same"}}),
        HasSubstr("TENON_INVALID_ARGUMENT attribute 'Operation' cannot be 'Same'; its values are Equal, Greater, "
                  "GreaterOrEqual, Less, LessOrEqual, NotEqual"));
    for (const int64_t number : {int64_t{-1}, int64_t{4}, int64_t{77}, int64_t{1} << 40})
    {
        EXPECT_THAT(add("Pooling2d", {x}, 1, {{"PoolType", TENON_INTS, 0, 1, &number}}),
                    HasSubstr("TENON_INVALID_ARGUMENT attribute 'PoolType' cannot be " + std::to_string(number) +
                              "; its values are Max, Average, L2"));
    }
    EXPECT_THAT(add("Softmax", {x}, 1, {{"Axis", TENON_INTS, 0, 2, numbers}}), HasSubstr("Axis"));
    EXPECT_THAT(add("Softmax", {x}, 1, {{nullptr, TENON_INTS, 0, 1, numbers}}),
                HasSubstr("the name of an attribute is null"));
    EXPECT_THAT(add("Softmax", {x}, 1, {{"Axis", TENON_INTS, 0, 1, nullptr}}),
                HasSubstr("the list of values of attribute 'Axis' is null"));
    EXPECT_THAT(add("Softmax", {x}, 1, {{"Axis", 77, 0, 1, numbers}}), HasSubstr("kind 77"));
    tenon_value value = 0;
    const int64_t dims[] = {4};
    tenon_tensor_info info = Info(TENON_FLOAT32, dims, 1);
    EXPECT_THAT(StatusAndText(tenon_network_add_input(network.Get(), "x", &info, &value, Error())),
                HasSubstr("the network has an input 'x' already"));
    info.struct_size = 0;
    EXPECT_THAT(StatusAndText(tenon_network_add_input(network.Get(), "y", &info, &value, Error())),
                HasSubstr("struct_size of 0"));
    info = Info(TENON_FLOAT32, dims, 1);
    info.reserved[2] = 1;
    EXPECT_THAT(StatusAndText(tenon_network_add_input(network.Get(), "y", &info, &value, Error())),
                HasSubstr("the info of an input: the reserved members of tenon_tensor_info must be 0"));
    info = Info(TENON_FLOAT32, dims, 1);
    EXPECT_THAT(StatusAndText(tenon_network_add_constant(network.Get(), "c", &info, dims, 15, 0, &value, Error())),
                HasSubstr("a constant Float32 [4] needs 16 bytes, not 15"));
    info.type = 55;
    EXPECT_THAT(StatusAndText(tenon_network_add_input(network.Get(), "y", &info, &value, Error())),
                HasSubstr("type number 55"));
    EXPECT_EQ(tenon_network_num_inputs(network.Get()), 1U); // what fails adds nothing
}

/// What fails leaves the network as it was.
TEST(CNetwork, StaysUsableAfterACallThatFails)
{
    const Network network;
    const int64_t huge[] = {4294967295, 4294967295, 4294967295};
    const tenon_tensor_info info = Info(TENON_FLOAT32, huge, 3);
    tenon_value value = 0;
    EXPECT_THAT(StatusAndText(tenon_network_add_input(network.Get(), "x", &info, &value, Error())),
                HasSubstr("TENON_INVALID_ARGUMENT"));
    EXPECT_THAT(StatusAndText(tenon_network_add_output(network.Get(), "y", 7, Error())),
                HasSubstr("there is no value 7"));
    network.AddOutput(network.AddLayer("Floor", {network.AddInput("x", {1})}));
    const Runtime runtime;
    const Model model(runtime, network);
    float number = 1.5f;
    const tenon_tensor tensor = Tensor(number);
    Ok(tenon_model_run(model.Get(), nullptr, 1, &tensor, 1, &tensor, Error()));
    EXPECT_EQ(number, 1.0f);
}

TEST(CNetwork, GivesInputsFreeNames)
{
    const Network network;
    network.AddInput("input_1", {1});
    network.AddInput(nullptr, {1});
    const char* name = nullptr;
    Ok(tenon_network_input(network.Get(), 1, &name, nullptr, Error()));
    EXPECT_STREQ(name, "input_2");
}

/// A network may be a branch of itself as it was before.
TEST(CNetwork, IsNestedInItself)
{
    const Runtime runtime;
    const Network network;
    const int64_t one[] = {1};
    const tenon_tensor_info truth = Info(TENON_BOOLEAN, one, 1);
    tenon_value condition = 0;
    Ok(tenon_network_add_input(network.Get(), "c", &truth, &condition, Error()));
    const tenon_value x = network.AddInput("x", {1});
    network.AddOutput(network.AddLayer("Floor", {x}));
    const tenon_value inputs[] = {condition, condition, x};
    tenon_value chosen = 0;
    Ok(tenon_network_add_if(network.Get(), "if", network.Get(), network.Get(), 3, inputs, 1, &chosen, Error()));
    network.AddOutput(chosen);
    const Model model(runtime, network);
    uint8_t truthValue = 1;
    float value = 1.5f;
    float results[2] = {};
    const tenon_tensor in[] = {Tensor(truthValue), Tensor(value)};
    const tenon_tensor out[] = {Tensor(results[0]), Tensor(results[1])};
    Ok(tenon_model_run(model.Get(), nullptr, 2, in, 2, out, Error()));
    EXPECT_THAT(results, ::testing::ElementsAre(1.0f, 1.0f));
}

TEST(CNetwork, InferredShapesCountWhereDeclaredOnesContradict)
{
    const Runtime runtime;
    const Network network;
    const int64_t wrong[] = {3};
    const tenon_tensor_info declared = Info(TENON_FLOAT32, wrong, 1);
    network.AddOutput(network.AddLayer("Floor", {network.AddInput("x", {4})}, "floor", {}, &declared));
    std::string logged;
    const tenon_log_function keep = [](void* self, tenon_severity severity, const char* message)
    { *static_cast<std::string*>(self) += std::to_string(severity) + " " + message + "\n"; };
    Ok(tenon_log_set_function(keep, &logged, Error()));
    const Model model(runtime, network);
    Ok(tenon_log_set_function(nullptr, nullptr, Error()));
    EXPECT_EQ(logged.rfind(std::to_string(TENON_WARNING) + " layer ", 0), 0U) << logged;
    EXPECT_THAT(logged, HasSubstr("'floor'"));
    EXPECT_THAT(logged, HasSubstr("; the inferred shape is used\n"));
    const tenon_tensor_info* output = nullptr;
    Ok(tenon_model_output(model.Get(), 0, nullptr, &output, Error()));
    ASSERT_EQ(output->rank, 1U);
    EXPECT_EQ(output->dims[0], 4);
}

TEST(CNetwork, NamesWhatItCannotOptimize)
{
    const Runtime runtime;
    const Network network;
    const tenon_value x = network.AddInput("x", {4});
    const tenon_value y = network.AddInput("y", {3});
    network.AddOutput(network.AddLayer("ElementwiseBinary", {x, y}, "of_two"));
    tenon_model* model = nullptr;
    EXPECT_THAT(StatusAndText(tenon_model_load(runtime.Get(), network.Get(), nullptr, &model, Error())),
                HasSubstr("TENON_INVALID_LAYER"));
    EXPECT_THAT(Text(), HasSubstr("of_two"));
    EXPECT_EQ(model, nullptr);
    const char* backends[] = {"Npu"};
    tenon_model_options options{};
    options.struct_size = sizeof(options);
    options.num_backends = 1;
    options.backends = backends;
    EXPECT_THAT(StatusAndText(tenon_model_load(runtime.Get(), network.Get(), &options, &model, Error())),
                HasSubstr("Npu"));
    const tenon_option unknown = {"colour", "red"};
    options.num_backends = 0;
    options.num_options = 1;
    options.options = &unknown;
    EXPECT_THAT(StatusAndText(tenon_model_load(runtime.Get(), network.Get(), &options, &model, Error())),
                HasSubstr("a model has no option 'colour'"));
    const tenon_option wrong = {"fp16", "yes"};
    options.options = &wrong;
    EXPECT_THAT(StatusAndText(tenon_model_load(runtime.Get(), network.Get(), &options, &model, Error())),
                HasSubstr("option 'fp16' is 'yes'; it must be true or false"));
    const tenon_option ofBackend = {"CpuAcc.NumberOfThreads", "many"};
    options.options = &ofBackend;
    EXPECT_THAT(StatusAndText(tenon_model_load(runtime.Get(), network.Get(), &options, &model, Error())),
                HasSubstr("NumberOfThreads"));
}

/// y = state + x, which is the next state.
struct Accumulator
{
    Accumulator()
    {
        const tenon_value x = m_Network.AddInput("x", {1});
        const tenon_attribute state = {"Name", TENON_STRING, 0, 3, "sum"};
        const int64_t dims[] = {1};
        const tenon_tensor_info info = Info(TENON_FLOAT32, dims, 1);
        const tenon_value old =
            m_Network.AddLayer("ReadState", {TENON_NO_VALUE, TENON_NO_VALUE}, "old", {state}, &info);
        const tenon_value sum = m_Network.AddLayer("AddN", {old, x}, "sum", {m_Two});
        m_Network.AddLayer("WriteState", {sum}, "new", {state}, nullptr, 0);
        m_Network.AddOutput(sum);
    }
    const int64_t m_Inputs[1] = {2};
    const tenon_attribute m_Two = {"NumInputs", TENON_INTS, 0, 1, m_Inputs};
    Network m_Network;
};

float RunWith(const Model& model, float value, tenon_session* session = nullptr)
{
    tenon_run_options options{};
    options.struct_size = sizeof(options);
    options.session = session;
    float result = -1.0f;
    const tenon_tensor in = {&value, sizeof(value), TENON_FLOAT32, 0, nullptr, 0, {}};
    const tenon_tensor out = {&result, sizeof(result), TENON_FLOAT32, 0, nullptr, 0, {}};
    Ok(tenon_model_run(model.Get(), &options, 1, &in, 1, &out, Error()));
    return result;
}

TEST(CSession, HasStatesOfItsOwn)
{
    const Runtime runtime;
    const Accumulator accumulator;
    const Model model(runtime, accumulator.m_Network);
    tenon_session* session = nullptr;
    Ok(tenon_session_create(model.Get(), &session, Error()));
    EXPECT_EQ(RunWith(model, 1.0f), 1.0f);
    EXPECT_EQ(RunWith(model, 2.0f), 3.0f);
    EXPECT_EQ(RunWith(model, 5.0f, session), 5.0f);
    EXPECT_EQ(RunWith(model, 5.0f, session), 10.0f);
    EXPECT_EQ(RunWith(model, 1.0f), 4.0f);
    Ok(tenon_session_reset(session, Error()));
    EXPECT_EQ(RunWith(model, 5.0f, session), 5.0f);
    Ok(tenon_model_reset(model.Get(), Error()));
    EXPECT_EQ(RunWith(model, 2.0f), 2.0f);

    const Model other(runtime, accumulator.m_Network);
    tenon_run_options options{};
    options.struct_size = sizeof(options);
    options.session = session;
    float value = 0.0f;
    const tenon_tensor tensor = Tensor(value);
    EXPECT_THAT(StatusAndText(tenon_model_run(other.Get(), &options, 1, &tensor, 1, &tensor, Error())),
                HasSubstr("the session is one of another model"));
    tenon_session_destroy(session);
}

TEST(CSession, KeepsItsModel)
{
    tenon_session* session = nullptr;
    {
        const Runtime runtime;
        const Accumulator accumulator;
        const Model model(runtime, accumulator.m_Network);
        Ok(tenon_session_create(model.Get(), &session, Error()));
    }
    Ok(tenon_session_reset(session, Error()));
    tenon_session_destroy(session);
}

TEST(CRun, IsCancelled)
{
    const Runtime runtime;
    const Accumulator accumulator;
    const Model model(runtime, accumulator.m_Network);
    EXPECT_EQ(RunWith(model, 1.0f), 1.0f);
    tenon_cancellation* cancellation = nullptr;
    Ok(tenon_cancellation_create(&cancellation, Error()));
    tenon_cancellation_cancel(cancellation);
    tenon_run_options options{};
    options.struct_size = sizeof(options);
    options.cancellation = cancellation;
    float value = 1.0f;
    float result = 0.0f;
    const tenon_tensor in = Tensor(value);
    const tenon_tensor out = Tensor(result);
    EXPECT_THAT(StatusAndText(tenon_model_run(model.Get(), &options, 1, &in, 1, &out, Error())),
                HasSubstr("TENON_CANCELLED"));
    tenon_cancellation_reset(cancellation);
    Ok(tenon_model_run(model.Get(), &options, 1, &in, 1, &out, Error()));
    EXPECT_EQ(result, 2.0f); // the state is that before the run that was cancelled
    tenon_cancellation_destroy(cancellation);
}

/// A loop that never ends by itself: it is cancelled while it runs.
TEST(CRun, IsCancelledInsideOfALoop)
{
    const Runtime runtime;
    const Network condition;
    const tenon_value a = condition.AddInput("a", {1});
    const int64_t equal[] = {0}; // ComparisonOperation::Equal
    condition.AddOutput(condition.AddLayer("Comparison", {a, a}, nullptr, {{"Operation", TENON_INTS, 0, 1, equal}}));
    const Network body;
    body.AddOutput(body.AddLayer("Floor", {body.AddInput("a", {1})}));
    const Network network;
    const tenon_value x = network.AddInput("x", {1});
    tenon_value last = 0;
    Ok(tenon_network_add_while(network.Get(), "forever", condition.Get(), body.Get(), 1, &x, &last, Error()));
    network.AddOutput(last);
    tenon_limits limits{};
    limits.struct_size = sizeof(limits);
    limits.max_loop_iterations = UINT64_MAX;
    tenon_runtime_options runtimeOptions{};
    runtimeOptions.struct_size = sizeof(runtimeOptions);
    runtimeOptions.limits = &limits;
    tenon_runtime* patient = nullptr;
    Ok(tenon_runtime_create(&runtimeOptions, &patient, Error()));
    tenon_model* model = nullptr;
    Ok(tenon_model_load(patient, network.Get(), nullptr, &model, Error()));
    tenon_runtime_destroy(patient); // the model keeps what it needs of it

    tenon_cancellation* cancellation = nullptr;
    Ok(tenon_cancellation_create(&cancellation, Error()));
    tenon_run_options options{};
    options.struct_size = sizeof(options);
    options.cancellation = cancellation;
    std::thread other([&] { tenon_cancellation_cancel(cancellation); });
    float value = 1.0f;
    float result = 0.0f;
    const tenon_tensor in = Tensor(value);
    const tenon_tensor out = Tensor(result);
    EXPECT_EQ(tenon_model_run(model, &options, 1, &in, 1, &out, nullptr), TENON_CANCELLED);
    other.join();
    tenon_cancellation_destroy(cancellation);
    tenon_model_destroy(model);
}

TEST(CNetwork, HasBranches)
{
    const Runtime runtime;
    const Network floor;
    floor.AddOutput(floor.AddLayer("Floor", {floor.AddInput("a", {1})}));
    const Network same;
    same.AddOutput(same.AddInput("a", {1}));
    const Network network;
    const int64_t one[] = {1};
    const tenon_tensor_info truth = Info(TENON_BOOLEAN, one, 1);
    tenon_value inputs[2] = {};
    Ok(tenon_network_add_input(network.Get(), "c", &truth, &inputs[0], Error()));
    inputs[1] = network.AddInput("x", {1});
    tenon_value chosen = 0;
    Ok(tenon_network_add_if(network.Get(), "if", floor.Get(), same.Get(), 2, inputs, 1, &chosen, Error()));
    network.AddOutput(chosen);
    const Model model(runtime, network);
    for (const bool taken : {true, false})
    {
        uint8_t condition = taken ? 1 : 0;
        float value = 1.5f;
        float result = 0.0f;
        const tenon_tensor in[] = {Tensor(condition), Tensor(value)};
        const tenon_tensor out = Tensor(result);
        Ok(tenon_model_run(model.Get(), nullptr, 2, in, 1, &out, Error()));
        EXPECT_EQ(result, taken ? 1.0f : 1.5f);
    }
}

/// The application's operator: adds the byte in its parameters to each element.
struct AddByte
{
    static tenon_status Infer(void* self, const tenon_layer* layer, const void* const*, tenon_shape* outputs,
                              tenon_text* error)
    {
        ++static_cast<AddByte*>(self)->m_Inferred;
        if (layer->num_inputs != 1 || layer->inputs[0]->rank != 1)
        {
            std::snprintf(error->data, error->capacity, "one input of rank 1 is needed");
            return TENON_INVALID_LAYER;
        }
        outputs[0].rank = 1;
        outputs[0].dims[0] = layer->inputs[0]->dims[0];
        return TENON_OK;
    }
    static tenon_status Run(void* self, const tenon_layer* layer, const tenon_execute_args* args, tenon_text* error)
    {
        if (static_cast<AddByte*>(self)->m_Fails)
        {
            std::snprintf(error->data, error->capacity, "out of order");
            return TENON_ERROR;
        }
        int added = 0;
        for (size_t i = 0; i < layer->num_attributes; ++i)
        {
            if (std::strcmp(layer->attributes[i].name, "Options") == 0 && layer->attributes[i].count == 1)
            {
                added = *static_cast<const uint8_t*>(layer->attributes[i].values);
            }
        }
        struct Body
        {
            const float* m_In;
            float* m_Out;
            int m_Added;
        } body = {static_cast<const float*>(args->inputs[0]), static_cast<float*>(args->outputs[0]), added};
        args->parallel->run(
            args->parallel->self, static_cast<size_t>(layer->inputs[0]->dims[0]), 1,
            [](void* data, size_t begin, size_t end)
            {
                const Body& b = *static_cast<Body*>(data);
                for (size_t i = begin; i < end; ++i)
                {
                    b.m_Out[i] = b.m_In[i] + static_cast<float>(b.m_Added);
                }
            },
            &body);
        return TENON_OK;
    }

    tenon_operator Get()
    {
        tenon_operator custom{};
        custom.struct_size = sizeof(custom);
        custom.name = "AddByte";
        custom.self = this;
        custom.infer_shapes = &Infer;
        custom.run = &Run;
        custom.release = [](void* self) { ++static_cast<AddByte*>(self)->m_Released; };
        return custom;
    }

    std::atomic<int> m_Inferred{0};
    std::atomic<int> m_Released{0};
    std::atomic<bool> m_Fails{false};
};

TEST(CCustomOperator, RunsAndIsReleased)
{
    AddByte state;
    {
        const Runtime runtime;
        const Network network;
        const tenon_value x = network.AddInput("x", {3});
        const tenon_operator custom = state.Get();
        const uint8_t seven = 7;
        const int64_t dims[] = {TENON_UNKNOWN_DIM};
        const tenon_tensor_info info = Info(TENON_FLOAT32, dims, 1);
        const tenon_tensor_info* const infos[] = {&info};
        tenon_value y = 0;
        Ok(tenon_network_add_custom(network.Get(), "mine", &custom, &seven, 1, 1, &x, 1, infos, &y, Error()));
        network.AddOutput(y);
        const Model model(runtime, network);
        EXPECT_GT(state.m_Inferred, 0);
        const float values[] = {1.0f, 2.0f, 3.0f};
        float results[3] = {};
        const tenon_tensor in = Tensor(values);
        const tenon_tensor out = Tensor(results);
        Ok(tenon_model_run(model.Get(), nullptr, 1, &in, 1, &out, Error()));
        EXPECT_THAT(results, ::testing::ElementsAre(8.0f, 9.0f, 10.0f));
        state.m_Fails = true;
        EXPECT_THAT(StatusAndText(tenon_model_run(model.Get(), nullptr, 1, &in, 1, &out, Error())),
                    HasSubstr("custom operator 'AddByte': run failed: out of order"));
        EXPECT_EQ(state.m_Released, 0);
    }
    EXPECT_EQ(state.m_Released, 1);
}

/// Only a call that succeeds takes the operator over.
TEST(CCustomOperator, IsNotReleasedByACallThatFails)
{
    AddByte state;
    const Runtime runtime;
    {
        const Network network;
        const tenon_operator custom = state.Get();
        const tenon_value bad = 9;
        tenon_value y = 0;
        EXPECT_THAT(StatusAndText(tenon_network_add_custom(network.Get(), "mine", &custom, nullptr, 0, 1, &bad, 1,
                                                           nullptr, &y, Error())),
                    HasSubstr("there is no value 9"));
        EXPECT_THAT(StatusAndText(tenon_network_add_custom(network.Get(), "mine", &custom, nullptr, 0, 0, nullptr,
                                                           size_t{1} << 40, nullptr, &y, Error())),
                    HasSubstr("TENON_INVALID_ARGUMENT"));
        const tenon_operator* const operators[] = {&custom};
        tenon_read_options options{};
        options.struct_size = sizeof(options);
        options.num_operators = 1;
        options.operators = operators;
        tenon_network* none = nullptr;
        for (const std::string bytes : {"....TFL3....", "....TNON....", "neither"})
        {
            EXPECT_THAT(StatusAndText(tenon_network_read_memory(runtime.Get(), bytes.data(), bytes.size(), &options,
                                                                &none, Error())),
                        HasSubstr("TENON_INVALID_DATA"));
        }
    }
    EXPECT_EQ(state.m_Released, 0);
}

TEST(CCustomOperator, MustGiveShapes)
{
    AddByte state;
    const Runtime runtime;
    for (const tenon_shape& shape : {tenon_shape{200, {}}, tenon_shape{1, {-7}}, tenon_shape{1, {TENON_UNKNOWN_DIM}}})
    {
        static tenon_shape given;
        given = shape;
        const Network network;
        const tenon_value x = network.AddInput("x", {3});
        tenon_operator custom = state.Get();
        custom.infer_shapes = [](void*, const tenon_layer*, const void* const*, tenon_shape* outputs, tenon_text*)
        {
            outputs[0] = given;
            return tenon_status{TENON_OK};
        };
        const int64_t dims[] = {TENON_UNKNOWN_DIM};
        const tenon_tensor_info info = Info(TENON_FLOAT32, dims, 1);
        const tenon_tensor_info* const infos[] = {&info};
        tenon_value y = 0;
        Ok(tenon_network_add_custom(network.Get(), "mine", &custom, nullptr, 0, 1, &x, 1, infos, &y, Error()));
        network.AddOutput(y);
        tenon_model* model = nullptr;
        EXPECT_THAT(StatusAndText(tenon_model_load(runtime.Get(), network.Get(), nullptr, &model, Error())),
                    HasSubstr("TENON_INVALID_LAYER"));
        EXPECT_THAT(Text(), HasSubstr("custom operator 'AddByte' gives output 0"));
    }
}

/// Copies the elements above 0: only the run knows how many there are.
TEST(CCustomOperator, MayShapeItsOutputsLate)
{
    const Runtime runtime;
    const Network network;
    const tenon_value x = network.AddInput("x", {4});
    tenon_operator custom{};
    custom.struct_size = sizeof(custom);
    custom.name = "Positive";
    custom.has_late_outputs = 1;
    custom.run = [](void*, const tenon_layer* layer, const tenon_execute_args* args, tenon_text* error) -> tenon_status
    {
        const auto* in = static_cast<const float*>(args->inputs[0]);
        std::vector<float> found;
        for (int64_t i = 0; i < layer->inputs[0]->dims[0]; ++i)
        {
            if (in[i] > 0.0f)
            {
                found.push_back(in[i]);
            }
        }
        const auto count = static_cast<int64_t>(found.size());
        void* memory = nullptr;
        const tenon_status status =
            args->late_outputs->allocate(args->late_outputs->self, 0, 1, &count, &memory, error);
        if (status == TENON_OK && count != 0)
        {
            std::memcpy(memory, found.data(), found.size() * sizeof(float));
        }
        return status;
    };
    const int64_t dims[] = {TENON_UNKNOWN_DIM};
    const tenon_tensor_info info = Info(TENON_FLOAT32, dims, 1);
    const tenon_tensor_info* const infos[] = {&info};
    tenon_value y = 0;
    Ok(tenon_network_add_custom(network.Get(), "mine", &custom, nullptr, 0, 1, &x, 1, infos, &y, Error()));
    network.AddOutput(y);
    const Model model(runtime, network);
    std::vector<float> memory;
    tenon_run_options options{};
    options.struct_size = sizeof(options);
    options.allocate_self = &memory;
    options.allocate = [](void* self, size_t, const tenon_tensor_info* given) -> void*
    {
        auto& result = *static_cast<std::vector<float>*>(self);
        result.resize(given->num_bytes / sizeof(float));
        return result.data();
    };
    const float values[] = {-1.0f, 2.0f, 0.0f, 3.0f};
    const tenon_tensor in = Tensor(values);
    const tenon_tensor asked = {nullptr, 0, TENON_ANY_TYPE, 0, nullptr, 0, {}};
    Ok(tenon_model_run(model.Get(), &options, 1, &in, 1, &asked, Error()));
    EXPECT_THAT(memory, ::testing::ElementsAre(2.0f, 3.0f));
}

TEST(CCustomOperator, MayRefuseAndMustBeComplete)
{
    AddByte state;
    const Runtime runtime;
    const Network network;
    const tenon_value x = network.AddInput("x", {3});
    const int64_t dims[] = {3};
    const tenon_tensor_info info = Info(TENON_FLOAT32, dims, 1);
    const tenon_tensor_info* const infos[] = {&info};
    tenon_value y = 0;
    tenon_operator custom = state.Get();
    custom.run = nullptr;
    EXPECT_THAT(StatusAndText(
                    tenon_network_add_custom(network.Get(), "mine", &custom, nullptr, 0, 1, &x, 1, infos, &y, Error())),
                HasSubstr("operator 'AddByte' needs a name, `run`"));
    custom = state.Get();
    custom.is_supported = [](void*, const tenon_layer*, tenon_text* reason) -> tenon_support_code
    {
        std::snprintf(reason->data, reason->capacity, "not on Sundays");
        return TENON_UNSUPPORTED_PARAMETERS;
    };
    Ok(tenon_network_add_custom(network.Get(), "mine", &custom, nullptr, 0, 1, &x, 1, infos, &y, Error()));
    network.AddOutput(y);
    tenon_model* model = nullptr;
    EXPECT_THAT(StatusAndText(tenon_model_load(runtime.Get(), network.Get(), nullptr, &model, Error())),
                HasSubstr("not on Sundays"));
    EXPECT_EQ(tenon_model_load(runtime.Get(), network.Get(), nullptr, &model, nullptr), TENON_UNSUPPORTED);
}

TEST(CModel, Reports)
{
    const Runtime runtime;
    const Network network;
    network.AddOutput(network.AddLayer("Floor", {network.AddInput("x", {1})}, "the_floor"));
    const tenon_option profiling = {"profiling", "true"};
    tenon_model_options options{};
    options.struct_size = sizeof(options);
    options.num_options = 1;
    options.options = &profiling;
    options.num_threads = 1;
    const Model model(runtime, network, &options);
    RunWith(model, 1.0f);
    const auto report = [&](tenon_report kind)
    {
        char* json = nullptr;
        Ok(tenon_model_report(model.Get(), kind, &json, Error()));
        const std::string text = json == nullptr ? "" : json;
        tenon_text_destroy(json);
        return text;
    };
    EXPECT_THAT(report(TENON_REPORT_ASSIGNMENT), HasSubstr("\"layer\": \"the_floor\""));
    EXPECT_THAT(report(TENON_REPORT_ASSIGNMENT), HasSubstr("\"backend\": \"CpuAcc\""));
    EXPECT_THAT(report(TENON_REPORT_STATISTICS), HasSubstr("\"arena_bytes\""));
    EXPECT_THAT(report(TENON_REPORT_PLAN), HasSubstr("\"max_threads\": 1"));
    EXPECT_THAT(report(TENON_REPORT_PROFILE), HasSubstr("the_floor"));
    EXPECT_THAT(report(TENON_REPORT_TRACE), HasSubstr("traceEvents"));
    char* json = nullptr;
    EXPECT_THAT(StatusAndText(tenon_model_report(model.Get(), 17, &json, Error())), HasSubstr("there is no report 17"));
    const Model silent(runtime, network);
    RunWith(silent, 1.0f);
    for (const tenon_report kind : {TENON_REPORT_PROFILE, TENON_REPORT_TRACE})
    {
        EXPECT_THAT(StatusAndText(tenon_model_report(silent.Get(), kind, &json, Error())),
                    HasSubstr("TENON_INVALID_ARGUMENT the model is not profiled: load it with the option 'profiling'"));
        EXPECT_EQ(json, nullptr);
    }
    Ok(tenon_runtime_report(runtime.Get(), &json, Error()));
    EXPECT_THAT(std::string(json), HasSubstr("\"CpuRef\""));
    tenon_text_destroy(json);
}

TEST(CModel, ImportsMemory)
{
    const Runtime runtime;
    const Network network;
    network.AddOutput(network.AddLayer("Floor", {network.AddInput("x", {2})}));
    const Model model(runtime, network);
    alignas(64) float values[2] = {1.5f, -1.5f};
    alignas(64) float results[2] = {};
    const tenon_tensor in = Tensor(values);
    const tenon_tensor out = Tensor(results);
    tenon_import_id input = 0;
    tenon_import_id output = 0;
    Ok(tenon_model_import_input(model.Get(), 0, &in, &input, Error()));
    Ok(tenon_model_import_output(model.Get(), 0, &out, &output, Error()));
    EXPECT_NE(input, 0U);
    EXPECT_NE(output, 0U);
    const auto run = [&](tenon_import_id inputId, tenon_import_id outputId)
    {
        tenon_tensor first = in;
        tenon_tensor second = out;
        first.import_id = inputId;
        second.import_id = outputId;
        first.data = inputId != 0 ? nullptr : first.data;
        second.data = outputId != 0 ? nullptr : second.data;
        results[0] = results[1] = 0.0f;
        return StatusAndText(tenon_model_run(model.Get(), nullptr, 1, &first, 1, &second, Error()));
    };
    for (const bool isInputImported : {true, false})
    {
        for (const bool isOutputImported : {true, false})
        {
            EXPECT_EQ(run(isInputImported ? input : 0, isOutputImported ? output : 0), "TENON_OK ");
            EXPECT_THAT(results, ::testing::ElementsAre(1.0f, -2.0f));
        }
    }
    EXPECT_THAT(StatusAndText(tenon_model_import_input(model.Get(), 3, &in, &input, Error())),
                HasSubstr("there is no input 3; the number of inputs is 1"));
    Ok(tenon_model_clear_input_import(model.Get(), input, Error()));
    Ok(tenon_model_clear_output_import(model.Get(), output, Error()));
    EXPECT_THAT(run(input, 0), HasSubstr("TENON_INVALID_ARGUMENT"));
    EXPECT_THAT(run(0, output), HasSubstr("TENON_INVALID_ARGUMENT"));
    EXPECT_THAT(StatusAndText(tenon_model_clear_input_import(model.Get(), 0, Error())),
                HasSubstr("TENON_INVALID_ARGUMENT"));
}

} // namespace
