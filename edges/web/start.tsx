// How the desks begin: log in without a click where the browser still has a login, else at the login page and back; then one stream, one client, the frame.

import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot, type Root } from "react-dom/client";
import { toUnixMs } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Timers } from "../../ports/timers.ts";
import { createClient } from "../client/src/client.ts";
import { DangerProvider } from "./danger/danger-dialog.tsx";
import { rereader } from "./data/use-list.ts";
import { openLive } from "./live/follow.ts";
import { openProcesses } from "./live/processes.ts";
import { tappedFetch } from "./live/tapped-fetch.ts";
import { openProvider, type Provider, type Tokens } from "./login/oidc.ts";
import { openSession, type Session } from "./login/session.ts";
import { failureOf } from "./model/panel-state.ts";
import { Theirs } from "./panels/theirs.tsx";
import { createDeskRouter } from "./router.tsx";
import { openFreeze, openTicker, type Web, WebProvider } from "./web-context.tsx";
import "./look/style.css";
import "./look/grids.css";

interface Surroundings {
  readonly clock: Clock;
  readonly timers: Timers;
}

const callbackPath = "/auth/callback";

const againMs = 3_000;

export async function startWeb(element: HTMLElement, surroundings: Surroundings): Promise<void> {
  const root = createRoot(element);
  for (;;) {
    try {
      const begun = await logIn();
      if (begun !== undefined) await open(root, begun, surroundings);
      return;
    } catch (thrown) {
      const passes = willPass(thrown);
      root.render(<NotStarted thrown={thrown} isTriedAgain={passes} />);
      if (!passes) return;
      await new Promise<void>((resolve) => void surroundings.timers.after(againMs, resolve));
      // A code is good once: whoever came back with one begins anew, without a click where the browser still has a login.
      if (window.location.pathname === callbackPath) return window.location.replace("/");
    }
  }
}

/** A server that restarts or cannot be reached comes back; a refusal stays one. */
function willPass(thrown: unknown): boolean {
  const { name, status } = thrown as { readonly name?: unknown; readonly status?: unknown };
  return name === "UnreachableError" || (thrown instanceof TypeError && status === undefined) || Number(status) >= 500;
}

interface Begun {
  readonly provider: Provider;
  readonly tokens: Tokens;
}

/** Undefined when the browser is on its way to the login page. */
async function logIn(): Promise<Begun | undefined> {
  const here = window.location;
  const facts = await createClient({ baseUrl: here.origin }).getLoginConfiguration();
  const provider = await openProvider({
    issuer: facts.authorization_servers[0] ?? here.origin,
    clientId: facts.web_client_id,
    audience: facts.audience,
    scopes: facts.scopes,
    redirectUri: new URL(callbackPath, facts.resource).href,
  });
  if (here.pathname === callbackPath) {
    const { tokens, returnTo } = await provider.complete(new URL(here.href));
    history.replaceState(null, "", returnTo);
    return { provider, tokens };
  }
  const tokens = await provider.silently();
  if (tokens !== undefined) return { provider, tokens };
  await provider.begin(here.pathname + here.search);
  return undefined;
}

async function open(root: Root, { provider, tokens }: Begun, { clock, timers }: Surroundings): Promise<void> {
  const session = openSession(tokens, {
    clock,
    timers,
    provider,
    channel: new BroadcastChannel("portcullis-session"),
    returnTo: () => window.location.pathname + window.location.search,
  });
  // The client comes before the stream that it serves.
  let live: ReturnType<typeof openLive> | undefined;
  const ears = { heard: () => live?.heard(), failed: () => live?.failed(), refused: () => session.refused() };
  const client = createClient({
    baseUrl: window.location.origin,
    token: () => session.token(),
    fetch: tappedFetch(ears),
  });
  const identity = await client.getIdentity();
  const leaving = new AbortController();
  live = openLive({
    client,
    clock,
    timers,
    channel: new BroadcastChannel(`portcullis-live:${identity.actor}`),
    signal: leaving.signal,
    lead: (work) => navigator.locks.request(`portcullis-live:${identity.actor}`, work),
  });
  const web: Web = {
    client,
    clock,
    timers,
    ticker: openTicker(clock, timers),
    live,
    processes: openProcesses(toUnixMs(clock.now())),
    session,
    identity,
    freeze: openFreeze(),
  };
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const reread = rereader(queries, timers, web.freeze.isFrozen);
  live.onTopics(reread.touchedBy);
  web.processes.onTurn(reread.answeredBy);
  web.ticker.subscribe(() => web.processes.look(toUnixMs(clock.now()), web.freeze.isFrozen()));
  followSession(session, live, queries, leaving);
  void live.run();
  const router = createDeskRouter();
  root.render(
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <WebProvider web={web}>
          <DangerProvider>
            <RouterProvider router={router} />
          </DangerProvider>
        </WebProvider>
      </QueryClientProvider>
    </CSPProvider>,
  );
}

/** A login that ran out leaves the desk readable; one that was ended leaves nothing. */
function followSession(
  session: Session,
  live: ReturnType<typeof openLive>,
  queries: QueryClient,
  leaving: AbortController,
): void {
  session.subscribe(() => {
    const state = session.state();
    live.report({ kind: "expired", expired: state !== "in" });
    if (state !== "out") return;
    leaving.abort();
    queries.clear();
  });
}

function NotStarted({ thrown, isTriedAgain }: { readonly thrown: unknown; readonly isTriedAgain: boolean }) {
  const failure = failureOf(thrown);
  const insecure = window.isSecureContext
    ? ""
    : " Browsers log in only over https, or at 127.0.0.1: open the desks at one of these.";
  return (
    <main className="alone" role="alert">
      <h1>The desks could not be opened</h1>
      <p>
        <Theirs text={failure?.detail} />
        {insecure}
      </p>
      <p className="quiet">
        <code>{failure?.code}</code> {failure?.requestId}
      </p>
      {isTriedAgain && <p role="status">It is tried again every {againMs / 1_000} s.</p>}
      <a href="/">Try again</a>
    </main>
  );
}
