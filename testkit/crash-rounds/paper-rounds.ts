// Crash rounds of the platform as it trades: strategies and a program hand in orders, a process or the database is killed at a random moment, the
// platform gets up by itself and trades on, and the verdict is taken over everything since the beginning. One seed decides whom it strikes and when;
// what the machine makes of it differs, so a replay repeats the kills, not the interleaving.
import { messageOf } from "../../contracts/src/fault.ts";
import type { AuditVerification } from "../../contracts/src/generated/svc/v1/audit.ts";
import type { Books } from "../../contracts/src/generated/svc/v1/riskworkers.ts";
import { parse } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { eventually, pause } from "../platform.ts";
import { prng } from "../virtual/prng.ts";
import { parkedEvents } from "./engine-journal.ts";
import { openPaperFixture, type PaperFixture } from "./paper-fixture.ts";
import { type PaperOrders, runPaperOrders } from "./paper-orders.ts";
import { lostOrders, ordersUnderWay, wrongWithBooks, wrongWithBroker } from "./paper-verdict.ts";

export interface PaperRoundsOptions {
  readonly seed: number;
  /** Who is killed in each round. */
  readonly victims: readonly string[];
  readonly loadMsMax: number;
  say(line: string): void;
}

export interface PaperSummary {
  readonly seed: number;
  readonly rounds: number;
  readonly orders: number;
  readonly fills: number;
  readonly rejected: number;
  readonly acknowledged: number;
  readonly unanswered: number;
  readonly auditEntries: number;
  readonly booksCompared: number;
  readonly alarms: Readonly<Record<string, number>>;
  readonly durationMs: number;
}

// Everything as it comes, but strategies decide often and a killed part comes back at once.
const configuration = `
research: { decide_every_s: 1 }
lifecycle: { restart_backoff_first_ms: 50, restart_backoff_max_ms: 200, restart_failures_max: 1000 }
`;
const settleMsMax = 90_000;
const loadMsMin = 1_000;
const fillsAfter = 3;
/** In turn. */
export const paperVictims: readonly string[] = ["oms", "treasury", "riskengine", "postgres"];

/** Rejects with everything that is wrong as soon as a round shows something wrong. */
export async function runPaperRounds({ seed, victims, loadMsMax, say }: PaperRoundsOptions): Promise<PaperSummary> {
  const startedAtMs = Date.now();
  const throws = prng(seed);
  const fixture = await openPaperFixture("paper-rounds", configuration);
  const orders = runPaperOrders(fixture, throws.fork("orders"));
  let booksCompared = 0;
  let auditEntries = 0;
  try {
    await trades(fixture, fillsAfter);
    for (const [index, victim] of victims.entries()) {
      await pause(loadMsMin + throws.below(Math.max(1, loadMsMax - loadMsMin)));
      fixture.kill(victim);
      await trades(fixture, fillsAfter).catch((error: unknown) => {
        throw new Error(`${messageOf(error)}; last: ${orders.lastTrouble()}`);
      });
      ({ booksCompared, auditEntries } = await checkRound(fixture, orders));
      say(
        `paper seed ${seed} round ${index + 1}/${victims.length}: ${victim}; ${orders.acknowledged.size} orders of ours, last trouble: ${orders.lastTrouble()}`,
      );
    }
    const facts = { rounds: victims.length, booksCompared, auditEntries, ...(await countsOf(fixture, orders)) };
    return { seed, ...facts, durationMs: Date.now() - startedAtMs };
  } catch (error) {
    say(`paper seed ${seed} failed; the platform's last words:\n${fixture.printed().slice(-6_000)}`);
    throw error;
  } finally {
    await orders.stop();
    await fixture.close();
  }
}

/** Waits until that many more trades are booked. */
export async function trades({ owner }: PaperFixture, more: number): Promise<void> {
  const count = async (): Promise<number> =>
    Number((await owner.query("select count(*) as count from portcullis.oms_fill")).rows[0]?.count);
  let before: number | undefined;
  await eventually(
    "trades are booked",
    async () => {
      const now = await count().catch(() => undefined);
      before ??= now;
      return now !== undefined && before !== undefined && now >= before + more;
    },
    settleMsMax,
  );
}

async function checkRound(fixture: PaperFixture, orders: PaperOrders) {
  const { owner } = fixture;
  await eventually("the platform is healthy", async () => (await fixture.platform().health()) === 200, settleMsMax);
  const beforeUs = Date.now() * 1_000;
  let waiting: readonly string[] = [];
  await eventually(
    "no order is left lying",
    async () => {
      waiting = await ordersUnderWay(owner, beforeUs);
      return waiting.length === 0;
    },
    settleMsMax,
  ).catch((error: unknown) => {
    throw new Error(`${messageOf(error)}: ${waiting.join(", ")}`);
  });
  // What is on its way settles; what is wrong stays.
  let wrong: readonly string[] = [];
  await eventually(
    "the books agree",
    async () => {
      wrong = [...(await wrongWithBroker(owner)), ...(await wrongWithBooks(fixture))];
      return wrong.length === 0;
    },
    settleMsMax,
  ).catch(() => undefined);
  const parked = (await parkedEvents(owner)).map(
    ({ subscription, error }) => `${subscription} put an event aside: ${error}`,
  );
  const died = /[^\n]*Defect: this process ends here[^\n]*/.exec(fixture.printed());
  const lost = await lostOrders(owner, [...orders.acknowledged.keys()]);
  const all = [...wrong, ...parked, ...lost, ...(died === null ? [] : [`a process ended by a defect: ${died[0]}`])];
  if (all.length > 0) throw new Error(all.join("\n"));
  const { entry_count: auditEntries } = await fixture.ask<AuditVerification>("Operations", "VerifyAudit", {
    from_sequence: 0,
  });
  return { booksCompared: await comparedByPlatform(fixture, beforeUs), auditEntries: Number(auditEntries) };
}

/** The platform's own job says so as well, after a look of its own. */
async function comparedByPlatform(fixture: PaperFixture, sinceUs: number): Promise<number> {
  let compared = 0;
  let said = "";
  await eventually(
    "the platform says that its books agree",
    async () => {
      const { checks } = await fixture.ask<Books>("RiskWorkers", "GetBooks", {});
      said = checks.map(({ name, difference }) => `${name} ${difference}`).join("; ");
      compared = checks.reduce((sum, check) => sum + Number(check.compared), 0);
      return checks.every(({ agrees, checked_at }) => agrees && checked_at !== "" && parse(checked_at) > sinceUs);
    },
    settleMsMax,
  ).catch((error: unknown) => {
    throw new Error(`${messageOf(error)}: ${said}`);
  });
  return compared;
}

async function countsOf({ owner }: PaperFixture, orders: PaperOrders) {
  const text = `select (select count(*) from portcullis.oms_order) as orders,
    (select count(*) from portcullis.oms_order where state = 'REJECTED') as rejected,
    (select count(*) from portcullis.oms_fill where content->>'kind' is distinct from 'SEED') as fills`;
  const [row] = (await owner.query(text)).rows;
  const raised = await owner.query<{ code: string; count: number }>(
    "select convert_from(payload, 'UTF8')::json->>'code' as code, count(*)::int as count from portcullis.outbox where subject = $1 group by 1 order by 1",
    [subjects.alarmRaised.name],
  );
  const alarms = Object.fromEntries(raised.rows.map(({ code, count }) => [code, count]));
  return {
    orders: Number(row?.orders),
    rejected: Number(row?.rejected),
    fills: Number(row?.fills),
    acknowledged: orders.acknowledged.size,
    unanswered: orders.unanswered(),
    alarms,
  };
}

/** The rounds, with their progress on standard error and the way to repeat them in the message of a failure. */
export async function reportPaperRounds(
  options: Omit<PaperRoundsOptions, "say">,
  replay: string,
): Promise<PaperSummary> {
  try {
    const summary = await runPaperRounds({ ...options, say: (line) => void process.stderr.write(`${line}\n`) });
    process.stderr.write(`${JSON.stringify(summary)}\n`);
    return summary;
  } catch (error) {
    throw new Error(`${messageOf(error)}\nto repeat it: PORTCULLIS_CRASH_SEED=${options.seed} ${replay}`, {
      cause: error,
    });
  }
}
