// What the gateway hands its reports and their schedules: the queue that makes them, the configured moments, mail, chat and storage, and the alarm for what
// does not arrive.
import { openChat } from "../adapters/chat/open-chat.ts";
import type { Configuration } from "../adapters/configuration/schema.ts";
import { cronMoments } from "../adapters/cron/cron-moments.ts";
import type { GatewayIdentity } from "../adapters/identity/gateway-identity.ts";
import { openMail } from "../adapters/mail/open-mail.ts";
import { createAlarms } from "../adapters/postgres/alarms.ts";
import { openReportStorage } from "../adapters/report-storage/open-report-storage.ts";
import { Fault } from "../contracts/src/fault.ts";
import type { Funds } from "../contracts/src/generated/svc/v1/platform.ts";
import { reportNamedBy } from "../contracts/src/records/report-schedule.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { ServiceCalls } from "../edges/gateway/parts.ts";
import type { ReportQueue } from "../edges/gateway/reports/report-queue.ts";
import {
  createReportScheduler,
  type ReportScheduler,
  runReportScheduler,
} from "../edges/gateway/reports/report-scheduler.ts";
import type { SchedulePlan } from "../edges/gateway/reports/schedule-plan.ts";
import type { Secrets } from "../ports/secrets.ts";
import type { Timers } from "../ports/timers.ts";
import { type ReportsOptions, startReports } from "./reports.ts";
import type { Stops } from "./shared.ts";

interface ReportsParts extends Omit<ReportsOptions, "token"> {
  readonly timers: Timers;
  readonly secrets: Pick<Secrets, "get">;
  readonly dataFolder: string;
  readonly services: ServiceCalls;
  readonly identity: Pick<GatewayIdentity, "platformToken" | "baseUrl">;
  /** This process as the leases name it, from the moment at which it has one. */
  holder(): string | undefined;
}

export interface OpenReports {
  readonly queue: ReportQueue;
  readonly scheduler: ReportScheduler;
  /** What is due is made from now on: when the gateway has its lease. */
  begin(): void;
}

export async function openReports(parts: ReportsParts, stops: Stops): Promise<OpenReports> {
  const { identity, configuration } = parts;
  const queue = await startReports({ ...parts, token: () => identity.platformToken("reports") }, stops);
  const alarms = createAlarms({ ...parts, subject: subjects.alarmRaised, source: "gateway" });
  const targets = { mail: openMail(parts), chat: openChat(parts), storage: openReportStorage(parts) };
  const ending = new AbortController();
  const scheduler = createReportScheduler({
    ...parts,
    queue,
    plans: plansOf(configuration),
    funds: () => fundsOf(parts),
    holder: () => parts.holder() ?? "",
    delivery: { ...targets, baseUrl: () => identity.baseUrl() },
    ending: ending.signal,
    undelivered: (about, sentence) =>
      sentence === undefined
        ? alarms.clear("REPORT_UNDELIVERED", about)
        : alarms.raise("REPORT_UNDELIVERED", about, sentence),
  });
  let running: { stop(): Promise<void> } | undefined;
  stops.push(async () => {
    ending.abort();
    await running?.stop();
    for (const target of Object.values(targets)) await target.close();
  });
  return {
    queue,
    scheduler,
    begin() {
      running = runReportScheduler(scheduler, { ...parts, ending: ending.signal });
    },
  };
}

const fundsMsMax = 5_000;

async function fundsOf({ services, identity }: ReportsParts): Promise<readonly string[]> {
  const asked = { bearer: identity.platformToken("gateway"), timeoutMs: fundsMsMax };
  const outcome = await services.call("Treasury", "ListFunds", {}, asked);
  if (!outcome.ok) throw new Fault("SERVICE_UNAVAILABLE", outcome.denial.reason, { retry: "later" });
  // A procedure's answer is the message that the protos name for it.
  return (outcome.value as Funds).funds.map(({ fund_id }) => fund_id);
}

function plansOf({ reports }: Configuration): readonly SchedulePlan[] {
  return Object.entries(reports.schedule).map(
    ([name, { cron, time_zone: timeZone, window, funds, distribute, ...given }]) => {
      const report = given.report ?? reportNamedBy(name);
      if (report === undefined) {
        throw new Fault("CONFIGURATION_INVALID", `reports.schedule.${name} does not say which report it is.`, {
          retry: "never",
        });
      }
      return { name, report, cron, timeZone, window, funds, targets: distribute, ...cronMoments(cron, timeZone) };
    },
  );
}
