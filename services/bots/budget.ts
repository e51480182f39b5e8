// The budget of one UTC day, in the store: reserved before, settled after. Whoever reserves holds the day's row, so that two never share the last cent; what was
// never settled counts in full, also after a crash; a second attempt of a run
// comes on top of the first.

import { format, type Instant } from "../../contracts/src/instant.ts";
import { everyRepository } from "../../contracts/src/records/githubbot.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { type BudgetStanding, judgeReservation, reachedMarks, textOf } from "../../core/bots/budget.ts";
import type { BotRun, BotSpend } from "../../ports/bot-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { BotPorts } from "./bot-ports.ts";
import type { Budget } from "./job.ts";

export function budgetOf(ports: BotPorts, run: Pick<BotRun, "runId" | "repository" | "requestedBy">): Budget {
  const { store, clock, caps } = ports;
  return {
    reserve: ({ byWriter, nano }) =>
      store.transact("bots.spend", async ({ bots, events }) => {
        const now = clock.now();
        const day = dayOf(now);
        await bots.lockDay(day);
        const before = await bots.spend(run.runId);
        // What an attempt that died may have spent is not given back.
        const carried = before === undefined ? 0n : nanoOfSpend(before);
        const others = (await bots.spends(day)).filter(({ runId }) => runId !== run.runId);
        const standing = standingOf(others, run);
        const no = judgeReservation(standing, caps, { nano: carried + nano, byWriter });
        if (no !== undefined) return { kind: "refused", code: "BOT_BUDGET_USED_UP", ...no };
        const { runId, repository, requestedBy } = run;
        const amounts = { reservedNano: String(carried + nano), carriedNano: String(carried) };
        await bots.putSpend({ runId, day, repository, requestedBy, byWriter, ...amounts });
        await tellMarks(events, { standing, nano: carried + nano, caps, run, now });
        return { kind: "reserved" };
      }),
    settle: ({ nano }) =>
      store.transact("bots.spend", async ({ bots }) => {
        const spend = await bots.spend(run.runId);
        if (spend === undefined || spend.settledNano !== undefined) return;
        await bots.lockDay(spend.day);
        await bots.putSpend({ ...spend, settledNano: String(BigInt(spend.carriedNano ?? "0") + nano) });
      }),
  };
}

const dayOf = (at: Instant): string => format(at).slice(0, 10);

const nanoOfSpend = ({ reservedNano, settledNano }: BotSpend): bigint => BigInt(settledNano ?? reservedNano);
const sum = (spends: readonly BotSpend[]): bigint => spends.reduce((total, spend) => total + nanoOfSpend(spend), 0n);

function standingOf(
  spends: readonly BotSpend[],
  { repository, requestedBy }: Pick<BotRun, "repository" | "requestedBy">,
): BudgetStanding {
  const here = spends.filter((spend) => spend.repository === repository);
  const strangers = (of: readonly BotSpend[]) => of.filter(({ byWriter }) => !byWriter);
  return {
    dayNano: sum(spends),
    repositoryNano: sum(here),
    dayStrangersNano: sum(strangers(spends)),
    repositoryStrangersNano: sum(strangers(here)),
    personRuns: strangers(here).filter((spend) => spend.requestedBy === requestedBy).length,
  };
}

interface Reached {
  readonly standing: BudgetStanding;
  readonly nano: bigint;
  readonly caps: BotPorts["caps"];
  readonly run: Pick<BotRun, "repository">;
  readonly now: Instant;
}

/** What is reserved counts as used: a notice that came after the money was gone would be none. */
async function tellMarks(events: UnitOfWork["events"], { standing, nano, caps, run, now }: Reached): Promise<void> {
  const budgets = [
    { repository: everyRepository, before: standing.dayNano, cap: caps.dailyNano },
    { repository: run.repository, before: standing.repositoryNano, cap: caps.perRepositoryNano },
  ];
  for (const { repository, before, cap } of budgets) {
    for (const percent of reachedMarks(before, before + nano, cap)) {
      await events.publish(subjects.botBudgetReached, {
        day: dayOf(now),
        repository,
        percent,
        cap_usd: textOf(cap),
        used_usd: textOf(before + nano),
        at: format(now),
      });
    }
  }
}
