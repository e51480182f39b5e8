// Tells that connections do not find places: once when a crowd begins, and again when it comes back after a quiet time.
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Alarms } from "../postgres/alarms.ts";
import type { RoomOptions } from "./connection-limit.ts";

const quietMs = 600_000;

const sentences = {
  CONNECTIONS_CROWDED:
    "callers who showed no token make way for others. Everybody with a token is served; find out who connects so often.",
  CONNECTIONS_REFUSED:
    "a caller with a token found no place of its own. Let it use fewer connections, or find out who holds them.",
} as const;

/** `listener` names whose connections they are: "riskengine's gRPC server". */
export function crowdAlarm(alarms: Alarms, clock: Clock, listener: string): NonNullable<RoomOptions["onCrowded"]> {
  const seen = new Map<keyof typeof sentences, Instant>();
  return (standing) => {
    const code = standing === "stranger" ? "CONNECTIONS_CROWDED" : "CONNECTIONS_REFUSED";
    const now = clock.now();
    const before = seen.get(code);
    if (before !== undefined && millisecondsBetween(before, now) >= quietMs) alarms.clear(code, listener);
    seen.set(code, now);
    alarms.raise(code, listener, `${listener} has more connections than places: ${sentences[code]}`);
  };
}
