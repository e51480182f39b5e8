// Streams in both directions through a real server. The numbers are those of the module's header.
import type { StatusObject } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import type { UnaryHandler } from "../../ports/rpc.ts";
import { testClient } from "../../testkit/grpc/test-client.ts";
import { testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { codecOf, methodOf } from "./definitions.ts";
import type { GrpcLimits } from "./limits.ts";
import { serveGrpc } from "./server.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Handler = (request: { readonly order_id: string }, call: Parameters<UnaryHandler>[1]) => Promise<unknown>;

async function open(handler: Handler, limits: Partial<GrpcLimits> = {}, deadlineMs = 10_000) {
  const test = testPorts();
  const server = await serveGrpc({
    ...test.ports,
    address: { host: "127.0.0.1", port: 0 },
    purpose: "the test's gRPC server",
    environmentVariable: "NONE",
    services: [{ name: "RiskEngine", handlers: { CheckOrders: handler as UnaryHandler } }],
    verifier: testVerifier(),
    health: () => ({ status: "ok" }),
    metricsJson: async () => "[]",
    limits,
  });
  const client = testClient(server.address, { token: "service" });
  closers.push(
    () => server.drain(0),
    () => client.close(),
  );
  const method = methodOf("RiskEngine", "CheckOrders");
  const encode = (message: unknown) => Buffer.from(codecOf(method.requestType).encode(message).finish());
  const decode = (bytes: Buffer) => codecOf(method.responseType).decode(bytes) as { readonly order_id: string };
  const stream = client.client.makeBidiStreamRequest(method.path, encode, decode, client.metadataOf({}), {
    deadline: Date.now() + deadlineMs,
  });
  const answers: string[] = [];
  const ended = new Promise<StatusObject>((resolve) => stream.on("status", resolve));
  stream.on("error", () => undefined);
  const read = () => stream.on("data", ({ order_id }: { readonly order_id: string }) => answers.push(order_id));
  const ask = (...ids: readonly string[]) => {
    for (const order_id of ids) stream.write(codecOf(method.requestType).decode(encodeOrder(order_id)));
  };
  const encodeOrder = (order_id: string): Buffer => {
    const empty = codecOf(method.requestType).decode(new Uint8Array()) as object;
    return encode({ ...empty, order_id });
  };
  return { client, stream, ask, read, answers, ended, ...test };
}

const answering = (order_id: string): object => ({
  ...(codecOf(methodOf("RiskEngine", "CheckOrders").responseType).decode(new Uint8Array()) as object),
  order_id,
});

describe("a stream in both directions", () => {
  it("answers many at once, each when it is ready", async () => {
    const { ask, read, answers, ended, stream } = await open(async ({ order_id }) => {
      // It is asked first and waits for the other three.
      if (order_id === "1") await expect.poll(() => answers).toHaveLength(3);
      return answering(order_id);
    });
    read();
    ask("1", "2", "3", "4");
    stream.end();
    expect((await ended).code).toBe(0);
    expect([...answers.slice(0, 3).sort(), answers[3]]).toEqual(["2", "3", "4", "1"]);
  });

  it("leaves requests unread while too many are unanswered (1)", async () => {
    const release: (() => void)[] = [];
    const { ask, read, answers, client } = await open(
      ({ order_id }) => new Promise((resolve) => release.push(() => resolve(answering(order_id)))),
      { streamRequestsInFlightMax: 3 },
    );
    read();
    ask("1", "2", "3", "4", "5");
    await expect.poll(() => release.length).toBe(3);
    // On the same connection: when it is answered, all that was asked before has arrived.
    expect((await client.call("Instance", "GetHealth", {})).status).toBe("OK");
    expect(release.length).toBe(3);
    release[0]?.();
    await expect.poll(() => release.length).toBe(4);
    for (const go of release) go();
    await expect.poll(() => release.length).toBe(5);
    release[4]?.();
    await expect.poll(() => [...answers].sort()).toEqual(["1", "2", "3", "4", "5"]);
  });

  it("ends with the first failure, after the answers that were ready (2), and its signal aborts (3)", async () => {
    const signals = new Set<AbortSignal>();
    const { ask, read, answers, ended } = await open(async ({ order_id }, { signal }) => {
      signals.add(signal);
      if (order_id === "1") return answering(order_id);
      await expect.poll(() => answers).toEqual(["1"]);
      if (order_id === "2") throw new Fault("STORE_UNAVAILABLE", "No database.", { retry: "later" });
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return answering(order_id);
    });
    read();
    ask("1", "2", "3");
    const end = await ended;
    expect(end).toMatchObject({ code: 14, details: "No database." });
    expect(end.metadata.get("portcullis-code")).toEqual(["STORE_UNAVAILABLE"]);
    expect(answers).toEqual(["1"]);
    expect([...signals].map(({ aborted }) => aborted)).toEqual([true]);
  });

  it.each([
    ["hangs up", 10_000, true],
    ["let its deadline pass", 200, false],
  ])("tells its handler when its caller %s (3)", async (_name, deadlineMs, cancel) => {
    const aborted: string[] = [];
    const { ask, ended, stream } = await open(
      async ({ order_id }, { signal }) => {
        if (cancel) setTimeout(() => stream.cancel(), 50);
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        aborted.push(order_id);
        return answering(order_id);
      },
      {},
      deadlineMs,
    );
    ask("1");
    await ended;
    await expect.poll(() => aborted).toEqual(["1"]);
  });

  it("gives up a stream that gets no answers (4)", async () => {
    const { ask, ended } = await open(() => new Promise(() => undefined), { callMsMax: 100 });
    ask("1");
    expect((await ended).code).toBe(4);
  });
});
