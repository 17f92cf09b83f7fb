"""Holds an OpenAPI 3.1 document to its own rules, and recorded answers to the document. For tests; needs Debian's python3-jsonschema.

  openapi_check.py document OPENAPI.json
  openapi_check.py answers OPENAPI.json RECORD.json
  openapi_check.py values OPENAPI.json VALUES.json

RECORD.json: {"exchanges": [{"method", "target", "requestType", "requestBody", "status", "headers", "body"}, ...],
              "unprovoked": ["get 503", "* 500", ...]}
VALUES.json: [{"schema": "Explanation", "value": ...}, ...], by the name of a schema of the document.
A status that is documented but neither seen nor named under "unprovoked" is a fault. Prints one fault a line; exit 1 if there is any.
"""

import json
import re
import sys
from urllib.parse import parse_qsl, unquote

from jsonschema import Draft202012Validator

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
# The fixed fields of OpenAPI 3.1.0, and which of them are required.
FIELDS = {
    "document": ("openapi! info! jsonSchemaDialect servers paths webhooks components security tags externalDocs"),
    "info": ("title! summary description termsOfService contact license version!"),
    "server": ("url! description variables"),
    "tag": ("name! description externalDocs"),
    "path": ("summary description parameters servers " + " ".join(METHODS)),
    "operation": ("tags summary description externalDocs operationId! parameters requestBody responses! callbacks deprecated security servers"),
    "parameter": ("name! in! description required deprecated allowEmptyValue style explode allowReserved schema! example examples"),
    "header": ("description required deprecated style explode schema! example examples"),
    "body": ("description content! required"),
    "media": ("schema! example examples encoding"),
    "response": ("description! headers content links"),
    "example": ("summary description value externalValue"),
    "components": ("schemas responses parameters examples requestBodies headers securitySchemes links callbacks pathItems"),
    "security": ("type! description name in scheme bearerFormat flows openIdConnectUrl"),
}
# Fields of every answer, which no document needs to name.
FRAMING = {"date", "content-type", "content-length", "connection", "x-content-type-options"}  # on every answer, with nothing to say to a client


class Document:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.root = json.load(file)
        self.faults = []
        self.used = set()

    def fault(self, where, what):
        self.faults.append(f"{where}: {what}")

    def resolve(self, node):
        while isinstance(node, dict) and "$ref" in node:
            self.used.add(node["$ref"])
            target = self.root
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            node = target
        return node

    def errors(self, schema, value):
        # References start at the root of what is validated: the components have to stand there.
        validator = Draft202012Validator({**schema, "components": self.root["components"]})
        for error in sorted(validator.iter_errors(value), key=lambda one: list(map(str, one.absolute_path))):
            yield from self.leaves(error)

    def leaves(self, error):
        deeper = [leaf for one in error.context or [] for leaf in self.leaves(one)]
        at = "/".join(str(part) for part in error.absolute_path)
        return [f"at /{at}: {error.message[:300]}"] + deeper[:6]


def names(fields):
    return {name.rstrip("!") for name in fields.split()}


class Shape:
    """Walks the whole document: fixed fields, references, schemas, examples, parameters, operation ids, what is never used."""

    def __init__(self, document):
        self.doc = document
        self.operation_ids = set()

    def check(self):
        root = self.doc.root
        self.fields("document", root, "#")
        self.fields("info", root["info"], "#/info")
        if not re.fullmatch(r"3\.1\.\d+", root["openapi"]):
            self.doc.fault("#/openapi", "is no 3.1")
        if not json.dumps(root, ensure_ascii=False).isascii():
            self.doc.fault("#", "is not ASCII")
        for server in root.get("servers", []):
            self.fields("server", server, "#/servers")
        self.tags = [tag["name"] for tag in root.get("tags", [])]
        for tag in root.get("tags", []):
            self.fields("tag", tag, "#/tags")
        self.references(root, "#")
        if self.doc.faults:
            return
        self.components(root["components"])
        for path, item in root["paths"].items():
            self.path(path, item)
        self.unused()

    def fields(self, kind, node, where):
        for name in node:
            if name not in names(FIELDS[kind]) and not name.startswith("x-"):
                self.doc.fault(where, f"a {kind} has no field {name!r}")
        for name in FIELDS[kind].split():
            if name.endswith("!") and name[:-1] not in node:
                self.doc.fault(where, f"a {kind} needs {name[:-1]!r}")

    def references(self, node, where):
        if isinstance(node, list):
            for number, one in enumerate(node):
                self.references(one, f"{where}/{number}")
        if not isinstance(node, dict):
            return
        if isinstance(node.get("$ref"), str):
            try:
                self.doc.resolve(node)
            except KeyError:
                self.doc.fault(where, f"{node['$ref']} leads nowhere")
        for name, one in node.items():
            if name != "value" or not where.startswith("#/components/examples"):
                self.references(one, f"{where}/{name}")

    def components(self, components):
        self.fields("components", components, "#/components")
        for name, schema in components["schemas"].items():
            self.schema(schema, f"#/components/schemas/{name}")
        for name, response in components["responses"].items():
            self.response(response, f"#/components/responses/{name}")
        for name, scheme in components["securitySchemes"].items():
            self.fields("security", scheme, f"#/components/securitySchemes/{name}")

    def schema(self, schema, where):
        try:
            Draft202012Validator.check_schema(schema)
        except Exception as error:  # whatever is wrong with it belongs into the list
            self.doc.fault(where, f"is no JSON Schema: {str(error)[:300]}")
        for one in self.objects(schema):
            unknown = set(one.get("required", [])) - set(one.get("properties", {}))
            if "properties" in one and "allOf" not in one and unknown:
                self.doc.fault(where, f"requires {sorted(unknown)}, which it does not describe")

    def objects(self, node):
        if isinstance(node, dict):
            yield node
            for one in node.values():
                yield from self.objects(one)
        if isinstance(node, list):
            for one in node:
                yield from self.objects(one)

    def path(self, path, item):
        where = f"#/paths/{path}"
        if not path.startswith("/"):
            self.doc.fault(where, "a path starts with /")
        self.fields("path", item, where)
        for method in METHODS & set(item):
            self.operation(path, item[method], f"{where}/{method}")

    def operation(self, path, operation, where):
        self.fields("operation", operation, where)
        if operation["operationId"] in self.operation_ids:
            self.doc.fault(where, "its operationId is another's, too")
        self.operation_ids.add(operation["operationId"])
        for tag in operation.get("tags", []):
            if tag not in self.tags:
                self.doc.fault(where, f"its tag {tag!r} is not declared")
        for requirement in operation.get("security", []):
            for scheme in requirement:
                if scheme not in self.doc.root["components"]["securitySchemes"]:
                    self.doc.fault(where, f"its security scheme {scheme!r} is not declared")
                self.doc.used.add(f"#/components/securitySchemes/{scheme}")
        self.parameters(path, operation, where)
        if "requestBody" in operation:
            body = self.doc.resolve(operation["requestBody"])
            self.fields("body", body, where)
            self.content(body["content"], f"{where}/requestBody")
        for status, response in operation["responses"].items():
            if not re.fullmatch(r"[1-5]\d\d|default", status):
                self.doc.fault(where, f"{status!r} is no status")
            self.response(self.doc.resolve(response), f"{where}/responses/{status}")

    def parameters(self, path, operation, where):
        parameters = [self.doc.resolve(one) for one in operation.get("parameters", [])]
        for one in parameters:
            self.fields("parameter", one, where)
            self.schema(one["schema"], f"{where} {one['name']}")
            if one["in"] not in ("query", "header", "path", "cookie"):
                self.doc.fault(where, f"parameter {one['name']}: in is {one['in']!r}")
            if one["in"] == "header" and one["name"].lower() in ("accept", "content-type", "authorization"):
                self.doc.fault(where, f"a header parameter {one['name']} is ignored")
        keys = [(one["in"], one["name"]) for one in parameters]
        if len(keys) != len(set(keys)):
            self.doc.fault(where, "names a parameter twice")
        in_path = {one["name"] for one in parameters if one["in"] == "path" and one.get("required") is True}
        if in_path != set(re.findall(r"\{([^}]+)\}", path)):
            self.doc.fault(where, "its path parameters are not those of the path")

    def response(self, response, where):
        self.fields("response", response, where)
        for header in response.get("headers", {}).values():
            self.fields("header", self.doc.resolve(header), where)
        self.content(response.get("content", {}), where)

    def content(self, content, where):
        for media, described in content.items():
            self.fields("media", described, f"{where} {media}")
            self.schema(described["schema"], f"{where} {media}")
            for name, example in described.get("examples", {}).items():
                example = self.doc.resolve(example)
                self.fields("example", example, f"{where} {media} {name}")
                for error in self.doc.errors(described["schema"], example["value"]):
                    self.doc.fault(f"{where} example {name}", error)

    def unused(self):
        for kind, components in self.doc.root["components"].items():
            for name in components:
                if f"#/components/{kind}/{name}" not in self.doc.used:
                    self.doc.fault(f"#/components/{kind}/{name}", "is never used")


class Answers:
    """Holds exchanges with the service to the document."""

    def __init__(self, document, record):
        self.doc = document
        self.record = record
        self.seen = set()

    def check(self):
        for number, exchange in enumerate(self.record["exchanges"]):
            self.exchange(exchange, f"{number}: {exchange['method']} {exchange['target'][:120]} {exchange['status']}")
        for path, item in self.doc.root["paths"].items():
            for method, operation in item.items():
                for status in operation["responses"]:
                    excused = {f"{method} {status}", f"* {status}", f"{method} {path} {status}"} & set(self.record["unprovoked"])
                    if (path, method, status) not in self.seen and not excused:
                        self.doc.fault(f"{method} {path} {status}", "is documented, and was never seen")

    def exchange(self, exchange, where):
        path = self.path_of(exchange["target"].split("?")[0])
        if path is None:
            return self.doc.fault(where, "the path is not documented")
        method = exchange["method"].lower()
        item = self.doc.root["paths"][path]
        head = method == "head" and "get" in item
        known = item.get("get" if head else method)
        operation = known or next(iter(item.values()))
        if not known and exchange["status"] != 405:
            self.doc.fault(where, "the method is not documented, and was not refused with 405")
        status = str(exchange["status"])
        if status not in operation["responses"]:
            return self.doc.fault(where, f"the status is not documented; the body: {exchange['body'][:300]}")
        for one, described in item.items():
            if described is operation or (not known and status in described["responses"]):  # a method of none of them is refused for all
                self.seen.add((path, one, status))
        response = self.doc.resolve(operation["responses"][status])
        self.headers(exchange, response, where)
        if not head:
            self.body(exchange, response, where)
        if known:
            self.request(exchange, operation, where)

    def path_of(self, raw):
        segments = [unquote(part) for part in raw.split("/")]
        found = []
        for path in self.doc.root["paths"]:
            wanted = path.split("/")
            if len(wanted) == len(segments) and all(w.startswith("{") and s or w == s for w, s in zip(wanted, segments)):
                found.append(path)
        return min(found, key=lambda path: path.count("{")) if found else None

    def headers(self, exchange, response, where):
        described = {name.lower(): self.doc.resolve(one) for name, one in response.get("headers", {}).items()}
        for name, one in described.items():
            value = exchange["headers"].get(name)
            if value is None:
                if one.get("required"):
                    self.doc.fault(where, f"the field {name} is missing")
                continue
            for error in self.doc.errors(one["schema"], self.as_schema_type(one["schema"], value)):
                self.doc.fault(f"{where} field {name}", error)
        for name in set(exchange["headers"]) - set(described) - FRAMING:
            self.doc.fault(where, f"the field {name} is not documented")

    def as_schema_type(self, schema, text):
        if self.doc.resolve(schema).get("type") == "integer" and re.fullmatch(r"-?\d+", text):
            return int(text)
        return text

    def body(self, exchange, response, where):
        media = exchange["headers"].get("content-type", "").split(";")[0].strip()
        content = response.get("content", {})
        if not content and not media and not exchange["body"]:
            return None
        if media not in content:
            return self.doc.fault(where, f"the media type {media!r} is not documented")
        value = exchange["body"]
        if media.endswith("json"):
            try:
                value = json.loads(value, object_pairs_hook=self.once)
            except ValueError as error:
                return self.doc.fault(where, f"the body is no JSON: {error}: {exchange['body'][:300]}")
        for error in self.doc.errors(content[media]["schema"], value):
            self.doc.fault(where, error)
        if media == "application/problem+json" and value.get("requestId") != exchange["headers"].get("x-request-id"):
            self.doc.fault(where, "requestId is not X-Request-Id")

    def once(self, pairs):
        if len({name for name, _ in pairs}) != len(pairs):
            raise ValueError("a member stands there twice")
        return dict(pairs)

    def request(self, exchange, operation, where):
        if exchange["status"] < 300:
            self.query(exchange, operation, where)
        if exchange.get("requestType") != "application/json" or exchange["status"] not in (200, 201, 202, 422):
            return
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        errors = list(self.doc.errors(schema, json.loads(exchange["requestBody"])))
        if exchange["status"] == 422 and not errors:
            self.doc.fault(where, f"was refused, though its body is as documented: {exchange['requestBody'][:300]}")
        if exchange["status"] != 422:
            for error in errors:
                self.doc.fault(where, f"was taken, though its body is not as documented: {error}")

    def query(self, exchange, operation, where):
        described = {one["name"]: one for one in map(self.doc.resolve, operation.get("parameters", [])) if one["in"] == "query"}
        for name, value in parse_qsl(exchange["target"].partition("?")[2], keep_blank_values=True):
            if name not in described:
                self.doc.fault(where, f"the query member {name} was taken, and is not documented")
                continue
            for error in self.doc.errors(described[name]["schema"], self.as_schema_type(described[name]["schema"], value)):
                self.doc.fault(f"{where} query {name}", error)


def main():
    document = Document(sys.argv[2])
    if sys.argv[1] == "document":
        Shape(document).check()
    else:
        with open(sys.argv[3], encoding="utf-8") as file:
            record = json.load(file)
        if sys.argv[1] == "values":
            for one in record:
                for error in document.errors({"$ref": "#/components/schemas/" + one["schema"]}, one["value"]):
                    document.fault(one["schema"], error)
        else:
            Answers(document, record).check()
    for fault in document.faults:
        print(fault)
    return 1 if document.faults else 0


if __name__ == "__main__":
    sys.exit(main())
