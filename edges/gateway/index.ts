// The gateway as data: what it serves, once it is handed its parts. Mounting it is the composition's business.
import type { Route } from "../../ports/http.ts";
import type { GatewayParts } from "./parts.ts";
import { everyRoute } from "./routes/index.ts";

export function gatewayRoutes(parts: GatewayParts): readonly Route[] {
  return everyRoute(parts);
}
