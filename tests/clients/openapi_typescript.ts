// What openapi-typescript makes of the document.
import type {components, paths} from "./generated/openapi_typescript";

type Path = "/v1/ingest/runs" | "/v1/ingest/events" | "/v1/ingest/changes" | "/v1/ingest/policies";
type Body<P extends Path> = paths[P]["post"]["requestBody"]["content"]["application/json"];

export type Bodies = {
  runs: Body<"/v1/ingest/runs">;
  events: Body<"/v1/ingest/events">;
  changes: Body<"/v1/ingest/changes">;
  policies: Body<"/v1/ingest/policies">;
};
export type Failure = components["schemas"]["Failure"];
export type Run = components["schemas"]["Run"];
export type Investigation = components["schemas"]["Investigation"];
export type RunsAnswer = paths["/v1/ingest/runs"]["post"]["responses"][200]["content"]["application/json"];
export type ChangeAnswer = paths["/v1/ingest/changes"]["post"]["responses"][201]["content"]["application/json"];
export type FailuresQuery = NonNullable<paths["/v1/failures"]["get"]["parameters"]["query"]>;
