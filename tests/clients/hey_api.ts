// What @hey-api/openapi-ts makes of the document.
import type {
  Failure,
  IngestChangeData,
  IngestChangeResponses,
  IngestEventsData,
  IngestPolicyData,
  IngestRunsData,
  IngestRunsResponses,
  Investigation,
  ListFailuresData,
  Run,
} from "./generated/hey_api/types.gen";

export type Bodies = {
  runs: IngestRunsData["body"];
  events: IngestEventsData["body"];
  changes: IngestChangeData["body"];
  policies: IngestPolicyData["body"];
};
export type {Failure, Investigation, Run};
export type RunsAnswer = IngestRunsResponses[200];
export type ChangeAnswer = IngestChangeResponses[201];
export type FailuresQuery = NonNullable<ListFailuresData["query"]>;
