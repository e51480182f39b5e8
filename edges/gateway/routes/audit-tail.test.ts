// The stream of the log: where it begins, what an event looks like, how many may follow, and how it ends.
import { describe, expect, it } from "vitest";
import { systemTimers } from "../../../adapters/system/timers.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type { HttpRequest, HttpStream } from "../../../ports/http.ts";
import { duty } from "../../../testkit/gateway/parts.ts";
import type { GatewayParts } from "../parts.ts";
import { auditTail, followersMax } from "./audit-tail.ts";

const texts = ["zero", "one", "two"].map((text) => JSON.stringify({ text }));

type Answer = (from: number) => Promise<{ readonly texts: readonly Uint8Array[]; readonly size: number }>;

/** A log of three entries; whoever asks for the fourth is answered by `beyond`. */
function fixture(beyond: Answer = () => Promise.reject(new Fault("SERVICE_UNAVAILABLE", "gone", { retry: "later" }))) {
  const calls: unknown[][] = [];
  const services: GatewayParts["services"] = {
    call: async (service, method, request, { bearer }) => {
      const { from_sequence: from, count_max: count } = request as { from_sequence: number; count_max: number };
      calls.push([`${service}/${method}`, from, bearer]);
      if (from >= texts.length) return { ok: true, value: await beyond(from) };
      const page = texts.slice(from, from + count).map((text) => new TextEncoder().encode(text));
      return { ok: true, value: { texts: page, size: texts.length } };
    },
  };
  const route = auditTail({ services, timers: systemTimers(), verify: async () => duty });
  const ask = (query: object, headers: HttpRequest["headers"] = {}) =>
    route.handle({
      requestId: "r",
      identity: duty,
      bearer: () => "the-callers-token",
      remoteAddress: "127.0.0.1",
      headers,
      params: undefined,
      query: route.query?.safeParse(query).data,
      body: undefined,
    });
  return { ask, calls, route };
}

const never = new AbortController().signal;

async function all(body: unknown, signal: AbortSignal = never): Promise<readonly string[]> {
  const pieces: string[] = [];
  for await (const piece of (body as HttpStream).pieces(signal)) pieces.push(piece);
  return pieces;
}

const events = (pieces: readonly string[]) => pieces.filter((piece) => piece.startsWith("id: "));

describe("tailAudit", () => {
  it("sends entries byte for byte under their sequences, with the caller's token, and tells how it ended", async () => {
    const { ask, calls } = fixture();
    const { status, body } = await ask({ from_sequence: "1" });
    expect(status).toBe(200);
    const pieces = await all(body);
    expect(events(pieces)).toEqual([`id: 1\ndata: ${texts[1]}\n\n`, `id: 2\ndata: ${texts[2]}\n\n`]);
    expect(pieces[0]).toMatch(/^retry: 1000\n: .*\n\n$/);
    expect(pieces.at(-1)).toBe('event: problem\ndata: {"code":"SERVICE_UNAVAILABLE","detail":"gone"}\n\n');
    expect(calls.map(([name, from]) => [name, from])).toEqual([
      ["AuditDesk/TailAudit", 0],
      ["AuditDesk/TailAudit", 1],
      ["AuditDesk/TailAudit", 3],
    ]);
    expect(new Set(calls.map(([, , bearer]) => bearer))).toEqual(new Set(["the-callers-token"]));
  });

  it("goes on after the last event that was read, whatever its address says", async () => {
    const { ask } = fixture();
    const { body } = await ask({ from_sequence: "0" }, { "last-event-id": "1" });
    expect(events(await all(body))).toEqual([`id: 2\ndata: ${texts[2]}\n\n`]);
  });

  it("begins with what comes next when no place is named, and says so while nothing comes", async () => {
    const stop = new AbortController();
    const asked: number[] = [];
    const { ask } = fixture(async (from) => {
      asked.push(from);
      if (asked.length === 2) stop.abort();
      return { texts: [], size: 3 };
    });
    const { body } = await ask({});
    const pieces = await all(body, stop.signal);
    expect(asked).toEqual([3, 3]);
    expect(pieces.slice(1)).toEqual([": nothing new\n\n", ": nothing new\n\n"]);
  });

  it.each(["-1", "01", "1e1", " 1", "x", "9007199254740991", ""])("refuses the Last-Event-ID %j", async (last) => {
    await expect(fixture().ask({}, { "last-event-id": last })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("refuses what lies beyond the end, by its status", async () => {
    await expect(fixture().ask({ from_sequence: "4" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect((await fixture().ask({ from_sequence: "3" })).status).toBe(200);
  });

  it("lets no text pass for another event", async () => {
    const { ask } = fixture(async () => ({
      texts: [new TextEncoder().encode('{}\n\nid: 9\ndata: {"forged":1}')],
      size: 4,
    }));
    const pieces = await all((await ask({ from_sequence: "3" })).body);
    expect(events(pieces)).toEqual([]);
    expect(pieces.at(-1)).toContain("CHAIN_INTEGRITY");
  });

  it(`lets ${followersMax} follow, counts each once, and counts none that did not begin`, async () => {
    const { ask } = fixture();
    const open = [];
    for (let n = 0; n < followersMax; n += 1) open.push((await ask({})).body as HttpStream);
    await expect(ask({})).rejects.toMatchObject({ code: "TOO_MANY_STREAMS", retry: "later" });
    open[0]?.close();
    open[0]?.close();
    await expect(ask({ from_sequence: "99" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect((await ask({})).status).toBe(200);
    await expect(ask({})).rejects.toMatchObject({ code: "TOO_MANY_STREAMS" });
  });
});
