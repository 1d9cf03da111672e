/* A CUDA driver with one GPU of compute capability 9.0 that loads no kernel. Cycles asks it for all
 * that it needs, and its error then names the kernel's file. */
#include <stddef.h>
#include <string.h>
typedef int R;
R cuInit(unsigned f) { return 0; }
R cuDriverGetVersion(int *v) { *v = 12080; return 0; }
R cuDeviceGetCount(int *n) { *n = 1; return 0; }
R cuDeviceGet(int *d, int i) { *d = i; return 0; }
R cuDeviceGetName(char *n, int l, int d) { strncpy(n, "NVIDIA H100", l); return 0; }
R cuDeviceGetPCIBusId(char *b, int l, int d) { strncpy(b, "0000:01:00.0", l); return 0; }
R cuDeviceTotalMem_v2(size_t *b, int d) { *b = 80ull << 30; return 0; }
R cuDeviceGetAttribute(int *v, int a, int d)
{
    *v = a == 75 ? 9 : a == 76 ? 0 : a == 14 ? 512 : !(a == 33 || a == 34 || a == 50);
    return 0;
}
R cuCtxCreate_v2(void **c, unsigned f, int d) { *c = (void *)16; return 0; }
R cuCtxDestroy_v2(void *c) { return 0; }
R cuCtxPushCurrent_v2(void *c) { return 0; }
R cuCtxPopCurrent_v2(void **c) { if (c) *c = (void *)16; return 0; }
R cuDevicePrimaryCtxRetain(void **c, int d) { *c = (void *)16; return 0; }
R cuDevicePrimaryCtxRelease(int d) { return 0; }
R cuDevicePrimaryCtxRelease_v2(int d) { return 0; }
R cuDevicePrimaryCtxGetState(int d, unsigned *f, int *a) { *f = 0; *a = 0; return 0; }
R cuDevicePrimaryCtxSetFlags(int d, unsigned f) { return 0; }
R cuDevicePrimaryCtxSetFlags_v2(int d, unsigned f) { return 0; }
R cuDeviceCanAccessPeer(int *c, int a, int b) { *c = 0; return 0; }
R cuMemGetInfo_v2(size_t *f, size_t *t) { *f = *t = 80ull << 30; return 0; }
R cuMemAlloc_v2(void **p, size_t n) { *p = (void *)4096; return 0; }
R cuMemFree_v2(void *p) { return 0; }
R cuMemcpyHtoD_v2(void *p, const void *q, size_t n) { return 0; }
R cuModuleGetGlobal_v2(void **p, size_t *n, void *m, const char *s) { *p = (void *)4096; return 0; }
R cuStreamCreate(void **s, unsigned f) { *s = (void *)16; return 0; }
R cuStreamDestroy_v2(void *s) { return 0; }
R cuStreamSynchronize(void *s) { return 0; }
R cuModuleLoadData(void **m, const void *p) { return 209; }
R cuModuleUnload(void *m) { return 0; }
R cuCtxSetCurrent(void *c) { return 0; }
R cuCtxGetCurrent(void **c) { *c = (void *)16; return 0; }
R cuCtxSynchronize(void) { return 0; }
R cuGetErrorString(R e, const char **s) { *s = "pretended"; return 0; }
R cuGetErrorName(R e, const char **s) { *s = "PRETENDED"; return 0; }
R cuMemcpyDtoH_v2(void *q, void *p, size_t n) { memset(q, 0, n); return 0; }
R cuMemsetD8_v2(void *p, unsigned char c, size_t n) { return 0; }
