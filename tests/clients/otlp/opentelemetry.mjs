// Plain OpenTelemetry, after the GenAI semantic conventions; OTEL_EXPORTER_OTLP_PROTOCOL says in which encoding.
import {sdk} from "./sdk.mjs";
import {SpanStatusCode, trace} from "@opentelemetry/api";
import {issueRefund, model, request} from "./refund.mjs";

const tracer = trace.getTracer("refunds");
const span = (name, attributes, run) =>
  tracer.startActiveSpan(name, {attributes}, async (span) => {
    try {
      return await run(span);
    } catch (error) {
      span.recordException(error);
      span.setStatus({code: SpanStatusCode.ERROR, message: error.message});
    } finally {
      span.end();
    }
  });
const text = (role, content) => JSON.stringify([{role, parts: [{type: "text", content}]}]);
const chat = (attributes) => span(`chat ${model}`, {"gen_ai.operation.name": "chat", "gen_ai.request.model": model, ...attributes}, () => {});

await span("invoke_agent refunds", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "refunds", "gen_ai.input.messages": text("user", request)}, async (agent) => {
  await chat({
    "gen_ai.input.messages": text("user", request),
    "gen_ai.usage.input_tokens": 131,
    "gen_ai.output.messages": JSON.stringify([{role: "assistant", parts: [{type: "tool_call", name: "issue_refund", arguments: {order: 1234}}]}]),
  });
  await span("execute_tool issue_refund", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "issue_refund", "gen_ai.tool.call.arguments": '{"order":1234}'}, issueRefund);
  const answer = text("assistant", "Your refund has been processed.");
  await chat({"gen_ai.usage.input_tokens": 180, "gen_ai.output.messages": answer});
  agent.setAttribute("gen_ai.output.messages", answer);
});
await sdk.shutdown();
