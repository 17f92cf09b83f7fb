// An HTTP server that answers as OpenAI's Chat Completions API does: first with a call of issue_refund, and once a tool has answered, or
// failed, with a claim that the refund is done.
import {createServer} from "node:http";

const message = (request) =>
  request.messages.some((one) => one.role === "tool")
    ? {role: "assistant", content: "Your refund has been processed."}
    : {
        role: "assistant",
        content: null,
        tool_calls: [{id: "call_1", type: "function", function: {name: "issue_refund", arguments: '{"order":1234}'}}],
      };

let answers = 0;

function completion(request) {
  const said = message(request);
  const prompt = said.content ? 180 : 131;
  return {
    id: `chatcmpl-${++answers}`,
    object: "chat.completion",
    created: 1795188042,
    model: request.model,
    choices: [{index: 0, message: said, finish_reason: said.content ? "stop" : "tool_calls", logprobs: null}],
    usage: {prompt_tokens: prompt, completion_tokens: 20, total_tokens: prompt + 20},
  };
}

// Resolves to {url, close}.
export function startFakeModel() {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      if (request.url === "/v1/info") return response.end("{}");  // LangSmith asks its own server what it can do
      const known = request.url === "/v1/chat/completions";
      response.writeHead(known ? 200 : 404, {"content-type": "application/json"});
      response.end(JSON.stringify(known ? completion(JSON.parse(body)) : {error: {message: `no ${request.url}`}}));
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve({url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close()}));
  });
}
