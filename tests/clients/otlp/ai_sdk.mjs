// The Vercel AI SDK. RUNWARDEN_TEST_LEGACY=1: with the attributes of its versions before 7.
import {sdk} from "./sdk.mjs";
import {LegacyOpenTelemetry, OpenTelemetry} from "@ai-sdk/otel";
import {createOpenAI} from "@ai-sdk/openai";
import {generateText, isStepCount, registerTelemetry, tool} from "ai";
import {z} from "zod";
import {issueRefund, model, request} from "./refund.mjs";

registerTelemetry(process.env.RUNWARDEN_TEST_LEGACY ? new LegacyOpenTelemetry() : new OpenTelemetry());
const openai = createOpenAI({baseURL: process.env.OPENAI_BASE_URL});
await generateText({
  model: openai.chat(model),
  prompt: request,
  stopWhen: isStepCount(3),
  tools: {issue_refund: tool({description: "Refunds an order", inputSchema: z.object({order: z.number()}), execute: issueRefund})},
  telemetry: {functionId: "refunds"},
});
await sdk.shutdown();
