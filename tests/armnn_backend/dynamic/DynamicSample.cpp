// SPDX-License-Identifier: Apache-2.0
// A shared object with a backend, as those that Arm NN opens.
#include <armnn/backends/IBackendInternal.hpp>
#include <armnn/backends/ILayerSupport.hpp>
#include <armnn/backends/WorkloadFactory.hpp>

namespace
{

class Support : public armnn::ILayerSupport
{
};

class Backend : public armnn::IBackendInternal
{
public:
    const armnn::BackendId& GetId() const override { return m_Id; }
    IWorkloadFactoryPtr CreateWorkloadFactory(const IMemoryManagerSharedPtr&) const override { return nullptr; }
    ILayerSupportSharedPtr GetLayerSupport() const override { return ILayerSupportSharedPtr(new Support); }

private:
    armnn::BackendId m_Id{"DynamicSample"};
};

} // namespace

extern "C"
{
    const char* GetBackendId()
    {
        return "DynamicSample";
    }

    void GetVersion(uint32_t* major, uint32_t* minor)
    {
        *major = SAMPLE_MAJOR;
        *minor = 0;
    }

    void* BackendFactory()
    {
        return static_cast<armnn::IBackendInternal*>(new Backend);
    }
}
