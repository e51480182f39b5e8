// What was promised of halts and what was seen: the figures, the table for people, and every promise that was not kept.
import type { HaltComparison } from "../../testkit/halt-records.ts";
import type { BenchResult } from "../bench.ts";
import { latenciesOf, rounded } from "../check-order/measure.ts";
import type { HaltResult, HaltSample } from "./halt-generator.ts";

export interface SetupSeen {
  readonly results: HaltResult[];
  comparison: HaltComparison | undefined;
}

export interface HaltsSeen {
  readonly setups: { readonly default: SetupSeen; readonly nats: SetupSeen };
  readonly commits: readonly number[];
  readonly facts: object;
}

/** Of `block_p99_ms` on the default set-up: one commit and so many echoes. */
const echoesPromised = 3;
/** The share of orders that may be left out; beyond it the load was not the one that was promised for. */
const leftOutMax = 0.01;

function figuresOf({ results, comparison }: SetupSeen) {
  const halts = results.flatMap((result) => result.halts);
  const of = (figure: keyof HaltSample) => latenciesOf(halts.map((sample) => sample[figure]));
  const orders = latenciesOf(results.flatMap(({ orderMs }) => orderMs));
  const sum = (figure: "tookMs" | "leftOut" | "sent" | "approved" | "deniedByHalt" | "wrong"): number =>
    results.reduce((total, result) => total + result[figure], 0);
  return {
    ack_p50_ms: rounded(of("ackMs").p50_ms),
    ack_p99_ms: rounded(of("ackMs").p99_ms),
    block_p50_ms: rounded(of("blockMs").p50_ms),
    block_p99_ms: rounded(of("blockMs").p99_ms),
    last_approval_p99_ms: rounded(of("lastApprovalMs").p99_ms),
    lift_p99_ms: rounded(of("liftMs").p99_ms),
    order_p50_ms: rounded(orders.p50_ms),
    order_p99_ms: rounded(orders.p99_ms),
    halts: halts.length,
    orders: sum("sent"),
    orders_per_s: rounded((sum("sent") * 1_000) / Math.max(1, sum("tookMs"))),
    left_out: sum("leftOut"),
    approved: sum("approved"),
    denied_by_halt: sum("deniedByHalt"),
    wrong_answers: sum("wrong"),
    records: {
      halts: comparison?.halts ?? 0,
      decisions: comparison?.decisions ?? 0,
      approvals: comparison?.approvals ?? 0,
      violations: comparison?.violations.length ?? 0,
    },
  };
}

export function judge({ setups, commits, facts }: HaltsSeen): BenchResult {
  const echo = latenciesOf([...setups.default.results, ...setups.nats.results].flatMap(({ echoMs }) => echoMs));
  const commit = latenciesOf(commits);
  const figures = {
    default: figuresOf(setups.default),
    nats: figuresOf(setups.nats),
    commit_p50_ms: rounded(commit.p50_ms),
    commit_p99_ms: rounded(commit.p99_ms),
    echo_p50_ms: rounded(echo.p50_ms),
    echo_p99_ms: rounded(echo.p99_ms),
    facts,
  };
  const boundMs = rounded(figures.commit_p99_ms + echoesPromised * figures.echo_p99_ms);
  const shortfalls = (["default", "nats"] as const).flatMap((name) => wrongIn(name, setups[name]));
  for (const name of ["default", "nats"] as const) {
    const { orders, left_out } = figures[name];
    if (left_out > leftOutMax * (orders + left_out)) {
      shortfalls.push(
        `${name}: the machine did not carry the load: ${left_out} of ${orders + left_out} orders were left out`,
      );
    }
  }
  if (figures.default.block_p99_ms > boundMs) {
    shortfalls.push(`block p99 on the default set-up: ${figures.default.block_p99_ms} ms, bound ${boundMs} ms`);
  }
  return { figures: { ...figures, bound_ms: boundMs }, table: tableOf(figures, boundMs), shortfalls };
}

function wrongIn(name: string, { results, comparison }: SetupSeen): string[] {
  const found = results.flatMap(({ wrong, complaint }) =>
    wrong === 0 ? [] : [`${name}: ${wrong} answers are not what they may be: ${complaint ?? ""}`],
  );
  if (comparison === undefined) return [...found, `${name}: decisions and halts were not compared`];
  const seen = results.reduce((total, { halts }) => total + halts.length, 0);
  if (comparison.halts < seen)
    found.push(`${name}: ${seen} halts were acknowledged, and ${comparison.halts} are stored`);
  return [...found, ...comparison.violations.slice(0, 3).map((violation) => `${name}: ${violation}`)];
}

type SetupFigures = ReturnType<typeof figuresOf>;

function tableOf(
  figures: {
    readonly default: SetupFigures;
    readonly nats: SetupFigures;
    readonly commit_p99_ms: number;
    readonly echo_p99_ms: number;
  },
  boundMs: number,
): string {
  const row = (cells: readonly (string | number)[]): string => cells.map((cell) => String(cell).padStart(14)).join(" ");
  const line = (name: string, of: SetupFigures): string =>
    row([
      name,
      of.halts,
      of.ack_p50_ms,
      of.ack_p99_ms,
      of.block_p50_ms,
      of.block_p99_ms,
      of.last_approval_p99_ms,
      of.order_p99_ms,
    ]);
  return [
    row(["", "halts", "ack p50", "ack p99", "block p50", "block p99", "last approval", "order p99"]),
    line("default", figures.default),
    line("nats", figures.nats),
    `commit p99 ${figures.commit_p99_ms} ms, echo p99 ${figures.echo_p99_ms} ms: block p99 on the default set-up may be ${boundMs} ms`,
    `${figures.default.records.decisions + figures.nats.records.decisions} decisions against ${figures.default.records.halts + figures.nats.records.halts} halts: ${figures.default.records.violations + figures.nats.records.violations} violations`,
  ].join("\n");
}
