// The public stream in virtual time: snapshots before updates, sequences that add up, what is conflated and what never is, and how each kind of
// misuse ends. The numbers are the invariants of stream-hub.ts.
import { describe, expect, it } from "vitest";
import type { HaltRequest } from "../../../contracts/src/generated/svc/v1/halt.ts";
import { format } from "../../../contracts/src/instant.ts";
import { serverFrame, streamLimits } from "../../../contracts/src/stream-frames.ts";
import type { SocketSession } from "../../../ports/http.ts";
import { heldFeed } from "../../../testkit/gateway/market-feed.ts";
import { testPorts } from "../../../testkit/http/test-ports.ts";
import { scheduler } from "../../../testkit/virtual/scheduler.ts";
import { publicHalt } from "../public/public-halts.ts";
import { createStreamHub } from "./stream-hub.ts";

interface Item {
  readonly channel: string;
  readonly sequence: number;
  readonly skipped: number;
  readonly data: Record<string, unknown>;
}
type Frame = Record<string, unknown> & { readonly type: string; readonly items?: readonly Item[] };

function client(open: ReturnType<typeof createStreamHub>["open"], caller = "192.0.2.1") {
  const frames: Frame[] = [];
  const closed: string[] = [];
  let buffered = 0;
  const session = open({
    caller,
    send: (text) => {
      const frame = JSON.parse(typeof text === "string" ? text : Buffer.from(text).toString());
      expect(serverFrame.safeParse(frame).error, JSON.stringify(frame)).toBeUndefined();
      frames.push(frame);
    },
    bufferedBytes: () => buffered,
    close: (code, reason) => void closed.push(`${code} ${reason}`),
  });
  return {
    session: session as SocketSession,
    closed,
    frames,
    taken: () => frames.splice(0),
    items: () => frames.splice(0).flatMap(({ items = [] }) => items),
    say: (message: object | string) => session?.hear(typeof message === "string" ? message : JSON.stringify(message)),
    fallBehind: (bytes: number) => {
      buffered = bytes;
    },
  };
}

const instrument = {
  symbol: "AAPL",
  name: "Apple",
  asset_class: "EQUITY",
  currency: "USD",
  tick_size: "0.01",
  lot_size: "1",
  multiplier: "1",
  sector: "tech",
  calendar: "always",
};
const fund = { fund_id: "alpha", name: "Alpha", mode: "PAPER", currency: "USD", halted: false };

function fixture({ bars }: { bars?: (message: { start?: string }) => object } = {}) {
  const time = scheduler({ seed: 1 });
  const feed = heldFeed();
  const asked: object[] = [];
  const hub = createStreamHub({
    ...testPorts().ports,
    clock: time.clock,
    timers: time.timers,
    ownToken: () => "own",
    marketFeed: feed,
    services: {
      call: async (_service, _method, message) => {
        asked.push(message);
        if (bars === undefined) throw new Error("nobody answers");
        return { ok: true, value: bars(message as { start?: string }) };
      },
    },
  });
  const quote = (bid: number) => {
    const reported = { symbol: "AAPL", bid: String(bid), ask: String(bid + 1), quoted_at: format(time.clock.now()) };
    feed.quotes.say(new Map([["AAPL", reported]]), time.clock.now());
  };
  let epoch = 0;
  const changes: {
    sequence: number;
    change: "raised" | "lifted";
    halts: ReturnType<typeof publicHalt>[];
    at: string;
  }[] = [];
  const inForce = new Map<string, ReturnType<typeof publicHalt>>();
  const tell = () => feed.halts.say({ epoch, halts: [...inForce.values()], changes: [...changes] }, time.clock.now());
  const halt = (id: string, hidden = false) => {
    epoch += 1;
    const at = format(time.clock.now());
    const asked = {
      severity: "FUND_HALT",
      fund_id: "alpha",
      reason: "r",
      requested_by: "operator:duty",
      evidence: { loss: "1" },
      confirmation: "HALT",
      halt_id: id,
      epoch,
      since: at,
    } as HaltRequest;
    const raised = publicHalt(asked, () => false);
    if (!hidden) inForce.set(id, raised);
    changes.push({ sequence: epoch, change: "raised", halts: hidden ? [] : [raised], at });
    tell();
  };
  const lift = (id: string) => {
    epoch += 1;
    const lifted = inForce.get(id);
    inForce.delete(id);
    changes.push({
      sequence: epoch,
      change: "lifted",
      halts: lifted === undefined ? [] : [lifted],
      at: format(time.clock.now()),
    });
    tell();
  };
  feed.instruments.say([{ ...instrument, priced_by: [] }], time.clock.now());
  feed.funds.say([fund], time.clock.now());
  tell();
  quote(100);
  const wait = (ms: number) => time.run({ untilMs: time.elapsedMs() + ms });
  return { hub, feed, time, quote, halt, lift, wait, asked, drop: (count: number) => changes.splice(0, count) };
}

const numbers = (items: readonly Item[]) => items.map(({ sequence, skipped }) => [sequence, skipped]);

describe("the stream", () => {
  it("welcomes, acknowledges with everything that is subscribed, and sends each channel's snapshot first", async () => {
    const { hub, wait } = fixture();
    const one = client(hub.open);
    expect(one.taken()).toEqual([{ type: "welcome", heartbeat_s: 10, limits: streamLimits }]);
    one.say({ type: "subscribe", id: "a", quotes: ["AAPL"], funds: true });
    one.say({ type: "subscribe", id: 2, halts: true, quotes: ["AAPL", "TEST"] });
    await wait(200);
    expect(one.frames.map(({ type, id, channel, channels }) => [type, id ?? channel, channels])).toEqual([
      ["subscribed", "a", ["quotes:AAPL", "funds"]],
      ["snapshot", "quotes:AAPL", undefined],
      ["snapshot", "funds", undefined],
      ["subscribed", 2, ["quotes:AAPL", "funds", "quotes:TEST", "halts"]],
      ["snapshot", "quotes:TEST", undefined],
      ["snapshot", "halts", undefined],
    ]);
    one.taken();
    one.say({ type: "unsubscribe", id: "c", quotes: ["AAPL", "TEST"], halts: true });
    expect(one.taken()).toEqual([{ type: "subscribed", id: "c", channels: ["funds"] }]);
  });

  it("2: conflates quotes and counts what it skips, also for who came later", async () => {
    const { hub, quote, wait } = fixture();
    const one = client(hub.open);
    one.say({ type: "subscribe", quotes: ["AAPL"] });
    const [, , snapshot] = one.taken();
    expect(snapshot).toMatchObject({ type: "snapshot", sequence: 1, data: { bid: "100" } });
    quote(101);
    await wait(100);
    for (const bid of [102, 103, 104]) quote(bid);
    quote(104);
    await wait(100);
    const items = one.items();
    expect(numbers(items)).toEqual([
      [2, 0],
      [5, 2],
    ]);
    expect(items[1]?.data).toMatchObject({ bid: "104" });
    const late = client(hub.open);
    late.say({ type: "subscribe", quotes: ["AAPL"] });
    expect(late.frames.at(-1)).toMatchObject({ type: "snapshot", sequence: 5 });
    quote(105);
    await wait(100);
    expect(numbers(late.items())).toEqual([[6, 0]]);
  });

  it("quotes TEST every second under the second's number", async () => {
    const { hub, wait } = fixture();
    const one = client(hub.open);
    one.say({ type: "subscribe", quotes: ["TEST"] });
    const first = Number(one.taken().at(-1)?.["sequence"]);
    await wait(3_100);
    expect(numbers(one.items())).toEqual([1, 2, 3].map((step) => [first + step, 0]));
  });

  it("3: sends every halt and lift, without evidence, and counts those that strangers do not see", async () => {
    const { hub, halt, lift, wait } = fixture();
    const one = client(hub.open);
    one.say({ type: "subscribe", halts: true });
    halt("h-1");
    halt("h-2", true);
    lift("h-1");
    await wait(100);
    const items = one.items();
    expect(numbers(items)).toEqual([
      [1, 0],
      [3, 1],
    ]);
    expect(items.map(({ data }) => data["change"])).toEqual(["raised", "lifted"]);
    expect(JSON.stringify(items)).not.toMatch(/evidence|confirmation|loss/);
  });

  it("3: replays the halts that were missed from where the client was, with the state of that moment", async () => {
    const { hub, halt, lift } = fixture();
    halt("h-1");
    halt("h-2");
    lift("h-1");
    halt("h-3");
    const one = client(hub.open);
    one.say({ type: "subscribe", id: 1, halts: true, resume: { halts: 2 } });
    const [, , snapshot, updates] = one.frames;
    expect(snapshot).toMatchObject({ type: "snapshot", sequence: 2, data: [{ halt_id: "h-1" }, { halt_id: "h-2" }] });
    expect(numbers(updates?.items ?? [])).toEqual([
      [3, 0],
      [4, 0],
    ]);
  });

  it("3: names the gap when the changes are not kept any more, or are of another history", () => {
    const { hub, halt, drop } = fixture();
    for (const id of ["h-1", "h-2", "h-3"]) halt(id);
    drop(2);
    halt("h-4");
    for (const [resume, from, to] of [
      [1, 2, 4],
      [9, 0, 4],
    ]) {
      const one = client(hub.open);
      one.say({ type: "subscribe", halts: true, resume: { halts: resume } });
      const [, , gap, snapshot, ...more] = one.frames;
      expect(gap).toMatchObject({ type: "gap", channel: "halts", from_sequence: from, to_sequence: to });
      expect(snapshot).toMatchObject({ type: "snapshot", sequence: 4 });
      expect(more).toEqual([]);
    }
  });

  it("3: names the gap when halts come faster than they are kept", () => {
    const { hub, feed, time } = fixture();
    const one = client(hub.open);
    one.say({ type: "subscribe", halts: true });
    one.taken();
    const at = format(time.clock.now());
    const halts = [
      {
        ...publicHalt({ requested_by: "riskengine" } as HaltRequest, () => false),
        severity: "FIRM_HALT" as const,
        fund_id: "",
        reason: "r",
      },
    ].map((halt) => ({ ...halt, requested_by: "operator:duty", halt_id: "h-3", epoch: 3, since: at }));
    feed.halts.say({ epoch: 3, halts, changes: [{ sequence: 3, change: "raised", halts, at }] }, time.clock.now());
    const [gap, updates] = one.taken();
    expect(gap).toMatchObject({ type: "gap", channel: "halts", from_sequence: 1, to_sequence: 2 });
    expect(numbers(updates?.items ?? [])).toEqual([[3, 0]]);
  });

  it("sends closed bars once for all, numbered by their interval, and replays them after a resume", async () => {
    const minuteUs = 60_000_000;
    const made = (start: number, closed: boolean) => ({
      symbol: "AAPL",
      interval: "1m",
      start: format(start as never),
      open: "1",
      high: "1",
      low: "1",
      close: "1",
      volume: "1",
      closed,
    });
    const time = { now: () => 0 };
    const {
      hub,
      wait,
      asked,
      time: virtual,
    } = fixture({
      bars: ({ start }) => {
        const current = Math.floor(time.now() / minuteUs) * minuteUs;
        const from = start === undefined ? current - minuteUs : Date.parse(start) * 1_000;
        const bars: object[] = [];
        for (let at = from; at <= current; at += minuteUs) bars.push(made(at, at < current));
        return { bars };
      },
    });
    time.now = () => virtual.clock.now();
    const number = () => Math.floor(virtual.clock.now() / minuteUs);
    const clients = [client(hub.open), client(hub.open)];
    for (const one of clients) one.say({ type: "subscribe", bars: ["AAPL:1m"] });
    await wait(10);
    const before = number();
    expect(clients[0]?.frames.at(-1)).toMatchObject({
      type: "snapshot",
      channel: "bars:AAPL:1m",
      sequence: before - 1,
    });
    for (const one of clients) one.taken();
    const askedBefore = asked.length;
    await wait(121_000);
    for (const one of clients) {
      expect(numbers(one.items())).toEqual([
        [before, 0],
        [before + 1, 0],
      ]);
    }
    expect(asked.length - askedBefore).toBe(2);
    const back = client(hub.open);
    back.say({ type: "subscribe", bars: ["AAPL:1m"], resume: { "bars:AAPL:1m": before - 3 } });
    await wait(10);
    expect(back.frames[2]).toMatchObject({ type: "snapshot", sequence: before - 3 });
    expect(numbers(back.items())).toEqual([-2, -1, 0, 1].map((step) => [before + step, 0]));
  });

  it("says when bars cannot be had, and that the channel is not followed", async () => {
    const { hub, wait } = fixture();
    const one = client(hub.open);
    one.say({ type: "subscribe", funds: true, bars: ["AAPL:1m"] });
    await wait(10);
    expect(one.taken().at(-1)).toMatchObject({ type: "error", code: "SERVICE_UNAVAILABLE" });
    one.say({ type: "unsubscribe", id: 1 });
    expect(one.taken()).toEqual([{ type: "subscribed", id: 1, channels: ["funds"] }]);
  });

  it("answers what cannot be with an error that carries the message's id, and goes on", () => {
    const { hub } = fixture();
    const one = client(hub.open);
    one.taken();
    for (const [message, code, words] of [
      [{ type: "subscribe", id: "x", quotes: ["NONE"] }, "NOT_FOUND", "NONE"],
      [{ type: "subscribe", id: "x", bars: ["AAPL:2m"] }, "INVALID_ARGUMENT", "1m, 5m"],
      [{ type: "subscribe", id: "x", bars: ["TEST:1m"] }, "NOT_FOUND", "TEST"],
      [{ type: "subscribe", id: "x", symbols: ["AAPL"] }, "INVALID_ARGUMENT", "symbols"],
      [{ type: "dance", id: "x" }, "INVALID_ARGUMENT", "dance"],
    ] as const) {
      one.say(message);
      const [error] = one.taken();
      expect(error).toMatchObject({ type: "error", id: "x", code });
      expect(error?.["detail"]).toContain(words);
    }
    expect(one.closed).toEqual([]);
  });

  it("beats every ten seconds, and says what was not reported for five", async () => {
    const { hub, wait, quote } = fixture();
    const one = client(hub.open);
    one.say({ type: "subscribe", halts: true });
    one.taken();
    await wait(9_000);
    quote(101);
    await wait(1_000);
    expect(one.taken().map(({ type, stale }) => [type, stale])).toEqual([["heartbeat", ["funds", "halts"]]]);
    await wait(20_000);
    expect(one.taken().filter(({ type }) => type === "heartbeat")).toHaveLength(2);
  });
});

describe("the stream closes", () => {
  it("4001 the connection that is one too many for its address, and no other", () => {
    const { hub } = fixture();
    const own = Array.from({ length: 21 }, () => client(hub.open));
    expect(own.map(({ closed }) => closed[0])).toEqual([
      ...Array.from({ length: 20 }, () => undefined),
      "4001 TOO_MANY_CONNECTIONS",
    ]);
    expect(client(hub.open, "192.0.2.2").closed).toEqual([]);
    own[0]?.session.closed();
    expect(client(hub.open).closed).toEqual([]);
    expect(hub.count()).toBe(21);
  });

  it("4002 whoever wants more than 200 channels", () => {
    const { hub, feed, time } = fixture();
    const many = Array.from({ length: 201 }, (_none, index) => `S${index}`);
    feed.instruments.say(
      many.map((symbol) => ({ ...instrument, symbol, priced_by: [] })),
      time.clock.now(),
    );
    const one = client(hub.open);
    one.say({ type: "subscribe", quotes: many.slice(0, 200) });
    expect(one.closed).toEqual([]);
    one.say({ type: "subscribe", quotes: many.slice(200) });
    expect(one.closed).toEqual(["4002 TOO_MANY_CHANNELS"]);
  });

  it("4003 whoever says more than ten things in a second", async () => {
    const { hub, wait } = fixture();
    const one = client(hub.open);
    const say = (count: number) => {
      for (let said = 0; said < count; said += 1) one.say({ type: "subscribe", funds: true });
    };
    say(10);
    await wait(1_000);
    say(10);
    expect(one.closed).toEqual([]);
    say(1);
    expect(one.closed).toEqual(["4003 TOO_MANY_MESSAGES"]);
  });

  it("4005 whoever has not subscribed within ten seconds", async () => {
    const { hub, wait } = fixture();
    const [silent, wrong, good] = [client(hub.open), client(hub.open), client(hub.open)];
    wrong.say({ type: "subscribe", quotes: ["NONE"] });
    good.say({ type: "subscribe", funds: true });
    await wait(9_999);
    expect([silent.closed, wrong.closed]).toEqual([[], []]);
    await wait(1);
    expect([silent.closed, wrong.closed, good.closed]).toEqual([
      ["4005 NOT_SUBSCRIBED_IN_TIME"],
      ["4005 NOT_SUBSCRIBED_IN_TIME"],
      [],
    ]);
  });

  it.each(["{", "17", "null", "[]", '"subscribe"', "{}", '{"type":7}'])("4006 whoever says no message: %s", (text) => {
    const { hub } = fixture();
    const one = client(hub.open);
    one.say(text);
    expect(one.closed).toEqual(["4006 MALFORMED"]);
  });

  it("4007 everybody when it shuts down, after it has said so, and whoever comes then", () => {
    const { hub } = fixture();
    const one = client(hub.open);
    one.taken();
    hub.shutDown();
    expect(one.taken()).toEqual([{ type: "shutdown", reconnect_after_s: 1 }]);
    expect(one.closed).toEqual(["4007 SHUTTING_DOWN"]);
    expect(client(hub.open).closed).toEqual(["4007 SHUTTING_DOWN"]);
  });

  it("4: 4008 the consumer that is more than 256 KB behind, by name, and the others do not notice", async () => {
    const { hub, quote, wait } = fixture();
    const [slow, edge, quick] = [client(hub.open), client(hub.open), client(hub.open)];
    for (const one of [slow, edge, quick]) {
      one.say({ type: "subscribe", quotes: ["AAPL"] });
      one.taken();
    }
    slow.fallBehind(262_145);
    edge.fallBehind(262_144);
    quote(101);
    await wait(100);
    quote(102);
    await wait(100);
    expect([slow.closed, edge.closed, quick.closed]).toEqual([["4008 SLOW_CONSUMER"], [], []]);
    expect([slow.items().length, edge.items().length, quick.items().length]).toEqual([1, 2, 2]);
    expect(hub.count()).toBe(2);
  });
});
