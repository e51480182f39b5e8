// GET /v1/stream on the public port: the WebSocket form of the market data, for anyone.

import { closings, streamLimits } from "../../../contracts/src/stream-frames.ts";
import type { SocketRoute } from "../../../ports/http.ts";
import { publicCost } from "../public-data.ts";
import type { StreamHub } from "./stream-hub.ts";

const streamPath = "/v1/stream";

export function streamRoute(hub: Pick<StreamHub, "open" | "shutDown">): SocketRoute {
  return {
    path: streamPath,
    listener: "public",
    sentence: "Follow quotes, closed bars, funds and halts as they change.",
    operation: "ReadMarketData",
    publicCost,
    messageBytesMax: streamLimits.message_bytes_max,
    closings: {
      tooLarge: { code: closings.MESSAGE_TOO_LARGE, reason: "MESSAGE_TOO_LARGE" },
      malformed: { code: closings.MALFORMED, reason: "MALFORMED" },
    },
    open: (connection) => hub.open(connection),
    shutDown: () => hub.shutDown(),
  };
}
