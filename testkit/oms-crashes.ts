// Ways to make order management suffer: killed at the n-th of its steps (before and after every commit, every question to the risk engine and
// to the broker), or a whole life of random trouble from one seed.

import { Fault } from "../contracts/src/fault.ts";
import type { OrderStatus } from "../contracts/src/generated/svc/v1/platform.ts";
import type { Order } from "../contracts/src/records/order.ts";
import { hasEnded } from "../core/orders/order-lifecycle.ts";
import type { CommitFate } from "./memory/faults.ts";
import { type OmsFixture, type OmsLife, omsFixture, orderOf } from "./oms-fixture.ts";
import { complaintsAbout } from "./oms-model.ts";
import { IncarnationEnded } from "./virtual/incarnation.ts";

export interface Suffered {
  readonly complaints: readonly string[];
  /** How many places there were to be killed at. */
  readonly points: number;
  readonly kills: number;
}

/** One order management that is always there again: a caller is answered, or asks again. */
interface Phoenix {
  readonly fixture: OmsFixture;
  /** Asks until there is an answer; a caller whose question died with the process asks again. */
  ask<Answer>(procedure: string, message: object): Promise<Answer>;
  kills(): number;
  kill(): void;
}

async function phoenix(fixture: OmsFixture): Promise<Phoenix> {
  let life: OmsLife | undefined;
  let starting: Promise<unknown> | undefined;
  let kills = 0;
  const start = (): Promise<unknown> => {
    starting ??= (async () => {
      for (;;) {
        const made = await Promise.race([fixture.start().catch(() => undefined), fixture.time.timers.sleep(2_000)]);
        if (made === undefined) continue;
        life = made;
        starting = undefined;
        return;
      }
    })();
    return starting;
  };
  await start();
  return {
    fixture,
    kills: () => kills,
    kill() {
      kills += 1;
      life?.kill();
      life = undefined;
      fixture.killStarting();
      void start();
    },
    async ask<Answer>(procedure: string, message: object): Promise<Answer> {
      for (;;) {
        // A defect ends it for good, and is what there is to tell.
        const [death] = life?.deaths ?? [];
        if (death !== undefined) throw death;
        const patience = fixture.time.timers.sleep(12_000).then(() => undefined);
        const answer = await Promise.race([
          life?.call<Answer>(procedure, message).catch((thrown: unknown) => {
            if (thrown instanceof Fault || thrown instanceof IncarnationEnded) return undefined;
            throw thrown;
          }),
          patience,
        ]);
        if (answer !== undefined) return answer;
        await fixture.time.timers.sleep(50);
      }
    },
  };
}

export type Scenario = (phoenix: Phoenix) => Promise<void>;

/** Runs a scenario and kills order management at the n-th point; zero kills it never. */
export async function killedAt(n: number, scenario: Scenario): Promise<Suffered> {
  let points = 0;
  let kill: () => void = () => undefined;
  const point = (): void => {
    points += 1;
    if (points === n) kill();
  };
  const fixture = await omsFixture({
    seed: 7_000 + n,
    faults: {
      commitDelayMs: () => {
        point();
        return 1;
      },
      answerDelayMs: () => {
        point();
        return 1;
      },
    },
  });
  try {
    const bird = await phoenix(fixture);
    points = 0;
    kill = bird.kill;
    fixture.risk.isDown = () => {
      point();
      return false;
    };
    fixture.risk.losesAnswer = () => {
      point();
      return false;
    };
    fixture.broker.answerMs = () => {
      point();
      return 1;
    };
    await scenario(bird);
    const reached = points;
    await fixture.time.timers.sleep(15_000);
    return { complaints: await complaintsAbout(fixture), points: reached, kills: bird.kills() };
  } finally {
    await fixture.close();
  }
}

/** Trades whatever is open at the broker, bit by bit, until these orders have ended. */
export async function tradeUntilEnded({ fixture }: Phoenix, ids: readonly string[]): Promise<void> {
  await fixture.until("every order has ended", async () => {
    for (const [id, { state, order, filled }] of fixture.broker.kept) {
      if (state !== "WORKING" && state !== "PARTIALLY_FILLED") continue;
      const left = (order.quantity - filled) / 10n ** 18n;
      fixture.broker.trade(id, String(left > 4n ? 4n : left), "230");
    }
    await fixture.time.timers.sleep(20);
    const states = await Promise.all(ids.map(async (id) => (await fixture.order(id))?.state));
    return states.every((state) => state !== undefined && hasEnded(state));
  });
}

/** A life of random trouble. */
export async function randomLife(seed: number): Promise<Suffered> {
  let isFoul = true;
  const fate = (chance: (probability: number) => boolean): CommitFate => {
    if (!isFoul) return "committed";
    if (chance(0.03)) return "lost, committed";
    if (chance(0.03)) return "lost, not committed";
    if (chance(0.03)) return "conflict";
    return chance(0.03) ? "failed" : "committed";
  };
  let commitFate: () => CommitFate = () => "committed";
  let delay = (): number => 0;
  const fixture = await omsFixture({
    seed,
    faults: { commit: () => commitFate(), commitDelayMs: () => delay(), answerDelayMs: () => delay() },
  });
  const thrown = fixture.time.prng.fork("trouble");
  const { timers } = fixture.time;
  try {
    const bird = await phoenix(fixture);
    commitFate = () => fate((probability) => thrown.chance(probability));
    delay = () => thrown.below(4);
    fixture.risk.losesAnswer = () => isFoul && thrown.chance(0.2);
    fixture.risk.isDown = () => isFoul && thrown.chance(0.1);
    fixture.risk.decide = () => (thrown.chance(0.1) ? "POSITION_LIMIT_EXCEEDED" : true);
    fixture.broker.silence = () =>
      !isFoul || thrown.chance(0.8) ? undefined : thrown.chance(0.5) ? "before" : "after";
    fixture.broker.answerMs = () => thrown.below(5);
    fixture.broker.repeatsReports = thrown.chance(0.5);
    const acknowledged = await trade(bird, thrown);
    isFoul = false;
    await timers.sleep(320_000);
    const lost = acknowledged.filter((id) => !fixture.tables.oms.orders.has(id));
    const complaints = [...lost.map((id) => `${id} was acknowledged and is gone`), ...(await complaintsAbout(fixture))];
    return { complaints, points: 0, kills: bird.kills() };
  } finally {
    await fixture.close();
  }
}

type Thrown = OmsFixture["time"]["prng"];

/** Gives the ids of the orders that were acknowledged. */
async function trade(bird: Phoenix, thrown: Thrown): Promise<readonly string[]> {
  const { fixture } = bird;
  const acknowledged: string[] = [];
  const asking: Promise<unknown>[] = [];
  for (let round = 0; round < 25; round += 1) {
    const action = thrown.below(10);
    if (action < 5) {
      const order: Order = {
        ...orderOf(`o-${round}`, { quantity: String(1 + thrown.below(12)) }),
        strategy_id: thrown.chance(0.5) ? "alpha-momentum" : "alpha-meanrev",
        order_id: "",
      };
      const submitting = bird.ask<OrderStatus>("SubmitOrder", order);
      asking.push(submitting.then((status) => acknowledged.push(status.order?.order_id ?? "")));
    } else if (action < 7) {
      tradeSome(fixture, thrown);
    } else if (action < 8) {
      const ids = [...fixture.tables.oms.orders.keys()];
      const id = ids[thrown.below(Math.max(1, ids.length))];
      if (id !== undefined) asking.push(bird.ask("CancelOrder", { order_id: id, reason: "why not" }));
    } else if (action < 9) {
      bird.kill();
    } else if (thrown.chance(0.4)) {
      const strategyId = thrown.chance(0.5) ? "alpha-momentum" : "alpha-meanrev";
      asking.push(
        fixture.halt({ severity: "STRATEGY_HALT", fund_id: "alpha", strategy_id: strategyId }).catch(() => undefined),
      );
    }
    await fixture.time.timers.sleep(thrown.below(120));
  }
  await Promise.all(asking);
  return acknowledged;
}

function tradeSome(fixture: OmsFixture, thrown: Thrown): void {
  for (const [id, { order, filled, state }] of fixture.broker.kept) {
    const isOpen = state === "WORKING" || state === "PARTIALLY_FILLED";
    const left = Number((order.quantity - filled) / 10n ** 18n);
    if (isOpen && left > 0 && thrown.chance(0.5)) fixture.broker.trade(id, String(1 + thrown.below(left)), "230");
  }
}

/** What order management is killed in the middle of. */
export const crashScenarios: Readonly<Record<string, Scenario>> = {
  "an order that trades": async (bird) => {
    await bird.ask("SubmitOrder", orderOf("o-1"));
    await tradeUntilEnded(bird, ["o-1"]);
  },
  "an order that is cancelled": async (bird) => {
    await bird.ask("SubmitOrder", orderOf("o-1"));
    await bird.ask("CancelOrder", { order_id: "o-1", reason: "" });
    await bird.fixture.until("it has ended", async () => (await bird.fixture.order("o-1"))?.state === "CANCELLED");
  },
  "an order that is amended": async (bird) => {
    await bird.ask("SubmitOrder", orderOf("o-1"));
    await bird.fixture.until("it works", async () => (await bird.fixture.order("o-1"))?.state === "WORKING");
    await bird.ask("AmendOrder", { order_id: "o-1", idempotency_key: "amend", quantity: "7", reason: "" });
    await bird.fixture.until("it is amended", async () => (await bird.fixture.order("o-1"))?.amendment === undefined);
    await tradeUntilEnded(bird, ["o-1"]);
  },
  "an exit in slices": async (bird) => {
    bird.fixture.risk.maxNotional = 1_000;
    const exit = { side: "SELL", reduce_only: true, limit_price: "100", quantity: "25" } as const;
    await bird.ask("SubmitOrder", orderOf("o-1", exit));
    await tradeUntilEnded(bird, ["o-1"]);
  },
  "an order under a halt": async (bird) => {
    await bird.ask("SubmitOrder", orderOf("o-1"));
    await bird.fixture.halt({ severity: "FUND_HALT", fund_id: "alpha" });
    await bird.fixture.until("it has ended", async () => (await bird.fixture.order("o-1"))?.state === "CANCELLED");
  },
};
