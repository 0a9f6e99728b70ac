// SPDX-License-Identifier: Apache-2.0
// DynamicBackend: see armnn/backends/DynamicBackend.hpp. Runtimes load the backends of shared objects by it.
#include "armnn/RegisteredBackends.hpp"
#include "common/DynamicLibrary.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <algorithm>
#include <armnn/backends/DynamicBackend.hpp>
#include <mutex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>

namespace tenon
{

namespace
{

/// Calls a function of a shared object. Its exceptions become exceptions of this library, as they may be of types of
/// the object, which may be closed before they are caught.
template <typename F>
auto CallObject(const char* name, F f)
{
    try
    {
        return f();
    }
    catch (const BackendUnavailableException& e)
    {
        throw BackendUnavailableException(e.what());
    }
    catch (const std::exception& e)
    {
        throw RuntimeException(std::string(name) + " of the shared object throws: " + e.what());
    }
    catch (...)
    {
        throw RuntimeException(std::string(name) + " of the shared object throws what is no std::exception");
    }
}

} // namespace

DynamicBackend::DynamicBackend(const void* sharedObjectHandle)
    : m_Handle(const_cast<void*>(sharedObjectHandle), // it is closed so
               [](const void* handle) { CloseLibrary(const_cast<void*>(handle)); })
{
    if (sharedObjectHandle == nullptr)
    {
        throw InvalidArgumentException("the shared object of a dynamic backend is null");
    }
    m_GetId = reinterpret_cast<decltype(m_GetId)>(FindFunction("GetBackendId"));
    m_GetVersion = reinterpret_cast<decltype(m_GetVersion)>(FindFunction("GetVersion"));
    m_MakeBackend = reinterpret_cast<decltype(m_MakeBackend)>(FindFunction("BackendFactory"));
    // An object that is linked with a real Arm NN has classes of other layouts.
    if (FindSymbol(m_Handle.get(), "_ZTIN5armnn16IBackendInternalE") != nullptr)
    {
        throw RuntimeException("the shared object is made for Arm NN itself; compile it with Tenon's headers, and link "
                               "Tenon::armnn in place of Arm NN's libraries");
    }
    const BackendVersion version = GetBackendVersion();
    constexpr BackendVersion api = IBackendInternal::GetApiVersion();
    if (version.m_Major != api.m_Major || version.m_Minor > api.m_Minor)
    {
        std::ostringstream text;
        text << "backend " << GetBackendId() << " is for version " << version
             << " of the interface of backends, here it is " << api << "; compile it with these headers";
        throw RuntimeException(text.str());
    }
}

DynamicBackend::~DynamicBackend() = default;

void* DynamicBackend::FindFunction(const char* name) const
{
    void* const function = FindSymbol(m_Handle.get(), name);
    if (function == nullptr)
    {
        throw RuntimeException(std::string("the shared object exports no function ") + name +
                               "; a dynamic backend has GetBackendId, GetVersion and BackendFactory, as extern \"C\"");
    }
    return function;
}

BackendId DynamicBackend::GetBackendId()
{
    const char* const id = CallObject("GetBackendId", m_GetId);
    if (id == nullptr || *id == '\0')
    {
        throw RuntimeException("GetBackendId of the shared object gives no id");
    }
    return BackendId(id);
}

BackendVersion DynamicBackend::GetBackendVersion()
{
    BackendVersion version;
    CallObject("GetVersion", [&] { m_GetVersion(&version.m_Major, &version.m_Minor); });
    return version;
}

IBackendInternalUniquePtr DynamicBackend::GetBackend()
{
    auto* const made = static_cast<IBackendInternal*>(CallObject("BackendFactory", m_MakeBackend));
    if (made == nullptr)
    {
        throw RuntimeException("BackendFactory of the shared object gives no backend");
    }
    return IBackendInternalUniquePtr(made);
}

BackendRegistry::FactoryFunction DynamicBackend::GetFactoryFunction()
{
    return [this] { return GetBackend(); };
}

namespace
{

/// The backends of shared objects that are registered at BackendRegistryInstance(), each as long as a runtime that
/// loaded its object uses it. Thread-safe.
class DynamicBackends
{
public:
    /// Keeps the backend of that id registered; null where there is none.
    DynamicRegistration Hold(const BackendId& id)
    {
        auto hold = std::make_shared<Holder>(id);
        const std::lock_guard lock(m_Mutex);
        const auto found = m_Entries.find(id);
        return found != m_Entries.end() ? Take(found->second, std::move(hold)) : nullptr;
    }

    /// Registers a backend. Holds the one that is there where the same object brought it, and sets isThere. Throws
    /// InvalidArgumentException for an id that another backend has.
    DynamicRegistration Register(const BackendId& id, const void* object, std::shared_ptr<DynamicBackend> backend,
                                 bool& isThere)
    {
        auto hold = std::make_shared<Holder>(id);
        const std::lock_guard lock(m_Mutex);
        const auto found = m_Entries.find(id);
        isThere = found != m_Entries.end() && found->second.m_Object == object &&
                  BackendRegistryInstance().IsBackendRegistered(id);
        if (isThere)
        {
            return Take(found->second, std::move(hold));
        }
        BackendRegistryInstance().Register(id, [backend = std::move(backend)] { return backend->GetBackend(); });
        Entry& entry =
            m_Entries[id]; // which is there where the program deregistered the backend before its runtimes end
        entry.m_Object = object;
        return Take(entry, std::move(hold));
    }

private:
    struct Entry
    {
        const void* m_Object = nullptr; ///< the handle that dlopen gives
        size_t m_NumHolders = 0;
    };

    struct Holder
    {
        explicit Holder(const BackendId& id) : m_Id(id) {}
        ~Holder()
        {
            if (m_Backends != nullptr)
            {
                m_Backends->Release(m_Id);
            }
        }
        Holder(const Holder&) = delete;
        Holder& operator=(const Holder&) = delete;

        BackendId m_Id;
        DynamicBackends* m_Backends = nullptr; ///< null until it holds
    };

    DynamicRegistration Take(Entry& entry, std::shared_ptr<Holder> holder)
    {
        ++entry.m_NumHolders;
        holder->m_Backends = this;
        return holder;
    }

    void Release(const BackendId& id)
    {
        const std::lock_guard lock(m_Mutex);
        const auto found = m_Entries.find(id);
        if (--found->second.m_NumHolders == 0)
        {
            m_Entries.erase(found);
            BackendRegistryInstance().Deregister(id);
        }
    }

    std::mutex m_Mutex;
    std::unordered_map<BackendId, Entry> m_Entries;
};

DynamicBackends& GetDynamicBackends()
{
    static DynamicBackends& backends = *std::make_unique<DynamicBackends>().release(); // runtimes may be static
    return backends;
}

std::shared_ptr<const backend::IBackend> LoadObject(const std::string& path, IRuntime::CreationOptions& options)
{
    void* const object = OpenLibrary(path, LibrarySymbols::Own);
    auto dynamic = std::make_shared<DynamicBackend>(object);
    const BackendId id = dynamic->GetBackendId();
    // The object is never closed from now on: programs may hold backends of it that they got from the registry, and
    // static variables of it anything else.
    KeepLibrary(path);
    bool isThere = false;
    DynamicRegistration registration = GetDynamicBackends().Register(id, object, std::move(dynamic), isThere);
    const auto given = std::find_if(options.m_Backends.begin(), options.m_Backends.end(),
                                    [&](const auto& backend) { return backend->GetId() == id; });
    if (isThere && given != options.m_Backends.end())
    {
        return *given; // AddRegisteredBackends made it, as another runtime had loaded the object
    }
    return MakeBackendForRuntime(id, options, std::move(registration));
}

/// See DynamicBackendLoader. The caller has the object open, so that exceptions of its types can be read here.
std::shared_ptr<const backend::IBackend> LoadDynamicBackend(const std::string& path, IRuntime::CreationOptions& options)
{
    std::string reason;
    try
    {
        return LoadObject(path, options);
    }
    catch (const std::exception& e)
    {
        reason = e.what();
    }
    catch (...)
    {
        reason = "it throws what is no std::exception";
    }
    throw InvalidArgumentException(reason);
}

[[maybe_unused]] const DynamicBackendLoader LoaderBefore = SetDynamicBackendLoader(LoadDynamicBackend);

} // namespace

DynamicRegistration HoldDynamicBackend(const BackendId& id)
{
    return GetDynamicBackends().Hold(id);
}

} // namespace tenon
