#include "store/lmdb/answers.h"

namespace runwarden::store {
namespace {

constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;

std::uint32_t day_of(std::int64_t ms) {
  return ms < 0 ? 0 : static_cast<std::uint32_t>(ms / kDayMs);
}

// Days come first, so that new entries are together and old ones form one range. Half the digest identifies an entry in a key; the value
// holds the whole.
KeyBytes answer_key(std::uint32_t day, model::TenantId tenant, const model::Digest& identity) {
  return KeyBytes().u32(day).u32(tenant).bytes({reinterpret_cast<const char*>(identity.data()), identity.size() / 2});
}

}  // namespace

KeyBytes answer_key(const IdempotentAnswer& answer, model::TenantId tenant) {
  return answer_key(day_of(answer.created_ms), tenant, answer.idempotency.identity);
}

bool next_day_with_answers(const Txn& txn, const Tables& tables, model::TenantId tenant, std::uint32_t& day) {
  Cursor cursor(txn, tables.idempotency.handle);
  for (bool more = cursor.at_or_after(KeyBytes().u32(day).u32(tenant)); more;) {
    const auto found_day = static_cast<std::uint32_t>(read_be(cursor.key(), 0, 4));
    const auto found_tenant = static_cast<model::TenantId>(read_be(cursor.key(), 4, 4));
    day = found_day;
    if (found_tenant == tenant) return true;
    if (found_tenant > tenant) ++day;
    more = cursor.at_or_after(KeyBytes().u32(day).u32(tenant));
  }
  return false;
}

bool is_answer_before(std::string_view key, std::string_view value, std::int64_t before_ms) {
  try {
    return decode_answer(key, value).created_ms < before_ms;
  } catch (const BadValue&) {
    return true;
  }
}

std::uint32_t answers_kept_from_day(const IdempotencyTimes& times) {
  return day_of(times.now_ms - times.keep_ms);
}

std::optional<IdempotentAnswer> find_answer(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::Digest& identity,
                                            const IdempotencyTimes& times) {
  // Starts one day ahead, because the machine's clock may have been set back.
  const std::uint32_t oldest = answers_kept_from_day(times);
  for (std::uint32_t day = day_of(times.now_ms) + 1; day >= oldest; --day) {
    const KeyBytes key = answer_key(day, tenant, identity);
    if (const auto value = txn.get(tables.idempotency.handle, key)) {
      IdempotentAnswer answer = decoded(tables.idempotency, key, [&] { return decode_answer(key, *value); });
      if (answer.idempotency.identity == identity && answer.created_ms + times.keep_ms > times.now_ms) return answer;
    }
    if (day == 0) break;
  }
  return std::nullopt;
}

void remember_answer(WriteBatch& batch, model::TenantId tenant, const std::optional<Idempotency>& idempotency, IdempotentAnswer answer) {
  if (!idempotency) return;
  answer.idempotency = *idempotency;
  answer.created_ms = batch.times.now_ms;
  const KeyBytes key = answer_key(answer, tenant);
  batch.txn.put(batch.tables.idempotency.handle, key, encode_answer(key, answer));
}

}  // namespace runwarden::store
