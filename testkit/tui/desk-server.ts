// A server for the terminal desk alone: it answers the lists of a calm night and streams the events that a test asks for, so that the desk can be run as a program
// without a platform below it.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { operationTable } from "../../edges/client/src/generated/operations.ts";
import { type Lists, listOf } from "../../edges/tui/lists.ts";
import { calm } from "./desk-fixture.ts";

export interface DeskServer {
  readonly url: string;
  /** What is halted from now on, said on the stream. */
  setHalts(status: Lists["halts"]): void;
  /** One event of that subject. */
  publish(subject: string): void;
  close(): Promise<void>;
}

export async function startDeskServer(haltSubject: string): Promise<DeskServer> {
  const { data } = calm().state;
  let halts = data.held.halts?.value;
  const answers = new Map<string, () => unknown>([
    [operationTable.getIdentity.path, () => ({ actor: "operator:duty", roles: ["operator"], kind: "person" })],
    [operationTable.getHaltStatus.path, () => halts],
    [operationTable.listFunds.path, () => listOf(data, "funds")],
    [operationTable.getPositions.path, () => listOf(data, "positions")],
    [operationTable.listOrders.path, () => listOf(data, "orders")],
    [operationTable.getLimitUse.path, () => listOf(data, "use")],
  ]);
  const streams = new Set<ServerResponse>();
  let id = 0;
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
    if (pathname === "/v1/events") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("id: 0\n: events\n\n");
      streams.add(response);
      request.once("close", () => streams.delete(response));
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answers.get(pathname)?.() ?? []));
  });
  const beats = setInterval(() => {
    for (const stream of streams) stream.write(`id: ${id}\n: nothing new\n\n`);
  }, 1_000);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const publish = (subject: string): void => {
    id += 1;
    const event = { id: String(id), subject, at: "2026-11-15T03:00:00Z", payload: {} };
    for (const stream of streams) stream.write(`id: ${id}\nevent: ${subject}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setHalts(status) {
      halts = status;
      publish(haltSubject);
    },
    publish,
    close: () =>
      new Promise((resolve) => {
        clearInterval(beats);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
