// Seals and sends past days by itself at the configured time, listens for what the regulator says, and watches the deadlines.
//
//  1. What the platform slept through is done when it runs again: on each day once, from the time on, and every minute again until all of it arrived.
//  2. What may not go where the configuration says is passed over.
//  3. A deadline is told of an hour ahead and when it is missed: of live funds always, of paper ones where tests are sent.
import { momentOn, wallClock } from "../../../contracts/src/calendar.ts";
import { usEquities } from "../../../contracts/src/calendars.ts";
import { messageOf } from "../../../contracts/src/fault.ts";
import { format, type Instant, millisecondsBetween, minusMilliseconds } from "../../../contracts/src/instant.ts";
import type { RegimeName } from "../../../contracts/src/records/filing.ts";
import { easternDate } from "../../../core/filings/eastern-time.ts";
import { regimeOf } from "../../../core/filings/index.ts";
import type { UnsentDay } from "../../../ports/filing-submissions.ts";
import type { RegimeSettings } from "../../../ports/settings.ts";
import { type Loop, startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { hearFeedback } from "./feedback.ts";
import type { FilingParts } from "./filing-parts.ts";
import { fileDay, mayGo } from "./upload.ts";

const tickMs = 60_000;
const feedbackEveryMs = 300_000;
/** A late error of linkage comes within days. */
const feedbackForMs = 14 * 86_400_000;
const nearMs = 3_600_000;
/** Days of all funds that are looked at in one go. */
const daysMax = 1_000;

interface Running {
  stop(): Promise<void>;
}

export function startUploading(parts: FilingParts, ports: ServicePorts): Running {
  const regimes = Object.entries(ports.settings.filings?.regimes ?? {}).flatMap(([regime, settings]) =>
    settings === undefined ? [] : [{ regime: regime as RegimeName, settings }],
  );
  const loops: Loop[] = [watchDeadlines(parts, ports, regimes)];
  for (const each of regimes) if (each.settings.transport !== "none") loops.push(sendDaily(parts, ports, each));
  return {
    async stop() {
      for (const loop of loops) await loop.stop();
    },
  };
}

interface Way {
  readonly regime: RegimeName;
  readonly settings: RegimeSettings;
}

function sendDaily(parts: FilingParts, ports: ServicePorts, { regime, settings }: Way): Loop {
  let doneOn: string | undefined;
  let heardAt: Instant | undefined;

  async function run(signal: AbortSignal): Promise<number> {
    const now = ports.clock.now();
    const today = easternDate(now);
    const due = momentToday(now, settings.uploadAt);
    if (now >= due && doneOn !== today && (await fileAll(today, signal))) doneOn = today;
    const isTime = heardAt === undefined || millisecondsBetween(heardAt, now) >= feedbackEveryMs;
    if (isTime && (await awaitsFeedback(now))) {
      heardAt = now;
      await hear(signal);
    }
    const untilDue = millisecondsBetween(ports.clock.now(), due);
    return untilDue > 0 ? Math.min(tickMs, untilDue) : tickMs;
  }

  async function fileAll(today: string, signal: AbortSignal): Promise<boolean> {
    const open = await unsentOf(ports, regime);
    let isDone = true;
    for (const day of open) {
      if (signal.aborted) return false;
      if (day.date >= today || mayGo(settings, day) !== undefined) continue;
      isDone = (await fileDay(parts, day, signal)) && isDone;
    }
    return isDone;
  }

  const awaitsFeedback = (now: Instant): Promise<boolean> =>
    ports.store.transact(
      "filings.look",
      (unit) => unit.filingSubmissions.hasSentSince(regime, minusMilliseconds(now, feedbackForMs)),
      { isOneStatement: true },
    );

  async function hear(signal: AbortSignal): Promise<void> {
    try {
      await hearFeedback(parts, regime, { signal });
      parts.alarms.clear("FILING_UPLOAD_FAILED", `${regime} feedback`);
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const sentence = `The feedback folder of ${regime} cannot be read: ${messageOf(thrown)}.`;
      await parts.alarms.raise("FILING_UPLOAD_FAILED", `${regime} feedback`, sentence, { regime });
    }
  }

  const what = { failing: "submission files are not sent", working: "submission files are sent again" };
  return startLoop({ ports, what, firstAfterMs: 1_000, run });
}

function watchDeadlines(parts: FilingParts, ports: ServicePorts, ways: readonly Way[]): Loop {
  const told = new Map<string, "FILING_DEADLINE_NEAR" | "FILING_DEADLINE_MISSED">();

  async function run(): Promise<number> {
    const now = ports.clock.now();
    const seen = new Set<string>();
    for (const { regime, settings } of ways) {
      for (const day of await unsentOf(ports, regime)) {
        const code = deadlineCode(day, settings, now);
        if (code === undefined) continue;
        const about = `${regime} ${day.fundId} ${day.date}`;
        seen.add(about);
        if (told.get(about) !== code) clear(about);
        told.set(about, code);
        await parts.alarms.raise(code, about, sentenceOf(day, now), {
          fund_id: day.fundId,
          regime,
          submission_date: day.date,
          records: day.records,
        });
      }
    }
    for (const about of [...told.keys()]) if (!seen.has(about)) clear(about);
    return tickMs;
  }

  function clear(about: string): void {
    const code = told.get(about);
    if (code !== undefined) parts.alarms.clear(code, about);
    told.delete(about);
  }

  const what = { failing: "deadlines of filings cannot be watched", working: "deadlines of filings are watched again" };
  return startLoop({ ports, what, firstAfterMs: 1_000, run });
}

function deadlineCode(
  day: UnsentDay,
  { environment, transport }: RegimeSettings,
  now: Instant,
): "FILING_DEADLINE_NEAR" | "FILING_DEADLINE_MISSED" | undefined {
  const isWatched = day.mode === "LIVE" || (environment === "test" && transport !== "none");
  if (!isWatched) return undefined;
  const leftMs = millisecondsBetween(now, regimeOf(day.regime).deadline(day.firstAt));
  if (leftMs <= 0) return "FILING_DEADLINE_MISSED";
  return leftMs <= nearMs ? "FILING_DEADLINE_NEAR" : undefined;
}

function sentenceOf({ regime, fundId, date, records, firstAt }: UnsentDay, now: Instant): string {
  const deadline = regimeOf(regime).deadline(firstAt);
  const those = records === 1 ? "1 record" : `${records} records`;
  const tense = now >= deadline ? "were due" : "are due";
  return `${those} of ${fundId} of ${date} ${tense} at ${regime} at ${format(deadline)} and have not been sent.`;
}

function unsentOf({ store }: Pick<ServicePorts, "store">, regime: RegimeName): Promise<readonly UnsentDay[]> {
  return store.transact("filings.look", (unit) => unit.filingSubmissions.unsent(regime, daysMax), {
    isOneStatement: true,
  });
}

/** On New York's wall calendar. */
function momentToday(now: Instant, time: string): Instant {
  const [hours = "5", minutes = "0"] = time.split(":");
  return momentOn(usEquities, wallClock(usEquities, now).date, Number(hours) * 3_600 + Number(minutes) * 60);
}
