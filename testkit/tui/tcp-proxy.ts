// A proxy before a listener that can be cut: every connection through it breaks, and the next ones pass again.
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";

export interface TcpProxy {
  readonly url: string;
  cut(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(address: string): Promise<TcpProxy> {
  const [host = "", port = ""] = address.split(":");
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const behind = createConnection(Number(port), host);
    for (const [one, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.once("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      // A connection that broke is what this is for; its close follows.
      one.on("error", () => undefined);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const socket of [...sockets]) socket.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}
