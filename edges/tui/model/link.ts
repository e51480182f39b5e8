// The one word for how the desk hears from the server, and whether its figures may be believed as fresh.
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { State } from "./state.ts";

type LinkWord = "live" | "polling" | "stale" | "reconnecting" | "offline";

/** Neither event nor heartbeat nor answer for this long means that nothing is known of now. */
const staleMs = 5_000;
/** Tries go on, and nobody should wait for them. */
const offlineMs = 60_000;

export function linkWord({ link, now, loginOver }: Pick<State, "link" | "now" | "loginOver">): LinkWord {
  if (loginOver !== undefined) return "offline";
  if (link.failingSince !== undefined) {
    return millisecondsBetween(link.failingSince, now) >= offlineMs ? "offline" : "reconnecting";
  }
  if (link.heardAt === undefined || millisecondsBetween(link.heardAt, now) >= staleMs) return "stale";
  return link.mode === "stream" ? "live" : "polling";
}

export function isFresh(state: Pick<State, "link" | "now" | "loginOver">): boolean {
  const word = linkWord(state);
  return word === "live" || word === "polling";
}
