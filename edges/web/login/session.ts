// The login of this tab: one token in memory, renewed once for everybody who asks meanwhile. A refresh token is dropped before it is sent, so that no tab uses
// one twice. A login that ran out stays visible as such; a logout reaches every tab of the browser.
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Timers } from "../../../ports/timers.ts";
import type { Provider, Tokens } from "./oidc.ts";

export type SessionState = "in" | "expired" | "out";

/** What the server said to a logout: nothing yet, that it is done, or nothing in time (or a refusal). */
type ServerEnd = "asked" | "confirmed" | "unconfirmed";

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
  logOut(end: () => Promise<Ended>): Promise<void>;
  /** Until the server has confirmed it, the browser's own login at it may still let somebody in. */
  serverEnd(): ServerEnd;
  /** What the server said goes on. */
  deviceLogins(): readonly DeviceLogin[];
}

/** A login of `ctl` that was approved in this browser. */
interface DeviceLogin {
  readonly session_id: string;
  readonly program: string;
  readonly address: string;
  readonly approved_at: string;
}

/** An older server names none. */
interface Ended {
  readonly device_logins?: readonly DeviceLogin[];
}

interface SessionOptions {
  readonly clock: Clock;
  readonly timers: Pick<Timers, "sleep">;
  readonly provider: Pick<Provider, "silently" | "refresh" | "begin">;
  readonly channel: Pick<BroadcastChannel, "postMessage" | "onmessage">;
  returnTo(): string;
}

/** Renewed this long before it runs out. */
const marginMs = 20_000;
/** What tabs tell each other. */
const loggedOut = "logged out";
const confirmed = "the server confirmed it";
/** After that the page says that the server did not confirm it. */
const endMsMax = 10_000;

export function openSession(first: Tokens, { clock, timers, provider, channel, returnTo }: SessionOptions): Session {
  let held: Tokens | undefined = first;
  let since = clock.now();
  let state: SessionState = "in";
  let renewing: Promise<Tokens | undefined> | undefined;
  let ending: Promise<Tokens | undefined> | undefined;
  let serverEnd: ServerEnd = "asked";
  let deviceLogins: readonly DeviceLogin[] = [];
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listen of listeners) listen();
  };
  const become = (next: SessionState): void => {
    if (state === next || state === "out") return;
    state = next;
    tell();
  };
  const ended = (next: ServerEnd): void => {
    if (serverEnd === next) return;
    serverEnd = next;
    tell();
  };
  /** A confirmation that comes later still counts. */
  const waitForTheServer = async (): Promise<void> => {
    await timers.sleep(endMsMax);
    if (serverEnd === "asked") ended("unconfirmed");
  };
  channel.onmessage = ({ data }: MessageEvent) => {
    if (data === confirmed) ended("confirmed");
    if (data !== loggedOut || state === "out") return;
    held = undefined;
    become("out");
    void waitForTheServer();
  };

  const isFresh = (): boolean =>
    held !== undefined && millisecondsBetween(since, clock.now()) < held.lastsS * 1_000 - marginMs;

  async function another(): Promise<Tokens | undefined> {
    const refreshToken = held?.refreshToken;
    if (held !== undefined) held = { ...held, refreshToken: undefined };
    return (refreshToken === undefined ? undefined : await provider.refresh(refreshToken)) ?? provider.silently();
  }

  async function renewed(): Promise<string | undefined> {
    renewing ??= another().finally(() => {
      renewing = undefined;
    });
    const fresh = await renewing;
    if (state === "out") return undefined;
    if (fresh === undefined) {
      held = undefined;
      become("expired");
      return undefined;
    }
    if (held !== fresh) {
      held = fresh;
      since = clock.now();
    }
    become("in");
    return fresh.token;
  }

  return {
    async token() {
      if (state !== "in") return (await ending)?.token;
      return isFresh() ? held?.token : renewed();
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
      // At once, in every tab: nobody waits for a server that may not answer. It is asked with the token that was held, or with another one where that
      // has run out: what the browser can still renew would otherwise go on.
      ending = isFresh() ? Promise.resolve(held) : (renewing ?? another());
      held = undefined;
      channel.postMessage(loggedOut);
      become("out");
      const asked = end().then(
        ({ device_logins }) => {
          deviceLogins = device_logins ?? [];
          ended("confirmed");
          channel.postMessage(confirmed);
        },
        () => ended("unconfirmed"),
      );
      await Promise.race([asked, waitForTheServer()]);
      ending = undefined;
    },
    serverEnd: () => serverEnd,
    deviceLogins: () => deviceLogins,
  };
}
