// Where the desk's data comes from. A source emits lists, says when it heard from the server, and says when it did not; whether it polls or follows a stream is
// its own affair, so that one can take the place of the other.
import type { ListName } from "./lists.ts";
import type { Event } from "./model/events.ts";

export type SourceEvent = Event & { kind: "list" | "list failed" | "heard" | "unreachable" | "login over" };

export interface Source {
  /** Emits until the signal aborts or the login is over; never throws for what a server or network did. */
  run(emit: (event: SourceEvent) => void, signal: AbortSignal): Promise<void>;
  /** Which lists are on the screen; what is new among them is read at once. */
  want(names: readonly ListName[]): void;
  /** Everything that is wanted is read anew at once: something was done. */
  refresh(): void;
}
