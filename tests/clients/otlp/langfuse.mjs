// The Langfuse SDK: its observations, through its span processor.
import {LangfuseSpanProcessor} from "@langfuse/otel";
import {startActiveObservation, startObservation} from "@langfuse/tracing";
import {OTLPTraceExporter} from "@opentelemetry/exporter-trace-otlp-proto";
import {NodeSDK} from "@opentelemetry/sdk-node";
import {issueRefund, model, request} from "./refund.mjs";

const sdk = new NodeSDK({instrumentations: [], spanProcessors: [new LangfuseSpanProcessor({exporter: new OTLPTraceExporter()})]});
sdk.start();
const usage = (input) => ({usageDetails: {input, output: 20}});

await startActiveObservation("refunds", async (agent) => {
  agent.update({input: [{role: "user", content: request}]});
  startObservation("plan", {model, input: [{role: "user", content: request}], ...usage(131)}, {asType: "generation"})
    .update({output: {role: "assistant", tool_calls: [{name: "issue_refund", args: {order: 1234}}]}})
    .end();
  const tool = startObservation("issue_refund", {input: {order: 1234}}, {asType: "tool"});
  try {
    issueRefund();
  } catch (error) {
    tool.update({level: "ERROR", statusMessage: error.message});
  }
  tool.end();
  const said = {role: "assistant", content: "Your refund has been processed."};
  startObservation("answer", {model, output: said, ...usage(180)}, {asType: "generation"}).end();
  agent.update({output: said.content});
}, {asType: "agent"});
await sdk.shutdown();
