// Tells people in chat what they must know: critical alarms, stops that fire and end, differences with the broker that were worth an alert, alerts of
// the charting platform that came to nothing, and every change of a watchdog. It listens durably, so an alert that was published before a crash is reported after it.
//
// When the chat service does not take messages, the bus hands the same one over again until it does, and an alarm says so. One that is older than
// `ageMsMax` by then is given up, counted and named in the log and in that alarm: never in silence, and never so that the outbox fills.
import { alarms as registry } from "../../../contracts/src/codes/alarms.ts";
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import { type BotBudgetReached, everyRepository } from "../../../contracts/src/records/githubbot.ts";
import type {
  ReconcileDifference,
  StopEnded,
  StopTriggered,
  WatchdogAlarm,
} from "../../../contracts/src/records/operations.ts";
import type { AlarmRaised } from "../../../contracts/src/records/platform.ts";
import type { SignalFailed, SignalRefused } from "../../../contracts/src/records/signal.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { watchdogsByName } from "../../../core/watchdogs/index.ts";
import type { BusEvent } from "../../../ports/bus.ts";
import type { Chat, ChatMessage } from "../../../ports/chat.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import { createRefusedSignalMessages, failedSignalMessage } from "./signal-messages.ts";

const sendMsMax = 15_000;
const ageMsMax = 900_000;

interface AlertsToChatOptions {
  readonly ports: Pick<ServicePorts, "bus" | "clock" | "log" | "metrics">;
  readonly chat: Chat;
  readonly alarms: WorkerAlarms;
}

interface AlertsToChat {
  stop(): Promise<void>;
}

const watchdogSubjects: readonly string[] = Object.values(watchdogsByName).map(({ subject }) => subject.name);

export async function startAlertsToChat({ ports, chat, alarms }: AlertsToChatOptions): Promise<AlertsToChat> {
  const given = ports.metrics.counter("portcullis_chat_given_up_total", "Chat messages that were given up.");
  const refusedSignalMessage = createRefusedSignalMessages();
  let lost = 0;

  async function handle(event: BusEvent): Promise<void> {
    const message =
      event.subject === subjects.signalRefused.name
        ? refusedSignalMessage(event.payload as SignalRefused, event.at)
        : messageOfEvent(event);
    if (message === undefined) return;
    try {
      await chat.send(message, sendMsMax);
      alarms.clear("CHAT_UNDELIVERED", chat.name);
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      const isOld = millisecondsBetween(event.at, ports.clock.now()) > ageMsMax;
      if (isOld) {
        lost += 1;
        given.add(1);
        ports.log.error("a chat message is given up", { key: message.key, title: message.title, text: message.text });
      }
      const sentence = `${messageOf(thrown)} ${lost} messages were given up so far; the log names them.`;
      await alarms.raise("CHAT_UNDELIVERED", chat.name, sentence, { chat: chat.name, given_up: lost });
      // Not the event's fault: the bus tries it again until the service takes it.
      if (!isOld) throw new Fault("SERVICE_UNAVAILABLE", messageOf(thrown), { retry: "later" });
    }
  }

  const subscription = await ports.bus.subscribe(
    {
      name: "operations.chat",
      subjects: [
        subjects.alarmRaised.name,
        subjects.reconcileDifference.name,
        subjects.stopTriggered.name,
        subjects.stopEnded.name,
        subjects.signalFailed.name,
        subjects.signalRefused.name,
        subjects.botBudgetReached.name,
        ...watchdogSubjects,
      ],
      queueMax: 100,
    },
    handle,
  );
  return {
    stop: async () => {
      await subscription.close();
      await chat.close();
    },
  };
}

/** These two are reported with their difference. */
const reportedOtherwise: ReadonlySet<string> = new Set(["RECONCILE_SUSPECTED", "RECONCILE_CONFIRMED"]);

export function messageOfEvent({ id, subject, payload }: BusEvent): ChatMessage | undefined {
  switch (subject) {
    case subjects.alarmRaised.name:
      return alarmMessage(id, payload as AlarmRaised);
    case subjects.reconcileDifference.name:
      return differenceMessage(payload as ReconcileDifference);
    case subjects.stopTriggered.name:
      return firedMessage(payload as StopTriggered);
    case subjects.stopEnded.name:
      return endedMessage(payload as StopEnded);
    case subjects.signalFailed.name:
      return failedSignalMessage(payload as SignalFailed);
    case subjects.botBudgetReached.name:
      return budgetMessage(payload as BotBudgetReached);
    default:
      return watchdogSubjects.includes(subject) ? watchdogMessage(payload as WatchdogAlarm) : undefined;
  }
}

function alarmMessage(eventId: string, { code, level, service, sentence }: AlarmRaised): ChatMessage | undefined {
  const isWanted = level === "critical" || code === "CHAT_UNDELIVERED" || code === "RECONCILE_STUCK";
  if (!isWanted || reportedOtherwise.has(code)) return undefined;
  const title = Object.hasOwn(registry, code) ? `${code}: ${registry[code as keyof typeof registry].sentence}` : code;
  return { key: `alarm ${eventId}`, level, title, text: sentence, facts: { service } };
}

function budgetMessage({ day, repository, percent, cap_usd: cap, used_usd: used }: BotBudgetReached): ChatMessage {
  const whose =
    repository === everyRepository ? "what the repository bot may spend" : `what it may spend in ${repository}`;
  return {
    key: `bot-budget ${day} ${repository} ${percent}`,
    level: percent === 100 ? "warning" : "info",
    title: `${percent} % of ${whose} today is used`,
    text: `${used} of ${cap} USD on ${day}; it begins anew at 00:00 UTC.`,
    facts: { repository, percent: String(percent) },
  };
}

function watchdogMessage(alarm: WatchdogAlarm): ChatMessage {
  const { watchdog, event, episode_id: id, fund_id: fund, strategy_id: strategy, symbol } = alarm;
  const about = [fund, strategy, symbol].filter((part) => part !== undefined).join(" ");
  const marks = [alarm.dry_run ? "dry run" : "", alarm.injected ? "injected" : ""].filter((mark) => mark !== "");
  const suffix = marks.length === 0 ? "" : ` (${marks.join(", ")})`;
  return {
    // An episode may escalate several times.
    key: `watchdog ${id} ${event} ${alarm.at}`,
    level: alarm.level ?? (event === "CLEARED" ? "info" : "warning"),
    title: `${watchdog} ${event.toLowerCase()}${about === "" ? "" : `: ${about}`}${suffix}`,
    text: [alarm.sentence, alarm.action].filter((part) => part !== "").join(" "),
    facts: {
      watchdog,
      event,
      episode: id,
      code: alarm.code,
      value: String(alarm.value),
      threshold: String(alarm.threshold),
      ...(fund === undefined ? {} : { fund }),
      ...(strategy === undefined ? {} : { strategy }),
      ...(symbol === undefined ? {} : { symbol }),
      ...(alarm.cross_post ? { cross_post: "announcements" } : {}),
    },
  };
}

const differenceLevels = { SUSPECTED: "warning", CONFIRMED: "critical", CLEARED: "info", CORRECTED: "info" } as const;

function differenceMessage(difference: ReconcileDifference): ChatMessage | undefined {
  if (difference.alerted !== true) return undefined;
  const { difference_id: id, status, fund_id: fund, symbol, broker, evidence } = difference;
  return {
    // A confirmed one that becomes another is reported again.
    key: `difference ${id} ${status} ${difference.at}`,
    level: differenceLevels[status],
    title: `Position of ${fund} in ${symbol}: difference with the broker ${status.toLowerCase()}`,
    text: evidence,
    facts: {
      fund,
      symbol,
      broker,
      class: difference.class,
      ours: difference.our_quantity,
      "the broker's": difference.broker_quantity,
      difference: id,
    },
  };
}

function firedMessage(stop: StopTriggered): ChatMessage {
  const { stop_id: id, fund_id: fund, strategy_id: strategy = "", symbol, side, quantity } = stop;
  return {
    key: `stop ${id} fired`,
    level: "critical",
    title: `Stop fired: ${fund} ${symbol}`,
    text: `${stop.observed_price} has reached ${stop.trigger_price}; ${side} ${quantity} is owed.`,
    facts: { fund, strategy, symbol, entry: stop.fill_price, stop: id },
  };
}

function endedMessage(stop: StopEnded): ChatMessage {
  const { stop_id: id, fund_id: fund, strategy_id: strategy, symbol, outcome } = stop;
  return {
    key: `stop ${id} ended`,
    level: "info",
    title: `Stop over: ${fund} ${symbol}`,
    text: `${outcome}; ${stop.exited_quantity} were closed.${stop.reason === undefined ? "" : ` ${stop.reason}`}`,
    facts: { fund, strategy, symbol, stop: id },
  };
}
