// Every stored decision against every stored halt, from the database alone: was new risk ever approved where it was halted? Epochs are compared
// and not clocks; a clock only says whether a decision came after the moment at which every engine was proven to block.
//
//  1. No approval of new risk carries an epoch at which a halt of its scope was in force.
//  2. No approval of new risk in a halt's scope that was decided after the halt was proven to block carries an epoch before it: an engine that
//     has confirmed a halt cannot forget it.
//  3. No decision carries an epoch that the store never had.
import type pg from "pg";
import { DecisionRecord } from "../contracts/src/generated/svc/v1/riskdesk.ts";
import { parse } from "../contracts/src/instant.ts";
import { covers, isInForceAt, type JudgedHalt, type JudgedOrder, type JudgedTime } from "./halt-judge.ts";

export interface HaltRow extends JudgedHalt, JudgedTime {
  readonly haltId: string;
  /** When every live engine was proven to block, as the halt manager recorded it; infinite when it was lifted before that. */
  readonly blockedUs: number;
}

export interface DecisionRow {
  readonly decisionId: string;
  readonly fundId: string;
  readonly strategyId: string;
  readonly approved: boolean;
  readonly code: string;
  /** Anything but a proven and marked reduction. */
  readonly isNewRisk: boolean;
  readonly haltEpoch: number;
  readonly decidedUs: number;
}

export interface HaltComparison {
  readonly halts: number;
  /** Those that were proven to block, so that rule 2 had a moment to go by. */
  readonly provenHalts: number;
  /** Those under which at least one order of their scope was decided. */
  readonly testedHalts: number;
  readonly decisions: number;
  readonly approvals: number;
  readonly deniedByHalt: number;
  /** The first hundred, in words. */
  readonly violations: readonly string[];
}

const pageRows = 2_000;
const violationsKept = 100;
const haltCodes: ReadonlySet<string> = new Set(["FIRM_HALTED", "FUND_HALTED", "STRATEGY_HALTED"]);

/** Reads a whole database; `client` may be of either role. */
export async function compareWithHalts(client: Pick<pg.Client, "query">): Promise<HaltComparison> {
  const judge = createHaltJudge(await readHalts(client), await readEpoch(client));
  for (let after = "0"; ; ) {
    const { rows } = await client.query<{ id: string; payload: Buffer }>(
      "select id, payload from portcullis.risk_journal where kind = 1 and id > $1 order by id limit $2",
      [after, pageRows],
    );
    for (const { payload } of rows) judge.see(decisionOf(payload));
    const last = rows.at(-1);
    if (last === undefined) return judge.found();
    after = last.id;
  }
}

async function readEpoch(client: Pick<pg.Client, "query">): Promise<number> {
  const { rows } = await client.query<{ epoch: string }>("select epoch from portcullis.halt_epoch");
  return Number(rows[0]?.epoch);
}

async function readHalts(client: Pick<pg.Client, "query">): Promise<readonly HaltRow[]> {
  const { rows } = await client.query<Record<string, string | null>>(
    `select h.halt_id, severity, fund_id, strategy_id, epoch, lifted_epoch, proven_us
     from portcullis.halt h left join portcullis.halt_step s on s.halt_id = h.halt_id and s.step = 'BLOCKED'`,
  );
  return rows.map((row) => ({
    haltId: row["halt_id"] ?? "",
    severity: row["severity"] ?? "",
    fund_id: row["fund_id"] ?? "",
    strategy_id: row["strategy_id"] ?? undefined,
    epoch: Number(row["epoch"]),
    lift: typeof row["lifted_epoch"] === "string" ? { epoch: Number(row["lifted_epoch"]) } : undefined,
    blockedUs: Number(row["proven_us"] ?? Number.POSITIVE_INFINITY),
  }));
}

function decisionOf(payload: Buffer): DecisionRow {
  const { order, decision } = DecisionRecord.decode(payload);
  if (order === undefined || decision === undefined) throw new Error("a decision's record has no decision in it");
  return {
    decisionId: decision.decision_id,
    fundId: order.fund_id,
    strategyId: order.strategy_id,
    approved: decision.approved,
    code: decision.code,
    isNewRisk: !(order.reduce_only === true && decision.classification === "REDUCE"),
    haltEpoch: Number(decision.halt_epoch),
    decidedUs: parse(decision.decided_at),
  };
}

/** Pure, so that its own test can show that it finds what it is for. */
export function createHaltJudge(halts: readonly HaltRow[], epoch: number) {
  /** By fund and strategy: thousands of decisions have a few dozen of these. */
  const covering = new Map<string, readonly HaltRow[]>();
  const coveringOf = (order: JudgedOrder): readonly HaltRow[] => {
    const scope = JSON.stringify([order.fund_id, order.strategy_id]);
    const known = covering.get(scope) ?? halts.filter((halt) => covers(halt, order));
    covering.set(scope, known);
    return known;
  };
  const tested = new Set<string>();
  const violations: string[] = [];
  const counts = { decisions: 0, approvals: 0, deniedByHalt: 0 };
  const complain = (sentence: string): void => {
    if (violations.length < violationsKept) violations.push(sentence);
  };
  return {
    see(decision: DecisionRow): void {
      const { decisionId, approved, isNewRisk, haltEpoch, decidedUs } = decision;
      counts.decisions += 1;
      if (approved) counts.approvals += 1;
      if (haltCodes.has(decision.code)) counts.deniedByHalt += 1;
      if (haltEpoch > epoch) complain(`${decisionId} carries epoch ${haltEpoch}, and the store has ${epoch}`);
      const order = { fund_id: decision.fundId, strategy_id: decision.strategyId };
      for (const halt of coveringOf(order)) {
        const isUnder = isInForceAt(halt, haltEpoch);
        if (isUnder) tested.add(halt.haltId);
        if (!approved || !isNewRisk) continue;
        if (isUnder) complain(`${decisionId} is approved at epoch ${haltEpoch}, under the halt ${halt.haltId}`);
        if (haltEpoch < halt.epoch && decidedUs > halt.blockedUs) {
          const lateMs = (decidedUs - halt.blockedUs) / 1_000;
          complain(`${decisionId} is approved ${lateMs} ms after the halt ${halt.haltId} was proven to block`);
        }
      }
    },
    found(): HaltComparison {
      const provenHalts = halts.filter(({ blockedUs }) => Number.isFinite(blockedUs)).length;
      return { halts: halts.length, provenHalts, testedHalts: tested.size, ...counts, violations };
    },
  };
}
