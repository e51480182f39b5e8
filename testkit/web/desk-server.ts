// A server for the web desks alone: it hands out the real pages and files, logs everybody in at once, has as many positions as it was asked for and says on the
// stream that they moved, so often as it was asked to. So that what a browser needs for the desks can be measured without a platform below them.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { subjects } from "../../contracts/src/subjects.ts";
import { operationTable } from "../../edges/client/src/generated/operations.ts";
import { type Lists, listOf } from "../../edges/tui/lists.ts";
import { deskPages } from "../../edges/web/serve/desk-pages.ts";
import { calm } from "../tui/desk-fixture.ts";

export interface WebDeskServer {
  readonly url: string;
  /** Files of the desks that were asked for since the last call. */
  asked(): readonly string[];
  /** How often a second every position moves; 0 is not at all. */
  setUpdates(perSecond: number): void;
  /** What it answers of halts from now on. */
  setHalts(status: Lists["halts"]): void;
  close(): Promise<void>;
}

export interface WebDeskServerOptions {
  /** Where the build put the pages. */
  readonly folder: string;
  readonly positions: number;
}

const audience = "portcullis";
/** Where the rows that move are read. */
export const positionsPath: string = operationTable.getPositions.path;

export async function startWebDeskServer({ folder, positions }: WebDeskServerOptions): Promise<WebDeskServer> {
  const files = new Set<string>();
  const streams = new Set<ServerResponse>();
  let id = 0;
  let moved = 0;
  let moving: NodeJS.Timeout | undefined;
  let base = "";
  let halts: Lists["halts"] | undefined;
  const pages = deskPages({ folder, baseUrl: () => base, issuer: () => base });
  const answers = answersOf(
    () => base,
    () => positionRows(positions, moved),
    () => halts,
  );
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", base);
    if (url.pathname === "/v1/events") return stream(request, response, streams);
    if (url.pathname === "/authorize") return void redirect(response, url);
    const answer = answers.get(url.pathname);
    if (answer !== undefined) return void json(response, 200, answer());
    if (url.pathname.startsWith("/v1/"))
      return void json(response, 503, { code: "SERVICE_UNAVAILABLE", detail: "Not in this server." });
    if (url.pathname.startsWith("/assets/")) files.add(url.pathname.slice("/assets/".length));
    void pages.handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const beats = setInterval(() => send(streams, `id: ${id}\n: nothing new\n\n`), 1_000);
  const publish = (): void => {
    moved += 1;
    id += 1;
    const event = { id: String(id), subject: subjects.fillsCreated.name, at: new Date().toISOString(), payload: {} };
    send(streams, `id: ${id}\nevent: ${event.subject}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  return {
    url: base,
    asked() {
      const found = [...files];
      files.clear();
      return found;
    },
    setUpdates(perSecond) {
      clearInterval(moving);
      moving = perSecond === 0 ? undefined : setInterval(publish, 1_000 / perSecond);
    },
    setHalts(status) {
      halts = status;
    },
    close: () =>
      new Promise((resolve) => {
        clearInterval(beats);
        clearInterval(moving);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(streams: ReadonlySet<ServerResponse>, text: string): void {
  for (const one of streams) one.write(text);
}

function stream(request: IncomingMessage, response: ServerResponse, streams: Set<ServerResponse>): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write("id: 0\n: events\n\n");
  streams.add(response);
  request.once("close", () => streams.delete(response));
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Whoever asks is logged in already. */
function redirect(response: ServerResponse, { searchParams }: URL): void {
  const back = new URL(searchParams.get("redirect_uri") ?? "");
  back.searchParams.set("code", "a-code");
  back.searchParams.set("state", searchParams.get("state") ?? "");
  response.writeHead(302, { location: back.href }).end();
}

function answersOf(base: () => string, rows: () => unknown, halts: () => unknown): ReadonlyMap<string, () => unknown> {
  const { data } = calm().state;
  const payload = Buffer.from(JSON.stringify({ aud: audience })).toString("base64url");
  return new Map<string, () => unknown>([
    [
      operationTable.getLoginConfiguration.path,
      () => ({
        resource: base(),
        authorization_servers: [base()],
        web_client_id: "web",
        client_id: "cli",
        audience,
        scopes: "profile",
      }),
    ],
    [
      "/.well-known/openid-configuration",
      () => ({ issuer: base(), authorization_endpoint: `${base()}/authorize`, token_endpoint: `${base()}/token` }),
    ],
    ["/token", () => ({ access_token: `e30.${payload}.none`, token_type: "bearer", expires_in: 3_600 })],
    [
      operationTable.getIdentity.path,
      () => ({ actor: "operator:duty", name: "duty", roles: ["operator"], kind: "person" }),
    ],
    [operationTable.getHaltStatus.path, () => halts() ?? data.held.halts?.value],
    [operationTable.listFunds.path, () => listOf(data, "funds")],
    [operationTable.getPositions.path, rows],
    [
      operationTable.listServices.path,
      () => ["oms", "treasury", "operations"].map((service) => ({ service, status: "ok", version: "0.0.0" })),
    ],
  ]);
}

function positionRows(count: number, moved: number): readonly object[] {
  return Array.from({ length: count }, (_none, index) => {
    const mark = (100 + index / 10 + (moved % 100) / 100).toFixed(2);
    return {
      fund_id: "alpha",
      strategy_id: `strategy-${index % 20}`,
      symbol: `SYM${String(index).padStart(3, "0")}`,
      quantity: "100",
      average_price: "100",
      mark_price: mark,
      market_value: (Number(mark) * 100).toFixed(2),
      unrealised_pnl: ((Number(mark) - 100) * 100).toFixed(2),
      currency: "USD",
      mark_at: new Date().toISOString(),
    };
  });
}
