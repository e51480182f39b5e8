// The gateway's quotes and stream as routes, for whoever serves them alone: the bench of the market data does.
import type { PublicParts } from "../../edges/gateway/public-data.ts";
import { publicQuote } from "../../edges/gateway/routes/public.ts";
import { createStreamHub, type StreamParts } from "../../edges/gateway/stream/stream-hub.ts";
import { streamRoute } from "../../edges/gateway/stream/stream-route.ts";
import type { Route, SocketRoute } from "../../ports/http.ts";

export function publicMarket(parts: PublicParts & StreamParts): {
  readonly quotes: Route;
  readonly stream: SocketRoute;
} {
  return { quotes: publicQuote(parts), stream: streamRoute(createStreamHub(parts)) };
}
