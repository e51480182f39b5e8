// Events as an iterator: what is parsed, how it goes on after a connection broke, and what ends it.
import { describe, expect, it } from "vitest";
import { createClient } from "./index.ts";
import { serverSentEvents } from "./server-sent-events.ts";

const baseUrl = "http://127.0.0.1:1";
const retry = { firstPauseMs: 1, pauseMsMax: 2 };

interface Opened {
  readonly url: string;
  readonly lastEventId: string | null;
  readonly authorization: string | null;
}

/** Each connection gets its pieces and then ends, or breaks where an error stands. */
function streams(...connections: readonly (readonly (string | Error)[] | Response)[]) {
  const opened: Opened[] = [];
  const answer: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    opened.push({
      url: String(input),
      lastEventId: headers.get("last-event-id"),
      authorization: headers.get("authorization"),
    });
    const script = connections[opened.length - 1] ?? [];
    if (script instanceof Response) return script;
    return new Response(bodyOf(script, init?.signal ?? undefined), {
      headers: { "content-type": "text/event-stream" },
    });
  };
  return { opened, fetch: answer };
}

function bodyOf(script: readonly (string | Error)[], signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      const piece = script[at];
      at += 1;
      if (piece instanceof Error) controller.error(piece);
      else if (piece !== undefined) controller.enqueue(new TextEncoder().encode(piece));
      else if (signal === undefined) controller.close();
      else controller.close();
    },
  });
}

const event = (id: number, subject = "svc.v1.risk.check.passed"): string =>
  `id: ${id}\nevent: ${subject}\ndata: ${JSON.stringify({ id: String(id), subject, at: "2026-11-17T00:00:00.000000Z", payload: { n: id } })}\n\n`;

describe("a stream of events", () => {
  it("goes on after the last event that was taken, with a fresh token, also when it breaks within one", async () => {
    const { opened, fetch } = streams(
      [": hello\n\n", event(1) + event(2), event(3).slice(0, 30), new Error("reset by peer")],
      new Response("{}", { status: 503 }),
      [event(3), event(4)],
    );
    let tokens = 0;
    const client = createClient({ baseUrl, fetch, retry, token: () => `t-${++tokens}` });
    const ids: unknown[] = [];
    for await (const one of client.events({ subjects: ["svc.v1.risk.>", "svc.v1.oms.>"], fundId: "alpha" })) {
      ids.push(one.id);
      if (ids.length === 4) break;
    }
    expect(ids).toEqual(["1", "2", "3", "4"]);
    expect(opened.map(({ lastEventId }) => lastEventId)).toEqual([null, "2", "2"]);
    expect(opened.map(({ authorization }) => authorization)).toEqual(["Bearer t-1", "Bearer t-2", "Bearer t-3"]);
    const { searchParams, pathname } = new URL(opened[0]?.url ?? "");
    expect(pathname).toBe("/v1/events");
    expect(Object.fromEntries(searchParams)).toEqual({
      subjects: "svc.v1.risk.>,svc.v1.oms.>",
      fund_id: "alpha",
      heartbeat_s: "10",
    });
  });

  it("resumes a quiet stream where its signs of life say, and tells what is no longer kept", async () => {
    const { opened, fetch } = streams(
      ["id: 7\n: nothing new\n\n", "id: 8"],
      ['id: 40\nevent: reset\ndata: {"id":"40","detail":"gone"}\n\n', event(41)],
    );
    const client = createClient({ baseUrl, fetch, retry });
    const heard: unknown[] = [];
    for await (const one of client.events({ after: "5" })) {
      heard.push([one.type, one.id]);
      if (heard.length === 2) break;
    }
    expect(heard).toEqual([
      ["reset", "40"],
      ["event", "41"],
    ]);
    expect(opened.map(({ lastEventId }) => lastEventId)).toEqual(["5", "7"]);
  });

  it("says when something arrives, be it a sign of life, and when the connection is lost", async () => {
    const { fetch } = streams([": hello\n\n", event(1)], new Response("{}", { status: 503 }), [
      "id: 7\n: nothing new\n\n",
      event(2),
    ]);
    const heard: string[] = [];
    const options = { onAlive: () => heard.push("alive"), onLost: (reason: unknown) => heard.push(`lost: ${reason}`) };
    for await (const one of createClient({ baseUrl, fetch, retry }).events({}, options)) {
      heard.push(String(one.id));
      if (one.id === "2") break;
    }
    expect(heard).toEqual([
      "alive",
      "1",
      "alive",
      expect.stringMatching(/^lost: .* ended the stream of events/),
      expect.stringMatching(/^lost: .*503/),
      "alive",
      "2",
    ]);
  });

  it("goes on with another token when the one that opened the stream ran out, and ends when no other is taken", async () => {
    const over = 'event: problem\ndata: {"code":"UNAUTHENTICATED","detail":"the token ran out"}\n\n';
    const { opened, fetch } = streams(
      [": hello\n\n", event(1), over],
      [": hello\n\n", event(2), over],
      new Response('{"code":"UNAUTHENTICATED"}', { status: 401 }),
    );
    let tokens = 0;
    const lost: unknown[] = [];
    const client = createClient({ baseUrl, fetch, retry, token: () => `t-${++tokens}` });
    const heard = client.events({}, { onLost: (reason) => lost.push(reason) });
    expect([(await heard.next()).value.id, (await heard.next()).value.id]).toEqual(["1", "2"]);
    await expect(heard.next()).rejects.toMatchObject({ status: 401 });
    expect(opened.map(({ lastEventId }) => lastEventId)).toEqual([null, "1", "2"]);
    expect(opened.map(({ authorization }) => authorization)).toEqual(["Bearer t-1", "Bearer t-2", "Bearer t-3"]);
    expect(lost).toEqual([]);
  });

  it("ends with what will not pass, and in silence when the caller gives up", async () => {
    const refused = streams(new Response('{"code":"PERMISSION_DENIED"}', { status: 403 }));
    const denied = createClient({ baseUrl, fetch: refused.fetch, retry }).events();
    await expect(denied.next()).rejects.toMatchObject({ status: 403, code: "PERMISSION_DENIED" });
    const revoked = streams(['event: problem\ndata: {"code":"UNAUTHENTICATED","detail":"The login ended."}\n\n']);
    const ended = createClient({ baseUrl, fetch: revoked.fetch, retry }).events();
    await expect(ended.next()).rejects.toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
    const giveUp = new AbortController();
    const { fetch } = streams([event(1)]);
    const heard: unknown[] = [];
    for await (const one of createClient({
      baseUrl,
      fetch,
      retry: { firstPauseMs: 60_000, pauseMsMax: 60_000 },
    }).events({}, { signal: giveUp.signal })) {
      heard.push(one.id);
      setTimeout(() => giveUp.abort(), 5);
    }
    expect(heard).toEqual(["1"]);
  });

  it("is read in whatever pieces it comes, with every line end", () => {
    const text = "id: 1\r\nevent: a\r\ndata: x\r\ndata: y\r\n\r\n: only a comment\n\nid: 2\rdata:z\r\r";
    const whole = [
      { id: "1", event: "a", data: "x\ny" },
      { id: "1", event: "message", data: undefined },
      { id: "2", event: "message", data: "z" },
    ];
    for (const size of [1, 2, 3, 7, text.length]) {
      const take = serverSentEvents();
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      expect([...pieces, "\n"].flatMap((piece) => take(piece)).slice(0, 3)).toEqual(whole);
    }
    expect(() => serverSentEvents()("x".repeat(5_000_000))).toThrow(/never ends/);
  });
});
