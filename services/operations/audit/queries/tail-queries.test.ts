// Following the log: entries come byte for byte as soon as they are durable, from any sequence, and nobody waits for ever.
import { describe, expect, it } from "vitest";
import { methodOf } from "../../../../adapters/grpc/definitions.ts";
import { serveGrpc } from "../../../../adapters/grpc/server.ts";
import { AuditPage, TailAuditRequest } from "../../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { RpcCall } from "../../../../ports/rpc.ts";
import { auditFixture } from "../../../../testkit/audit/service-fixture.ts";
import { testClient } from "../../../../testkit/grpc/test-client.ts";
import { testVerifier } from "../../../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../../../testkit/http/test-ports.ts";
import { memoryAuditLog } from "../../../../testkit/memory/audit-log.ts";
import { tailHandlers, waitingMax, waitMsMax } from "./tail-queries.ts";

async function queries(seed: number) {
  const fixture = auditFixture({ seed });
  const { audit, process } = await fixture.start();
  const { timers, clock } = fixture.time;
  const stored = memoryAuditLog({ process, timers, audit: fixture.disk });
  let listening = 0;
  const auditLog = {
    ...stored,
    onAppend(run: () => void) {
      listening += 1;
      const stop = stored.onAppend(run);
      return () => {
        listening -= 1;
        stop();
      };
    },
  };
  const handlers = tailHandlers({ auditLog, timers });
  const { TailAudit: handler } = handlers;
  const tail = (request: Partial<TailAuditRequest>, signal = new AbortController().signal): Promise<AuditPage> => {
    const call = { signal } as RpcCall;
    return handler?.({ from_sequence: 0, count_max: 0, ...request } as never, call) as Promise<AuditPage>;
  };
  let made = 0;
  const append = () => {
    made += 1;
    const request = {
      eventId: `e-${made}`,
      actor: "service:oms",
      action: "note.made",
      subjectId: "o-1",
      data: { made },
    };
    return fixture.finish(audit.append(request));
  };
  const textsFrom = async (from: number) => (await fixture.finish(stored.read(from, 100))).map(({ text }) => text);
  return { fixture, handlers, clock, tail, append, textsFrom, listening: () => listening };
}

describe("TailAudit", () => {
  it("answers at once with what there is, and else when the next entry is durable", async () => {
    const { fixture, clock, tail, append, textsFrom, listening } = await queries(81);
    for (let n = 0; n < 4; n += 1) await append();
    const past = await fixture.finish(tail({ from_sequence: 1, count_max: 3 }));
    expect(past).toEqual({ texts: (await textsFrom(1)).slice(0, 3), size: 5 });
    const waiting = tail({ from_sequence: 5 });
    const before = clock.now();
    await append();
    expect(await fixture.finish(waiting)).toEqual({ texts: await textsFrom(5), size: 6 });
    expect((clock.now() - before) / 1_000).toBeLessThan(waitMsMax / 10);
    expect(listening()).toBe(0);
  });

  it("misses nothing and sends nothing twice however the log grows", async () => {
    const { fixture, tail, append, textsFrom } = await queries(82);
    const got: Uint8Array[] = [];
    for (let round = 0; round < 12; round += 1) {
      const asked = tail({ from_sequence: got.length, count_max: 1 + (round % 3) });
      if (round % 2 === 0) for (let n = 0; n < 3; n += 1) await append();
      got.push(...(await fixture.finish(asked)).texts);
    }
    expect(got.length).toBeGreaterThan(12);
    expect(got).toEqual((await textsFrom(0)).slice(0, got.length));
  });

  it("answers with none when nothing comes, and ends with its caller", async () => {
    const { fixture, clock, tail, listening } = await queries(83);
    const before = clock.now();
    expect(await fixture.finish(tail({ from_sequence: 1 }))).toEqual({ texts: [], size: 1 });
    expect((clock.now() - before) / 1_000).toBeGreaterThanOrEqual(waitMsMax);
    const gone = new AbortController();
    const left = tail({ from_sequence: 1 }, gone.signal);
    const since = clock.now();
    gone.abort();
    await fixture.finish(left);
    expect((clock.now() - since) / 1_000).toBeLessThan(waitMsMax / 10);
    expect(listening()).toBe(0);
  });

  it("refuses what is beyond the next entry, and more waiting callers than may", async () => {
    const { fixture, tail } = await queries(84);
    const beyond = fixture.finish(tail({ from_sequence: 2 }));
    await expect(beyond).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("1 entries"),
    });
    const many = Array.from({ length: waitingMax }, () => tail({ from_sequence: 1 }));
    await fixture.finish(fixture.time.timers.sleep(10));
    await expect(fixture.finish(tail({ from_sequence: 1 }))).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    await fixture.finish(Promise.all(many));
    expect(await fixture.finish(tail({ from_sequence: 1 }))).toEqual({ texts: [], size: 1 });
  });

  it("is one stream over gRPC, on which every request may begin anywhere", async () => {
    const { handlers, append, textsFrom } = await queries(85);
    for (let n = 0; n < 5; n += 1) await append();
    const server = await serveGrpc({
      ...testPorts().ports,
      address: { host: "127.0.0.1", port: 0 },
      purpose: "the test's gRPC server",
      environmentVariable: "NONE",
      services: [{ name: "AuditDesk", handlers }],
      verifier: testVerifier(),
      health: () => ({ status: "ok" }) as const,
      metricsJson: async () => "[]",
    });
    const client = testClient(server.address, { token: "service" });
    try {
      const { path } = methodOf("AuditDesk", "TailAudit");
      const encode = (message: TailAuditRequest) => Buffer.from(TailAuditRequest.encode(message).finish());
      const stream = client.client.makeBidiStreamRequest(
        ...([path, encode, (bytes: Buffer) => AuditPage.decode(bytes), client.metadataOf({})] as const),
        { deadline: Date.now() + 10_000 },
      );
      const pages: AuditPage[] = [];
      stream.on("data", (page: AuditPage) => pages.push(page));
      const ended = new Promise<number>((resolve) => stream.on("status", ({ code }) => resolve(code)));
      for (const [at, from_sequence] of [0, 2, 4].entries()) {
        stream.write({ from_sequence, count_max: 2 });
        await expect.poll(() => pages.length).toBe(at + 1);
      }
      stream.end();
      expect(await ended).toBe(0);
      expect(pages.flatMap(({ texts }) => texts.map((text) => new Uint8Array(text)))).toEqual(await textsFrom(0));
    } finally {
      client.close();
      await server.drain(0);
    }
  });
});
