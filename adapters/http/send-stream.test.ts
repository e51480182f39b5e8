// Streams through a real listener: they outlast the time limit on answers, ask for a piece only when the one before was taken, and end with their reader.
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import type { Route } from "../../ports/http.ts";
import { everyRole } from "../../testkit/grpc/test-verifier.ts";
import { ask, hello, serve } from "../../testkit/http/test-client.ts";
import { seenTimers } from "../../testkit/seen-timers.ts";

function streamed(pieces: (signal: AbortSignal) => AsyncIterable<string>) {
  const state = { closed: 0, aborted: false };
  const route: Route = {
    ...hello,
    id: "tail",
    path: "/v1/tail",
    answers: { 200: "events" },
    handle: async () => ({
      status: 200,
      body: {
        pieces: (signal) => {
          signal.addEventListener("abort", () => {
            state.aborted = true;
          });
          return pieces(signal);
        },
        close: () => {
          state.closed += 1;
        },
      },
    }),
  };
  return { route, state };
}

const aborted = (signal: AbortSignal): Promise<unknown> =>
  signal.aborted ? Promise.resolve() : once(signal, "abort").then(() => undefined);

async function read(server: Awaited<ReturnType<typeof serve>>["server"]): Promise<IncomingMessage> {
  const { host, port } = server.addresses.operator;
  const sent = httpRequest({ host, port, path: "/v1/tail", headers: { authorization: `Bearer ${everyRole}` } });
  sent.on("error", () => undefined);
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.on("error", () => undefined);
  return response;
}

const hourMs = 3_600_000;
const patience = { timeout: 10_000 };

describe("a stream", () => {
  it("is sent as it comes, beyond the time that an answer may take, and ends with a drain", async () => {
    const gate: { open: () => void } = { open: () => undefined };
    const { route, state } = streamed(async function* (signal) {
      yield "data: 1\n\n";
      await new Promise<void>((resolve) => {
        gate.open = resolve;
      });
      yield "data: 2\n\n";
      await aborted(signal);
    });
    const timers = seenTimers();
    const { server } = await serve([route], { limits: { handlerMsMax: hourMs }, timers });
    const response = await read(server);
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-accel-buffering": "no",
    });
    expect(response.headers["x-request-id"]).toBeDefined();
    response.setEncoding("utf8");
    let text = "";
    response.on("data", (piece: string) => {
      text += piece;
    });
    await expect.poll(() => text, patience).toBe("data: 1\n\n");
    // Nothing bounds it any more.
    await expect.poll(() => timers.pendingOf(hourMs), patience).toBe(0);
    gate.open();
    await expect.poll(() => text, patience).toBe("data: 1\n\ndata: 2\n\n");
    expect(state.closed).toBe(0);
    expect(await server.drain(10_000)).toBe("drained");
    expect(state).toEqual({ closed: 1, aborted: true });
  });

  it("asks for nothing more while its reader does not read, and goes on when it does", async () => {
    const piece = "x".repeat(65_536);
    let made = 0;
    const { route } = streamed(async function* () {
      for (; made < 2_000; made += 1) yield piece;
    });
    const { server } = await serve([route]);
    const response = await read(server);
    // It is paused from the beginning: what the system's buffers take is made, and then no more.
    let before = -1;
    await expect
      .poll(
        () => {
          const stands = made === before && made > 0;
          before = made;
          return stands;
        },
        { ...patience, interval: 200 },
      )
      .toBe(true);
    expect(made).toBeLessThan(500);
    let bytes = 0;
    for await (const chunk of response) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(2_000 * piece.length);
  });

  it("ends when its reader leaves", async () => {
    const { route, state } = streamed(async function* (signal) {
      yield "data: 1\n\n";
      await aborted(signal);
    });
    const { server } = await serve([route]);
    const response = await read(server);
    response.destroy();
    await expect.poll(() => state, patience).toEqual({ closed: 1, aborted: true });
  });

  it("has no body for HEAD, and is closed", async () => {
    const { route, state } = streamed(async function* () {
      yield "data: 1\n\n";
    });
    const { server } = await serve([route]);
    const answer = await ask(server, "/v1/tail", { method: "HEAD" });
    expect(answer).toMatchObject({ status: 200, text: "" });
    await expect.poll(() => state.closed, patience).toBe(1);
  });

  it("that fails in the middle is cut and not taken for whole", async () => {
    const { route, state } = streamed(async function* () {
      yield "data: 1\n\n";
      throw new Error("planned");
    });
    const { server } = await serve([route]);
    await expect(ask(server, "/v1/tail")).rejects.toThrow();
    await expect.poll(() => state.closed, patience).toBe(1);
  });
});
