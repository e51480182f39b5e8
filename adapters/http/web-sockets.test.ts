// WebSockets on the real listener: handshakes pass the same steps as requests, messages are bounded, and a drain says goodbye first.
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import WebSocket from "ws";
import type { SocketRoute } from "../../ports/http.ts";
import { ask, expectProblem, hello, rawAsk, serve } from "../../testkit/http/test-client.ts";

function echo() {
  const connections: { close(): void }[] = [];
  const gone: number[] = [];
  const route: SocketRoute = {
    path: "/v1/echo",
    listener: "public",
    sentence: "Says what it hears.",
    operation: "ReadMarketData",
    publicCost: 1,
    messageBytesMax: 100,
    closings: { tooLarge: { code: 4004, reason: "TOO_LARGE" }, malformed: { code: 4006, reason: "NO_TEXT" } },
    open: (connection) => {
      connections.push({ close: () => connection.close(4007, "LEAVING") });
      return {
        hear: (text) => connection.send(`${connection.caller} ${text}`),
        closed: () => void gone.push(1),
      };
    },
    shutDown: () => {
      for (const { close } of connections) close();
    },
  };
  return { route, gone };
}

async function connected(port: number, path = "/v1/echo"): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
  await once(socket, "open");
  return socket;
}

const closing = async (socket: WebSocket): Promise<string> => {
  const [code, reason] = (await once(socket, "close")) as [number, Buffer];
  return `${code} ${reason}`;
};

describe("a WebSocket", () => {
  it("is a conversation of texts", async () => {
    const { route, gone } = echo();
    const { server } = await serve([hello], { sockets: [route] });
    const socket = await connected(server.addresses.public.port);
    socket.send("hello");
    const [text] = (await once(socket, "message")) as [Buffer];
    expect(String(text)).toBe("127.0.0.1 hello");
    const closed = closing(socket);
    socket.close();
    await closed;
    await expect.poll(() => gone.length).toBe(1);
  });

  it("ends by name for a message that is too large, in one piece or in many, for bytes, and for text that is none", async () => {
    const { route } = echo();
    const { server } = await serve([], { sockets: [route] });
    const said = async (speak: (socket: WebSocket) => void): Promise<string> => {
      const socket = await connected(server.addresses.public.port);
      const closed = closing(socket);
      speak(socket);
      return closed;
    };
    expect(await said((socket) => socket.send("x".repeat(101)))).toBe("4004 TOO_LARGE");
    expect(
      await said((socket) => {
        for (let piece = 0; piece < 20; piece += 1) socket.send("x".repeat(10), { fin: false });
      }),
    ).toBe("4004 TOO_LARGE");
    expect(await said((socket) => socket.send(Buffer.from("x"), { binary: true }))).toBe("4006 NO_TEXT");
    expect(await said((socket) => socket.send(Buffer.from([0xff, 0xfe]), { binary: false }))).toBe("4006 NO_TEXT");
  });

  it("is 426 without a handshake, 405 by another method, and nothing on the operators' listener", async () => {
    const { server } = await serve([hello], { sockets: [echo().route] });
    const open = { listener: "public", token: null } as const;
    const answer = await ask(server, "/v1/echo", open);
    expectProblem(answer, 426, "INVALID_ARGUMENT", "/v1/echo");
    expect(answer.headers.upgrade).toBe("websocket");
    expect((await ask(server, "/v1/echo", { ...open, method: "POST" })).status).toBe(405);
    expect((await ask(server, "/v1/echo")).status).toBe(404);
    const socket = new WebSocket(`ws://127.0.0.1:${server.addresses.operator.port}/v1/echo`);
    const [refused] = (await once(socket, "error")) as [Error];
    expect(refused.message).toContain("401");
  });

  it("costs a token, and no handshake passes without one", async () => {
    const { server } = await serve([], { sockets: [echo().route], publicRate: { ratePerS: 0.001, burst: 2 } });
    const { port } = server.addresses.public;
    const sockets = [await connected(port), await connected(port)];
    const [refused] = (await once(new WebSocket(`ws://127.0.0.1:${port}/v1/echo`), "error")) as [Error];
    expect(refused.message).toContain("429");
    for (const socket of sockets) socket.terminate();
  });

  it("leaves other upgrades to be answered as the requests that they are", async () => {
    const { server } = await serve([{ ...hello, listeners: ["public"] }], { sockets: [echo().route] });
    const upgrade = "connection: upgrade\r\nupgrade: h2c\r\n";
    const said = await rawAsk(server, `GET /v1/hello HTTP/1.1\r\nhost: a\r\n${upgrade}\r\n`, "public");
    expect(said).toContain("HTTP/1.1 200 ");
    const none = await rawAsk(server, `GET /v1/nothing HTTP/1.1\r\nhost: a\r\n${upgrade}\r\n`, "public");
    expect(none).toContain("HTTP/1.1 404 ");
    const post = await rawAsk(
      server,
      `POST /v1/hello HTTP/1.1\r\nhost: a\r\n${upgrade}content-length: 2\r\n\r\n{}`,
      "public",
    );
    expect(post).toContain("HTTP/1.1 400 ");
  });

  it("is told of a drain before it is cut, and a drain does not wait for a client that does not listen", async () => {
    const { server } = await serve([], { sockets: [echo().route] });
    const { port } = server.addresses.public;
    const [socket, deaf] = [await connected(port), await connected(port)];
    deaf.pause();
    const closed = closing(socket);
    expect(await server.drain(60_000)).toBe("drained");
    expect(await closed).toBe("4007 LEAVING");
    deaf.terminate();
  });
});
