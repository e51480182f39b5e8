// Many short runs in a row, a tenth of them long and brought to their end, and what they met: how often what happened, and which operations were asked.
import { simulated } from "./operations.ts";
import { replayCommand } from "./report.ts";
import { type SimOptions, type SimReport, simulate } from "./simulate.ts";

export interface Met {
  readonly totals: Readonly<Record<string, number>>;
  /** Operations that nobody asked. */
  readonly unasked: readonly string[];
  /** Of the first run that broke an invariant: which, and the command that replays it. */
  readonly broken?: string;
}

/** In some runs the service that answers an operation is not there, or goes away first. */
const runsAboutMax = 12;

interface Runs {
  readonly first: number;
  readonly last: number;
  /** Whether operations that nobody asked get runs that are about them. */
  readonly aboutUnasked: boolean;
}

/** Runs that add up: each says what it broke, if anything. */
export function countedRuns() {
  const totals: Record<string, number> = { crashes: 0 };
  const asked: Record<string, number> = {};
  const brokenIn = async (options: SimOptions): Promise<string | undefined> => {
    const report: SimReport = await simulate(options);
    totals["crashes"] = (totals["crashes"] ?? 0) + report.crashes;
    for (const [what, more] of Object.entries(report.counts)) totals[what] = (totals[what] ?? 0) + more;
    for (const [operation, { accepted, refused }] of report.answered) {
      asked[operation] = (asked[operation] ?? 0) + accepted + refused;
    }
    const { violation } = report;
    const about = options.about === undefined ? "" : ` about ${options.about}`;
    return violation === undefined ? undefined : `${violation.invariant.name}: ${replayCommand(options)}${about}`;
  };
  return {
    totals: totals as Readonly<Record<string, number>>,
    asked: asked as Readonly<Record<string, number>>,
    brokenIn,
    brokenAt: (seed: number) => {
      const rests = seed % 10 === 0;
      return brokenIn({ seed, steps: rests ? 900 : 320, rests });
    },
  };
}

export async function shortRuns({ first, last, aboutUnasked }: Runs): Promise<Met> {
  const { totals, asked, brokenIn, brokenAt } = countedRuns();
  const unasked = (): readonly string[] =>
    Object.entries(simulated).flatMap(([operation, one]) => ("why" in one || asked[operation] ? [] : [operation]));
  for (let seed = first; seed <= last; seed += 1) {
    const broken = await brokenAt(seed);
    if (broken !== undefined) return { totals, unasked: unasked(), broken };
  }
  if (!aboutUnasked) return { totals, unasked: unasked() };
  // Which of the rare ones are asked by chance changes with every change of the runs: each of these gets a run that is about it.
  for (const about of unasked()) {
    for (let seed = 1; seed <= runsAboutMax && !asked[about]; seed += 1) {
      const broken = await brokenIn({ seed, steps: 320, rests: false, about });
      if (broken !== undefined) return { totals, unasked: unasked(), broken };
    }
  }
  return { totals, unasked: unasked() };
}

/** What any ten seeds in a row meet: fewer of one of these, and the runs have become runs of nothing. */
export const leastInTen: Readonly<Record<string, number>> = {
  crashes: 3,
  orders: 25,
  approvals: 12,
  fills: 3,
  halts: 5,
  limits: 30,
  stops: 1,
  differences: 1,
  alerts: 3,
  "losses that halted": 1,
  lifts: 1,
};
