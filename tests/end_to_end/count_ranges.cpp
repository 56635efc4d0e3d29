// A tool of NVTX (NVTX_INJECTION64_PATH) that counts the ranges of each name, and writes them to
// the file that COUNT_RANGES names when the process ends: "DOMAIN NAME BEGUN" a line, then
// "ENDED" of all.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace {

struct Counts {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, long> begun;
  long ended = 0;

  ~Counts() {
    if (begun.empty()) return;
    const char* const path = std::getenv("COUNT_RANGES");
    std::FILE* const file = path ? std::fopen(path, "w") : nullptr;
    if (!file) return;
    for (const auto& [name, count] : begun)
      std::fprintf(file, "%s %s %ld\n", name.first.c_str(), name.second.c_str(), count);
    std::fprintf(file, "ENDED %ld\n", ended);
    std::fclose(file);
  }
};

Counts& counts() {
  static Counts the_counts;
  return the_counts;
}

// A handle is the text itself, which is never freed.
template <typename Handle>
Handle handle_of(const char* text) {
  return reinterpret_cast<Handle>(new std::string(text));
}
template <typename Handle>
std::string text_of(Handle handle) {
  return handle ? *reinterpret_cast<const std::string*>(handle) : "?";
}

nvtxDomainHandle_t create_domain(const char* name) { return handle_of<nvtxDomainHandle_t>(name); }

nvtxStringHandle_t register_string(nvtxDomainHandle_t, const char* text) {
  return handle_of<nvtxStringHandle_t>(text);
}

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  const std::lock_guard lock(counts().mutex);
  ++counts().begun[{text_of(domain), text_of(event->message.registered)}];
  return 0;
}

int pop(nvtxDomainHandle_t) {
  const std::lock_guard lock(counts().mutex);
  ++counts().ended;
  return 0;
}

template <typename Function>
void put(NvtxFunctionTable table, int place, Function function) {
  *table[place] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table) {
  counts();
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) ||
      size <= NVTX_CBID_CORE2_DomainCreateA)
    return 0;
  put(table, NVTX_CBID_CORE2_DomainCreateA, create_domain);
  put(table, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  put(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
  put(table, NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}
