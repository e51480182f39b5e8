// What people do about watchdogs: see them, configure them, pause and resume them, and have them judge now. Whoever changes something is recorded with
// the reason; configuration itself lies in the secrets store, whose changes are recorded without their values.
import { Fault } from "../../../contracts/src/fault.ts";
import type {
  Episodes,
  GetWatchdogConfigRequest,
  InjectObservationsRequest,
  JudgeWatchdogRequest,
  ListEpisodesRequest,
  ListWatchdogsRequest,
  PauseWatchdogRequest,
  ResumeWatchdogRequest,
  SetWatchdogConfigRequest,
  WatchdogConfig,
  WatchdogList,
} from "../../../contracts/src/generated/svc/v1/watchdogs.ts";
import { plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { WatchdogName } from "../../../contracts/src/records/values.ts";
import { parseConfigValue, rangeOf } from "../../../core/watchdogs/config.ts";
import type { DeniedAnswer, RpcCall, RpcService } from "../../../ports/rpc.ts";
import { givenReason, tellAttempt } from "../worker-verbs.ts";
import type { Assigned } from "./assigned.ts";
import { firmId } from "./configuration.ts";
import { type InjectParts, inject } from "./inject.ts";
import type { RunningWatchdog } from "./run-watchdog.ts";
import { listStatus, type StatusParts, shownEpisode } from "./status.ts";

interface ControlParts extends StatusParts, InjectParts {
  readonly running: readonly RunningWatchdog[];
  /** As reference data has them now. */
  fundIds(): Promise<readonly string[]>;
}

const pauseMsDefault = 3_600_000;
const episodesDefault = 100;
/** One more than a page of HTTP, which tells whether there is another. */
const episodesMax = 1_001;

export function watchdogHandlers(parts: ControlParts): RpcService["handlers"] {
  return {
    async ListWatchdogs({ watchdog, fund_id: fundId }: ListWatchdogsRequest): Promise<WatchdogList> {
      const name = watchdog === undefined ? undefined : known(parts, watchdog).about.name;
      if (fundId !== undefined) await mustKnow(parts, fundId);
      return { watchdogs: await listStatus(parts, { watchdog: name, fundId }) };
    },
    async ListEpisodes(request: ListEpisodesRequest): Promise<Episodes> {
      const { name } = known(parts, request.watchdog).about;
      const countMax = request.count_max === 0 ? episodesDefault : Math.min(request.count_max, episodesMax);
      const fund = request.fund_id === undefined ? {} : { fundId: request.fund_id };
      const after = request.after_episode_id === undefined ? {} : { afterEpisodeId: request.after_episode_id };
      const query = { watchdog: name, ...fund, ...after, openOnly: request.open_only, countMax };
      const found = await parts.ports.store.transact("watchdogs.look", (unit) => unit.watchdogs.episodes(query));
      return { episodes: found.map(shownEpisode) };
    },
    async GetWatchdogConfig({ watchdog, fund_id: fundId }: GetWatchdogConfigRequest): Promise<WatchdogConfig> {
      const one = known(parts, watchdog);
      if (fundId !== undefined) await mustKnow(parts, fundId);
      return shownConfig(parts, one, [fundId ?? firmId]);
    },
    SetWatchdogConfig: (request: SetWatchdogConfigRequest, call: RpcCall) => setConfig(parts, request, call),
    PauseWatchdog: (request: PauseWatchdogRequest, call: RpcCall) => pause(parts, request, call),
    ResumeWatchdog: (request: ResumeWatchdogRequest, call: RpcCall) => resume(parts, request, call),
    InjectObservations: (request: InjectObservationsRequest, call: RpcCall) => inject(parts, request, call),
    JudgeWatchdog: (request: JudgeWatchdogRequest, call: RpcCall) => judgeNow(parts, request, call),
  };
}

async function setConfig(
  parts: ControlParts,
  { watchdog, fund_id: fundId, threshold, set, reason, expected_version: expected }: SetWatchdogConfigRequest,
  { identity }: RpcCall,
): Promise<WatchdogConfig | DeniedAnswer> {
  const one = known(parts, watchdog);
  const { name, config: keys } = one.about;
  const given = { ...set, ...(threshold === undefined ? {} : { threshold }) };
  const values = Object.entries(given).map(([key, value]) => [
    key,
    typeof value === "string" ? parseConfigValue(keys, key, value) : value,
  ]);
  if (values.length === 0) throw invalid("Nothing to change: give a threshold or a key with its value.");
  const funds = fundId === undefined ? [firmId, ...(await parts.fundIds())] : [await mustKnow(parts, fundId)];
  const changes: Readonly<Record<string, unknown>> = Object.fromEntries(values);
  if (expected !== undefined && fundId === undefined) {
    throw invalid("A version is one fund's: name the fund whose configuration you read, or `firm`.");
  }
  const [fund = firmId] = funds;
  const newest = await parts.configuration.version(name, fund);
  if (expected !== undefined && newest !== expected) return conflict(name, fund, expected, newest);
  // All or none of them: a value that one of them refuses changes nothing anywhere.
  for (const each of funds) await parts.configuration.check(name, each, changes);
  const at = parts.ports.clock.now();
  const target = `${name} ${fundId ?? "every fund"}: ${values.map(([key, value]) => `${key}=${value}`).join(" ")}`;
  await parts.ports.store.transact("watchdogs.configure", (unit) =>
    tellAttempt(unit, identity, { verb: "SetWatchdogConfig", target, reason: givenReason(reason), at }),
  );
  try {
    for (const each of funds) await parts.configuration.change(name, each, changes, expected);
  } catch (thrown) {
    if (expected === undefined || !(thrown instanceof Fault) || thrown.code !== "SECRETS_CONFLICT") throw thrown;
    return conflict(name, fund, expected, await parts.configuration.version(name, fund));
  }
  parts.running.find(({ assigned }) => assigned === one)?.judgeSoon();
  return shownConfig(parts, one, funds);
}

function conflict(name: string, fund: string, expected: number, newest: number): DeniedAnswer {
  const reason = `The configuration of ${name} for ${fund} is at version ${newest} and not ${expected}: read it again. Nothing was changed.`;
  return { denial: { code: "WATCHDOG_VERSION_CONFLICT", reason } };
}

async function shownConfig(
  { configuration }: ControlParts,
  { about }: Assigned,
  funds: readonly string[],
): Promise<WatchdogConfig> {
  const [fund = firmId] = funds;
  const inForce = configuration.of(about.name, fund);
  return {
    watchdog: about.name,
    fund_ids: [...funds],
    keys: Object.entries(about.config).map(([key, declared]) => ({
      key,
      value: String(inForce[key] ?? declared.default),
      default: String(declared.default),
      range: rangeOf(declared),
      sentence: declared.sentence,
    })),
    problem: configuration.problem(about.name, fund) ?? "",
    version: await configuration.version(about.name, fund),
  };
}

async function pause(
  parts: ControlParts,
  { watchdog, fund_id: fundId, for_s: seconds, reason: given }: PauseWatchdogRequest,
  { identity }: RpcCall,
): Promise<WatchdogList> {
  const { name } = known(parts, watchdog).about;
  if (fundId !== undefined) await mustKnow(parts, fundId);
  const at = parts.ports.clock.now();
  const until = plusMilliseconds(at, seconds === undefined ? pauseMsDefault : seconds * 1_000);
  const reason = givenReason(given);
  await changePauses(parts, async (unit) => {
    await unit.watchdogs.putPause({ watchdog: name, fundId: fundId ?? "", by: identity.actor, reason, at, until });
    await tellAttempt(unit, identity, { verb: "PauseWatchdog", target: `${name} ${fundId ?? ""}`.trim(), reason, at });
  });
  return { watchdogs: await listStatus(parts, { watchdog: name, fundId }) };
}

async function resume(
  parts: ControlParts,
  { watchdog, fund_id: fundId, reason: given }: ResumeWatchdogRequest,
  { identity }: RpcCall,
): Promise<WatchdogList> {
  const one = known(parts, watchdog);
  const { name } = one.about;
  if (fundId !== undefined) await mustKnow(parts, fundId);
  const at = parts.ports.clock.now();
  const reason = mustGive(given, "A watchdog is not resumed");
  await changePauses(parts, async (unit) => {
    const pauses = (await unit.watchdogs.pauses()).filter((pause) => pause.watchdog === name);
    const ended = pauses.filter((pause) => fundId === undefined || pause.fundId === fundId);
    if (ended.length === 0) throw notPaused(name, fundId, pauses.length > 0);
    for (const pause of ended) await unit.watchdogs.removePause(name, pause.fundId);
    await tellAttempt(unit, identity, { verb: "ResumeWatchdog", target: `${name} ${fundId ?? ""}`.trim(), reason, at });
  });
  parts.running.find(({ assigned }) => assigned === one)?.judgeSoon();
  return { watchdogs: await listStatus(parts, { watchdog: name, fundId }) };
}

async function changePauses(
  { ports, board }: ControlParts,
  work: (unit: Parameters<Parameters<ControlParts["ports"]["store"]["transact"]>[1]>[0]) => Promise<void>,
): Promise<void> {
  const pauses = await ports.store.transact("watchdogs.pause", async (unit) => {
    await work(unit);
    return unit.watchdogs.pauses();
  });
  board.setPauses(pauses);
}

async function judgeNow(
  parts: ControlParts,
  { watchdog, fund_id: fundId, reason: given }: JudgeWatchdogRequest,
  { identity }: RpcCall,
): Promise<WatchdogList> {
  const one = known(parts, watchdog);
  const { name } = one.about;
  if (fundId !== undefined) await mustKnow(parts, fundId);
  const attempt = {
    verb: "JudgeWatchdog",
    target: `${name} ${fundId ?? ""}`.trim(),
    reason: mustGive(given, "A watchdog is not asked to judge"),
  };
  const at = parts.ports.clock.now();
  await parts.ports.store.transact("watchdogs.configure", (unit) => tellAttempt(unit, identity, { ...attempt, at }));
  await parts.running.find(({ assigned }) => assigned === one)?.judge(fundId);
  return { watchdogs: await listStatus(parts, { watchdog: name, fundId }) };
}

function known({ assigned }: ControlParts, watchdog: string): Assigned {
  const found = assigned.find(({ about }) => about.name === (watchdog as WatchdogName));
  if (found !== undefined) return found;
  const names = assigned.map(({ about }) => about.name).join(", ");
  throw invalid(`There is no watchdog ${JSON.stringify(watchdog.slice(0, 64))}; there are ${names}.`);
}

async function mustKnow(parts: ControlParts, fundId: string): Promise<string> {
  if (fundId === firmId || (await parts.fundIds()).includes(fundId)) return fundId;
  const sentence = `There is no fund ${JSON.stringify(fundId.slice(0, 64))}; ctl treasury funds list shows them, and ${firmId} stands for the firm.`;
  throw new Fault("NOT_FOUND", sentence, { retry: "never" });
}

function mustGive(given: string, what: string): string {
  const reason = givenReason(given);
  if (reason === "") throw invalid(`${what} without a reason: give one.`);
  return reason;
}

function notPaused(name: string, fundId: string | undefined, isElsewhere: boolean): Fault {
  const where = fundId === undefined ? "" : ` for ${fundId}`;
  const hint = isElsewhere ? " It is paused for all or another fund: resume that." : "";
  return new Fault("NOT_FOUND", `The watchdog ${name} is not paused${where}.${hint}`, { retry: "never" });
}

function invalid(sentence: string): Fault {
  return new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}
