// The watchdogs' configuration, from the secrets store: JSON at `secret/<prefix>/watchdogs/<fund_id>/<name>`, `firm` for the firm's. It is read again
// and again, so that what somebody writes there is in force soon; a bad value leaves the last good one in force and alarms.
import { Fault } from "../../../contracts/src/fault.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { WatchdogName } from "../../../contracts/src/records/values.ts";
import { defaultsOf } from "../../../core/watchdogs/config.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import type { AnyConfig, Assigned } from "./assigned.ts";

export const firmId = "firm";
/** Below the 15 s that are promised. */
export const readEveryMs = 8_000;

export interface Configuration {
  /** In force now. */
  of(watchdog: WatchdogName, fundId: string | undefined): AnyConfig;
  /** Why what lies in the secrets store is not in force. */
  problem(watchdog: WatchdogName, fundId: string): string | undefined;
  /** Reads the secrets again. */
  refresh(): Promise<void>;
  /** Changes these keys; null gives a key its default again. What is out of range is INVALID_ARGUMENT, and nothing is written. */
  change(
    watchdog: WatchdogName,
    fundId: string,
    keys: Readonly<Record<string, unknown>>,
    /** The version that must be the newest; another one is SECRETS_CONFLICT, and nothing is written. */
    expectedVersion?: number,
  ): Promise<void>;
  /** Of what lies there, 0 when nothing does. */
  version(watchdog: WatchdogName, fundId: string): Promise<number>;
  /** The same without writing. */
  check(watchdog: WatchdogName, fundId: string, keys: Readonly<Record<string, unknown>>): Promise<void>;
}

type ConfigurationPorts = Pick<ServicePorts, "secrets" | "log">;

export function createConfiguration(
  ports: ConfigurationPorts,
  assigned: readonly Assigned[],
  alarms: WorkerAlarms,
  /** `secret/<prefix>`. */
  folder: string,
): Configuration {
  const byName = new Map(assigned.map((one) => [one.about.name as string, one]));
  const defaults = new Map(assigned.map(({ about }) => [about.name, defaultsOf(about.config) as AnyConfig]));
  const inForce = new Map<string, AnyConfig>();
  const problems = new Map<string, string>();
  const root = `${folder}/watchdogs`;
  const pathOf = (watchdog: string, fundId: string): string => `${root}/${fundId}/${watchdog}`;

  function take(path: string, one: Assigned, text: string): string | undefined {
    const raw = jsonOf(text);
    const read = one.readConfig(raw);
    if (!read.ok) return read.problems.map(({ sentence }) => sentence).join(" ");
    inForce.set(path, read.config);
    return undefined;
  }

  async function refresh(): Promise<void> {
    const paths = await ports.secrets.list(root);
    for (const path of [...inForce.keys(), ...problems.keys()]) {
      if (paths.includes(path)) continue;
      inForce.delete(path);
      settle(path, undefined);
    }
    for (const path of paths) {
      const [, name = ""] = path.slice(root.length + 1).split("/");
      const one = byName.get(name);
      const secret = await ports.secrets.get(path);
      if (secret === undefined) continue;
      const problem =
        one === undefined
          ? `There is no watchdog ${JSON.stringify(name.slice(0, 64))}.`
          : take(path, one, secret.value);
      await tell(path, problem);
    }
  }

  async function tell(path: string, problem: string | undefined): Promise<void> {
    settle(path, problem);
    if (problem === undefined) return;
    const sentence = `${path} is not in force, and what was before it stays: ${problem}`;
    await alarms.raise("WATCHDOG_CONFIG_INVALID", path, sentence, { path });
  }

  function settle(path: string, problem: string | undefined): void {
    if (problem === undefined) {
      problems.delete(path);
      alarms.clear("WATCHDOG_CONFIG_INVALID", path);
    } else problems.set(path, problem);
  }

  /** The JSON that would lie there. */
  async function changed(
    watchdog: WatchdogName,
    fundId: string,
    keys: Readonly<Record<string, unknown>>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const one = byName.get(watchdog);
    const before = jsonOf((await ports.secrets.get(pathOf(watchdog, fundId)))?.value ?? "{}");
    const kept = one?.readConfig(before).ok === true ? (before as object) : {};
    const merged = Object.entries({ ...kept, ...keys }).filter(([, value]) => value !== null && value !== undefined);
    const next = Object.fromEntries(merged);
    const read = one?.readConfig(next);
    if (read?.ok === false) {
      const sentence = read.problems.map((problem) => problem.sentence).join(" ");
      throw new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
    }
    return next;
  }

  return {
    of(watchdog, fundId) {
      const own = inForce.get(pathOf(watchdog, fundId ?? firmId));
      return own ?? (defaults.get(watchdog) as AnyConfig);
    },
    problem: (watchdog, fundId) => problems.get(pathOf(watchdog, fundId)),
    refresh,
    async check(watchdog, fundId, keys) {
      await changed(watchdog, fundId, keys);
    },
    version: async (watchdog, fundId) => (await ports.secrets.get(pathOf(watchdog, fundId)))?.version ?? 0,
    async change(watchdog, fundId, keys, expectedVersion) {
      const next = await changed(watchdog, fundId, keys);
      const path = pathOf(watchdog, fundId);
      if (expectedVersion === undefined) await ports.secrets.rotate(path, () => JSON.stringify(next));
      else await ports.secrets.put(path, JSON.stringify(next), { expectedVersion });
      const one = byName.get(watchdog);
      if (one !== undefined) await tell(path, take(path, one, JSON.stringify(next)));
    },
  };
}

/** What is no JSON is no object either, and is refused as such. */
function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return text;
    throw thrown;
  }
}
