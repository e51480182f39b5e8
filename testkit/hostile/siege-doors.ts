// What strangers and readers do to the gateway's routes, bounded and on this machine only: documents over connections that are kept, log-ins and devices from
// many addresses, and the widest bodies that a viewer may send. Attackers come from 127.0.0.2 to .250; whoever is honest comes from 127.0.0.1.
import { request as httpRequest } from "node:http";
import { keptConnections, ownConnection } from "../http/kept-connection.ts";
import { attackerAddress, type Siege } from "./siege.ts";

/** After an answer that brought nothing. */
const againMs = 20;

interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** So many at once, each over its own connections; `next` says what the n-th request of one of them is. */
function keepAsking(
  url: string,
  count: number,
  kept: boolean,
  next: (caller: number, n: number) => Asked & { readonly from: string },
): Siege {
  const { hostname, port } = new URL(url);
  const agents = Array.from({ length: count }, () => keptConnections(1));
  let isOver = false;
  let answered = 0;
  const one = async (caller: number): Promise<void> => {
    for (let n = 0; !isOver; n += 1) {
      const { from, path, method = "GET", headers = {}, body } = next(caller, n);
      const agent = kept ? agents[caller] : ownConnection();
      const status = await new Promise<number>((resolve) => {
        const sent = httpRequest(
          { host: hostname, port, path, method, headers, agent, localAddress: from, timeout: 20_000 },
          (answer) => {
            answer.resume().once("close", () => resolve(answer.statusCode ?? 0));
          },
        );
        sent.once("timeout", () => sent.destroy()).once("error", () => resolve(0));
        sent.end(body);
      });
      answered += 1;
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  };
  for (let caller = 0; caller < count; caller += 1) void one(caller);
  return {
    count: () => answered,
    end: () => {
      isOver = true;
      for (const agent of agents) agent.destroy();
    },
  };
}

/** Paths of nearly all that a request line may have, full of what a pattern could trip over. */
export function longPaths(url: string, count: number): Siege {
  const path = `/v1/${"Bearer=a.b-password:token%3D".repeat(500)}`.slice(0, 14_000);
  return keepAsking(url, count, false, (caller, n) => ({ from: attackerAddress(caller), path: `${path}${n}` }));
}

const documentPaths = ["/v1/openapi.json", "/docs", "/v1/asyncapi.json", "/v1/openapi.json"];

/** Kept-alive connections without a token, as they come out of the browser of nobody: nothing packed, nothing known. */
export function documents(url: string, count: number): Siege {
  return keepAsking(url, count, true, (caller, n) => ({
    from: attackerAddress(caller),
    path: documentPaths[n % documentPaths.length] ?? "/docs",
  }));
}

/** With a token that was verified: half of them within what the description takes, and half far beyond it. */
export function widestBodies(url: string, count: number, token: string, bodies: readonly Asked[]): Siege {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return keepAsking(url, count, true, (caller, n) => {
    const asked = bodies[(caller + n) % bodies.length] ?? { path: "/v1/halts" };
    return { from: attackerAddress(caller), ...asked, method: "POST", headers };
  });
}

/** A proposed envelope with tens of thousands of sectors, and a replay of everything there is. */
export function viewersBodies(): readonly Asked[] {
  const sectors = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`sector-${at}`, 0.1]));
  const proposed = (count: number): object => ({ max_notional: "1", sector_limits_pct: sectors(count) });
  const path = (what: string): string => `/v1/riskengine/envelopes/alpha/${what}`;
  return [
    { path: path("diff"), body: JSON.stringify({ proposed: proposed(100) }) },
    { path: path("diff"), body: JSON.stringify({ proposed: proposed(40_000) }) },
    { path: path("replay"), body: JSON.stringify({ proposed: proposed(1_000) }) },
    { path: path("diff"), body: JSON.stringify({ from_version: 1, to_version: 1 }) },
  ];
}

const form = (fields: Readonly<Record<string, string>>) => ({
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams({ client_id: "portcullis-cli", ...fields }).toString(),
});

/** Programs that ask to be let in, from every address. */
export function deviceFlood(url: string, count: number): Siege {
  return keepAsking(url, count, false, (caller, n) => ({
    from: attackerAddress(caller + n * count),
    path: "/oidc/device/auth",
    ...form({ scope: "openid" }),
  }));
}

/** Wrong passwords for names that somebody has and names that nobody has, from every address. */
export function logInFlood(url: string, count: number): Siege {
  return keepAsking(url, count, false, (caller, n) => ({
    from: attackerAddress(caller + n * count),
    path: "/oidc/token",
    ...form({
      grant_type: "urn:portcullis:params:oauth:grant-type:development",
      name: n % 2 === 0 ? "duty" : `nobody-${caller}-${n}`,
      password: "wrong",
    }),
  }));
}

/** Log-ins that begin and never end. */
export function beginnings(url: string, count: number): Siege {
  return keepAsking(url, count, false, (caller, n) => ({
    from: attackerAddress(caller + n * count),
    path: "/oidc/auth?client_id=portcullis-web&response_type=code&scope=openid",
  }));
}
