// LangChain with OpenLLMetry (Traceloop): TRACELOOP_BASE_URL and TRACELOOP_API_KEY say where its spans go.
import * as traceloop from "@traceloop/node-server-sdk";

traceloop.initialize({
  appName: "openllmetry",
  instrumentModules: {langchain: true},
  traceloopSyncEnabled: false,
  silenceInitializationMessage: true,
});
const {askAgent} = await import("./langchain_agent.mjs");
const {request} = await import("./refund.mjs");

await traceloop.withWorkflow({name: "refunds"}, async () => (await askAgent()).messages.at(-1).content, request);
await traceloop.forceFlush();
