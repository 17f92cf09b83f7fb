// LangChain with OpenInference's instrumentation.
import {sdk} from "./sdk.mjs";
import {LangChainInstrumentation} from "@arizeai/openinference-instrumentation-langchain";
import * as callbacks from "@langchain/core/callbacks/manager";
import {askAgent} from "./langchain_agent.mjs";

new LangChainInstrumentation().manuallyInstrument(callbacks);
await askAgent();
await sdk.shutdown();
