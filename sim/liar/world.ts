// One world: the risk engine's whole shell and the gRPC door of foreign events on one store in memory, with funds that foreign programs trade. Treasury is
// a bookkeeper that believes every fill and every price that was answered `accepted`; the LIVE fund is valued by its own valuer, from its own books.
import { systemSha256 } from "../../adapters/system/hashing.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { ForeignReceipt } from "../../contracts/src/generated/svc/v1/foreign.ts";
import { type Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Block, Blocks, Headroom } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { Mark } from "../../contracts/src/records/market.ts";
import type { Fill, FillBusted } from "../../contracts/src/records/order.ts";
import type { FundReference } from "../../contracts/src/records/reference.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { envelopeHashText } from "../../core/envelope/envelope.ts";
import { createPriceSources } from "../../core/exposure/price-sources.ts";
import type { Identity } from "../../ports/identity.ts";
import type { EncodedAnswer, RpcCall } from "../../ports/rpc.ts";
import { foreignEvents } from "../../services/operations/foreign/publish-events.ts";
import { hearOutsideQuotes } from "../../services/operations/outside-quotes.ts";
import { paperEnvelopes, paperReference } from "../../services/shared/paper-seeds.ts";
import type { ServicePorts } from "../../services/shared/service.ts";
import { type EngineLife, machine, operator, orderOf, riskEngineFixture } from "../../testkit/risk/service-fixture.ts";
import type { DifferentReference } from "../../testkit/virtual/memory-platform.ts";
import { type Account, booksOf, type Ledger } from "./ledger.ts";
import type { PlantedLiarBug } from "./planted-bugs.ts";

/** A program outside with a valid token that may do whatever a program may. */
export const tokenOf = (name: string): Identity =>
  ({
    kind: "service",
    name,
    actor: `service:${name}`,
    subject: name,
    roles: ["service"],
    operations: ["Publish", "PublishOrders", "PublishValues", "PublishPrices", "CheckOrder", "ConfirmSent"],
  }) as unknown as Identity;

export const desk = tokenOf("desk-oms");
export const valuer = tokenOf("desk-treasury");
export const feed = tokenOf("desk-feed");
export const liar = tokenOf("liar");
/** Its other one, which names one fund. */
export const liarOfBeta: Identity = { ...tokenOf("liar-of-beta"), funds: ["beta"] };

/** Those that are traded, how each is valued, and what it is given to begin with. */
export const funds = [
  {
    fundId: "alpha",
    mode: "PAPER",
    strategies: ["alpha-momentum", "alpha-meanrev"],
    capital: "10000000",
    symbols: ["AAPL", "MSFT", "JPM", "XOM"],
  },
  {
    fundId: "beta",
    mode: "PAPER",
    strategies: ["beta-trend"],
    capital: "2000000",
    symbols: ["BTC-USD", "ETH-USD", "SOL-USD"],
  },
  {
    fundId: "gamma",
    mode: "LIVE",
    strategies: ["gamma-income"],
    capital: "5000000",
    symbols: ["SPY", "AAPL", "GOOGL"],
  },
] as const;
export type Fund = (typeof funds)[number];
export const symbols = [...new Set(funds.flatMap((fund) => fund.symbols))];

/** Whose prices count: of one symbol the liar's are compared, and would count were the feed silent for long. */
export const pricedBy = (symbol: string): readonly string[] =>
  symbol === "MSFT" ? [feed.name, liar.name] : [feed.name];

export interface WorldOptions {
  readonly seed: number;
  readonly plantedBug?: PlantedLiarBug | undefined;
}

/** An event of a program outside, as it is sent. */
export interface Sent<Payload = unknown> {
  readonly id: string;
  readonly subject: Subject<Payload>;
  readonly payload: Payload | string;
  readonly dryRun?: boolean;
}

export type World = Awaited<ReturnType<typeof openFixture>>;

const ageMsMax = 60_000;

export async function openFixture({ seed, plantedBug }: WorldOptions) {
  const ages = { markAgeMsMax: ageMsMax, navAgeMsMax: ageMsMax, lossValueAgeMsMax: ageMsMax };
  const { engine: plant, door: plantAtDoor } = plantedBug ?? {};
  const settings = { ...ages, ...plantedBug?.settings };
  const fixture = await riskEngineFixture({ seed, settings, reference: withSources, ...(plant && { plant }) });
  const { time, finish, platform, tables } = fixture;
  const now = (): string => format(time.clock.now());
  await finish(putFunds(fixture.outside.store, now()));
  await finish(putLimits(fixture.outside.store, now()));
  const ofOperations = platform.portsOf("operations");
  const { door, outside } = await finish(openDoor(plantAtDoor?.(ofOperations) ?? ofOperations));
  const treasury = platform.processOf("treasury");
  let life: EngineLife = await fixture.start({ inSilence: true });
  const ledger: Ledger = booksOf(funds);
  /** As treasury has them. */
  const sources = createPriceSources({ namedFor: pricedBy, markAgeMsMax: ages.markAgeMsMax });
  /** Fills that were answered `accepted`, by id. */
  const acceptedFills = new Set<string>();
  const next = numbering();

  async function publish<Payload>(by: Identity, { id, subject, payload, dryRun = false }: Sent<Payload>) {
    const payload_json = typeof payload === "string" ? payload : JSON.stringify(payload);
    const event = { id, subject: subject.name, payload_json, dry_run: dryRun };
    const identity = plantedBug?.takenFor?.(by, subject.name) ?? by;
    const receipt = (await finish(
      door["Publish"]?.(event as never, { identity } as unknown as RpcCall) as Promise<ForeignReceipt>,
    )) as ForeignReceipt;
    if (receipt.accepted && !receipt.repeated && !dryRun && typeof payload !== "string") believe(subject, payload, by);
    return receipt;
  }

  /** What treasury makes of it. */
  function believe(subject: { readonly name: string }, payload: unknown, by: Identity): void {
    if (subject.name === subjects.fillsCreated.name) {
      acceptedFills.add((payload as Fill).fill_id);
      ledger.book(payload as Fill, by.name);
    }
    if (subject.name === subjects.fillsBusted.name) ledger.bust((payload as FillBusted).fill_id);
    if (subject.name === subjects.marketMarks.name) {
      const { symbol, price, at } = payload as Mark;
      const { kind } = sources.judge({ symbol, source: by.name, at }, time.clock.now());
      if (kind === "COUNTS") ledger.price(symbol, price);
    }
  }

  /** By the desk's own books: the LIVE fund's until people have accepted what others reported. */
  let isAdopted = false;
  const isByOwn = (fund: Fund): boolean => fund.mode === "LIVE" && !isAdopted;

  function worthOf(fund: Fund): NavUpdated {
    const isOwn = isByOwn(fund);
    const account: Account = ledger.account(fund.fundId);
    const { cash, flows, positions } = isOwn ? account.own : account.all;
    const at = now();
    const prices: Record<string, { quantity: string; price: string; at: string }> = {};
    let worth = decimal.zero;
    for (const [symbol, quantity] of positions) {
      const price = ledger.priceOf(symbol, isOwn);
      if (quantity === decimal.zero || price === undefined) continue;
      worth = decimal.add(worth, decimal.multiply(quantity, price, "half-even"));
      prices[symbol] = { quantity: decimal.format(quantity), price: decimal.format(price), at };
    }
    return {
      fund_id: fund.fundId,
      nav: decimal.format(decimal.add(cash, worth)),
      currency: "USD",
      cash: decimal.format(cash),
      positions_value: decimal.format(worth),
      net_flows: decimal.format(flows),
      strategy_pnl: {},
      oldest_price_age_ms: 0,
      prices,
      as_of: at,
    };
  }

  /** Of the PAPER funds treasury's, of the LIVE one its valuer's. */
  async function tellValue(fund: Fund): Promise<void> {
    if (fund.mode === "PAPER") {
      const nav = worthOf(fund);
      await finish(treasury.store.transact("treasury.value", (unit) => unit.events.publish(subjects.navUpdated, nav)));
      return;
    }
    const sequence = next(valuer, fund.fundId, "values");
    const payload = { ...worthOf(fund), sequence };
    await publish(valuer, { id: `v-${fund.fundId}-${sequence}`, subject: subjects.navUpdated, payload });
  }

  return {
    fixture,
    time,
    tables,
    finish,
    now,
    publish,
    next,
    tellValue,
    worthOf,
    ledger,
    ...fillIds(),
    acceptedFills: acceptedFills as ReadonlySet<string>,
    /** What was accepted is booked by the LIVE fund's valuer as well. */
    adopt: (): void => {
      isAdopted = true;
    },
    life: (): EngineLife => life,
    call: <Answer>(procedure: string, message: object, by: Identity = operator): Promise<Answer> =>
      finish(life.call(procedure, message, by)) as Promise<Answer>,
    async ask(order: Partial<Order>, by: Identity = desk): Promise<RiskDecision> {
      const answer = (await finish(life.call("CheckOrder", orderOf(order), by))) as EncodedAnswer;
      return RiskDecision.decode(answer.encoded);
    },
    async headroom(fundId: string, symbol: string, side: string): Promise<decimal.Decimal> {
      const asked = { fund_id: fundId, symbol, side };
      return decimal.parse(((await finish(life.call("GetHeadroom", asked))) as Headroom).quantity);
    },
    blocks: async (): Promise<readonly Block[]> => ((await finish(life.call("ListBlocks", {}))) as Blocks).blocks,
    /** What may leave a fund; undefined when it left, else the code. */
    async withdraw(fund: Fund, amount: decimal.Decimal): Promise<string | undefined> {
      const cash = decimal.parse(worthOf(fund).cash ?? "0");
      const asked = { fund_id: fund.fundId, amount: decimal.format(amount), cash: decimal.format(cash), at: now() };
      const answer = await finish(life.call("ReserveWithdrawal", asked, machine));
      return (answer as { readonly denial?: { readonly code: string } }).denial?.code;
    },
    /** As kill -9, and started again at once. */
    async restart(): Promise<void> {
      life.process.kill();
      life = await fixture.start({ inSilence: true });
    },
    async reach(elapsedMs: number): Promise<void> {
      await time.run({ untilMs: elapsedMs });
    },
    async close(): Promise<void> {
      await finish(outside.stop());
      await finish(life.service.stop());
    },
  };
}

/** The next number of a program's kind and fund. */
function numbering() {
  const sequences = new Map<string, number>();
  return (by: Identity, fundId: string, kind: string): number => {
    const stream = `${by.name} ${fundId} ${kind}`;
    const number = (sequences.get(stream) ?? 0) + 1;
    sequences.set(stream, number);
    return number;
  };
}

/** Of fills that were published under another id, because theirs was used. */
function fillIds() {
  const renamed = new Map<string, string>();
  return {
    /** Gives a fill another id. */
    rename(fillId: string): string {
      const given = `${fillId}:again`;
      renamed.set(fillId, given);
      return given;
    },
    /** Under which a fill is booked here. */
    idOf: (fillId: string): string => renamed.get(fillId) ?? fillId,
  };
}

/** As operations has it: it hears prices itself to know whose count. */
async function openDoor(ports: ServicePorts) {
  const risk = { ...ports.settings.risk, markAgeMsMax: ageMsMax };
  const outside = await hearOutsideQuotes({ ...ports, settings: { ...ports.settings, risk } });
  return { door: foreignEvents(ports, outside.sources).handlers, outside };
}

const withSources: DifferentReference = (seeded) => ({
  ...seeded,
  instruments: seeded.instruments.map((one) => ({ ...one, priced_by: [...pricedBy(one.symbol)] })),
});

/** The paper platform's, without a bound of one order's: it would hide what other limits take. */
async function putLimits(store: ServicePorts["store"], at: string): Promise<void> {
  await store.transact("limits", async (unit) => {
    for (const limits of paperEnvelopes) {
      const record = { ...limits, max_notional: 50_000_000, updated_by: "x", updated_at: at, reason: "wide" };
      const hash = Buffer.from(systemSha256(envelopeHashText(record))).toString("hex");
      await unit.risk.putEnvelope({ ...record, hash });
    }
  });
}

/** The paper platform's, with one fund LIVE. */
async function putFunds(store: ServicePorts["store"], setAt: string): Promise<void> {
  const content = paperReference(setAt).funds.map((fund): FundReference => {
    const mode = funds.find(({ fundId }) => fundId === fund.fund_id)?.mode ?? fund.mode;
    return { ...fund, mode, ...(mode === "LIVE" && { valued_by: valuer.name }) };
  });
  const about = { kind: "funds", version: 2, setBy: "x", setAt: 0 as never, reason: "", hash: "" } as const;
  await store.transact("reference", (unit) => unit.reference.put({ ...about, content }));
}
