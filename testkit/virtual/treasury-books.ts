// A treasury in virtual time over the memory store, for tests: started and started again, told of fills and prices, and its books read past it.

import * as decimal from "../../contracts/src/decimal.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Identity } from "../../ports/identity.ts";
import type { DeniedAnswer, UnaryHandler } from "../../ports/rpc.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { type ReferenceView, referenceReader } from "../../services/reference/reference-view.ts";
import type { RunningService, ServicePorts } from "../../services/shared/service.ts";
import { flowAction } from "../../services/treasury/book-flow.ts";
import { seedTreasury } from "../../services/treasury/seed-treasury.ts";
import { treasury } from "../../services/treasury/treasury.ts";
import type { Price } from "../../services/treasury/valuation.ts";
import { giveProof } from "../memory/units/step-up.ts";
import { exampleFill } from "../record-examples.ts";
import { referenceActionOf } from "../reference-action.ts";
import { type ServiceFixture, serviceFixture } from "./service-fixture.ts";

export interface TestBooks {
  readonly fixture: ServiceFixture;
  start(differs?: Partial<ServicePorts>): Promise<RunningService>;
  /** Puts the paper platform's funds in, without starting anything. */
  seeded(): Promise<{ readonly ports: ServicePorts; readonly view: ReferenceView }>;
  tell(...fills: readonly Partial<Fill>[]): Promise<void>;
  /** A price of now. */
  price(text: string): Price;
  /** What the fund holds, by symbol and currency. */
  held(fundId: string): Promise<Record<string, string>>;
  look<Value>(read: (unit: UnitOfWork) => Promise<Value>): Promise<Value>;
  /** Every balance as one line, and a complaint when the books do not add up. */
  balances(fundId: string): Promise<Record<string, string>>;
  close(): Promise<void>;
}

export function testBooks(seed: number): TestBooks {
  const fixture = serviceFixture(seed);
  const running: RunningService[] = [];
  const look = <Value>(read: (unit: UnitOfWork) => Promise<Value>): Promise<Value> =>
    fixture.portsOf("treasury").store.transact("look", read);
  return {
    fixture,
    look,
    async start(differs = {}) {
      const started = await treasury.start(fixture.portsOf("treasury", differs));
      running.push(started);
      return started;
    },
    async seeded() {
      const ports = fixture.portsOf("treasury");
      await seedTreasury(ports);
      return { ports, view: await referenceReader(ports.referenceData).refresh() };
    },
    async tell(...fills) {
      await fixture.portsOf("oms").store.transact("fill", async (unit) => {
        for (const fill of fills) await unit.events.publish(subjects.fillsCreated, { ...exampleFill, ...fill });
      });
    },
    price: (text) => ({ price: decimal.parse(text), at: fixture.time.clock.now() }),
    async held(fundId) {
      const all = await look((unit) => unit.treasury.holdings());
      const own = all.filter((holding) => holding.fundId === fundId);
      return Object.fromEntries(own.map(({ symbol, quantity }) => [symbol, decimal.format(quantity)]));
    },
    async balances(fundId) {
      const { balances, held, entries } = await look(async (unit) => ({
        balances: await unit.ledger.balances(),
        held: await unit.treasury.holdings(),
        entries: [...fixture.tables.ledger.entries.values()],
      }));
      mustAgree(balances, held, entries);
      const own = balances.filter((one) => one.fundId === fundId);
      return Object.fromEntries(own.map((one) => [`${one.account} ${one.currency}`, decimal.format(one.amount)]));
    },
    async close() {
      for (const one of running.splice(0)) await one.stop();
      await fixture.close();
    },
  };
}

/** Every balance is the sum of its postings, cash is what is held of it, and all accounts together are nothing. */
function mustAgree(
  balances: Awaited<ReturnType<UnitOfWork["ledger"]["balances"]>>,
  held: Awaited<ReturnType<UnitOfWork["treasury"]["holdings"]>>,
  entries: ServiceFixture["tables"]["ledger"]["entries"] extends Map<string, infer Entry> ? readonly Entry[] : never,
): void {
  const sums = new Map<string, decimal.Decimal>();
  const addTo = (key: string, amount: decimal.Decimal) => {
    sums.set(key, decimal.add(sums.get(key) ?? decimal.zero, amount));
  };
  for (const { fundId, postings } of entries) {
    for (const { account, currency, amount } of postings) addTo(`${fundId} ${account} ${currency}`, amount);
  }
  for (const { fundId, account, currency, amount } of balances) {
    if (sums.get(`${fundId} ${account} ${currency}`) !== amount) throw new Error(`${fundId} ${account} is no sum`);
    addTo(`all ${fundId} ${currency}`, amount);
    const cash = held.find((one) => one.fundId === fundId && one.symbol === currency);
    if (account === "cash" && cash?.quantity !== amount) throw new Error(`cash of ${fundId} differs`);
  }
  for (const [key, sum] of sums) if (key.startsWith("all ") && sum !== decimal.zero) throw new Error(`${key} is off`);
}

/** Who calls. */
const treasurer = { kind: "operator", actor: "operator:duty", subject: "issuer|duty" } as const;

/** With the proof of the second factor that such a flow needs. */
export function provenFlow<Flow extends FlowTerms>(
  { fixture }: Pick<TestBooks, "fixture">,
  flow: Flow,
): Flow & { step_up_proof: string } {
  const named = flowAction(flow, flow.reason.trim());
  const proof = giveProof(fixture.tables.stepUps, { identity: treasurer, named, at: fixture.time.clock.now() });
  return { ...flow, step_up_proof: proof };
}

/** With the proof of the second factor that it needs where it loosens. */
export function provenReference<Document extends Parameters<typeof referenceActionOf>[0]>(
  fixture: Pick<ServiceFixture, "tables" | "time">,
  document: Document,
): Document & { step_up_proof: string } {
  const at = fixture.time.clock.now();
  const proof = giveProof(fixture.tables.stepUps, { identity: treasurer, named: referenceActionOf(document), at });
  return { ...document, step_up_proof: proof };
}

type FlowTerms = Readonly<Record<"fund_id" | "idempotency_key" | "currency" | "amount" | "reason", string>>;

export async function call<Answer>(
  running: RunningService,
  name: string,
  request: object = {},
  identity: Pick<Identity, "kind" | "actor" | "subject"> = treasurer,
): Promise<Answer & Partial<DeniedAnswer>> {
  const handler = running.rpc[0]?.handlers[name] as UnaryHandler;
  const from = { identity };
  return (await handler(request as never, from as never)) as Answer & Partial<DeniedAnswer>;
}
