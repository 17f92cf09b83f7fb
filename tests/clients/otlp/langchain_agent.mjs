// An agent of LangChain: whoever imports it has instrumented the library before.
import {ChatOpenAI} from "@langchain/openai";
import {createAgent, tool, ToolMessage, createMiddleware} from "langchain";
import {z} from "zod";
import {issueRefund, model, request} from "./refund.mjs";

// As agents that are to survive a failing tool have it.
const goOn = createMiddleware({
  name: "goOn",
  wrapToolCall: async (call, next) => {
    try {
      return await next(call);
    } catch (error) {
      return new ToolMessage({content: `Error: ${error.message}`, tool_call_id: call.toolCall.id, status: "error"});
    }
  },
});

export async function askAgent(options = {}) {
  const refund = tool(issueRefund, {name: "issue_refund", description: "Refunds an order", schema: z.object({order: z.number()})});
  const agent = createAgent({model: new ChatOpenAI({model, maxRetries: 0}), tools: [refund], middleware: [goOn]});
  return agent.invoke({messages: [{role: "user", content: request}]}, options);
}
