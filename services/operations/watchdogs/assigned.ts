// A watchdog together with the reader of its inputs, with their types closed off: the runner treats all ten alike.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import {
  type CommonConfig,
  type CommonKeys,
  type ConfigKeys,
  type ConfigOf,
  type ConfigRead,
  readConfig,
} from "../../../core/watchdogs/config.ts";
import type { Judged, JudgedAt, Watchdog } from "../../../core/watchdogs/watchdog.ts";
import type { WatchedScope } from "../../../ports/watchdog-records.ts";

/** A watchdog's configuration, whichever it is. */
export type AnyConfig = CommonConfig & Readonly<Record<string, number | string>>;

/** What is to be judged now. */
export interface Watched<Input> {
  readonly scope: WatchedScope;
  readonly input: Input;
  /** It rests on observations that were injected into the paper platform. */
  readonly isInjected?: boolean;
  /** Of a fund whose gross exposure may be restricted: asks what it is now. */
  grossNow?(): Promise<Decimal>;
}

export interface ReadRequest<Config> {
  readonly at: Instant;
  /** The configuration of a fund, or of the firm. */
  config(fundId?: string): Config;
  /** Whether a fund's, or the firm's, turn has come. */
  isDue(fundId?: string): boolean;
  /** Since when an episode is open. */
  openedAt(scope: WatchedScope): Instant | null;
  /** The observation that was judged last: what came to it since then is judged before the next one. */
  lastObservation(scope: WatchedScope): string | null;
}

/** Lists what is watched at present, of those whose turn has come, and reads the input of each. Readers never decide. */
export interface Reader<Input, Config> {
  read(request: ReadRequest<Config>): Promise<readonly Watched<Input>[]>;
  stop?(): Promise<void>;
}

export type About = Pick<
  Watchdog<never, ConfigKeys, unknown>,
  "name" | "watches" | "subject" | "alarm" | "unit" | "per"
> & { readonly config: ConfigKeys & CommonKeys };

export interface ToJudge extends Omit<Watched<unknown>, "input"> {
  judge(config: AnyConfig, memory: unknown, now: JudgedAt): Judged<unknown>;
}

export interface Assigned {
  readonly about: About;
  readConfig(raw: unknown): ConfigRead<AnyConfig>;
  expectedAlertsPerYear(config: AnyConfig): number | null;
  read(request: ReadRequest<AnyConfig>): Promise<readonly ToJudge[]>;
  stop(): Promise<void>;
}

export function assign<Input, Keys extends ConfigKeys, Memory>(
  watchdog: Watchdog<Input, Keys, Memory>,
  reader: Reader<Input, ConfigOf<Keys & CommonKeys>>,
): Assigned {
  type Config = ConfigOf<Keys & CommonKeys>;
  // Whoever asks hands back what `readConfig` gave, and memories that this watchdog wrote.
  const own = (config: AnyConfig): Config => config as unknown as Config;
  const ownMemory = (memory: unknown): Memory => (memory ?? watchdog.emptyMemory) as Memory;
  return {
    about: watchdog as unknown as About,
    readConfig: (raw) => readConfig(watchdog as never, raw) as unknown as ConfigRead<AnyConfig>,
    expectedAlertsPerYear: (config) => watchdog.expectedAlertsPerYear(own(config)),
    async read({ config, ...request }) {
      const watched = await reader.read({ ...request, config: (fundId) => own(config(fundId)) });
      return watched.map(({ input, ...rest }) => ({
        ...rest,
        judge: (given, memory, now) => watchdog.judge(input, own(given), ownMemory(memory), now),
      }));
    },
    stop: async () => reader.stop?.(),
  };
}
