// The login of this tab: one token in memory, renewed once for everybody who asks meanwhile. A refresh token is dropped before it is sent, so that no tab uses
// one twice. A login that ran out stays visible as such; a logout reaches every tab of the browser.
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Timers } from "../../../ports/timers.ts";
import type { Provider, Tokens } from "./oidc.ts";

export type SessionState = "in" | "expired" | "out";

export interface Session {
  /** A token that is good now; undefined when nobody is logged in any more. */
  token(): Promise<string | undefined>;
  /** The server refused the token: the next call gets another one, or the login is over. */
  refused(): void;
  state(): SessionState;
  subscribe(listen: () => void): () => void;
  /** Logs in again and returns to this address. */
  renew(): Promise<void>;
  /** Ends it in every tab, whatever the server answers; `end` ends it at the server. */
  logOut(end: () => Promise<unknown>): Promise<void>;
  /** False when the server did not confirm that the login is ended there as well. */
  isEnded(): boolean;
}

export interface SessionOptions {
  readonly clock: Clock;
  readonly timers: Pick<Timers, "sleep">;
  readonly provider: Pick<Provider, "silently" | "refresh" | "begin">;
  readonly channel: Pick<BroadcastChannel, "postMessage" | "onmessage">;
  returnTo(): string;
}

/** Renewed this long before it runs out. */
const marginMs = 20_000;
/** All tabs are logged out within two seconds, and the others must hear of it. */
const endMsMax = 1_200;

export function openSession(first: Tokens, { clock, timers, provider, channel, returnTo }: SessionOptions): Session {
  let held: Tokens | undefined = first;
  let since = clock.now();
  let state: SessionState = "in";
  let renewing: Promise<string | undefined> | undefined;
  let isEnded = true;
  const listeners = new Set<() => void>();
  const become = (next: SessionState): void => {
    if (state === next || state === "out") return;
    state = next;
    for (const listen of listeners) listen();
  };
  channel.onmessage = ({ data }: MessageEvent) => {
    if (data !== "logged out") return;
    held = undefined;
    become("out");
  };

  async function renewed(): Promise<string | undefined> {
    const refreshToken = held?.refreshToken;
    if (held !== undefined) held = { ...held, refreshToken: undefined };
    const fresh =
      (refreshToken === undefined ? undefined : await provider.refresh(refreshToken)) ?? (await provider.silently());
    if (state === "out") return undefined;
    if (fresh === undefined) {
      held = undefined;
      become("expired");
      return undefined;
    }
    held = fresh;
    since = clock.now();
    become("in");
    return fresh.token;
  }

  return {
    async token() {
      if (state !== "in") return undefined;
      if (held !== undefined && millisecondsBetween(since, clock.now()) < held.lastsS * 1_000 - marginMs)
        return held.token;
      renewing ??= renewed().finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
    refused() {
      if (held !== undefined) held = { ...held, lastsS: 0 };
    },
    state: () => state,
    subscribe(listen) {
      listeners.add(listen);
      return () => listeners.delete(listen);
    },
    renew: () => provider.begin(returnTo()),
    async logOut(end) {
      // Nobody waits longer for a server that does not answer: the tabs forget their tokens in any case.
      isEnded = await Promise.race([
        end().then(
          () => true,
          () => false,
        ),
        timers.sleep(endMsMax).then(() => false),
      ]);
      channel.postMessage("logged out");
      held = undefined;
      become("out");
    },
    isEnded: () => isEnded,
  };
}
