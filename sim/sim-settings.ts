// The settings of a simulated platform: everything that a real one does every minute is done several times a second, so that a run of a few
// virtual seconds has seen all of it.
import type { Settings } from "../ports/settings.ts";
import { testSettings } from "../testkit/virtual/memory-platform.ts";

/** How far the audit log may be behind. */
export const auditBehindMs = 2_000;
/** How long halts may be unheard of. */
export const haltUnknownMs = 700;

export interface SimSettingsOptions {
  readonly seed: number;
  readonly autoCorrect: boolean;
  /** Valuations in a row that confirm a loss, and how long it waits for them at most. */
  readonly lossConfirmations: number;
  readonly lossConfirmMs: number;
}

export function simSettings({ seed, autoCorrect, ...losses }: SimSettingsOptions): Settings {
  return {
    ...testSettings,
    stops: { enabled: true, cryptoEveryMs: 150, othersEveryMs: 250, quoteAgeMsMax: 5_000 },
    reconcile: { enabled: true, everyMs: 120, confirmAfterMs: 40, alertThreshold: 1, autoCorrect },
    // Every entry is checked by the simulator itself; that the log verifies itself is tested elsewhere.
    audit: { ...testSettings.audit, verifyFirstAfterMs: 3_600_000, behindMaxMs: auditBehindMs },
    risk: {
      ...testSettings.risk,
      approvalValidMs: 1_500,
      approvalGraceMs: 1_000,
      snapshotEveryEntries: 25,
      haltUnknownMs,
      ...losses,
    },
    market: { seed, quoteEveryMs: 200 },
    research: { decideEveryMs: 800 },
    // The market here knows of an action as soon as it is announced.
    corporateActions: { leadMs: 60, lookEveryMs: 40, patienceMs: 4_000 },
    // The simulator puts the funds in before anything may fail.
    seedPaperPlatform: false,
  };
}
