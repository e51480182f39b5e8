// What every part of the desks is handed: the client, the clock, the live link, who is logged in, and whether movement is frozen.
import { createContext, type ReactNode, useContext, useSyncExternalStore } from "react";
import { type Instant, toUnixMs } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Timers } from "../../ports/timers.ts";
import type { AnswerOf, Client } from "../client/src/types.ts";
import type { Live } from "./live/follow.ts";
import { type LinkWord, linkWord } from "./live/link.ts";
import type { Processes } from "./live/processes.ts";
import type { Session, SessionState } from "./login/session.ts";
import type { Life } from "./model/process-life.ts";

interface Ticker {
  now(): Instant;
  subscribe(listen: () => void): () => void;
}

export interface Web {
  readonly client: Client;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ticker: Ticker;
  readonly live: Live;
  readonly processes: Processes;
  readonly session: Session;
  readonly identity: AnswerOf<"getIdentity">;
  readonly freeze: Freeze;
}

interface Freeze {
  isFrozen(): boolean;
  toggle(): void;
  subscribe(listen: () => void): () => void;
}

const WebContext = createContext<Web | undefined>(undefined);

export function WebProvider({ web, children }: { readonly web: Web; readonly children: ReactNode }) {
  return <WebContext value={web}>{children}</WebContext>;
}

export function useWeb(): Web {
  const web = useContext(WebContext);
  if (web === undefined) throw new Error("outside of the desks");
  return web;
}

/** The time of the last whole second: ages are written anew once a second, all at once. */
export function useNow(): Instant {
  const { ticker } = useWeb();
  return useSyncExternalStore(ticker.subscribe, ticker.now);
}

export function useLinkWord(): LinkWord {
  const { live } = useWeb();
  const now = useNow();
  const link = useSyncExternalStore(live.subscribe, live.link);
  // What was heard within this second is not of the future.
  return linkWord(link, link.heardAt !== undefined && link.heardAt > now ? link.heardAt : now);
}

/** When the server was heard again after a silence; 0 before it was heard at all. */
export function useLiveSinceMs(): number {
  const { live } = useWeb();
  const { liveSince } = useSyncExternalStore(live.subscribe, live.link);
  return liveSince === undefined ? 0 : toUnixMs(liveSince);
}

/** How the process of that name is; the gateway itself is what the link is about. */
export function useLife(name: string): Life {
  const { processes } = useWeb();
  return useSyncExternalStore(processes.subscribe, () => processes.lifeOf(name));
}

export function useSessionState(): SessionState {
  const { session } = useWeb();
  return useSyncExternalStore(session.subscribe, session.state);
}

export function useFrozen(): boolean {
  const { freeze } = useWeb();
  return useSyncExternalStore(freeze.subscribe, freeze.isFrozen);
}

export function openTicker(clock: Clock, timers: Timers): Ticker {
  const listeners = new Set<() => void>();
  let now = clock.now();
  const tick = (): void => {
    now = clock.now();
    for (const listen of listeners) listen();
    timers.after(1_000, tick);
  };
  timers.after(1_000, tick);
  return {
    now: () => now,
    subscribe(listen) {
      listeners.add(listen);
      return () => listeners.delete(listen);
    },
  };
}

export function openFreeze(): Freeze {
  const listeners = new Set<() => void>();
  let frozen = false;
  return {
    isFrozen: () => frozen,
    toggle() {
      frozen = !frozen;
      for (const listen of listeners) listen();
    },
    subscribe(listen) {
      listeners.add(listen);
      return () => listeners.delete(listen);
    },
  };
}
