#include "detect/crash_file.h"

namespace runwarden::detect {

void NotedCall::put(const CrashContext& context) {
  content = context.content == nullptr ? model::Digest{} : *context.content;
  tenant.put(context.tenant);
  run_id.put(context.run_id.empty() ? context.origin : context.run_id);
  detector_key.put(context.detector_key);
  library_sha256.put(context.library_sha256);
  library.put(context.library);
}

CrashContext NotedCall::context() const {
  CrashContext context;
  context.tenant = tenant.get();
  context.run_id = run_id.get();
  context.detector_key = detector_key.get();
  context.library_sha256 = library_sha256.get();
  context.library = library.get();
  context.content = &content;
  return context;
}

model::CrashMark NotedCall::mark() const {
  model::CrashMark mark;
  mark.content = content;
  mark.tenant_name = tenant.get();
  mark.run_id = run_id.get();
  mark.detector_key = detector_key.get();
  mark.library_sha256 = library_sha256.get();
  mark.library = library.get();
  return mark;
}

bool NotedCall::same(const NotedCall& other) const {
  const bool same_run =
      (!run_id.get().empty() && run_id.get() == other.run_id.get()) || (content != model::Digest{} && content == other.content);
  return same_run && tenant.get() == other.tenant.get() && detector_key.get() == other.detector_key.get() &&
         library_sha256.get() == other.library_sha256.get();
}

void CallSlot::begin(const CrashContext& context, std::int64_t now_ns) {
  call.put(context);
  since_ns = now_ns;
  put(1 + static_cast<std::uint32_t>(context.code));
}

CrashContext CallSlot::context() {
  CrashContext context = call.context();
  const std::uint32_t now = get();
  if (now != 0) context.code = static_cast<DetectorCode>(now - 1);
  return context;
}

}  // namespace runwarden::detect
