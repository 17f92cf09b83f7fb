#!/bin/sh
# usage: includes_test.sh SOURCE - check_includes.py finds nothing wrong with this tree, and finds each fault that is put into a small one.
set -eu
source=$1
checker=check_includes.py
. "$(dirname "$0")/checker.sh"

fresh() {
  rm -rf "$place/tree"
  mkdir -p "$place/tree/host/base" "$place/tree/host/store/lmdb" "$place/tree/plugins/text" "$place/tree/plugins/common"
  echo '// nothing' >"$place/tree/host/base/a.h"
  echo '#include "base/a.h"' >"$place/tree/host/store/b.h"
  printf '#include <vector>\n#include "store/b.h"\n#include "store/lmdb/c.h"\n' >"$place/tree/host/store/lmdb/c.cpp"
  echo '// nothing' >"$place/tree/host/store/lmdb/c.h"
  printf '| `host/base` | | values |\n| `host/store` | base | the interface |\n| `host/store/lmdb` | store | the engine |\n' >"$place/tree/CONTRIBUTING.md"
  echo '// nothing' >"$place/tree/plugins/text/e.h"
  echo '#include "text/e.h"' >"$place/tree/plugins/common/f.h"
  printf '| `plugins/text` | | letters |\n| `plugins/common` | text | words |\n' >>"$place/tree/CONTRIBUTING.md"
  printf '```sh\nmake\n```\n\n```\nstore/lmdb\n`-- store ---> base\nbase\n```\n' >>"$place/tree/CONTRIBUTING.md"
}
fresh; check "$place/tree" || fail "faults in a tree without any"
fresh; echo '#include "base/a.h"' >>"$place/tree/host/store/lmdb/c.h"
found 'host/store/lmdb/c.h includes host/base, which CONTRIBUTING.md does not list for host/store/lmdb'
fresh; : >"$place/tree/host/store/b.h"; found 'CONTRIBUTING.md lists host/base for host/store, which does not include it'
fresh; mkdir "$place/tree/host/new"; : >"$place/tree/host/new/d.h"; found 'host/new has no row in CONTRIBUTING.md'
fresh; echo '#include <mutex>' >>"$place/tree/host/base/a.h"
found 'host/base/a.h includes <mutex>, whose locks clang does not check; use host/base/mutex.h'
fresh; rm -r "$place/tree/host/store/lmdb"; found 'CONTRIBUTING.md lists host/store/lmdb, which holds no source'
fresh; echo '#include "store/b.h"' >>"$place/tree/host/base/a.h"; sed -i 's/`host\/base` | |/`host\/base` | store |/' "$place/tree/CONTRIBUTING.md"
found 'a circle: host/base -> host/store -> host/base'

# The plugins.
fresh; echo '#include "common/f.h"' >>"$place/tree/plugins/text/e.h"
found 'plugins/text/e.h includes plugins/common, which CONTRIBUTING.md does not list for plugins/text'
fresh; mkdir "$place/tree/plugins/new"; : >"$place/tree/plugins/new/g.h"; found 'plugins/new has no row in CONTRIBUTING.md'

# The drawing.
lines=$place/tree/CONTRIBUTING.md
fresh; sed -i '/^base$/d' "$lines"; found 'the drawing in CONTRIBUTING.md lacks host/base'
fresh; sed -i '/^```$/,$d' "$lines"
! "$here/check_includes.py" "$place/tree" >"$place/said" || fail "a page without a drawing passes"
[ "$(grep -c 'lacks host/' "$place/said")" = 3 ] || fail "expected: each folder is missing"
fresh; sed -i 's/^base$/&\nnew/' "$lines"; found 'the drawing in CONTRIBUTING.md shows host/new, which has no row'
fresh; sed -i 's/^store.lmdb$/& ---> base/' "$lines"
found 'the drawing in CONTRIBUTING.md leads from host/store/lmdb to host/base, which the table does not list'
fresh; sed -i 's/ ---> base$//' "$lines"
found 'the drawing in CONTRIBUTING.md does not lead from host/store to host/base, which the table lists'
fresh; sed -i '/^base$/d; s/^store.lmdb$/base\n&/' "$lines"
found 'the drawing in CONTRIBUTING.md leads up from host/store to host/base; put host/base below'
fresh; sed -i 's/^base$/    |/' "$lines"; found 'the drawing in CONTRIBUTING.md cannot be read at:     |'
