// The suite that every adapter of reference data passes, together with the repositories of reference data and of the treasury's holdings.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { ReferenceKind } from "../../contracts/src/records/reference.ts";
import type { ReferenceData } from "../../ports/reference-data.ts";
import type { ReferenceVersion, Store } from "../../ports/store.ts";
import { range } from "./bus-kit.ts";
import { rejection, transactPatiently } from "./waiting.ts";

/** An empty world. Every check opens its own and closes it. */
export interface ReferenceFixture {
  readonly store: Store;
  readonly reference: ReferenceData;
  close(): Promise<void>;
}

function restricted(version: number, symbols: readonly string[]): ReferenceVersion {
  const content = symbols.map((symbol) => ({ symbol, reason: "tested" }));
  return { ...stamp("restricted", version), content };
}

function stamp(kind: ReferenceKind, version: number) {
  return {
    kind,
    version,
    setBy: "operator:duty",
    setAt: 1_700_000_000_000_001 as Instant,
    reason: "tested",
    hash: "a".repeat(64),
  };
}

const put = (fixture: ReferenceFixture, ...versions: readonly ReferenceVersion[]): Promise<void> =>
  fixture.store.transact("conformance.reference", async (unit) => {
    for (const version of versions) await unit.reference.put(version);
  });

async function readsTheNewest(fixture: ReferenceFixture): Promise<void> {
  const empty = await fixture.reference.read();
  expect(empty.instruments).toEqual([]);
  expect(empty.versions).toEqual({
    instruments: 0,
    funds: 0,
    fx: 0,
    borrow: 0,
    restricted: 0,
    calendars: 0,
    venues: 0,
  });
  expect(await fixture.reference.changed()).toBe(empty.change);
  const rate = { base: "EUR", quote: "USD", rate: "1.100000000000000001", as_of: "2026-11-15T10:00:00Z" };
  await put(fixture, restricted(1, ["AAPL"]), { ...stamp("fx", 1), content: [rate] });
  const first = await fixture.reference.read();
  expect(first.restricted.map((one) => one.symbol)).toEqual(["AAPL"]);
  expect(first.fx).toEqual([rate]);
  expect(first.versions).toMatchObject({ restricted: 1, fx: 1, borrow: 0 });
  expect(first.change).toBeGreaterThan(empty.change);
  await put(fixture, restricted(2, ["MSFT", "XOM"]));
  const second = await fixture.reference.read();
  expect(second.restricted.map((one) => one.symbol)).toEqual(["MSFT", "XOM"]);
  expect(second.versions).toMatchObject({ restricted: 2, fx: 1 });
  expect(second.change).toBeGreaterThan(first.change);
  expect(await fixture.reference.changed()).toBe(second.change);
  expect(await fixture.reference.read()).toBe(second);
}

async function keepsRequests(fixture: ReferenceFixture): Promise<void> {
  const { hash: _hash, setBy: requestedBy, setAt: at, ...asked } = restricted(2, ["größer\n\"'"]);
  const request = {
    ...asked,
    requestId: "r-1",
    requestedBy,
    subject: "issuer|duty",
    at,
    expiresAt: (at + 1) as Instant,
  };
  const seen = await fixture.store.transact("conformance.reference", async (unit) => {
    await unit.reference.ask(request);
    return unit.reference.asked("r-1");
  });
  expect(seen).toEqual(request);
  const look = (id: string) => fixture.store.transact("conformance.look", (unit) => unit.reference.asked(id));
  expect([await look("r-1"), await look("r-2")]).toEqual([request, undefined]);
}

async function refusesAVersionTwice(fixture: ReferenceFixture): Promise<void> {
  await put(fixture, restricted(1, ["AAPL"]));
  const before = await fixture.reference.changed();
  expect(await rejection(put(fixture, restricted(1, ["MSFT"])), "version 1 again")).toMatchObject({
    code: "STORE_CONFLICT",
  });
  expect(await fixture.reference.changed()).toBe(before);
  expect((await fixture.reference.read()).restricted.map((one) => one.symbol)).toEqual(["AAPL"]);
  const locked = await fixture.store.transact("conformance.lock", async (unit) => [
    await unit.reference.lock("restricted"),
    await unit.reference.lock("borrow"),
  ]);
  expect(locked).toEqual([restricted(1, ["AAPL"]), undefined]);
}

async function knowsWhatWasInForce(fixture: ReferenceFixture): Promise<void> {
  const at = (us: number) => us as Instant;
  await put(
    fixture,
    { ...restricted(1, ["AAPL"]), setAt: at(1_000) },
    { ...restricted(2, ["MSFT"]), setAt: at(2_000) },
  );
  // A clock that was set back: the version that was set last counts.
  await put(fixture, { ...restricted(3, ["XOM"]), setAt: at(1_500) });
  const inForce = (us: number) =>
    fixture.store.transact(
      "conformance.as-of",
      async (unit) => (await unit.reference.asOf("restricted", at(us)))?.version,
    );
  expect(await Promise.all([1, 1_000, 1_499, 1_500, 1_999, 9_000].map(inForce))).toEqual([1, 1, 1, 3, 3, 3]);
  expect(await fixture.store.transact("conformance.as-of", (unit) => unit.reference.asOf("fx", at(9)))).toBeUndefined();
}

async function losesNoChange(fixture: ReferenceFixture): Promise<void> {
  const next = (n: number) =>
    transactPatiently(fixture.store, "conformance.next", async (unit) => {
      const newest = await unit.reference.lock("restricted");
      const symbols = ((newest?.content ?? []) as { symbol: string }[]).map((one) => one.symbol);
      await unit.reference.put(restricted((newest?.version ?? 0) + 1, [...symbols, `S${n}`]));
    });
  await Promise.all(range(1, 6).map(next));
  const found = await fixture.reference.read();
  expect(found.versions.restricted).toBe(6);
  expect(found.restricted.map((one) => one.symbol).sort()).toEqual(range(1, 6).map((n) => `S${n}`));
  expect(found.change).toBe(await fixture.reference.changed());
}

async function refusesWhatIsNoReference(fixture: ReferenceFixture): Promise<void> {
  await put(fixture, { ...stamp("borrow", 1), content: [{ symbol: "AAPL", fee_pct: "free" }] });
  const fault = await rejection(fixture.reference.read(), "a document with mistakes");
  expect(fault).toMatchObject({ code: "INTERNAL", facts: { kind: "borrow", version: 1 } });
}

async function addsHoldings(fixture: ReferenceFixture): Promise<void> {
  const add = (symbol: string, quantity: string) =>
    transactPatiently(fixture.store, "conformance.add", (unit) =>
      unit.treasury.add("alpha", symbol, decimal.parse(quantity)),
    );
  await add("USD", "10000000.000000000000000001");
  await Promise.all(range(1, 6).map(() => add("AAPL", "0.1")));
  await add("USD", "-0.000000000000000002");
  const failing = fixture.store.transact("conformance.fail", async (unit) => {
    await unit.treasury.add("alpha", "USD", decimal.parse("5"));
    throw new Error("planned");
  });
  await rejection(failing, "the failing work");
  const found = await fixture.store.transact("conformance.holdings", (unit) => unit.treasury.holdings());
  expect(found.map((one) => [one.fundId, one.symbol, decimal.format(one.quantity)])).toEqual([
    ["alpha", "AAPL", "0.6"],
    ["alpha", "USD", "9999999.999999999999999999"],
  ]);
}

/** Long enough for a statement that need not wait to be done. */
const aMoment = () => new Promise((resolve) => setTimeout(resolve, 30));

/** As treasury changes it: locked first, then looked at by a unit of its own. */
function changeAfterLook(fixture: ReferenceFixture, noticed: (what: string) => void): Promise<void> {
  return transactPatiently(fixture.store, "conformance.change", async (unit) => {
    const newest = await unit.reference.lock("instruments");
    await unit.reference.lock("funds");
    noticed("locked");
    const held = await fixture.store.transact("conformance.look", (other) => other.treasury.holdings());
    noticed(`sees ${held.length}`);
    await aMoment();
    await unit.reference.put({ ...stamp("instruments", (newest?.version ?? 0) + 1), content: [] });
    noticed("changed");
  });
}

async function sendersAndChangesSeeEachOther(fixture: ReferenceFixture): Promise<void> {
  await put(fixture, { ...stamp("instruments", 1), content: [] }, { ...stamp("funds", 1), content: [] });
  const noticed: string[] = [];
  let changing: Promise<void> = Promise.resolve();
  await fixture.store.transact("conformance.send", async (unit) => {
    expect(await unit.reference.atSending()).toEqual({ instruments: 1, funds: 1 });
    changing = changeAfterLook(fixture, (what) => noticed.push(what));
    await aMoment();
    await unit.treasury.add("alpha", "AAPL", decimal.one);
    noticed.push("sent");
  });
  await changing;
  expect(noticed).toEqual(["sent", "locked", "sees 1", "changed"]);
  const seen: string[] = [];
  let waiting: Promise<void> = Promise.resolve();
  await changeAfterLook(fixture, (what) => {
    seen.push(what);
    if (what !== "locked") return;
    waiting = transactPatiently(fixture.store, "conformance.send", async (unit) => {
      seen.push(`sends by ${(await unit.reference.atSending()).instruments}`);
    });
  });
  await waiting;
  expect(seen).toEqual(["locked", "sees 1", "changed", "sends by 3"]);
}

const checks: readonly { readonly sentence: string; run(fixture: ReferenceFixture): Promise<void> }[] = [
  { sentence: "promises 1 to 4: the newest of every kind is read once, and `changed` tells when", run: readsTheNewest },
  { sentence: "a request for a second person is kept as it was made", run: keepsRequests },
  { sentence: "a version cannot be set twice, and its unit of work leaves nothing", run: refusesAVersionTwice },
  { sentence: "what was in force at a moment is the newest set until then, else the first", run: knowsWhatWasInForce },
  { sentence: "units of work that lock a kind and set the next version lose none", run: losesNoChange },
  { sentence: "a document that is none of its kind is a fault and no reference data", run: refusesWhatIsNoReference },
  {
    sentence: "a change waits for who is sending and sees it, and who sends during a change goes by the new version",
    run: sendersAndChangesSeeEachOther,
  },
  { sentence: "holdings add up exactly, also when several add at once", run: addsHoldings },
];

export function referenceConformance(name: string, open: () => Promise<ReferenceFixture>): void {
  describe(`reference data conformance: ${name}`, () => {
    for (const check of checks) {
      it(check.sentence, async () => {
        const fixture = await open();
        try {
          await check.run(fixture);
        } finally {
          await fixture.close();
        }
      });
    }
  });
}
