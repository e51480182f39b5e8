// A GitHub of our own: as a server on this machine, or as a `fetch` of this process, which takes no socket and no time.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { handle } from "./github-handler.ts";
import type { HubRequest, HubState } from "./github-state.ts";

export interface GithubServer {
  readonly url: string;
  readonly hub: HubState;
  close(): Promise<void>;
}

export async function startGithubServer(hub: HubState): Promise<GithubServer> {
  const server = createServer((incoming, outgoing) => {
    void bodyOf(incoming).then((text) => {
      const answer = handle(
        hub,
        requestOf(incoming.method ?? "GET", incoming.url ?? "/", incoming.headers.authorization ?? "", text),
      );
      if (answer === undefined) {
        incoming.destroy();
        return;
      }
      outgoing.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
      outgoing.end(answer.status === 204 ? undefined : JSON.stringify(answer.body ?? null));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    hub,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The same without a server; a lost answer is a connection that broke. */
export function githubFetch(hub: HubState): (url: string, init: RequestInit) => Promise<Response> {
  return async (address, init) => {
    const url = new URL(address);
    const headers = new Headers(init.headers);
    const body = typeof init.body === "string" ? init.body : "";
    const answer = handle(
      hub,
      requestOf(init.method ?? "GET", `${url.pathname}${url.search}`, headers.get("authorization") ?? "", body),
    );
    if (answer === undefined) throw new TypeError("fetch failed");
    const text = answer.status === 204 ? null : JSON.stringify(answer.body ?? null);
    return new Response(text, {
      status: answer.status,
      headers: { "content-type": "application/json", ...answer.headers },
    });
  };
}

function requestOf(method: string, address: string, authorization: string, text: string): HubRequest {
  const url = new URL(address, "http://hub");
  return {
    method,
    path: url.pathname,
    query: url.searchParams,
    authorization,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
