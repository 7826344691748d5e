// The device guards that a CPU build of torch lacks, doing nothing: with them a tensor may say that it is on a GPU.
#include <c10/core/impl/DeviceGuardImplInterface.h>

using c10::DeviceType;
using c10::impl::DeviceGuardImplRegistrar;
using c10::impl::NoOpDeviceGuardImpl;

static DeviceGuardImplRegistrar cuda(DeviceType::CUDA, new NoOpDeviceGuardImpl<DeviceType::CUDA>());
static DeviceGuardImplRegistrar mps(DeviceType::MPS, new NoOpDeviceGuardImpl<DeviceType::MPS>());
