// The line between a browser and the platform, which a test can cut: a forward proxy that ends every connection at once and takes no new one until it is mended.
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { ownConnection } from "../http/kept-connection.ts";

export interface CutLine {
  /** For a browser's context. */
  readonly server: string;
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function openLine(): Promise<CutLine> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer(forward);
  server.on("connection", (socket) => {
    if (isCut) return void socket.destroy();
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const end = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      end();
    },
    mend() {
      isCut = false;
    },
    close() {
      end();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** A connection of its own for each: one that was kept would break after a restart, where a browser without us would simply ask again. */
const agent = ownConnection();

function forward(asked: IncomingMessage, answer: ServerResponse): void {
  const onward = request(asked.url ?? "", { agent, method: asked.method, headers: asked.headers }, (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(answer);
    response.once("error", () => answer.destroy());
  });
  onward.once("error", () => answer.destroy());
  answer.once("close", () => onward.destroy());
  asked.pipe(onward);
}
