// The gateway's routes, one line each; every one takes the gateway's parts and gives a route. Adding one is one file and one
// line.
import type { Route } from "../../../ports/http.ts";
import type { GatewayParts } from "../parts.ts";
import { operatorHealthz, publicHealthz } from "./healthz.ts";
import { metricsPage } from "./metrics.ts";

export const routes: readonly ((parts: GatewayParts) => Route)[] = [operatorHealthz, publicHealthz, metricsPage];
