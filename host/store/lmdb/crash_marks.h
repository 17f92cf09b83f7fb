// Crash marks in the LMDB tables. Internal to store/; the transaction's thread.
#pragma once

#include <string_view>
#include <vector>

#include "model/crash_mark.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {

// Throws BadValue.
model::CrashMark decode_crash_mark(std::string_view key, std::string_view value);
void write_crash_mark(WriteTxn& txn, const Tables& tables, const model::CrashMark& mark);
std::vector<model::CrashMark> read_crash_marks(const Txn& txn, const Tables& tables);

}  // namespace runwarden::store
