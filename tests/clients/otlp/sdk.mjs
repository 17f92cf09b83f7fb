// The OpenTelemetry SDK as an application starts it: where spans go is said by OTEL_EXPORTER_OTLP_* alone.
import {NodeSDK} from "@opentelemetry/sdk-node";

export const sdk = new NodeSDK({instrumentations: []});
sdk.start();
