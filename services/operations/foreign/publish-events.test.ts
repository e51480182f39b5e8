// Events of programs outside over gRPC, on memory: durable before the answer, in order, once, in the name of the token, and nothing that a token was not
// issued for. The numbers are those of publish-events.ts.
import { afterEach, describe, expect, it } from "vitest";
import type { Operation } from "../../../contracts/src/authority.ts";
import { Defect } from "../../../contracts/src/fault.ts";
import type { ForeignReceipt } from "../../../contracts/src/generated/svc/v1/foreign.ts";
import { format, parse } from "../../../contracts/src/instant.ts";
import type { Mark } from "../../../contracts/src/records/market.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { createPriceSources } from "../../../core/exposure/price-sources.ts";
import type { AskedOrder } from "../../../ports/risk-store.ts";
import type { RpcCall } from "../../../ports/rpc.ts";
import { exampleFill, exampleMark, exampleNav } from "../../../testkit/record-examples.ts";
import { type ServiceFixture, serviceFixture } from "../../../testkit/virtual/service-fixture.ts";
import { foreignEvents } from "./publish-events.ts";
import { payloadBytesMax } from "./read-event.ts";
import { waitingMax } from "./store-events.ts";

const seed = 20_261_118;
const everything: readonly Operation[] = ["Publish", "PublishOrders", "PublishValues", "PublishPrices"];
let fixture: ServiceFixture | undefined;

afterEach(async () => {
  await fixture?.close();
  fixture = undefined;
});

function begin() {
  const platform = serviceFixture(seed);
  fixture = platform;
  const ports = platform.portsOf("operations");
  /** The instruments, the fills that the risk engine booked, and who asked for orders. */
  const known = {
    symbols: [exampleFill.symbol, exampleMark.symbol],
    booked: new Map<string, object>(),
    asked: new Map<string, AskedOrder>(),
    pricedBy: undefined as readonly string[] | undefined,
  };
  const referenceData = {
    changed: async () => known.symbols.length,
    read: async () => reference(known.symbols) as never,
  };
  const riskStore = {
    ...ports.riskStore,
    knownFills: async (ids: readonly string[]) => new Set(ids.filter((id) => known.booked.has(id))),
    fillEntry: async (id: string) => new TextEncoder().encode(JSON.stringify(known.booked.get(id))),
    askers: async (ids: readonly string[]) => ids.flatMap((orderId) => known.asked.get(orderId) ?? []),
  };
  // What is named is known from the first look on.
  let named: readonly string[] | undefined;
  const sources = {
    ...createPriceSources({ namedFor: () => named, markAgeMsMax: 10_000 }),
    look: async () => {
      named = known.pricedBy;
    },
  };
  const { handlers } = foreignEvents({ ...ports, referenceData, riskStore }, sources);
  const publish = (
    event: { readonly id?: string; readonly subject: string; readonly payload: unknown; readonly dry_run?: boolean },
    operations = everything,
    name = "my-oms",
  ): Promise<ForeignReceipt> => {
    const identity = { kind: "service", name, actor: `service:${name}`, roles: ["service"], operations };
    const { id = "e-1", subject, payload, dry_run = false } = event;
    const payload_json = typeof payload === "string" ? payload : JSON.stringify(payload);
    const call = { identity } as unknown as RpcCall;
    return handlers["Publish"]?.({ id, subject, payload_json, dry_run } as never, call) as Promise<ForeignReceipt>;
  };
  const stored = () =>
    platform.tables.log.map(({ subject, source, bytes }) => [
      subject,
      source,
      JSON.parse(new TextDecoder().decode(bytes)),
    ]);
  return { platform, ports, publish, stored, known };
}

const reference = (symbols: readonly string[]) => ({
  instruments: symbols.map((symbol) => ({ symbol, calendar: "c", currency: "USD" })),
  funds: [
    {
      fund_id: exampleFill.fund_id,
      mode: "LIVE",
      currency: "USD",
      strategies: [exampleFill.strategy_id],
      valued_by: "my-oms",
    },
  ],
  fx: [],
  borrow: [],
  restricted: [],
  venues: [],
  calendars: [],
  change: symbols.length,
});

const fill = { subject: subjects.fillsCreated.name, payload: exampleFill };

describe("an event of a program outside", () => {
  it("1: is durable when it is answered, in the name of the token", async () => {
    const { publish, stored } = begin();
    expect(await publish(fill)).toEqual({
      id: "e-1",
      accepted: true,
      repeated: false,
      code: "",
      reason: "",
      number_used: false,
    });
    expect(stored()).toEqual([[fill.subject, "my-oms", exampleFill]]);
  });

  it("1: is not answered when the store does not take it, and taken when it comes again", async () => {
    const { platform, publish, stored } = begin();
    platform.fates.set("foreign.publish", ["failed", "lost, committed"]);
    await expect(publish(fill)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(stored()).toEqual([]);
    await expect(publish(fill)).rejects.toMatchObject({ code: "STORE_COMMIT_UNKNOWN" });
    expect((await publish(fill)).accepted).toBe(true);
    expect(stored().length).toBe(1);
  });

  it("2: stands in the order in which it came, whoever waits together", async () => {
    const { publish, stored } = begin();
    const numbers = Array.from({ length: 250 }, (_, index) => index);
    const payload = (n: number) => ({ ...exampleFill, fill_id: `f-${n}`, sequence: n });
    const answers = await Promise.all(numbers.map((n) => publish({ ...fill, id: `e-${n}`, payload: payload(n) })));
    expect(answers.every(({ accepted }) => accepted)).toBe(true);
    expect(stored().map(([, , { sequence }]) => sequence)).toEqual(numbers);
  });

  it("3: is one event under one id of one program, at once and later, and two of two programs", async () => {
    const { publish, stored } = begin();
    const together = await Promise.all([publish(fill), publish(fill)]);
    expect(together.map(({ repeated }) => repeated)).toEqual([false, true]);
    expect(await publish(fill)).toMatchObject({ accepted: true, repeated: true });
    expect(stored().length).toBe(1);
    expect(await publish(fill, everything, "another")).toMatchObject({ repeated: false });
    expect(stored().map(([, source]) => source)).toEqual(["my-oms", "another"]);
  });

  it("4: is refused with a code and a sentence, and changes nothing", async () => {
    const { publish, stored } = begin();
    const refusals = [
      await publish({ subject: subjects.haltLifted.name, payload: {} }),
      await publish({ subject: "svc.v1.invented", payload: {} }),
      await publish({ subject: subjects.marketMarks.name, payload: { ...exampleMark, price: 1 } }),
      await publish({ ...fill, payload: "{" }),
      await publish({ ...fill, payload: { ...exampleFill, fund_id: "alhpa", quantity: "-1", side: "HOLD" } }),
      await publish({ ...fill, payload: { ...exampleFill, fund_id: 7, venue: "x".repeat(payloadBytesMax) } }),
      await publish({ ...fill, payload: { ...exampleFill, side: "HOLD" } }, ["Publish", "PublishValues"]),
    ];
    expect(refusals.every(({ number_used }) => !number_used)).toBe(true);
    expect(refusals.map(({ accepted, code }) => [accepted, code])).toEqual([
      [false, "BUS_SUBJECT_FOREIGN"],
      [false, "BUS_SUBJECT_FOREIGN"],
      [false, "BUS_PAYLOAD_INVALID"],
      [false, "BUS_PAYLOAD_INVALID"],
      [false, "BUS_PAYLOAD_INVALID"],
      [false, "MESSAGE_TOO_LARGE"],
      [false, "PERMISSION_DENIED"],
    ]);
    expect(refusals[4]?.reason).toMatch(/side: .*quantity: /);
    expect(refusals[6]?.reason).toContain("names PublishOrders");
    expect(stored()).toEqual([]);
  });

  it("4: that cannot be read and is about a fund is told once for each content, uses up neither id nor number, and is taken when it is right", async () => {
    const { publish, stored } = begin();
    const numbered = { ...exampleFill, sequence: 7 };
    const wrong = { ...fill, payload: { ...numbered, side: "HOLD" } };
    const nav = { subject: subjects.navUpdated.name, id: "v-1", payload: { ...exampleNav, nav: "much", sequence: 2 } };
    const large = { ...fill, id: "e-2", payload: { ...exampleFill, venue: "x".repeat(payloadBytesMax) } };
    for (const event of [wrong, wrong, nav, large, { ...fill, id: "" }]) {
      expect(await publish(event)).toMatchObject({ accepted: false, number_used: false });
    }
    const [held, refused] = [subjects.foreignHeld.name, subjects.foreignRefused.name];
    expect(stored().map(([subject, source, { code }]) => [subject, source, code])).toEqual([
      [held, "operations", "BUS_PAYLOAD_INVALID"],
      [refused, "operations", "BUS_PAYLOAD_INVALID"],
      [held, "operations", "MESSAGE_TOO_LARGE"],
      [held, "operations", "INVALID_ARGUMENT"],
    ]);
    expect(stored()[0]?.[2]).toMatchObject({
      source: "my-oms",
      event_id: "e-1",
      subject: fill.subject,
      fund_id: exampleFill.fund_id,
      sequence: 7,
      number_used: false,
      reason: expect.stringContaining("side: "),
    });
    expect(stored()[3]?.[2]).toMatchObject({ event_id: "unreadable" });
    expect(await publish({ ...fill, payload: numbered })).toMatchObject({ accepted: true, number_used: true });
  });

  it("3: with other content under an id that was used is refused, told once, and moves nothing; written otherwise it is the same", async () => {
    const { publish, stored, platform } = begin();
    const first = { ...exampleFill, quantity: "50", sequence: 1 };
    const other = { ...first, fill_id: "f-2", sequence: 2 };
    const together = await Promise.all([first, other, first].map((payload) => publish({ ...fill, payload })));
    expect(together.map(({ accepted, repeated, code }) => [accepted, repeated, code])).toEqual([
      [true, false, ""],
      [false, false, "EVENT_ID_REUSED"],
      [true, true, ""],
    ]);
    const written = JSON.stringify({ ...Object.fromEntries(Object.entries(first).reverse()), quantity: "50.0" });
    expect(await publish({ ...fill, payload: written })).toMatchObject({ accepted: true, repeated: true });
    expect(await publish({ ...fill, payload: other })).toMatchObject({
      repeated: true,
      code: "EVENT_ID_REUSED",
      number_used: true,
    });
    // The id is the program's, whatever it says under it.
    const asValue = { subject: subjects.navUpdated.name, payload: { ...exampleNav, sequence: 1 } };
    expect(await publish(asValue)).toMatchObject({ accepted: false, code: "EVENT_ID_REUSED" });
    expect(await publish(asValue, everything, "another")).toMatchObject({
      repeated: false,
      code: "EVENT_VALUE_NOT_YOURS",
    });
    expect(stored().map(([subject]) => subject)).toEqual([
      fill.subject,
      subjects.foreignHeld.name,
      subjects.foreignRefused.name,
      subjects.navUpdated.name,
    ]);
    expect(stored()[1]?.[2]).toMatchObject({
      code: "EVENT_ID_REUSED",
      event_id: "e-1",
      sequence: 2,
      number_used: true,
    });
    // What was refused has used up its id as well.
    const unknown = { ...fill, id: "e-9", payload: { ...exampleFill, symbol: "APPL" } };
    expect(await publish(unknown)).toMatchObject({ code: "EVENT_SYMBOL_UNKNOWN" });
    expect(await publish({ ...unknown, payload: exampleFill })).toMatchObject({ code: "EVENT_ID_REUSED" });
    expect(platform.tables.log.length).toBe(6);
  });

  it("3: under an id from before contents were kept is repeated", async () => {
    const { publish, ports, stored } = begin();
    await ports.store.transact("foreign.publish", (unit) =>
      unit.handled.firstTimes("operations.foreign-events", ["my-oms e-1"]),
    );
    expect(await publish({ ...fill, payload: { ...exampleFill, quantity: "7" } })).toMatchObject({
      accepted: true,
      repeated: true,
    });
    expect(stored()).toEqual([]);
  });

  it("a dry run is answered like the event and does nothing; no id and no number is used up", async () => {
    const { publish, stored, ports } = begin();
    const heard: unknown[] = [];
    const wanted = { subjects: [subjects.marketMarks.name], queueMax: 10, overflow: "drop-oldest" } as const;
    await ports.bus.listen(wanted, async ({ payload }) => void heard.push(payload));
    const numbered = { ...exampleFill, sequence: 3 };
    const dry = (event: { readonly id?: string; readonly subject: string; readonly payload: unknown }) =>
      publish({ ...event, dry_run: true });
    expect(await dry({ ...fill, payload: numbered })).toMatchObject({
      accepted: true,
      repeated: false,
      number_used: false,
    });
    const refusals = [
      await dry({ ...fill, payload: { ...numbered, symbol: "APPL" } }),
      await dry({ ...fill, payload: { ...numbered, side: "HOLD" } }),
    ];
    expect(refusals.map(({ accepted, code }) => [accepted, code])).toEqual([
      [false, "EVENT_SYMBOL_UNKNOWN"],
      [false, "BUS_PAYLOAD_INVALID"],
    ]);
    const mark = { ...exampleMark, at: format(ports.clock.now()) };
    expect(await dry({ subject: subjects.marketMarks.name, payload: mark })).toMatchObject({ accepted: true });
    expect([stored(), heard]).toEqual([[], []]);
    const taken = { ...fill, payload: { ...numbered, quantity: "9" } };
    expect(await publish(taken)).toMatchObject({ accepted: true, repeated: false });
    // Behind what came before it, also when that is not answered yet.
    const [, second] = await Promise.all([
      publish({ ...fill, id: "e-2", payload: numbered }),
      dry({ ...fill, id: "e-2", payload: { ...numbered, fee: "1" } }),
    ]);
    expect(second).toMatchObject({ code: "EVENT_ID_REUSED", number_used: false });
    expect(await dry(taken)).toMatchObject({ accepted: true, repeated: true });
    expect(stored()).toHaveLength(2);
  });

  it("6: a bust that is refused is answered so, also behind the fill and the bust that wait with it", async () => {
    const { publish, known } = begin();
    const { fill_id, order_id, fund_id, strategy_id, symbol, filled_at: at } = exampleFill;
    const bust = { bust_id: "b-1", fill_id, order_id, fund_id, strategy_id, symbol, reason: "wrong", at };
    const send = (id: string, payload: object) => publish({ subject: subjects.fillsBusted.name, id, payload });
    known.booked.set("theirs", { ...exampleFill, fill_id: "theirs", published_by: "another" });
    known.booked.set("ours", { ...exampleFill, fill_id: "ours" });
    const [, ...answers] = await Promise.all([
      publish(fill),
      send("1", bust),
      send("2", { ...bust, bust_id: "b-2" }),
      send("3", { ...bust, bust_id: "b-3", fill_id: "theirs" }),
      send("4", { ...bust, bust_id: "b-4", fill_id: "ours" }),
      send("5", { ...bust, fill_id: "f-other" }),
      send("6", { ...bust, bust_id: "b-6", fill_id: "f-later" }),
    ]);
    expect(answers.map(({ code }) => code)).toEqual([
      "",
      "EVENT_FILL_BUSTED",
      "EVENT_BUST_NOT_YOURS",
      "EVENT_BUST_NOT_YOURS",
      "EVENT_BUST_CHANGED",
      "",
    ]);
  });

  it("6: is answered with what is wrong, and durable all the same for the engine to refuse, once under its id", async () => {
    const { publish, stored, known } = begin();
    const nav = { subject: subjects.navUpdated.name, payload: { ...exampleNav, currency: "EUR" } };
    known.booked.set("f-9", { ...exampleFill, fill_id: "f-9" });
    known.asked.set("theirs", { orderId: "theirs", askedBy: "service:another", at: parse(exampleFill.filled_at) });
    const wrongWith = {
      EVENT_ORDER_NOT_YOURS: { ...fill, id: "w-0", payload: { ...exampleFill, order_id: "theirs" } },
      EVENT_FUND_UNKNOWN: { ...fill, id: "w-1", payload: { ...exampleFill, fund_id: "alhpa" } },
      EVENT_SYMBOL_UNKNOWN: { ...fill, id: "w-2", payload: { ...exampleFill, symbol: "APPL" } },
      EVENT_STRATEGY_UNKNOWN: { ...fill, id: "w-3", payload: { ...exampleFill, strategy_id: "nobody" } },
      EVENT_PRICE_IMPOSSIBLE: { ...fill, id: "w-4", payload: { ...exampleFill, price: "0" } },
      EVENT_FILL_CHANGED: { ...fill, id: "w-5", payload: { ...exampleFill, fill_id: "f-9", quantity: "11" } },
      EVENT_CURRENCY_WRONG: { ...nav, id: "w-6" },
    };
    const [codes, wrong] = [Object.keys(wrongWith), Object.values(wrongWith)];
    for (const repeated of [false, true]) {
      const answers = await Promise.all(wrong.map((event) => publish(event)));
      expect(answers.map(({ code }) => code)).toEqual(codes);
      expect(answers.every((answer) => !answer.accepted && answer.repeated === repeated)).toBe(true);
      expect(stored().map(([, source]) => source)).toEqual(wrong.map(() => "my-oms"));
    }
    const { currency: _wrong, ...valued } = nav.payload;
    const strange = { ...nav, id: "w-9", payload: { ...valued, currency: "USD", sequence: 3 } };
    expect(await publish(strange, everything, "stranger")).toMatchObject({
      accepted: false,
      code: "EVENT_VALUE_NOT_YOURS",
      number_used: true,
      reason: expect.stringContaining("valued by my-oms"),
    });
    expect(await publish(strange)).toMatchObject({ accepted: true });
    const [first, second] = ["10", "12"].map((quantity) => ({ ...exampleFill, fill_id: "f-10", quantity }));
    const [, ...both] = await Promise.all([
      publish(nav),
      publish({ ...fill, id: "w-7", payload: first }),
      publish({ ...fill, id: "w-8", payload: second }),
    ]);
    expect(both.map(({ code }) => code)).toEqual(["", "EVENT_FILL_CHANGED"]);
  });

  it("5: is answered when it is a price of zero or less, and goes out for the engine to alarm", async () => {
    const { ports, publish, stored } = begin();
    const price = (text: string) => ({ ...exampleMark, price: text, at: format(ports.clock.now()) });
    for (const [text, code] of [
      ["0", "EVENT_PRICE_IMPOSSIBLE"],
      ["-1", "EVENT_PRICE_IMPOSSIBLE"],
      ["0.01", ""],
    ] as const) {
      const answer = await publish({ subject: subjects.marketMarks.name, payload: price(text) });
      expect(answer).toMatchObject({ accepted: code === "", code });
    }
    const unknown = { ...price("1"), symbol: "APPL" };
    const { code } = await publish({ subject: subjects.marketMarks.name, payload: unknown });
    expect(code).toBe("EVENT_SYMBOL_UNKNOWN");
    expect(stored()).toEqual([]);
  });

  it("5: of a symbol that names other sources is answered as theirs, and goes out for the engine to tell", async () => {
    const { ports, publish, known } = begin();
    const mark = { subject: subjects.marketMarks.name, payload: { ...exampleMark, at: format(ports.clock.now()) } };
    known.pricedBy = ["first-feed"];
    const reason = expect.stringContaining("count from first-feed");
    expect(await publish(mark)).toMatchObject({ accepted: false, code: "EVENT_PRICE_NOT_YOURS", reason });
    expect(await publish(mark, everything, "first-feed")).toMatchObject({ accepted: true });
  });

  it("6: is taken under the same id once its symbol is there", async () => {
    const { publish, stored, known } = begin();
    const early = { ...fill, payload: { ...exampleFill, symbol: "NEWCO" } };
    expect(await publish(early)).toMatchObject({ accepted: false, code: "EVENT_SYMBOL_UNKNOWN" });
    known.symbols.push("NEWCO");
    expect(await publish(early)).toMatchObject({ accepted: true, repeated: false });
    expect(await publish(early)).toMatchObject({ accepted: true, repeated: true });
    expect(stored().length).toBe(2);
  });

  it("4: waits with a bounded number of others", async () => {
    const { publish } = begin();
    const first = Array.from({ length: waitingMax + 1 }, (_, n) => publish({ ...fill, id: `e-${n}` }));
    await expect(publish({ ...fill, id: "beyond" })).rejects.toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      retry: "later",
    });
    expect((await Promise.all(first)).every(({ accepted }) => accepted)).toBe(true);
  });

  it("of a treasury needs a token for values", async () => {
    const { publish, stored } = begin();
    const nav = { subject: subjects.navUpdated.name, payload: exampleNav };
    expect(await publish(nav, ["Publish", "PublishOrders", "PublishPrices"])).toMatchObject({
      code: "PERMISSION_DENIED",
    });
    expect(await publish(nav, ["Publish", "PublishValues"])).toMatchObject({ accepted: true });
    expect(stored().length).toBe(1);
  });
});

describe("a price", () => {
  it("5: goes out and is not stored, under the token's name whatever it says, and never dated ahead", async () => {
    const { platform, ports, publish, stored } = begin();
    const heard: Mark[] = [];
    const wanted = { subjects: [subjects.marketMarks.name], queueMax: 10, overflow: "drop-oldest" } as const;
    await ports.bus.listen(wanted, async ({ payload }) => void heard.push(payload as Mark));
    const mark = (at: string) => ({
      subject: subjects.marketMarks.name,
      id: "",
      payload: { ...exampleMark, source: "paper", at },
    });
    const now = format(ports.clock.now());
    expect(await publish(mark(now))).toMatchObject({ accepted: true });
    await platform.time.timers.sleep(2_000);
    expect(heard).toEqual([{ ...exampleMark, source: "my-oms", at: now }]);
    expect(stored()).toEqual([]);
    expect(await publish(mark("2036-01-01T00:00:00Z"))).toMatchObject({ accepted: false, code: "BUS_PAYLOAD_INVALID" });
    expect(await publish(mark(now), ["Publish", "PublishOrders"])).toMatchObject({ code: "PERMISSION_DENIED" });
  });
});

it("is published by operations alone, for a name that is none of ours, and only what programs outside may publish", async () => {
  const { platform } = begin();
  const attempt = (service: "operations" | "treasury", source: string, subject: typeof subjects.fillsCreated) =>
    platform
      .portsOf(service)
      .store.transact("foreign.publish", (unit) => unit.events.publishFor(source, subject, exampleFill));
  await expect(attempt("operations", "oms", subjects.fillsCreated)).rejects.toThrow(Defect);
  await expect(attempt("treasury", "my-oms", subjects.fillsCreated)).rejects.toThrow(Defect);
  await expect(attempt("operations", "my-oms", subjects.haltLifted as never)).rejects.toThrow(Defect);
});
