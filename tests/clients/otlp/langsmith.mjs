// LangSmith's own tracing of functions and of OpenAI's client, sent as OpenTelemetry.
import {initializeOTEL} from "langsmith/experimental/otel/setup";
import {traceable} from "langsmith/traceable";
import {wrapOpenAI} from "langsmith/wrappers";
import OpenAI from "openai";
import {issueRefund, model, request} from "./refund.mjs";

const {DEFAULT_LANGSMITH_SPAN_PROCESSOR} = initializeOTEL();
const openai = wrapOpenAI(new OpenAI());
const tools = [{type: "function", function: {name: "issue_refund", parameters: {type: "object", properties: {order: {type: "number"}}}}}];
const refund = traceable(async () => issueRefund(), {name: "issue_refund", run_type: "tool"});

const agent = traceable(async (question) => {
  const messages = [{role: "user", content: question}];
  const first = await openai.chat.completions.create({model, messages, tools});
  messages.push(first.choices[0].message);
  for (const call of first.choices[0].message.tool_calls) {
    const content = await refund(JSON.parse(call.function.arguments)).catch((error) => `Error: ${error.message}`);
    messages.push({role: "tool", tool_call_id: call.id, content});
  }
  return (await openai.chat.completions.create({model, messages, tools})).choices[0].message.content;
}, {name: "refunds", run_type: "chain"});

await agent(request);
await DEFAULT_LANGSMITH_SPAN_PROCESSOR.shutdown();
