// SPDX-License-Identifier: Apache-2.0
// Dynamic backends: what the loader takes and refuses, and networks that run on plugins.
#include "common/Attributes.hpp"
#include "graph/OpSchema.hpp"
#include "harness/Networks.hpp"

#include <tenon/backend/BackendRegistry.hpp>
#include <tenon/backend/plugin.h>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace tenon::test
{

namespace
{

using ::testing::HasSubstr;

const std::string Plugins = TENON_TEST_PLUGINS;

IRuntimePtr MakeRuntime(const std::string& path, const std::vector<BackendOptions>& options = {})
{
    IRuntime::CreationOptions creation;
    creation.m_DynamicBackendsPath = path;
    creation.m_BackendOptions = options;
    return IRuntime::Create(creation);
}

/// A folder for one test.
class Folder
{
public:
    Folder() : m_Path(std::filesystem::temp_directory_path() / ("tenon_plugins_" + std::to_string(getpid())))
    {
        std::filesystem::create_directory(m_Path);
    }
    ~Folder() { std::filesystem::remove_all(m_Path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path operator/(const char* name) const { return m_Path / name; }
    std::string ToString() const { return m_Path.string(); }

private:
    std::filesystem::path m_Path;
};

} // namespace

TEST(Plugin, EveryBadOneIsRefusedWithItsReason)
{
    const IRuntimePtr runtime = MakeRuntime(Plugins + "/bad");
    const std::map<std::string, std::string> reasons = {
        {"create_fails", "backend_create failed"},
        {"create_gives_null", "gave null"},
        {"id_of_cpuref", "CpuRef"},
        {"no_entry", "exports no tenon_plugin_get_table"},
        {"no_execute", "no shaped_execute"},
        {"null_table", "gives no table"},
        {"truncated", "no model_create"},
        {"wrong_major", "version 2.0 of plugin.h"},
    };
    const std::vector<DynamicBackendReport>& reports = runtime->GetDynamicBackendReports();
    ASSERT_EQ(reports.size(), reasons.size());
    auto expected = reasons.begin();
    for (const DynamicBackendReport& report : reports)
    {
        EXPECT_THAT(report.m_Path, HasSubstr(expected->first + "_backend.so")) << "reports come in order of names";
        EXPECT_FALSE(report.m_IsLoaded) << report.m_Path;
        EXPECT_THAT(report.m_Reason, HasSubstr(expected->second)) << report.m_Path;
        ++expected;
    }
    EXPECT_EQ(runtime->GetDeviceSpec().GetSupportedBackends().size(), 2u) << "CpuRef and CpuAcc";
}

TEST(Plugin, FilesThatAreNoLibrariesAreReported)
{
    const Folder folder;
    std::ofstream(folder / "text_backend.so") << "no library";
    std::ofstream(folder / "README.md") << "no backend";
    std::filesystem::create_symlink(Plugins + "/cpuref/cpuref_backend.so", folder / "x_backend.so");
    std::filesystem::create_symlink(Plugins + "/cpuref/cpuref_backend.so", folder / "x_backend.so.1.2");
    const IRuntimePtr runtime = MakeRuntime(folder.ToString());
    const auto& reports = runtime->GetDynamicBackendReports();
    ASSERT_EQ(reports.size(), 4u);
    EXPECT_THAT(reports[0].m_Reason, HasSubstr("_backend.so"));
    EXPECT_THAT(reports[1].m_Reason, HasSubstr("cannot be loaded"));
    EXPECT_TRUE(reports[2].m_IsLoaded) << reports[2].m_Reason;
    EXPECT_EQ(reports[2].m_BackendId, BackendId("CpuRefPlugin"));
    EXPECT_THAT(reports[3].m_Reason, HasSubstr("same file"));
}

TEST(Plugin, PathsAndOptionsThatMakeNoSenseAreRefused)
{
    EXPECT_THROW(MakeRuntime("/there/is/no/such/folder"), FileNotFoundException);
    const std::vector<BackendOptions> options = {BackendOptions("CpuRefPlugin", {{"Speed", 3}})};
    EXPECT_THROW(MakeRuntime(Plugins + "/bad", options), InvalidArgumentException) << "no such backend was loaded";
    EXPECT_THROW(MakeRuntime(Plugins + "/device", {BackendOptions("TestDevice", {{"Speed", 3}})}),
                 InvalidArgumentException)
        << "the plugin knows no such option, so it is not there";
}

TEST(Plugin, ASingleFileIsAPathToo)
{
    const IRuntimePtr runtime = MakeRuntime(Plugins + "/cpuref/cpuref_backend.so");
    EXPECT_EQ(runtime->GetDeviceSpec().GetSupportedBackends().count("CpuRefPlugin"), 1u);
}

TEST(Plugin, RunsANetworkAndStaysLoadedAsLongAsItIsUsed)
{
    std::shared_ptr<const IBackend> backend;
    {
        const IRuntimePtr runtime = MakeRuntime(Plugins + "/cpuref");
        const INetworkPtr network = MakeChain(3, FloatInfo({4}));
        const NetworkId id = Load(*runtime, *network, {"CpuRefPlugin"});
        EXPECT_EQ(RunFloat(*runtime, id, {4}, {-1, 2, -3, 4}), (std::vector<float>{1, 2, 3, 4}));
        EXPECT_EQ(RunFloat(*runtime, id, {2}, {-1, 2}), (std::vector<float>{1, 2})) << "other shapes reshape workloads";
        backend = runtime->GetDeviceSpec().GetBackendRegistry().Find("CpuRefPlugin");
    }
    EXPECT_EQ(backend->GetId(), BackendId("CpuRefPlugin"));
    EXPECT_NE(backend->GetLayerSupport({}), nullptr);
}

TEST(Plugin, CapabilitiesCrossTheTable)
{
    const IRuntimePtr runtime = MakeRuntime(Plugins + "/cpuref");
    const BackendRegistry& registry = runtime->GetDeviceSpec().GetBackendRegistry();
    const BackendCapabilities direct = registry.Get("CpuRef").GetCapabilities();
    const BackendCapabilities through = registry.Get("CpuRefPlugin").GetCapabilities();
    ASSERT_EQ(direct.GetOptionCount(), through.GetOptionCount());
    for (size_t i = 0; i < direct.GetOptionCount(); ++i)
    {
        EXPECT_EQ(direct.GetOption(i).GetName(), through.GetOption(i).GetName());
        EXPECT_EQ(direct.GetOption(i).GetValue(), through.GetOption(i).GetValue());
    }
}

TEST(Attributes, EveryDescriptorComesBack)
{
    for (size_t i = 0; i < NumLayerTypes; ++i)
    {
        const auto type = static_cast<LayerType>(i);
        const OpSchema& schema = GetSchema(type);
        const auto empty = FromAttributes(type, {});
        const std::vector<Attribute> attributes = ToAttributes(type, *empty);
        EXPECT_TRUE(schema.m_Equal(*FromAttributes(type, attributes), *empty)) << schema.m_Name;
    }
    PadDescriptor pad({{1, 2}, {3, 4}}, -1.5f);
    ViewsDescriptor views(2, 3);
    views.SetViewOriginCoord(1, 2, 7);
    views.SetViewSize(0, 1, 9);
    ReshapeDescriptor reshape(TensorShape({2, 3}, {true, false}));
    TransposeDescriptor transpose(PermutationVector({2, 0, 1}));
    const std::pair<LayerType, const BaseDescriptor*> filled[] = {{LayerType::Pad, &pad},
                                                                  {LayerType::Splitter, &views},
                                                                  {LayerType::Reshape, &reshape},
                                                                  {LayerType::Transpose, &transpose}};
    for (const auto& [type, descriptor] : filled)
    {
        EXPECT_TRUE(GetSchema(type).m_Equal(*FromAttributes(type, ToAttributes(type, *descriptor)), *descriptor))
            << GetSchema(type).m_Name;
    }
}

TEST(Attributes, RefuseWhatDoesNotFit)
{
    const auto make = [](Attribute attribute) { return FromAttributes(LayerType::Softmax, {std::move(attribute)}); };
    EXPECT_THROW(make({"NoSuchField", std::vector<int64_t>{1}}), InvalidArgumentException);
    EXPECT_THROW(make({"Axis", std::string("1")}), InvalidArgumentException);
    EXPECT_THROW(make({"Axis", std::vector<int64_t>{1, 2}}), InvalidArgumentException);
    EXPECT_THROW(make({"Axis", std::vector<int64_t>{int64_t{1} << 40}}), InvalidArgumentException);
    EXPECT_THROW(
        FromAttributes(LayerType::Softmax, {{"Axis", std::vector<int64_t>{1}}, {"Axis", std::vector<int64_t>{1}}}),
        InvalidArgumentException);
}

} // namespace tenon::test
