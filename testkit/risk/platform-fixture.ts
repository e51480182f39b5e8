// A running platform with a world of its own to break in every way: funds that are each wrong in one thing, instruments that are each unknown in one thing,
// and the hands of order management, treasury and the market. Everything is put in through the doors that others use.

import { openClient } from "../../adapters/postgres/connection.ts";
import { createPostgresStore, type PostgresStore } from "../../adapters/postgres/store.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import { format, minusMilliseconds } from "../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import type { Instrument, Mark } from "../../contracts/src/records/market.ts";
import type { Fill, OrderTransition } from "../../contracts/src/records/order.ts";
import type { ReferenceContents, ReferenceKind } from "../../contracts/src/records/reference.ts";
import type { NewRestriction } from "../../contracts/src/records/restriction.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { BusEvent } from "../../ports/bus.ts";
import { ampleEnvelope } from "../ample-envelope.ts";
import { announcedSplit } from "../announced-split.ts";
import { type ModelReply, startModelServer } from "../model-server.ts";
import { noMetrics, noTracer } from "../no-telemetry.ts";
import { type Platform, pause, startPlatform } from "../platform.ts";
import { testDatabase } from "../postgres.ts";
import { openPeer } from "../postgres-fixture.ts";
import { quietLog } from "../quiet-log.ts";
import { openRiskClient, type RiskClient } from "./client.ts";
import { withFolderAway, withPlantedKey } from "./disturbances.ts";

/** As many open orders as one fund of this ground may have. */
export const fixtureOpenOrdersMax = 4;

export interface FixtureFund {
  /** What differs from an ample envelope; "none" has none at all. */
  readonly envelope?: Partial<RiskEnvelope> | "none";
  /** Ten million as of now unless it says otherwise; "none" was never valued, and "nobody's" names no source of its values. */
  readonly nav?: { readonly value: string; readonly ageMs?: number } | "none" | "nobody's";
  readonly holds?: { readonly symbol: string; readonly quantity: string };
  /** Where its days end; `always-open` unless it says otherwise. */
  readonly calendar?: string;
}

/** Two zones in which it is never the same date. */
export const farWest = "far-west";
export const farEast = "far-east";

export interface FixtureInstrument {
  readonly currency?: string;
  /** 100 as of now unless it says otherwise; "none" has no price. */
  readonly ageMs?: number | "none";
  readonly borrow?: { readonly available: string; readonly fee: string; readonly ageMs?: number };
  readonly restricted?: string;
  /** A call on another one, whose delta is one half and so old; "none" has none. */
  readonly callOn?: { readonly underlying: string; readonly deltaAgeMs: number | "none"; readonly expiry?: string };
}

export interface FixturePlan {
  readonly funds: Readonly<Record<string, FixtureFund>>;
  readonly instruments: Readonly<Record<string, FixtureInstrument>>;
  readonly fx: readonly { readonly base: string; readonly rate: string; readonly ageMs: number }[];
  readonly model: (prompt: string) => ModelReply;
}

export interface RiskFixture {
  readonly platform: Platform;
  readonly client: RiskClient;
  /** A market order of one unit of AAA for the fund `plain`, under an id and key that nobody had before. */
  order(differs?: Partial<Order>): Order;
  /** "desk" is a foreign program. */
  publish<Payload>(service: "oms" | "treasury" | "desk", subject: Subject<Payload>, payload: Payload): Promise<void>;
  mark(mark: Mark): void;
  /** Our position and that of a broker differ for certain, as far as anybody here can tell. */
  block(fundId: string, symbol: string): Promise<void>;
  /** As if a corporate action in it were announced, and nobody carried it out. */
  announce(symbol: string): Promise<void>;
  /** As if a watchdog had opened it now. */
  restrict(restriction: Omit<NewRestriction, "since">): Promise<void>;
  /** What the risk engine said about an order on the bus so far. */
  heard(orderId: string): readonly BusEvent[];
  /** Asks dry until the answer is as the world shall be. */
  settled(order: Order, isSettled: (decision: RiskDecision) => boolean): Promise<void>;
  /** Runs the work while nobody can read the halts. */
  withHaltsUnreadable(work: () => Promise<void>): Promise<void>;
  withRestrictionsUnreadable(work: () => Promise<void>): Promise<void>;
  /** Runs the work while the data folder is away, so that nobody can tell how much of its disk is free. */
  withDiskUnmeasurable(work: () => Promise<void>): Promise<void>;
  /** Runs the work while a signing key stands that somebody put in; then takes it out again. */
  withPlantedKey(work: () => Promise<void>): Promise<void>;
  /** Runs the work while a fund that was in the far west is in the far east, where its next day has begun, and nobody can write so. */
  withDayUnwritten(fundId: string, work: () => Promise<void>): Promise<void>;
  /** Runs the work while the newest entries of the audit log are gone, as the database's owner can make them; then puts them back. */
  withNewestEntriesGone(work: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export const strategyOf = (fundId: string): string => `${fundId}-desk`;
export const now = (agoMs = 0): string => format(minusMilliseconds(systemClock().now(), agoMs));

export async function openRiskFixture(plan: FixturePlan): Promise<RiskFixture> {
  const database = await testDatabase([]);
  const { host, port, user, database: name } = database.address.owner;
  const model = await startModelServer(({ body }) => plan.model(String(body.messages?.at(-1)?.content ?? "")));
  const platform = startPlatform({
    arguments: ["--single-process"],
    environment: {
      PORTCULLIS_DATABASE_URL: `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`,
      PORTCULLIS_PAPER_SEED: "always",
      PORTCULLIS_RISK_LOSS_CONFIRM_MS: "120000",
      // Its funds are valued by hand, now and then.
      PORTCULLIS_RISK_LOSS_VALUE_AGE_MAX_S: "600",
      PORTCULLIS_RISK_NAV_AGE_MAX_S: "600",
      PORTCULLIS_RISK_OPEN_ORDERS_PER_FUND_MAX: String(fixtureOpenOrdersMax),
      PORTCULLIS_LANGUAGE_MODEL_PROVIDER: "openai_compatible",
      PORTCULLIS_LANGUAGE_MODEL: "ground",
      PORTCULLIS_LANGUAGE_MODEL_URL: model.url,
    },
  });
  const closers: (() => Promise<void>)[] = [() => model.close(), () => database.drop(), () => platform.end()];
  const close = async (): Promise<void> => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    await platform.ready();
    const hands = await openHands(database.address.app);
    closers.push(hands.close);
    const client = await openRiskClient(platform, hands.stores.oms);
    closers.push(async () => client.close());
    const fixture = { ...fixtureOn(platform, client, hands, database.address.owner), close };
    await putIn(plan, fixture);
    closers.push(keepPriced(plan, hands));
    return fixture;
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

type Hands = Awaited<ReturnType<typeof openHands>>;

/** What order management, treasury and the market have: a store each to publish from, and the bus. */
async function openHands(target: Parameters<typeof openPeer>[0]) {
  const peer = openPeer(target);
  const timers = systemTimers();
  const tools = { clock: systemClock(), random: systemRandom(), timers, log: quietLog, metrics: noMetrics };
  const storeOf = (source: string): PostgresStore =>
    createPostgresStore({ ...tools, tracer: noTracer, source, pool: peer.pool, wake: peer.wake });
  const stores = { oms: storeOf("oms"), treasury: storeOf("treasury"), desk: storeOf("desk") };
  const byOrder = new Map<string, BusEvent[]>();
  const names = [subjects.gatePassed.name, subjects.gateFailed.name, subjects.decisionMade.name];
  await peer.bus.subscribe({ name: "ground", subjects: names }, async (event) => {
    const events = byOrder.get(event.key) ?? [];
    byOrder.set(event.key, [...events, event]);
  });
  return {
    bus: peer.bus,
    stores,
    heard: (orderId: string): readonly BusEvent[] => byOrder.get(orderId) ?? [],
    close: async () => {
      for (const store of Object.values(stores)) await store.close();
      await peer.close();
      timers.release();
    },
  };
}

function fixtureOn(
  platform: Platform,
  client: RiskClient,
  hands: Hands,
  owner: Parameters<typeof openClient>[0],
): Omit<RiskFixture, "close"> {
  let count = 0;
  const withLocked = async (tables: string, work: () => Promise<void>): Promise<void> => {
    const locker = await openClient(owner, { log: quietLog, applicationName: "a lock in the way" });
    try {
      await locker.query(`begin; lock table ${tables} in access exclusive mode`);
      await work();
    } finally {
      await locker.end();
    }
  };
  return {
    platform,
    client,
    order(differs = {}) {
      count += 1;
      const fundId = differs.fund_id ?? "plain";
      return {
        idempotency_key: `key-${count}`,
        order_id: `order-${count}`,
        fund_id: fundId,
        strategy_id: strategyOf(fundId),
        symbol: "AAA",
        side: "BUY",
        quantity: "1",
        order_type: "MARKET",
        tif: "DAY",
        broker: "paper",
        asset_class: "EQUITY",
        actor: "ground",
        ...differs,
      };
    },
    async publish(service, subject, payload) {
      await hands.stores[service].transact("ground", (unit) => unit.events.publish(subject, payload));
    },
    mark: (mark) => hands.bus.broadcast(subjects.marketMarks, mark),
    async block(fundId, symbol) {
      const at = systemClock().now();
      await hands.stores.oms.transact("ground", (unit) =>
        unit.reconcile.put({
          differenceId: `difference-${fundId}-${symbol}`,
          fundId,
          symbol,
          account: "elsewhere",
          broker: "elsewhere",
          ourQuantity: decimal.zero,
          brokerQuantity: decimal.one,
          class: "UNKNOWN",
          status: "CONFIRMED",
          evidence: "We have 0, the broker has 1.",
          isAlerted: true,
          firstSeenAt: at,
          at,
        }),
      );
    },
    async announce(symbol) {
      const action = announcedSplit(`split-${symbol}`, symbol, systemClock().now());
      await hands.stores.treasury.transact("ground", (unit) => unit.corporateActions.put(action));
    },
    async restrict(restriction) {
      const since = systemClock().now();
      await hands.stores.oms.transact("ground", (unit) => unit.restrictions.open({ ...restriction, since }));
    },
    heard: hands.heard,
    async settled(order, isSettled) {
      let last: RiskDecision | undefined;
      for (const until = Date.now() + 15_000; Date.now() < until; await pause(50)) {
        last = await client.check({ ...order, dry_run: true });
        if (isSettled(last)) return;
      }
      throw new Error(`the world did not become as it should be: ${last?.code} ${last?.reason}`);
    },
    withDiskUnmeasurable: (work) => withFolderAway(platform.dataFolder, work),
    withPlantedKey: (work) => withPlantedKey(owner, work),
    withRestrictionsUnreadable: (work) => withLocked("restriction", work),
    withHaltsUnreadable: (work) => withLocked("halt_epoch, halt", work),
    async withNewestEntriesGone(work) {
      const tamperer = await openClient(owner, { log: quietLog, applicationName: "somebody with every right" });
      const without = (sql: string): string =>
        `begin; alter table audit_entry disable trigger append_only; ${sql}; alter table audit_entry enable always trigger append_only; commit`;
      await tamperer.query(
        without(`create temp table gone on commit preserve rows as
            select * from audit_entry where sequence >= (select max(sequence) - 2 from audit_entry);
            delete from audit_entry where sequence in (select sequence from gone)`),
      );
      try {
        await work();
      } finally {
        await tamperer.query("insert into audit_entry select * from gone");
        await tamperer.end();
      }
    },
    withDayUnwritten: (fundId, work) =>
      withLocked("loss_state", async () => {
        const { answer } = await client.getReference("funds");
        const funds = JSON.parse(answer?.content_json ?? "[]") as ReferenceContents["funds"];
        const moved = funds.map((fund) => (fund.fund_id === fundId ? { ...fund, calendar: farEast } : fund));
        const document = { kind: "funds", version: (answer?.version ?? 0) + 1, content_json: JSON.stringify(moved) };
        await mustBeOk("moving a fund", client.setReference({ ...document, reason: "the ground of a test" }));
        await work();
      }),
  };
}

async function putIn(plan: FixturePlan, fixture: Omit<RiskFixture, "close">): Promise<void> {
  const { client, publish } = fixture;
  const kinds: Readonly<Partial<Record<ReferenceKind, readonly object[]>>> = {
    instruments: Object.entries(plan.instruments).map(([symbol, of]) => instrumentOf(symbol, of)),
    calendars: [
      { ...calendarOf(farWest), zone: "Pacific/Pago_Pago" },
      { ...calendarOf(farEast), zone: "Pacific/Kiritimati" },
    ],
    funds: Object.entries(plan.funds).map(([fundId, of]) => fundOf(fundId, of)),
    fx: plan.fx.map(({ base, rate, ageMs }) => ({ base, quote: "USD", rate, as_of: now(ageMs) })),
    borrow: Object.entries(plan.instruments).flatMap(([symbol, { borrow }]) =>
      borrow === undefined
        ? []
        : [{ symbol, available_quantity: borrow.available, fee_pct: borrow.fee, as_of: now(borrow.ageMs) }],
    ),
    restricted: Object.entries(plan.instruments).flatMap(([symbol, { restricted }]) =>
      restricted === undefined ? [] : [{ symbol, reason: restricted }],
    ),
  };
  for (const [kind, added] of Object.entries(kinds)) {
    const { answer } = await client.getReference(kind);
    const content = [...(JSON.parse(answer?.content_json ?? "[]") as object[]), ...added];
    const version = (answer?.version ?? 0) + 1;
    const document = { kind, version, content_json: JSON.stringify(content), reason: "the ground of a test" };
    await mustBeOk(`setting ${kind}`, client.setReference(document));
  }
  // The engine looks for other reference data once a second.
  const fundIds = Object.keys(plan.funds);
  const newest = fixture.order({ fund_id: fundIds.at(-1) ?? "" });
  await fixture.settled(newest, ({ code }) => code !== "SCHEMA_FUND_UNKNOWN" && code !== "SCHEMA_SYMBOL_UNKNOWN");
  for (const [fundId, { envelope, nav = { value: "10000000" }, holds }] of Object.entries(plan.funds)) {
    if (envelope !== "none") {
      await mustBeOk(`the limits of ${fundId}`, client.updateEnvelope(ampleEnvelope(fundId, envelope)));
    }
    if (typeof nav === "object") {
      const value = { fund_id: fundId, nav: nav.value, currency: "USD", as_of: now(nav.ageMs) };
      await publish("desk", subjects.navUpdated, value);
    }
    if (holds !== undefined) await publish("oms", subjects.fillsCreated, fillOf(fundId, holds));
  }
}

async function mustBeOk(what: string, asked: Promise<{ readonly status: string; readonly details: string }>) {
  const { status, details } = await asked;
  if (status !== "OK") throw new Error(`${what} was refused: ${status} ${details}`);
}

function instrumentOf(symbol: string, { currency = "USD", callOn }: FixtureInstrument): Instrument {
  const { underlying, expiry = "2099-12-18" } = callOn ?? {};
  return {
    symbol,
    name: symbol,
    asset_class: callOn === undefined ? "EQUITY" : "OPTION",
    ...(underlying !== undefined && { underlying, expiry, strike: "100", right: "CALL" as const }),
    currency,
    tick_size: "0.01",
    lot_size: "1",
    multiplier: "1",
    sector: "fixture",
    calendar: "always-open",
  };
}

function calendarOf(name: string): ReferenceContents["calendars"][number] {
  return { name, zone: "UTC", sessions: "always", holidays: [], early_closes: {} };
}

/** Live, so that the paper treasury leaves its value alone and nobody says old rates again. */
function fundOf(fundId: string, { calendar = "always-open", nav }: FixtureFund): ReferenceContents["funds"][number] {
  return {
    fund_id: fundId,
    name: fundId,
    mode: "LIVE",
    currency: "USD",
    calendar,
    strategies: [strategyOf(fundId)],
    ...(nav !== "nobody's" && { valued_by: "desk" }),
  };
}

export function fillOf(fundId: string, holds: { readonly symbol: string; readonly quantity: string }): Fill {
  return {
    fill_id: `${fundId}-${holds.symbol}`,
    order_id: `${fundId}-before`,
    fund_id: fundId,
    strategy_id: strategyOf(fundId),
    symbol: holds.symbol,
    side: holds.quantity.startsWith("-") ? "SELL" : "BUY",
    quantity: holds.quantity.replace("-", ""),
    price: "100",
    filled_at: now(),
  };
}

/** A step of an order that was approved before. */
export function stepOf(order: Order, to: OrderTransition["to"]): OrderTransition {
  const { order_id, fund_id, strategy_id, symbol, quantity } = order;
  const ids = { order_id, fund_id, strategy_id, symbol };
  return { ...ids, from: "WORKING", to, filled_quantity: "0", remaining_quantity: quantity, at: now() };
}

/** Says every price again once a second: they may be lost, and those that are fresh shall stay so. */
function keepPriced({ instruments }: FixturePlan, { bus }: Hands): () => Promise<void> {
  const began = systemClock().now();
  const say = (): void => {
    for (const [symbol, { ageMs = 0, callOn }] of Object.entries(instruments)) {
      if (ageMs === "none") continue;
      const at = ageMs === 0 ? now() : format(minusMilliseconds(began, ageMs));
      const ageOfDelta = callOn?.deltaAgeMs ?? "none";
      const risk = { delta: "0.5", stressed_up: "110", stressed_down: "90" };
      bus.broadcast(subjects.marketMarks, {
        symbol,
        price: "100",
        source: "ground",
        ...(ageOfDelta !== "none" && { option_risk: { ...risk, at: now(ageOfDelta) } }),
        at,
      });
    }
  };
  say();
  const timer = setInterval(say, 1_000);
  return async () => clearInterval(timer);
}
