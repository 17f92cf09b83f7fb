"""@@ABOUT@@

@@HOOK@@
"""
import json
import re
import unicodedata

DRAFT = @@DRAFT@@
_BLANK = " \t\n\v\f\r"


def check(run):
    """The run so far, as POST /v1/ingest/runs takes it, the reply about to be given as its last model step or its outcomeSummary.
    [] or [{"name", "action", "say"}]. @@HOOK@@"""
    for state in _moments(run, DRAFT["point"]):
        if _holds(DRAFT["if"], state):
            return [{"name": DRAFT["name"], "action": DRAFT["then"]["action"], "say": DRAFT["then"]["say"]}]
    return []


# ---- The moments of a run.

def _moments(run, point):
    steps = [_step(step) for step in run.get("steps") or []]
    about = run.get("metadata") or {}
    state = {"point": point, "requests": [_words(_text(run.get("userRequestText")) or "")], "calls": [], "pending": None, "reply": "",
             "model": "", "tokens": None}
    models, counted, named, said_since = 0, False, None, False
    for step in steps:
        if step["kind"] == "user":
            state["requests"].append(_words(step["output"] or step["input"] or ""))
        model = step["model"] if step["model"] is not None else _text(about.get("model")) or ""
        if step["kind"] == "model" or step["tokens"] is not None:
            state["model"], state["tokens"] = model, step["tokens"]
            counted = counted or step["tokens"] is not None
            if point == "before_model":
                yield state
        if step["kind"] == "model":
            models += 1
            named = step["model"] or named
            if (step["output"] or "").strip(_BLANK):
                state["reply"], said_since = step["output"], True
                if point == "before_reply":
                    yield state
        if step["kind"] not in ("tool", "other"):
            continue
        state["pending"] = step
        if point == "before_tool":
            yield state
        state["pending"], said_since = None, False
        state["calls"].append(step)
        if point == "after_tool":
            yield state
    if point == "before_reply":
        outcome = _text(run.get("outcomeSummary")) or ""
        state["reply"] = outcome if outcome.strip(_BLANK) else state["reply"] if said_since else ""
        yield state
    tokens = _tokens(about)
    if point == "before_model" and tokens is not None and not counted and models < 2:
        state["model"], state["tokens"] = named or _text(about.get("model")) or "", tokens
        yield state


def _text(value, null=None):
    if value is None:
        return null
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value.replace("\0", "\ufffd")


def _count(value):
    whole = isinstance(value, int) and not isinstance(value, bool) or isinstance(value, float) and value.is_integer()
    return int(value) if whole and value >= 0 else None


def _first(values):
    return next((value for value in values if value is not None), None)


def _tokens(about):
    names = ("inputTokens", "promptTokens", "input_tokens", "prompt_tokens")
    usage = about.get("usage") if isinstance(about.get("usage"), dict) else {}
    return _first([_count(about.get(name)) for name in names] + [_count(usage.get(name)) for name in names])


def _step(step):
    about = step.get("metadata") or {}
    kind = (_text(step.get("stepKind")) or "").strip(" \t\r\n").lower()
    status = (_text(step.get("status")) or "").strip(" \t\r\n").lower()
    code = (_text(step.get("errorCode")) or "").strip(" \t\r\n").lower()
    http = _first([_count(about.get(name)) for name in ("httpStatus", "http_status", "statusCode", "status_code")])
    tool = kind in ("tool", "function", "action", "tool_call")
    model = kind in ("model", "llm", "assistant", "chat", "completion", "generation", "model_output")
    failed = status in ("failed", "failure", "error", "errored", "timed_out", "timeout", "blocked", "cancelled", "canceled", "rejected",
                        "denied")
    return {"kind": "tool" if tool else "model" if model else "user" if kind in ("user", "user_request", "human") else "other",
            "name": _text(step.get("stepName")) or "", "model": _text(about.get("model")), "tokens": _tokens(about),
            "input": _text(step.get("inputSummary")), "output": _text(step["outputSummary"], "null") if "outputSummary" in step else None,
            "retries": _count(step.get("retryCount")),
            "failed": failed or code not in ("", "0", "ok", "none") or bool(step.get("errorMessage")) or (http or 0) >= 400 or None}


# ---- Conditions.

def _holds(condition, state):
    (kind, wanted), = condition.items()
    if kind == "all":
        return all(_holds(one, state) for one in wanted)
    if kind == "any":
        return any(_holds(one, state) for one in wanted)
    if kind == "not":
        return not _holds(wanted, state)
    if kind == "call":
        return _called(wanted, state)
    if kind == "noCall":
        return not any(_has(_name_words(call["name"]), wanted["nameHas"]) for call in state["calls"])
    if kind == "request":
        return any(_has(words, wanted["anyWord"]) for words in state["requests"])
    if kind == "reply":
        digits = len(re.findall("[0-9]", state["reply"]))
        return digits >= wanted.get("digits", 0) and ("anyWord" not in wanted or _has(_words(state["reply"]), wanted["anyWord"]))
    over = wanted.get("inputTokensOver")
    return ("name" not in wanted or _has(_words(state["model"]), [wanted["name"]])) and (
        over is None or (state["tokens"] is not None and state["tokens"] > over))

#: calls


def _called(wanted, state):
    tools = wanted.get("tool", [])
    tools = [tools] if isinstance(tools, str) else tools
    same, latest, count, series = wanted.get("sameInput", False), None, {}, 0
    for call in state["calls"]:
        if tools and call["name"] not in tools:
            continue
        if not _came_out(call, wanted.get("outcome", "any")) or (same and call["input"] is None and not _failed(call)):
            series = 0
            continue
        key = _input(call) if same else None
        series = (series if key == latest else 0) + _times(call)
        latest = key
        count[key] = count.get(key, 0) + _times(call)
    more = 0
    if same and state["point"] == "before_tool":
        pending = state["pending"]
        if pending is None or (tools and pending["name"] not in tools):
            return False
        more = _times(pending) - 1
        series = series if _input(pending) == latest else 0
        latest = _input(pending)
    return more + (series if wanted.get("last") else count.get(latest, 0)) >= wanted.get("atLeast", 1)


def _times(call):
    return min(max(call["retries"] or 1, 1), 1000000)


def _came_out(call, outcome):
    if outcome == "failed":
        return _failed(call)
    if outcome == "empty":
        return _empty(call)
    return outcome == "any" or not (_failed(call) or _empty(call))
#: end


# ---- Words, whole and without case.

_PLAIN = dict([(c, "'") for c in "\u2018\u2019\u201b\u2032\u02bc\u00b4"]
              + [(c, '"') for c in "\u201c\u201d\u201e\u2033\u00ab\u00bb"]
              + [(c, "-") for c in "\u2010\u2011\u2012\u2013\u2212"] + [(c, " - ") for c in "\u2014\u2015"]
              + [(c, ".") for c in "\u2026\u3002\uff0e"]
              + [("\uff01", "!"), ("\uff1f", "?"), ("\u061f", "?"), ("\u3001", ","), ("\uff0c", ",")])


def _fold(text):
    if text.isascii():
        return text.lower()
    return "".join(c.lower() if c < "\x80" else _PLAIN.get(c) or _fold_wide(c) for c in text)


def _fold_wide(c):
    kind = unicodedata.category(c)
    if c in "\u00ad\u200b\u200c\u200d\u2060\ufeff" or "\ufe00" <= c <= "\ufe0f" or kind in ("Mn", "Me"):
        return ""
    if kind == "Sc":
        return c
    if kind[0] not in "LMN":
        return " "
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", c).casefold())
    return "".join(part for part in folded if unicodedata.category(part)[0] != "M")


def _words(text):
    return " " + "".join(word + " " for word in re.findall("[a-z0-9\x80-\U0010ffff]+", _fold(text)))


def _name_words(name):
    return _words(" ".join(_name_parts(name)))


def _name_parts(name):
    parts, part = [], ""
    for at, c in enumerate(name):
        if not re.match("[A-Za-z0-9\x80-\U0010ffff]", c):
            parts, part = parts + [part], ""
            continue
        if part and "A" <= c <= "Z" and (not "A" <= name[at - 1] <= "Z" or "a" <= name[at + 1:at + 2] <= "z"):
            parts, part = parts + [part], ""
        part += c.lower() if c < "\x80" else c
    return [part for part in parts + [part] if part]


def _has(words, phrases):
    return any(_words(phrase) in words for phrase in phrases)
#: outcome


# ---- Whether a call failed or gave nothing. Texts are examined byte by byte: each character below represents a byte of UTF-8.

def _bytes(text):
    return text.encode("utf-8", "replace").decode("latin-1")


def _low(text):
    return text.translate({upper: upper + 32 for upper in range(65, 91)})


SIGNS = @@SIGNS@@
_FAILED, _REFUSED, _ACTION_FAILED, _NOT_THERE = "failed", "refused", "action_failed", "not_there"
_WORD = "[a-z0-9\x80-\xff]"
_ENVELOPES = SIGNS["envelopes"] + SIGNS["text_envelopes"]
_COUNTS = "total count size length hits matches found results rows".split()


def _failed(call):
    if call["failed"] is None:
        output = _bytes(call["output"]) if call["kind"] == "tool" and call["output"] is not None else ""
        news = _only_news(_bytes(call["input"] or ""), output)
        call["failed"] = any(_soft_failure(text) or _short_failure(call, text) for text in (output, news) if text)
    return call["failed"]


def _empty(call):
    return call["output"] is not None and _empty_text(_bytes(call["output"]))


def _empty_text(output):
    text = _unquoted(output)
    fenced = re.fullmatch("```[^\n]*\n(.*)```", text, re.DOTALL)
    if fenced and _trim(fenced[1]):
        text = _unquoted(fenced[1])
    if not text:
        return True
    inner = _inner(text)
    if inner and len(inner) < len(text) and _empty_text(inner):
        return True
    if text[0] in "{[":
        return len(text) == 2 or not _trim(text[1:-1]) or _only_zero_results(text)
    lines = text.split("\n")
    if 1 < len(lines) <= 4 and len(text) <= 600:
        head_only = len(lines) == 2 and "-" in lines[-1] and not lines[-1].strip("|-+: \t\r")
        if head_only or _empty_phrase(lines[0]) or _empty_phrase(_trim(lines[-1])):
            return True
    return _empty_phrase(text) or _labels_nothing(text) or _is_empty_markup(text) or _is_head_alone(text)


def _labels_nothing(text):
    label, colon, value = text.partition(":")
    return bool(colon) and len(text) <= 40 and " " not in _trim(label) and _counts_found(_low(label)) and _trim(value) in ("0", "[]", "{}")


def _counts_found(name):
    return any(word in name for word in _COUNTS)


def _is_head_alone(text):
    sign = re.search("[,;\t]", text)
    if not sign or len(text) > 400 or text.count(sign[0]) < 2 or not re.fullmatch('[A-Za-z_"%s]*' % sign[0], text):
        return False
    first = re.fullmatch('"?(.*?)"?', text[:sign.start()])[1]
    return _low(first.rsplit("_", 1)[-1]) in SIGNS["id_names"]


def _is_empty_markup(text):
    if len(text) > 200 or text[0] != "<" or text[-1] != ">":
        return False
    several = re.match("<([^ />]{3,}s)[ />]", text)
    counted = re.match("[^=]*[ \t\n]([^ \t\n=]*)=", text)
    is_list = several and not re.search("(?:ss|us|is)$", several[1])
    if not is_list and not (counted and _counts_found(_low(counted[1]))):
        return False
    return not re.sub("<[^>]*>", "", text).strip() and all(_is_zero(value) for value in re.findall('"([^"]*)"', text))


def _empty_phrase(text):
    if len(text) > 48:
        return False
    words = _tokens_of(_fold_bytes(text))
    if not words:
        return not text.strip("\"'.[]{}() -")
    return words in SIGNS["empty"] or _denies_a_thing(words) or _counts_nothing(words)


def _counts_nothing(words):
    if not 3 <= len(words) <= 6 or "0" not in words[:-1] or not any(word in SIGNS["found"] for word in words):
        return False
    tells = SIGNS["telling_when_empty"] + SIGNS["troubles"]
    return not any(word in tells or (word != "0" and re.search("[0-9]", word)) for word in words)


def _denies_a_thing(words):
    if len(words) != 2 or not re.match("[a-z\x80-\xff].{3}", words[1]) or words[1] in SIGNS["telling_when_empty"] + SIGNS["troubles"]:
        return False
    return any(len(phrase) == 2 and phrase[0] == words[0] for phrase in SIGNS["empty"])


def _trim(text):
    return text.strip(_BLANK)


def _unquoted(text):
    text = _trim(text)
    quoted = len(text) >= 2 and text[0] in "\"'" and text[-1] == text[0]
    return _trim(text[1:-1]) if quoted else text


def _fold_bytes(text):
    return _bytes(_fold(text.encode("latin-1").decode("utf-8", "replace")))


def _tokens_of(folded):
    return re.findall("%s(?:%s|(?<=%s)'(?=%s)|(?<=[0-9])[.,:](?=[0-9]))*" % (_WORD, _WORD, _WORD, _WORD), folded)


class _Json:
    """Tokens of JSON, or of what scripts print of the same shape."""

    def __init__(self, text):
        self.text, self.at, self.open, self.value, self.key_next, self.done = text, 0, [], "", False, False

    def next(self):
        self.blank()
        if self.done:
            return "end" if self.at == len(self.text) else "bad"
        if self.at >= len(self.text):
            return "bad"
        if self.text[self.at] == "," and self.open:
            self.at += 1
            self.blank()
            if self.at >= len(self.text):
                return "bad"
            self.key_next = self.open[-1] == "{"
        c = self.text[self.at]
        if c in "}]":
            if not self.open or self.open[-1] != ("{" if c == "}" else "["):
                return "bad"
            self.open.pop()
            self.at, self.key_next, self.done = self.at + 1, False, not self.open
            return c
        if self.key_next:
            if c not in "\"'" or self.string() == "bad":
                return "bad"
            self.blank()
            if self.text[self.at:self.at + 1] != ":":
                return "bad"
            self.at, self.key_next = self.at + 1, False
            return "key"
        token = self.scalar(c)
        if not self.open and token != "bad":
            self.done = True
        return token

    def scalar(self, c):
        if c in "{[":
            if len(self.open) == 128:
                return "bad"
            self.open.append(c)
            self.at, self.key_next = self.at + 1, c == "{"
            return c
        if c in "\"'":
            return self.string()
        for word, token in (("True", "true"), ("False", "false"), ("None", "null"), ("true", "true"), ("false", "false"), ("null", "null")):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return token
        self.value = re.compile("[0-9+.eE-]*").match(self.text, self.at)[0]
        self.at += len(self.value)
        return "number" if self.value[-1:].isdigit() else "bad"

    def string(self):
        mark, begin = self.text[self.at], self.at + 1
        found = re.compile(r"(?:[^\\%s]|\\.)*%s" % (mark, mark), re.DOTALL).match(self.text, begin)
        if not found:
            self.at = len(self.text)
            return "bad"
        self.at, self.value = found.end(), self.text[begin:found.end() - 1]
        return "string"

    def blank(self):
        while self.text[self.at:self.at + 1] in (" ", "\n", "\r", "\t"):
            self.at += 1

    def leave(self):
        depth = 1
        while self.at < len(self.text):
            c = self.text[self.at]
            if c in "\"'":
                if self.string() == "bad":
                    return False
                continue
            self.at += 1
            depth += (c in "{[") - (c in "}]")
            if depth == 0:
                self.open.pop()
                self.done, self.key_next = not self.open, False
                return True
        return False

    def skip(self, token):
        depth = len(self.open)
        while token in ("{", "[") and len(self.open) >= depth:
            token = "{" if self.next() != "bad" else "bad"


def _is_zero(digits):
    return not digits.strip("0.-+")


def _only_zero_results(text):
    cursor, nulls, blanks, zeros, counted, key, hollow, telling, total = _Json(text), 0, 0, 0, True, "", False, False, False
    paged = False
    before = cursor.next()
    while (token := cursor.next()) != "end":
        if token == "string" and cursor.value == "0":
            token = "number"
        if key in SIGNS["paging"] and (token == "true" or (token == "number" and not _is_zero(cursor.value))):
            paged, token = True, "paging"
        if token == "string" and cursor.value in ("[]", "{}", "null"):
            hollow, token = hollow or key not in SIGNS["telling_when_empty"], "hollow"
        if token == "bad" or token == "true" or (token == "string" and cursor.value):
            return False
        if token == "key":
            key = _low(cursor.value)
            if key in SIGNS["metadata"] or key.startswith("@"):
                value = cursor.next()
                hollow = hollow or (value == "string" and _says_nothing(key, cursor.value))
                cursor.skip(value)
                token = "false"
        elif token in ("}", "]"):
            nothing = before == ("{" if token == "}" else "[")
            telling = telling or (nothing and key in SIGNS["telling_when_empty"])
            hollow = hollow or (nothing and key not in SIGNS["telling_when_empty"])
        elif token == "false":
            hollow = hollow or key in SIGNS["existence"]
        elif token == "null":
            nulls += 1
        elif token == "string":
            blanks += 1
        elif token == "number":
            if not _is_zero(cursor.value):
                return False
            zeros, counted, total = zeros + 1, counted and _counts_found(key), total or _counts_found(key)
        before = token
    page = telling and total
    if (telling and not (page or hollow or nulls)) or (paged and not (hollow or page)):
        return False
    if zeros and not counted:
        return hollow or page or zeros >= 2
    return hollow or blanks > 0 or zeros > 0 or nulls > 0


def _says_nothing(key, value):
    if key in SIGNS["messages"]:
        return _empty_phrase(value)
    return "_" in value and _empty_phrase(value.replace("_", " "))


def _soft_failure(output):
    text = _undecorated(_unquoted(output))
    if text.startswith("{"):
        cursor = _Json(text)
        fails = bool(re.search("(?i)error|success|ok", text)) and cursor.next() == "{" and _members_fail(cursor, False)
    else:
        fails = any(_opens_with(text, opening) for opening in SIGNS["error_openings"])
    inner = "" if fails else _inner(text)
    return fails or bool(inner and _soft_failure(inner))


def _undecorated(text):
    word = re.search("[^#<!*]", text) if len(text) <= 400 else None
    return text if not word or (text[0] == "#" and word[0] == " ") else _trim(text[word.start():])


def _inner(text):
    text = _trim(text)
    if not text or len(text) > 1000:
        return ""
    if text[0] == "{":
        return _only_member(text)
    if text[0] == "[" and len(text) > 1:
        return text[1:-1] if re.fullmatch("\\[[A-Za-z\x80-\xff][^][{}]*\\]", text) else _only_item(text)
    body = re.match("(?:HTTP|[Ss]tatus)[^{[]*[0-9][^{[]*(?=[{[])", text[:80])
    if body:
        return text[body.end():]
    colon = text[:80].find(":")
    if colon < 0 or text[colon + 1:colon + 2] not in tuple(_BLANK):
        return ""
    return _trim(text[colon + 1:]) if _low(re.split("[ \n]", text[:colon])[-1]) in _ENVELOPES else ""


def _only_member(text):
    cursor, inner = _Json(text), ""
    if cursor.next() != "{":
        return ""
    while cursor.next() == "key":
        key, token = _low(cursor.value), cursor.next()
        if key == "type" or (token == "false" and key == "iserror"):
            continue
        if inner or key not in _ENVELOPES:
            return ""
        inner = _value_of(cursor, token)
        if not inner:
            return ""
    return inner


def _only_news(asked, text):
    begin = text[:80].find("{")
    head = _trim(text[:max(begin, 0)])
    if len(text) > 1000 or begin < 0 or (head and not head.endswith(":")):
        return ""
    cursor, news, repeats, members = _Json(text[begin:]), "", False, 0
    cursor.next()
    while cursor.next() == "key":
        members += 1
        if members > 8 or cursor.next() != "string":
            return ""
        if len(cursor.value) >= 3 and cursor.value in asked:
            repeats = True
            continue
        if news or not cursor.value:
            return ""
        news = _unescaped(cursor.value)
    return news if repeats else ""


def _only_item(text):
    cursor = _Json(text)
    if cursor.next() != "[":
        return ""
    token = cursor.next()
    item = _value_of(cursor, token)
    if not item or cursor.next() != "]":
        return ""
    return item if token == "string" or _only_an_error(item) else _only_member(item)


def _only_an_error(text):
    cursor = _Json(text)
    if cursor.next() != "{" or cursor.next() != "key" or _low(cursor.value) != "error":
        return False
    token = cursor.next()
    return (token not in ("{", "[") or cursor.leave()) and cursor.next() == "}"


def _value_of(cursor, token):
    if token == "string":
        return _unescaped(cursor.value)
    begin = cursor.at - 1
    return cursor.text[begin:cursor.at] if token in ("{", "[") and cursor.leave() else ""


def _opens_with(text, opening):
    rest = text[len(opening):]
    if _low(text[:len(opening)]) != opening or not text:
        return False
    if not rest or re.match("[^A-Za-z0-9\x80-\xff -]", rest):
        return True
    return rest[0] in " -" and re.match("[a-z]*", rest[1:])[0] not in SIGNS["error_reports"]


def _members_fail(cursor, wrapped):
    outer = len(cursor.open)
    while cursor.next() == "key":
        key, token = _low(cursor.value), cursor.next()
        if token == "bad":
            return False
        if _member_fails(key, token, cursor):
            return True
        if token == "{" and not wrapped and key in SIGNS["envelopes"]:
            if _members_fail(cursor, True):
                return True
            if len(cursor.open) > outer:
                return False
        if len(cursor.open) > outer and not cursor.leave() or len(cursor.open) < outer:
            return False
    return False


def _member_fails(key, token, cursor):
    if key == "error":
        if token in ("{", "["):
            depth = len(cursor.open)
            return cursor.next() != "bad" and len(cursor.open) >= depth
        told = token == "string" and _trim(cursor.value) and _low(cursor.value) not in ("none", "null")
        return bool(told) or token == "true" or (token == "number" and not _is_zero(cursor.value))
    if key in ("success", "ok"):
        return token == "false"
    if key in ("iserror", "is_error"):
        return token == "true"
    return key == "status" and token == "string" and _low(cursor.value) == "error"


def _short_failure(call, output):
    tool, sign = _bytes(call["name"]), _short_sign(output)
    if sign in (None, _FAILED) or _reads(tool):
        return sign == _FAILED
    if sign == _REFUSED:
        return True
    return not _is_result_of(call, output) and not any(part in SIGNS["any_purpose"] for part in _name_parts(_base_name(tool)))


def _base_name(name):
    for end in range(len(name), 1, -1):
        if name[end - 2] in "./:" or (name[end - 2] == "_" and end > 2 and name[end - 3] == "_"):
            return name[end - 1:]
    return name


def _reads(tool):
    name = _base_name(tool)
    for prefix in SIGNS["read_prefixes"]:
        found = re.match("(?i:%s)" % "[_. -]?".join(map(re.escape, prefix.split(" "))), name)
        if found and (found.end() >= len(name) or not "a" <= name[found.end()] <= "z" or not "a" <= name[found.end() - 1] <= "z"):
            return True
    return False


def _short_sign(output):
    output = _trim(output)
    if not output or len(output) > 1000:
        return None
    if _low(output) == "false":
        return _ACTION_FAILED
    sign = _json_sign(output) if output[0] == "{" else _text_sign(output) if len(output) <= 400 else None
    inner = "" if sign else _inner(output)
    return _short_sign(inner) if inner else sign


def _text_sign(text):
    if text.startswith("<") and re.search("Fault>|<fault|status=\"error\"", text[:200]):
        return _FAILED
    bare = _without_marks(text)
    sign = _FAILED if _opens_with_class(bare) else _sign_of(_fold_bytes(bare[:160]).replace("_", " "))
    return sign if sum(1 for line in text.split("\n") if _trim(line)) <= 2 else None


def _without_marks(text):
    bare = re.sub("^(?:[\xf0-\xff].{0,3}|[\xe2\xef].{0,2}|[\\[(<*#`\"! \t\r\n])*", "", text, flags=re.DOTALL)
    colon = bare[:16].find(": ")
    return _trim(bare[colon + 2:]) if colon >= 0 and _low(bare[:colon]) in _ENVELOPES else bare


def _opens_with_class(text):
    name = re.match("[A-Za-z0-9._\x80-\xff]*", text)[0]
    last, rest = name.rpartition(".")[2], text[len(name):]
    if len(last) < 7 or not "A" <= last[0] <= "Z" or not last.endswith(("Error", "Exception", "Violation", "Denied", "Failure")):
        return False
    return not rest or rest[0] == "(" or (rest[0] == ":" and not _counts(rest[1:]))


def _failed_status(digits):
    return bool(re.fullmatch("[45][0-9][0-9]", digits))


def _counts(rest):
    rest = _trim(rest)
    digits = re.match(_WORD + "*", rest)[0]
    if not re.fullmatch("[0-9]+", digits) or _failed_status(digits):
        return False
    rest = _trim(rest[len(digits):])
    return not _trim(rest[len(re.match(_WORD + "*", rest)[0]):])


def _goes_on(rest, any_word):
    if not rest:
        return True
    if re.match(_WORD, rest):
        return False
    if rest[0] == ":":
        return not _counts(rest[1:])
    if rest[0] != " ":
        return rest[0] not in "-/_"
    word = re.match(_WORD + "*", _trim(rest))[0]
    return not word or (word not in SIGNS["stops"] if any_word else word in SIGNS["continuations"])


def _at_beginning(phrases, folded):
    if len(folded) < 2 or not re.match(_WORD, folded):
        return None
    return next((sign for text, sign, any_word in phrases if folded.startswith(text) and _goes_on(folded[len(text):], any_word)), None)


def _sign_of(folded):
    absent = _near_beginning(SIGNS["not_there"], folded)
    if _opens_with_status(folded):
        return _NOT_THERE if absent < len(folded) else _FAILED
    if re.match("[45][0-9][0-9](?: - |: ) *[a-z]", folded):
        return _ACTION_FAILED
    if absent == 0 and folded:
        return _NOT_THERE
    opening = _at_beginning(SIGNS["openings"], folded)
    if opening or absent < len(folded):
        return opening or _NOT_THERE
    if _machine_fails(folded):
        return _REFUSED
    if _is_refusal(folded):
        return _ACTION_FAILED
    return _ACTION_FAILED if 0 < _near_beginning(SIGNS["refused_states"], folded) < len(folded) else None


def _near_beginning(phrases, folded):
    return next((word.start() for word in re.finditer(_WORD + "+", folded)
                 if word.start() < 80 and _at_beginning(phrases, folded[word.start():])), len(folded))


def _is_refusal(folded):
    at = 0
    for words in range(4):
        word = re.match(_WORD + "*", folded[at:])[0]
        end = at + len(word)
        if words > 0 and word in SIGNS["refusing"]:
            rest = folded[end:]
            return not rest or rest[0] == "." or (rest[0] == ":" and not _counts(rest[1:])) or rest.startswith(" by ")
        if not word or folded[end:end + 1] != " ":
            return False
        at = end + 1
    return False


def _refuses(code):
    if code in SIGNS["failed_statuses"]:
        return True
    if not code or len(code) > 40 or not re.fullmatch("(?:%s|[_-])+" % _WORD, code):
        return False
    parts = re.split("[_-]", code)
    return parts[0] in SIGNS["refusing"] or parts[-1] in SIGNS["refusing"]


def _is_result_of(call, output):
    output = _trim(output)
    name, told = _fold_bytes(_bytes(call["name"])), _fold_bytes(output[:400])
    asked = _fold_bytes(_bytes(call["input"])[:400]) if call["input"] is not None else ""
    states = [state for state in SIGNS["failed_statuses"] + SIGNS["refusing"] if len(state) >= 6 and state in told]
    return any(state[:-2] in name or state in asked for state in states)


def _machine_fails(folded):
    between, at = -1, 0
    for words in range(8):
        if between >= 0 and _at_beginning(SIGNS["machine_failures"], folded[at:]):
            return True
        word = re.match(_WORD + "*", folded[at:])[0]
        end = at + len(word)
        if not word or folded[end:end + 1] != " " or between == 3:
            return False
        if word in SIGNS["machines"]:
            between = 0
        elif between >= 0:
            between += 1
        elif words >= 4:
            return False
        at = end + 1
    return False


def _opens_with_status(text):
    named, labels, http = False, 0, text.startswith("http")
    for label in SIGNS["status_labels"]:
        if text.startswith(label):
            text = _trim(text[len(label):])
            text = _trim(text[1:]) if text.startswith(":") else text
            labels += label in SIGNS["codes"]
            named = named or label not in SIGNS["codes"] or labels > 1
    digits = re.match(_WORD + "*", text)[0]
    if not _failed_status(digits):
        return False
    text = text[3:]
    if not text:
        return named
    if text[0] not in " :":
        return named and text[0] not in ".-"
    if http and text[0] == ":":
        return True
    text = _trim(text[1:])
    text = _trim(text[1:]) if text[:1] in ("-", ":") else text
    return any(text.startswith(reason) and _goes_on(text[len(reason):], False) for reason in SIGNS["reasons"])


def _json_sign(text):
    cursor, sign = _Json(text), None
    if cursor.next() != "{":
        return None
    while cursor.next() == "key":
        key, token = _low(cursor.value), cursor.next()
        content = cursor.value if token in ("string", "number") else ""
        if token == "bad":
            return None
        nothing = token == "null" or (token == "string" and not content)
        low = _low(content)
        found = []
        if key in SIGNS["codes"] and _failed_status(content):
            found.append(_FAILED)
        flag = key in ("success", "ok")
        if flag and token == "string" and low in ("false", "no", "0"):
            return _FAILED
        if (flag and token == "true") or (key == "status" and low in ("ok", "success", "succeeded", "completed", "200")):
            return None
        words = content.split("_")[1:-1] if key != "status" and " " not in content else []
        denied = any(word.isupper() and _low(word) in SIGNS["denying"] for word in words)
        refused = token == "string" and key in SIGNS["outcomes"] + SIGNS["codes"] and (_refuses(low) or denied)
        if refused:
            found.append(_ACTION_FAILED)
        if key == "status" and low == "not_found":
            found.append(_NOT_THERE)
        if token == "string" and key in SIGNS["messages"] and len(content) <= 400:
            found.append(_text_sign(content))
        inner = _text_sign(content) if token == "string" and key in _ENVELOPES and len(content) <= 400 else None
        listed = token in ("[", "{") and key in ("errors", "errormessages")
        if inner:
            found.append(inner)
        elif listed and cursor.next() not in ("]", "}"):
            found.append(_FAILED)
            while len(cursor.open) > 1:
                if not cursor.leave():
                    return None
        for one in found:
            if one and (sign is None or one == _FAILED):
                sign = one
        if inner or listed or refused:
            continue
        if key not in SIGNS["about_calls"] and not nothing:
            return None
        if token in ("{", "["):
            cursor.leave()
    return sign


# ---- Inputs, compared as JSON where they are JSON.

def _input(call):
    if call["input"] is None:
        return (call["name"], None)
    text = _trim(_bytes(call["input"]))
    return (call["name"], (_json_value(text) if text[:1] in ("{", "[") else None) or ("text", text))


def _json_value(text):
    cursor, stack, key = _Json(text), [["[", []]], [None]
    while True:
        token = cursor.next()
        if token == "bad":
            return None
        if token == "end":
            return repr(stack[0][1])
        if token == "key":
            key[-1] = _unescaped(cursor.value)
        elif token in ("{", "["):
            stack.append([token, []])
            key.append(None)
        else:
            value = token
            if token in ("}", "]"):
                kind, items = stack.pop()
                key.pop()
                value = (kind, sorted(items, key=repr) if kind == "{" else items)
            elif token == "string":
                value = ("string", _unescaped(cursor.value))
            elif token == "number":
                value = ("number", _number(cursor.value))
            stack[-1][1].append((key[-1], value) if stack[-1][0] == "{" else value)


def _unescaped(raw):
    if "\\" not in raw:
        return raw
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), raw.encode("latin-1").decode("utf-8", "replace"))
    signs = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
    text = re.sub(r"\\(.)", lambda found: signs.get(found[1], found[1]), text, flags=re.DOTALL)
    return _bytes(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _number(digits):
    if not re.search("[.eE]", digits) and digits != "-0":
        return digits
    try:
        value = float(digits)
    except ValueError:
        return digits
    return str(int(value)) if abs(value) <= 9e15 and value == int(value) else repr(value)
#: end
