// Secrets, by path: `secret/<prefix>/tradingview/<fund_id>`, `secret/<prefix>/watchdogs/<fund_id>/<name>`. Values are
// strings; versions count from 1. Nobody logs a value, and an error never contains one.
export interface Secret {
  readonly path: string;
  readonly version: number;
  readonly value: string;
}

export interface Secrets {
  /** The newest version, or undefined when there is none. */
  get(path: string): Promise<Secret | undefined>;
  /**
   * Writes a new version. With `expectedVersion` (0 = must not exist) a concurrent change is a fault, not a loss. The record of it names the actor, or
   * the process when none is given.
   */
  put(
    path: string,
    value: string,
    options?: { readonly expectedVersion?: number; readonly actor?: string },
  ): Promise<Secret>;
  /** Paths under a prefix folder, sorted; never values. */
  list(prefix: string): Promise<readonly string[]>;
  /** Replaces the value by what `next` makes of the old one, retrying when somebody else was faster. */
  rotate(path: string, next: (current: Secret | undefined) => string): Promise<Secret>;
  close(): Promise<void>;
}
