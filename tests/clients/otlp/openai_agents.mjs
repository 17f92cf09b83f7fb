// OpenAI Agents with OpenInference's instrumentation.
import {sdk} from "./sdk.mjs";
import {OpenAIAgentsInstrumentation} from "@arizeai/openinference-instrumentation-openai-agents";
import * as agents from "@openai/agents";
import {z} from "zod";
import {issueRefund, model, request} from "./refund.mjs";

new OpenAIAgentsInstrumentation().manuallyInstrument(agents);
agents.setOpenAIAPI("chat_completions");
const refund = agents.tool({name: "issue_refund", description: "Refunds an order", parameters: z.object({order: z.number()}), execute: issueRefund});
await agents.run(new agents.Agent({name: "refunds", model, tools: [refund]}), request);
await sdk.shutdown();
