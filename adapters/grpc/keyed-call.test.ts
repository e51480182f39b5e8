// Idempotency keys between the gateway and the services, through real sockets: a call is done once, a repeat gets the first answer or the first no, and a
// caller who hangs up does not stop it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { Strategy } from "../../contracts/src/generated/svc/v1/platform.ts";
import { keyedProcedures } from "../../contracts/src/idempotency.ts";
import type { RpcService } from "../../ports/rpc.ts";
import { everyRole, testVerifier } from "../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { memoryKeys } from "../../testkit/memory-keys.ts";
import { systemClock } from "../system/clock.ts";
import { createRpcClient } from "./rpc-client.ts";
import { serveGrpc } from "./server.ts";

let folder = "";
const closers: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "portcullis-keyed-call-"));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true, force: true });
});

const strategy = (id: string): Strategy => ({ ...Strategy.decode(new Uint8Array()), strategy_id: id });

type Handler = RpcService["handlers"][string];

async function research(handlers: Readonly<Record<string, Handler>>) {
  const path = join(folder, "service.sock");
  const refusals: string[] = [];
  const server = await serveGrpc({
    ...testPorts().ports,
    address: { path },
    purpose: "a test's gRPC server",
    environmentVariable: "NONE",
    services: [{ name: "Research", handlers }],
    health: () => ({ status: "ok" }),
    verifier: testVerifier(),
    oncePerKey: memoryKeys().once,
    tellRefusal: ({ code }) => void refusals.push(code),
    metricsJson: async () => "[]",
  });
  closers.push(() => server.drain(0));
  const client = createRpcClient({ targets: { research: `unix:${path}` }, clock: systemClock() });
  closers.push(() => client.close());
  /** What came of it, and whether it was the first answer again. */
  const set = async (reason: string, key: string | undefined, more: { path?: string; signal?: AbortSignal } = {}) => {
    let replayed = false;
    const idempotency =
      key === undefined
        ? undefined
        : {
            key,
            path: more.path ?? "/p",
            replayed: () => {
              replayed = true;
            },
          };
    const request = { strategy_id: "s", reason };
    const options = {
      bearer: everyRole,
      timeoutMs: 5_000,
      idempotency,
      ...(more.signal ? { signal: more.signal } : {}),
    };
    const outcome = await client.call("Research", "SetStrategy", request, options).catch((thrown: unknown) => {
      if (!(thrown instanceof Fault)) throw thrown;
      return thrown.code;
    });
    return { outcome, replayed };
  };
  return { client, set, refusals };
}

describe("a call with an idempotency key", () => {
  it("is done once; the repeat gets the same message and says so; another body, path or no key is another call", async () => {
    let count = 0;
    const { set } = await research({
      SetStrategy: async () => {
        count += 1;
        return strategy(`s-${count}`);
      },
    });
    const first = await set("a", "k");
    expect(first).toMatchObject({ outcome: { ok: true, value: { strategy_id: "s-1" } }, replayed: false });
    expect(await set("a", "k")).toEqual({ ...first, replayed: true });
    expect((await set("b", "k")).outcome).toBe("IDEMPOTENCY_KEY_REUSED");
    expect((await set("a", "k", { path: "/q" })).replayed).toBe(false);
    expect((await set("a", undefined)).replayed).toBe(false);
    expect((await set("a", "k".repeat(256))).outcome).toBe("INVALID_ARGUMENT");
    expect(count).toBe(3);
  });

  it("that was denied or refused gets the same no, which is reported once", async () => {
    let count = 0;
    const { set, refusals } = await research({
      SetStrategy: async ({ reason }: { readonly reason: string }) => {
        count += 1;
        if (reason === "fault") throw new Fault("NOT_FOUND", `No ${count}.`, { retry: "never" });
        return { denial: { code: "REASON_MISSING", reason: `Denied ${count}.` } };
      },
    });
    const denied = await set("denial", "d");
    expect(denied).toEqual({
      outcome: { ok: false, denial: { code: "REASON_MISSING", reason: "Denied 1." } },
      replayed: false,
    });
    expect(await set("denial", "d")).toEqual({ ...denied, replayed: true });
    expect(await set("fault", "f")).toEqual({ outcome: "NOT_FOUND", replayed: false });
    expect(await set("fault", "f")).toEqual({ outcome: "NOT_FOUND", replayed: true });
    expect(refusals).toEqual(["REASON_MISSING", "NOT_FOUND"]);
    expect(count).toBe(2);
  });

  it("goes on when its caller is gone, and whoever asks again gets what came of it", async () => {
    let finish = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let count = 0;
    let isAborted = false;
    const { set } = await research({
      SetStrategy: async (_request, call) => {
        count += 1;
        call.signal.addEventListener("abort", () => {
          isAborted = true;
        });
        await gate;
        return strategy("done");
      },
    });
    const gone = new AbortController();
    const first = set("a", "k", { signal: gone.signal });
    while (count === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    gone.abort();
    expect((await first).outcome).toBe("CANCELLED");
    const second = set("a", "k");
    finish();
    expect(await second).toMatchObject({ outcome: { ok: true, value: { strategy_id: "done" } }, replayed: true });
    expect([count, isAborted]).toEqual([1, false]);
  });
});

it("every procedure behind a POST that changes something takes a key, but the halt", () => {
  expect(keyedProcedures.get("Oms/SubmitOrder")).toEqual({ repeatable: true });
  expect(keyedProcedures.get("HaltDesk/RunDrill")).toEqual({ repeatable: false });
  expect(keyedProcedures.has("Operations/RequestHalt")).toBe(false);
  expect(keyedProcedures.has("RiskEngine/CheckOrder")).toBe(false);
  expect(keyedProcedures.size).toBeGreaterThan(25);
});
